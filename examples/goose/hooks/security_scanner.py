#!/usr/bin/env python3
"""Block shell commands that destroy a filesystem or a disk."""

import json
import re
import sys

SHELLS = ("developer__shell", "Bash")
DESTRUCTIVE = re.compile(r"rm\s+-rf\s+/|mkfs\.|dd\s+if=")

call = json.load(sys.stdin)
arguments = call.get("tool_arguments") or {}
if call.get("tool_name") in SHELLS and DESTRUCTIVE.search(str(arguments.get("command", ""))):
    print(json.dumps({"decision": "block", "reason": "Destructive command blocked by security policy"}))
else:
    print(json.dumps({"decision": "allow"}))
