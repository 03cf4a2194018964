#!/usr/bin/env bash
# Reads its payload and allows, in Goose's words.
cat >/dev/null
echo '{"decision":"allow"}'
