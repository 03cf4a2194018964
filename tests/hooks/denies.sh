#!/usr/bin/env bash
# Blocks on purpose: exit 2, the decision on stdout.
cat >/dev/null
echo '{"decision":"block","message":"no","reason":"no"}'
exit 2
