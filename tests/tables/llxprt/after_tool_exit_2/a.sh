#!/bin/sh
{ cat; echo; } >>seen
printf '%s\n' 'secret in output' >&2
exit 2
