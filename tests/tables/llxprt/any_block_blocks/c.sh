#!/bin/sh
{ cat; echo; } >>seen.c
printf '%s\n' 'two' >&2
exit 2
