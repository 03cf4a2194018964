#!/bin/sh
{ cat; echo; } >>seen
printf '%s\n' '  looks good
'
