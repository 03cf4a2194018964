"""Writes the tapes that tests/tapes lacks: `python tests/make_tapes.py`. Those that are there stay for ever."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from insiders import HOW, PROGRAM, Live, play
from studio import Clock, record

TAPES = Path(__file__).parent / "tapes"
HOME = "/srv/agent"
"""In the place of the directory it was recorded in."""


def main() -> None:
    TAPES.mkdir(exist_ok=True)
    lines = made(record)
    write("v1.jsonl", b"".join(lines))
    write("torn.jsonl", b"".join(lines[:40]) + lines[40][:120])
    write("v1-within.jsonl", b"".join(made(within)))


def write(name: str, text: bytes) -> None:
    """A tape that is there stays as it is."""
    if not (TAPES / name).exists():
        (TAPES / name).write_bytes(text)


def within(folder: Path, tape: Path) -> None:
    ids = iter(f"id-{number}" for number in range(1, 100))
    live = Live(clock=Clock(), new_id=lambda: next(ids))
    with live.hooks.session(tape=tape, approve=live.approves, **HOW) as s:
        play(s, PROGRAM, live)


def made(recording: Callable[[Path, Path], object]) -> list[bytes]:
    """The lines of a recording, as if it had been made at HOME."""
    from hookline.tape import chained, sealed

    with tempfile.TemporaryDirectory() as folder:
        tape = Path(folder) / "tape.jsonl"
        recording(Path(folder), tape)
        text = tape.read_bytes().replace(folder.encode(), HOME.encode())
        text = text.replace(str(Path(__file__).parent).encode(), HOME.encode())
    previous, lines = "", []
    for line in text.splitlines():
        bare = line[:-75] + b"}"
        previous = chained(previous, bare)
        lines.append(sealed(bare, previous))
    return lines


if __name__ == "__main__":
    main()
