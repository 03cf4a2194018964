#!/usr/bin/env bash
# Starts a child in a process group of its own (job control), then sleeps.
set -m
sleep 300 &
echo ready
sleep 300
