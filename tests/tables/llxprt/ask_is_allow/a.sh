#!/bin/sh
{ cat; echo; } >>seen
printf '%s\n' '{"decision": "ask", "reason": "sure?"}'
