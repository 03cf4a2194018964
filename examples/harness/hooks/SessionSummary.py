#!/usr/bin/env python3
# Hook: SessionSummary
# Event: Stop
# Description: Keeps a short summary of the session in .harness/sessions, one file per session
"""HARNESS_SESSIONS names another directory.

Nothing goes to stdout, because the model would read it. Running twice writes the same file.
"""

import json
import os
import re
import sys
from pathlib import Path


def main() -> int:
    payload = json.load(sys.stdin)
    session = payload.get("session_id") or "unnamed"
    said = payload.get("last_assistant_message") or payload.get("response") or ""
    lines = [
        f"# Session {session}",
        "",
        f"Transcript: {payload.get('transcript_path') or 'none'}",
        f"Prompt: {first_line(payload.get('prompt') or '')}",
        f"Answer: {first_line(said)}",
    ]
    directory = Path(os.environ.get("HARNESS_SESSIONS") or ".harness/sessions")
    directory.mkdir(parents=True, exist_ok=True)
    file = directory / (re.sub(r"[^\w.-]", "_", session).lstrip(".") + ".md")
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"summary kept in {file}", file=sys.stderr)
    return 0


def first_line(text: str) -> str:
    line = text.strip().partition("\n")[0]
    return line if len(line) <= 200 else line[:199] + "…"


if __name__ == "__main__":
    sys.exit(main())
