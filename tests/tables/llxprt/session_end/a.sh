#!/bin/sh
{ cat; echo; } >>seen
printf '%s\n' '{"decision": "block", "reason": "r", "continue": false, "systemMessage": "m", "suppressOutput": true}'
