#!/bin/sh
{ cat; echo; } >>seen.d
printf '%s\n' '{"systemMessage": " "}'
