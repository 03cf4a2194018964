#!/usr/bin/env bash
# Finds the tool with sed, which needs "key":"value" without a space (hazard 1).
sed -n 's/.*"tool_name":"\([^"]*\)".*/\1/p'
