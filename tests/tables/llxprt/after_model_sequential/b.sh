#!/bin/sh
{ cat; echo; } >>seen
printf '%s\n' '{"hookSpecificOutput": {"hookEventName": "AfterModel", "llm_response": {"text": "cached", "candidates": [{"content": {"role": "model", "parts": ["cached"]}, "finishReason": "STOP"}]}}}'
