#!/bin/sh
{ cat; echo; } >>seen
printf '%s\n' '{"decision": "allow", "reason": "fine"}'
printf '%s\n' 'no' >&2
exit 2
