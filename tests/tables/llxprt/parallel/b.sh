#!/bin/sh
{ cat; echo; } >>seen.b
touch met.b; n=0; while [ ! -e met.a ] && [ $n -lt 300 ]; do sleep 0.02; n=$((n+1)); done; [ -e met.a ] || exit 9
printf '%s\n' '{"hookSpecificOutput": {"hookEventName": "BeforeTool", "tool_input": {"content": "B", "b": 2}}}'
