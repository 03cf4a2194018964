#!/bin/sh
{ cat; echo; } >>seen.a
printf '%s\n' '{"continue": false, "stopReason": "done", "hookSpecificOutput": {"hookEventName": "AfterAgent", "clearContext": true, "additionalContext": "c"}}'
