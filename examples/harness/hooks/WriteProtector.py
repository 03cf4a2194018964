#!/usr/bin/env python3
# Hook: WriteProtector
# Event: PreToolUse
# Description: Keeps the agent from writing secrets and git's own files; asks before it changes its own hooks
# Matcher: tool_name = "Write"
"""A hard block needs no JSON: exit 2 is the block, and stderr says why. A question is a JSON object."""

import json
import os
import sys
from fnmatch import fnmatch

PROTECTED = (".git", ".ssh", ".env", ".env.*", "*.pem", "*.key", "id_rsa", "id_ed25519")
HARMLESS = (".env.example", ".env.sample")
SYSTEM = ("/etc", "/usr", "/bin", "/sbin", "/boot", "/lib", "/dev", "/proc", "/sys")


def main() -> int:
    payload = json.load(sys.stdin)
    written = payload["tool_input"].get("file_path", "")
    path = os.path.normpath(os.path.join(payload.get("cwd", ""), os.path.expanduser(written)))
    if is_protected(path):
        print(f"Cannot write protected path: {written}", file=sys.stderr)
        return 2
    if governs_hooks(path):
        question = f"{written} decides which hooks watch over this session. Let the agent change it?"
        print(json.dumps({"decision": "ask", "message": question}))
        return 0
    print(json.dumps({"continue": True}))
    return 0


def is_protected(path: str) -> bool:
    if any(path == place or path.startswith(place + "/") for place in SYSTEM):
        return True
    parts = path.split("/")
    return parts[-1] not in HARMLESS and any(fnmatch(part, pattern) for part in parts for pattern in PROTECTED)


def governs_hooks(path: str) -> bool:
    """The settings that registered this very hook, or a file beside it."""
    here = os.path.dirname(os.path.abspath(__file__))
    return path == os.path.join(os.path.dirname(here), "settings.json") or path.startswith(here + "/")


if __name__ == "__main__":
    sys.exit(main())
