#!/usr/bin/env bash
# Closes its stdout early, goes on, and says so on stderr.
echo early
exec >&-
cat >/dev/null
echo later >&2
