#!/bin/sh
{ cat; echo; } >>seen
printf '%s\n' '{"continue": false, "stopReason": "no tools today", "hookSpecificOutput": {"hookEventName": "BeforeToolSelection", "toolConfig": {"mode": "NONE"}}}'
