#!/usr/bin/env bash
# Leaves a child that holds all its pipes, and exits with 0 (hazard 2).
ZOO_KEEPS=1 sleep 300 &
echo done
