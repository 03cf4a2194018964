#!/bin/sh
{ cat; echo; } >>seen
printf '%s\n' '{"hookSpecificOutput": {"hookEventName": "BeforeModel", "llm_request": {"model": "gemini-2.5-flash", "messages": [{"role": "user", "content": "What is in here?"}, {"role": "model", "content": "A cat."}, {"role": "user", "content": "Are you sure?"}], "config": {"temperature": 0}}}}'
