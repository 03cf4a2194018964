#!/usr/bin/env bash
# Prints what it reads, and a word on stderr.
cat
echo heard >&2
