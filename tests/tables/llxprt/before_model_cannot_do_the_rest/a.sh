#!/bin/sh
{ cat; echo; } >>seen
printf '%s\n' '{"systemMessage": "m", "suppressOutput": true, "hookSpecificOutput": {"hookEventName": "BeforeModel", "additionalContext": "c", "toolConfig": {"mode": "ANY"}, "tool_input": {}}}'
