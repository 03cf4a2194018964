#!/usr/bin/env python3
"""BeforeTool: a hard block is exit 2 with the reason on stderr; a change of the arguments is a JSON object."""

import json
import os
import sys
from fnmatch import fnmatch

SECRETS = (".env", ".env.*", "*.pem", "*.key", "id_rsa", "id_ed25519")
HARMLESS = (".env.example", ".env.sample")


def main() -> int:
    payload = json.load(sys.stdin)
    project, given = os.path.realpath(payload["cwd"]), payload["tool_input"]
    written = str(given.get("file_path") or given.get("path") or "")
    path = os.path.realpath(os.path.join(project, written))
    if os.path.commonpath([project, path]) != project:
        return refused(f"{written} is outside the project {project}")
    name = os.path.basename(path)
    if name not in HARMLESS and any(fnmatch(name, pattern) for pattern in SECRETS):
        return refused(f"{written} holds secrets; edit it yourself")
    content = given.get("content")
    if isinstance(content, str) and "\r\n" in content:
        changed = {"content": content.replace("\r\n", "\n")}
        print(json.dumps({"hookSpecificOutput": {"hookEventName": "BeforeTool", "tool_input": changed}}))
    return 0


def refused(reason: str) -> int:
    print(reason, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
