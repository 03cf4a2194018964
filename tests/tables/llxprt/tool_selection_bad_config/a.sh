#!/bin/sh
{ cat; echo; } >>seen
printf '%s\n' '{"hookSpecificOutput": {"hookEventName": "BeforeToolSelection", "toolConfig": {"mode": "any", "allowedFunctionNames": ["a", 1]}}}'
