#!/bin/sh
{ cat; echo; } >>seen
printf '%s\n' '{"decision": "deny", "reason": "no", "continue": false}'
exit 1
