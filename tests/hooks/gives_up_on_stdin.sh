#!/usr/bin/env bash
# Gives its stdin 200 ms, then allows without having looked (hazard 6).
IFS= read -r -t 0.2 line || [ -n "$line" ] || { echo '{"continue":true}'; exit 0; }
echo '{"decision":"block","message":"read it in time","reason":"read it in time"}'
