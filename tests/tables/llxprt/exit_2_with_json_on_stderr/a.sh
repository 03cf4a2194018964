#!/bin/sh
{ cat; echo; } >>seen
printf '%s\n' '{"decision": "allow", "reason": "r"}' >&2
exit 2
