#!/usr/bin/env bash
# Exits with 2 by accident: a parser's own exit code under `set -e` (hazard 7).
set -e
jq() { echo "jq: error: parse error: Invalid numeric literal" >&2; return 2; }
value=$(jq .tool_name)
echo "$value"
