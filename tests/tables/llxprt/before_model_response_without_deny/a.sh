#!/bin/sh
{ cat; echo; } >>seen
printf '%s\n' '{"hookSpecificOutput": {"hookEventName": "BeforeModel", "llm_response": {"text": "cached", "candidates": [{"content": {"role": "model", "parts": ["cached"]}, "finishReason": "STOP"}]}}}'
