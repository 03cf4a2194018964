#!/bin/sh
{ cat; echo; } >>seen
printf '%s\n' '{"decision": "deny", "hookSpecificOutput": {"hookEventName": "BeforeModel", "llm_request": {"model": "x"}}}'
printf '%s\n' 'oops' >&2
exit 1
