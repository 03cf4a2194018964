#!/bin/sh
{ cat; echo; } >>seen.a
printf '%s\n' '{"hookSpecificOutput": {"hookEventName": "BeforeTool", "tool_input": {"a": 1}}}'
