#!/bin/sh
{ cat; echo; } >>seen
printf '%s\n' '{"systemMessage": "m", "hookSpecificOutput": {"hookEventName": "BeforeAgent", "additionalContext": "today is Monday"}}'
