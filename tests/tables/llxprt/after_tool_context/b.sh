#!/bin/sh
{ cat; echo; } >>seen.b
printf '%s\n' '{"hookSpecificOutput": {"hookEventName": "AfterTool", "additionalContext": "two\nlines"}}'
