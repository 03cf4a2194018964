#!/bin/sh
{ cat; echo; } >>seen
printf '%s\n' '{"decision": "approve", "reason": "fine"}'
