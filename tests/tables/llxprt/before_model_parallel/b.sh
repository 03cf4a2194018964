#!/bin/sh
{ cat; echo; } >>seen.b
printf '%s\n' '{"hookSpecificOutput": {"hookEventName": "BeforeModel", "llm_request": {"model": "m3"}}}'
