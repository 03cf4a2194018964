#!/bin/sh
{ cat; echo; } >>seen.b
printf '%s\n' '{"decision": "allow", "reason": "fine"}'
