#!/bin/sh
{ cat; echo; } >>seen
printf '%s\n' '{"hookSpecificOutput": {"hookEventName": "AfterTool", "additionalContext": "c"}}'
exit 1
