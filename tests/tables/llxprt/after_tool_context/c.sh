#!/bin/sh
{ cat; echo; } >>seen.c
printf '%s\n' '{"hookSpecificOutput": {"hookEventName": "AfterTool", "additionalContext": ""}}'
