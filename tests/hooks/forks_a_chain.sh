#!/usr/bin/env bash
# Forks a chain of 20 children, one inside the other, and none of them ends.
depth=${1:-20}
if [ "$depth" -gt 0 ]; then "$0" $((depth - 1)); else echo ready; exec sleep 300; fi
