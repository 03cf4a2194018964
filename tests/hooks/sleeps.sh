#!/usr/bin/env bash
# Sleeps for ever.
echo ready
sleep 300
