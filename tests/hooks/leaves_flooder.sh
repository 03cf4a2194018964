#!/usr/bin/env bash
# Leaves a child that floods the pipes as long as anybody reads, and exits with 0.
yes 2>/dev/null &
echo left >&2
