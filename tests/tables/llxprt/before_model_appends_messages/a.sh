#!/bin/sh
{ cat; echo; } >>seen
printf '%s\n' '{"hookSpecificOutput": {"hookEventName": "BeforeModel", "llm_request": {"messages": [{"role": "user", "content": "hello"}, {"role": "user", "content": "hello"}, {"role": "system", "content": "be brief"}]}}}'
