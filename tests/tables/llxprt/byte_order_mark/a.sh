#!/bin/sh
{ cat; echo; } >>seen
printf '\357\273\277'
printf '%s\n' '{"decision": "deny", "reason": "no"}'
