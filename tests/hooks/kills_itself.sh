#!/usr/bin/env bash
# Ends itself with SIGKILL.
echo before
kill -KILL $$
