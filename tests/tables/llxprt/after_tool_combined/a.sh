#!/bin/sh
{ cat; echo; } >>seen
printf '%s\n' '{"continue": false, "stopReason": "s", "systemMessage": "m", "suppressOutput": true, "hookSpecificOutput": {"hookEventName": "AfterTool", "additionalContext": "c"}}'
