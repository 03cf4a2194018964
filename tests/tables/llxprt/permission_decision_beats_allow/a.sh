#!/bin/sh
{ cat; echo; } >>seen
printf '%s\n' '{"decision": "allow", "hookSpecificOutput": {"hookEventName": "BeforeTool", "permissionDecision": "block"}}'
