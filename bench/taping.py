"""What a tape costs: a record beside a bare write, masking a large text, verifying and reading one, replaying it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from time import perf_counter_ns

from bench.inprocess import EVENT, FIELDS, with_ours
from bench.measuring import Contender, Rounds, repeated
from hookline import Tape
from hookline.masking import Masking
from hookline.replay import replay
from hookline.tape import read, verify

BATCH = 50
RECORDS = 20_000
EVENTS = 500
PROSE = "the quick brown fox jumps over the lazy dog and sees what there is to be seen. " * 2500
CODE = (
    "def token(self, key: str) -> str:\n    return self.tokens[key].api_key  # the secret of a password, say\n" * 2000
)
TENTH = len(PROSE) // 10
DATA = {
    "event": EVENT,
    "handler": "guard.sh",
    "dialect": "harness",
    "source": "/home/somebody/project/.harness/settings.json#/hooks/PreToolUse/0",
    "digest": "0" * 64,
    "surface": "tool",
    "payload": {"tool_name": "Bash", "tool_input": {"command": "ls -la src"}, "session_id": "s", "cwd": "/home/x"},
}


def fixed(name: str, nanoseconds: int) -> Contender:
    """A goal in plain time, so that others can be measured by it."""
    return Contender(name, lambda count: [nanoseconds] * count)


def batches(work: Callable[[], object]) -> Rounds:
    """The time of one, taken over a batch."""

    def once() -> int:
        began = perf_counter_ns()
        for _ in range(BATCH):
            work()
        return (perf_counter_ns() - began) // BATCH

    return repeated(once)


def record(directory: Path) -> list[Contender]:
    """The same bytes, appended: by the system alone, and as a record with its hash and its masks."""
    tape, masked = Tape(directory / "record", mask=False), Tape(directory / "masked")
    synced = Tape(directory / "synced", durability="fsync")
    tape.append("hook_call", DATA)
    line = (directory / "record").read_bytes()
    bare = os.open(directory / "bare", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def written_and_synced() -> None:
        os.write(bare, line)
        os.fsync(bare)

    return [
        Contender("a bare write", batches(lambda: os.write(bare, line))),
        Contender("a record, without masking", batches(lambda: tape.append("hook_call", DATA))),
        Contender("a record", batches(lambda: masked.append("hook_call", DATA))),
        Contender("a bare write and fsync", batches(written_and_synced)),
        Contender("a record with fsync", batches(lambda: synced.append("hook_call", DATA))),
    ]


def masking(directory: Path) -> list[Contender]:
    """A text of 200 kB, such as a tool reads from a file: looked through for secrets."""
    mask = Masking(values=["canary\u00f6canary"])
    few = " key ".join(PROSE[at : at + TENTH] for at in range(0, len(PROSE), TENTH))

    def of(name: str, text: str) -> Contender:
        return Contender(name, _each(lambda: mask.text(text), 1))

    return [
        of("prose without a hint", PROSE),
        of("prose with ten hints", few),
        of("prose with a secret", f"{PROSE}password=hunter2hunter2"),
        of("a program full of hints", CODE),
    ]


def verifying(directory: Path) -> list[Contender]:
    """A whole tape, by the record."""
    path = directory / "long"
    tape = Tape(path)
    for _ in range(RECORDS):
        tape.append("hook_call", DATA)
    tape.close()
    return [
        fixed("100,000 records a second", 10_000),
        Contender("verify, each record", _each(lambda: verify(path), RECORDS)),
        Contender("read, each record", _each(lambda: sum(1 for _ in read(path)), RECORDS)),
    ]


def replaying(directory: Path) -> list[Contender]:
    """An event with one handler: live on a tape, and replayed with its share of verifying and writing the copy."""
    hooks, path, copy = with_ours(), directory / "events", directory / "copy"
    tape = Tape(path)
    for _ in range(EVENTS):
        hooks.fire(EVENT, tape=tape, **FIELDS)
    tape.close()
    live = Tape(directory / "live")

    def again() -> None:
        if replay(path, copy).divergence is not None:
            raise RuntimeError("the replay was not identical")
        copy.unlink()

    return [
        Contender("live, on a tape", batches(lambda: hooks.fire(EVENT, tape=live, **FIELDS))),
        Contender("replay, each event", _each(again, EVENTS)),
    ]


def _each(work: Callable[[], object], count: int) -> Rounds:
    def once() -> int:
        began = perf_counter_ns()
        work()
        return (perf_counter_ns() - began) // count

    return repeated(once)
