#!/bin/sh
{ cat; echo; } >>seen.a
touch met.a; n=0; while [ ! -e met.b ] && [ $n -lt 300 ]; do sleep 0.02; n=$((n+1)); done; [ -e met.b ] || exit 9
printf '%s\n' '{"hookSpecificOutput": {"hookEventName": "BeforeTool", "tool_input": {"content": "A", "a": 1}}}'
