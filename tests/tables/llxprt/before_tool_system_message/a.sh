#!/bin/sh
{ cat; echo; } >>seen
printf '%s\n' '{"systemMessage": "be careful"}'
