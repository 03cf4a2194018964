#!/bin/sh
{ cat; echo; } >>seen
printf '%s\n' 'not there' >&2
exit 2
