#!/bin/sh
{ cat; echo; } >>seen.b
printf '%s\n' '{"hookSpecificOutput": {"hookEventName": "AfterAgent", "clearContext": false}}'
