#!/bin/sh
{ cat; echo; } >>seen
printf '%s\n' 'no politics' >&2
exit 2
