#!/usr/bin/env bash
# Is a hook that runs hookline, whose own hook daemonises: `nests.sh INNER_SETTINGS`.
exec python3 -m hookline fire PreToolUse --config "$1" --payload '{"tool_name":"Bash","tool_input":{}}'
