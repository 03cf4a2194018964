#!/bin/sh
{ cat; echo; } >>seen.a
printf '%s\n' '{"hookSpecificOutput": {"hookEventName": "AfterTool", "additionalContext": "one"}}'
