#!/bin/sh
{ cat; echo; } >>seen
printf '%s\n' '{"decision": "deny", "reason": "secret in output", "systemMessage": "m", "hookSpecificOutput": {"hookEventName": "AfterTool", "tool_input": {"x": 1}}}'
