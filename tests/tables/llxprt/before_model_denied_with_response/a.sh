#!/bin/sh
{ cat; echo; } >>seen
printf '%s\n' '{"decision": "deny", "reason": "cached", "hookSpecificOutput": {"hookEventName": "BeforeModel", "llm_response": {"text": "cached", "candidates": [{"content": {"role": "model", "parts": ["cached"]}, "finishReason": "STOP"}]}, "llm_request": {"model": "x"}}}'
