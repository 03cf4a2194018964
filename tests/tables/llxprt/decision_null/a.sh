#!/bin/sh
{ cat; echo; } >>seen
printf '%s\n' '{"decision": null, "continue": true, "suppressOutput": false}'
