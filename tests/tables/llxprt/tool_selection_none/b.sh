#!/bin/sh
{ cat; echo; } >>seen.b
printf '%s\n' '{"hookSpecificOutput": {"hookEventName": "BeforeToolSelection", "toolConfig": {"mode": "ANY", "allowedFunctionNames": ["b"]}}}'
