#!/bin/sh
{ cat; echo; } >>seen
printf '%s\n' '{"hookSpecificOutput": {"hookEventName": "BeforeToolSelection", "toolConfig": {"mode": "NONE"}}}'
exit 1
