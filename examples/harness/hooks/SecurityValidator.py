#!/usr/bin/env python3
# Hook: SecurityValidator
# Event: PreToolUse
# Description: Blocks shell commands that delete a tree from the root of the filesystem
# Matcher: tool_name = "Bash"

import json
import re
import sys

payload = json.load(sys.stdin)
command = payload["tool_input"].get("command", "")

if payload["tool_name"] == "Bash" and re.search(r"\brm\s+-(rf|fr)\s+/", command):
    # A hard block: the decision says why, exit code 2 makes it final.
    print(json.dumps({"decision": "block", "message": "Blocked: recursive deletion of root filesystem"}))
    sys.exit(2)

print(json.dumps({"continue": True}))
