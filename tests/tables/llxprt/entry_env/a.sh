#!/bin/sh
{ cat; echo; } >>seen
echo "$GREETING $CLAUDE_PROJECT_DIR"
