#!/bin/sh
{ cat; echo; } >>seen.a
[ ! -e seen.b ] || exit 9
printf '%s\n' '{"hookSpecificOutput": {"hookEventName": "BeforeTool", "tool_input": {"path": "b"}}}'
