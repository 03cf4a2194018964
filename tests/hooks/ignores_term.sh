#!/usr/bin/env bash
# Ignores SIGTERM, and so do its children.
trap '' TERM
echo ready
sleep 300
