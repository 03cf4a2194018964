#!/usr/bin/env bash
# Waits for the end of its stdin before it says a word.
cat >/dev/null
echo eof
