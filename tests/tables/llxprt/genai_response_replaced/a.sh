#!/bin/sh
{ cat; echo; } >>seen
printf '%s\n' '{"hookSpecificOutput": {"hookEventName": "AfterModel", "llm_response": {"candidates": [{"content": {"role": "model", "parts": ["I will ", "not look."]}}]}}}'
