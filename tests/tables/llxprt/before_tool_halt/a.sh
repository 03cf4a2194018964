#!/bin/sh
{ cat; echo; } >>seen
printf '%s\n' '{"continue": false, "stopReason": "budget spent", "reason": "other"}'
