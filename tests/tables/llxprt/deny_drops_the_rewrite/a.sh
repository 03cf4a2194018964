#!/bin/sh
{ cat; echo; } >>seen
printf '%s\n' '{"decision": "deny", "reason": "no", "hookSpecificOutput": {"hookEventName": "BeforeTool", "tool_input": {"path": "b"}}}'
