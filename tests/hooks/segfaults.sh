#!/usr/bin/env bash
# Ends itself with SIGSEGV, after an allow.
ulimit -c 0
echo '{"continue":true}'
kill -SEGV $$
