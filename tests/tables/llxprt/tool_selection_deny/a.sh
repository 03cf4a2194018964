#!/bin/sh
{ cat; echo; } >>seen
printf '%s\n' '{"decision": "deny", "reason": "no", "systemMessage": "m", "suppressOutput": true, "hookSpecificOutput": {"hookEventName": "BeforeToolSelection", "llm_request": {"model": "x"}, "llm_response": {"text": "cached", "candidates": [{"content": {"role": "model", "parts": ["cached"]}, "finishReason": "STOP"}]}}}'
