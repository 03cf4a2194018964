#!/bin/sh
{ cat; echo; } >>seen.b
printf '%s\n' 'two' >&2
exit 1
