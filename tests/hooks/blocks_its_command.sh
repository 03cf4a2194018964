#!/usr/bin/env bash
# Blocks, and gives the command it was asked about as the reason.
command=$(sed -n 's/.*"command":"\([^"]*\)".*/\1/p')
printf '{"decision":"block","message":"%s","reason":"%s"}\n' "$command" "$command"
