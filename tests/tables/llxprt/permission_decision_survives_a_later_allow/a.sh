#!/bin/sh
{ cat; echo; } >>seen.a
printf '%s\n' '{"hookSpecificOutput": {"hookEventName": "BeforeTool", "permissionDecision": "deny", "permissionDecisionReason": "no"}}'
