#!/usr/bin/env no-such-interpreter
# Needs an interpreter that `env` cannot find (hazard 8): exit 127.
echo never
