#!/bin/sh
{ cat; echo; } >>seen.a
printf '%s\n' '{"suppressOutput": true}'
