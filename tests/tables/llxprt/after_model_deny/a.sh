#!/bin/sh
{ cat; echo; } >>seen
printf '%s\n' '{"decision": "deny", "reason": "rude", "hookSpecificOutput": {"hookEventName": "AfterModel", "llm_request": {"model": "x"}, "additionalContext": "c"}}'
