#!/bin/sh
{ cat; echo; } >>seen
printf '%s\n' '{"decision": "deny"}'
printf '%s\n' 'odd' >&2
exit 3
