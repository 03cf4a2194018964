#!/bin/sh
{ cat; echo; } >>seen
printf '%s\n' '{"hookSpecificOutput": {"hookEventName": "BeforeModel", "llm_request": {"config": {"temperature": 1}}}}'
