#!/usr/bin/env python3
"""Append every payload, with the time, to an audit log: ~/.goose/audit.jsonl, or the file GOOSE_AUDIT_LOG names."""

import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path

record = json.load(sys.stdin)
record["timestamp"] = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

log = Path(os.environ.get("GOOSE_AUDIT_LOG") or "~/.goose/audit.jsonl").expanduser()
log.parent.mkdir(parents=True, exist_ok=True)
with log.open("a", encoding="utf-8") as lines:
    lines.write(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n")
