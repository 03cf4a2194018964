#!/bin/sh
trap '' TERM
{ cat; echo; } >>seen
printf '%s\n' '{"decision": "deny"}'
while :; do sleep 0.2; done
