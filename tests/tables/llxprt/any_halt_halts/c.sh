#!/bin/sh
{ cat; echo; } >>seen.c
printf '%s\n' '{"continue": false, "stopReason": "two"}'
