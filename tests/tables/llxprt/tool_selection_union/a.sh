#!/bin/sh
{ cat; echo; } >>seen.a
printf '%s\n' '{"hookSpecificOutput": {"hookEventName": "BeforeToolSelection", "toolConfig": {"mode": "AUTO", "allowedFunctionNames": ["write", "grep"]}}}'
