#!/bin/sh
{ cat; echo; } >>seen
printf '%s\n' 'checking
{"decision": "deny"}'
