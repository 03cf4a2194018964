#!/bin/sh
{ cat; echo; } >>seen
printf '%s\n' '{"decision": "allow", "hookSpecificOutput": {"hookEventName": "BeforeToolSelection", "toolConfig": {}}}'
