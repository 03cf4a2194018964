#!/bin/sh
{ cat; echo; } >>seen
printf '%s\n' '{"suppressOutput": true, "systemMessage": "m"}'
