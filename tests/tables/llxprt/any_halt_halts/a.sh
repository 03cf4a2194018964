#!/bin/sh
{ cat; echo; } >>seen.a
printf '%s\n' '{"continue": false, "stopReason": "one"}'
