#!/bin/sh
{ cat; echo; } >>seen
printf '%s\n' '{"hookSpecificOutput": {"hookEventName": "AfterTool", "tailToolCallRequest": {"name": "x"}, "permissionDecision": "deny", "additonalContext": "c"}}'
