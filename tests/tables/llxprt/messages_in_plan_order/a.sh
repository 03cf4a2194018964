#!/bin/sh
{ cat; echo; } >>seen.a
sleep 0.2
printf '%s\n' '{"systemMessage": "one"}'
