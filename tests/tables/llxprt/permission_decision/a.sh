#!/bin/sh
{ cat; echo; } >>seen
printf '%s\n' '{"reason": "top", "hookSpecificOutput": {"hookEventName": "BeforeTool", "permissionDecision": "deny", "permissionDecisionReason": "compat"}}'
