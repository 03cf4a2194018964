#!/usr/bin/env bash
# Closes its stdin at once, and goes on.
exec <&-
echo closed
