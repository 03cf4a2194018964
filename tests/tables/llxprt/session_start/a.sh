#!/bin/sh
{ cat; echo; } >>seen
printf '%s\n' '{"continue": false, "decision": "deny", "reason": "r", "systemMessage": "m", "hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "c"}}'
