"""What the hooks of this case answer; each writes what it saw to a file beside this one."""

import json
from pathlib import Path


def see(event):
    with open(Path(__file__).with_name("seen"), "a", encoding="utf-8") as seen:
        seen.write(json.dumps(event, ensure_ascii=False, separators=(",", ":")) + "\n")


def note(event):
    see(event)
    return {"body": "noted"}
