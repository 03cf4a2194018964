#!/bin/sh
{ cat; echo; } >>seen
printf '%s\n' '{"hookSpecificOutput": {"hookEventName": "BeforeModel", "llm_request": {"model": "m2", "config": {"temperature": 0}}}}'
