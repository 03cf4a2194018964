"""Writes tests/tapes: `python tests/make_tapes.py`. Only where the format gets a new version: v1 stays for ever."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from studio import record

TAPES = Path(__file__).parent / "tapes"
HOME = "/srv/agent"
"""In the place of the directory it was recorded in."""


def main() -> None:
    from hookline.tape import chained, sealed

    with tempfile.TemporaryDirectory() as folder:
        tape = Path(folder) / "tape.jsonl"
        record(Path(folder), tape)
        text = tape.read_bytes().replace(folder.encode(), HOME.encode())
        text = text.replace(str(Path(__file__).parent).encode(), HOME.encode())
    previous, lines = "", []
    for line in text.splitlines():
        bare = line[:-75] + b"}"
        previous = chained(previous, bare)
        lines.append(sealed(bare, previous))
    TAPES.mkdir(exist_ok=True)
    (TAPES / "v1.jsonl").write_bytes(b"".join(lines))
    (TAPES / "torn.jsonl").write_bytes(b"".join(lines[:40]) + lines[40][:120])


if __name__ == "__main__":
    main()
