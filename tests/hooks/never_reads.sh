#!/usr/bin/env bash
# Neither reads its stdin nor ends.
echo ready
exec sleep 300
