#!/usr/bin/env python3
"""Put the project's rules into the system prompt when a session starts.

The rules are in .goose/context.md, or in the file named as the argument.
"""

import json
import sys
from pathlib import Path

file = Path(sys.argv[1] if len(sys.argv) > 1 else ".goose/context.md")
answer = {"context_injection": file.read_text(encoding="utf-8")} if file.is_file() else {}
print(json.dumps(answer))
