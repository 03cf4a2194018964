#!/bin/sh
{ cat; echo; } >>seen
printf '%s\n' '{"decision": "deny"}'
printf '%s\n' 'dying' >&2
kill -9 $$
