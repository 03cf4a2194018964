#!/usr/bin/env bash
# Stops itself with SIGSTOP.
echo ready
kill -STOP $$
