#!/bin/sh
{ cat; echo; } >>seen
printf '%s\n' '{"suppressOutput": true, "hookSpecificOutput": {"hookEventName": "BeforeTool", "additionalContext": "c", "clearContext": true, "llm_request": {"model": "x"}, "toolConfig": {"mode": "NONE"}}}'
