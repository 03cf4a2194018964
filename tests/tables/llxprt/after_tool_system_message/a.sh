#!/bin/sh
{ cat; echo; } >>seen
printf '%s\n' '{"systemMessage": "run the formatter"}'
