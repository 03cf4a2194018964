#!/usr/bin/env bash
# Prints a block, then exits with 1.
echo '{"decision":"block","message":"no","reason":"no"}'
exit 1
