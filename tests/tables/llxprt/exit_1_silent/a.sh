#!/bin/sh
{ cat; echo; } >>seen
printf '%s\n' 'text'
exit 1
