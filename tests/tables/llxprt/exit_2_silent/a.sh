#!/bin/sh
{ cat; echo; } >>seen
printf '%s\n' '{"decision": "deny", "reason": "on stdout"}'
exit 2
