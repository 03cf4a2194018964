#!/bin/sh
{ cat; echo; } >>seen.a
printf '%s\n' '{"hookSpecificOutput": {"hookEventName": "BeforeModel", "llm_request": {"model": "m2", "config": {}}}}'
