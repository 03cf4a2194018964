#!/bin/sh
{ cat; echo; } >>seen
printf '%s\n' 'disk full' >&2
exit 1
