"""Programs that write tapes and end in some way: `python writers.py WHAT TAPE …`. Each prints what it did."""

from __future__ import annotations

import itertools
import os
import resource
import signal
import sys

from hookline import Hooks, Tape, TapeError

SAID = "x" * 200


def forever(path: str, durability: str) -> None:
    """Write until somebody ends it; the number of every record is told once it is written."""
    tape = Tape(path, durability=durability)  # type: ignore[arg-type]
    for number in itertools.count(1):
        tape.append("message", {"role": "user", "content": SAID * (number % 40)})
        os.write(1, b"%d\n" % number)


def forked(path: str, lives: str, seed: str) -> None:
    """One short-lived writer after another, each killed at another moment; a torn tail is mended in between."""
    import random
    import time

    from hookline.tape import read, repair

    chance, told = random.Random(float(seed)), 0
    for _ in range(int(lives)):
        ours, theirs = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(ours)
            tape = Tape(path)
            for number in itertools.count(told + 1):
                tape.append("message", {"n": number, "content": SAID * (number % 400)})
                os.write(theirs, b"%d\n" % number)
        os.close(theirs)
        with os.fdopen(ours, "rb") as pipe:
            pipe.readline()
            time.sleep(chance.random() * 0.004)
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            pipe.read()
        repair(path)
        told = max(record.data["n"] for record in read(path) if record.kind == "message")
    os.write(1, b"".join(b"%d\n" % number for number in range(1, told + 1)))


def interrupted(path: str) -> None:
    """Write 400 records, and go on with the next one whenever Ctrl-C comes."""
    tape, left, armed = Tape(path), 400, [False]

    def interrupt(number: int, frame: object) -> None:
        if armed[0]:  # once, until it is armed again: nothing may come between this and the next record
            armed[0] = False
            raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    os.write(1, b"ready\n")
    while left > 0:
        try:
            armed[0] = True
            tape.append("message", {"content": SAID})
            left -= 1
            armed[0] = False
        except KeyboardInterrupt:
            pass
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    tape.close()


def full(path: str, limit: str) -> None:
    """Write until the disk is full; then make room, and go on."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), hard))
    tape, written = Tape(path), 0
    try:
        while True:
            tape.append("message", {"content": SAID})
            written += 1
    except TapeError as error:
        print(error)
    try:
        Hooks().fire("Stop", tape=tape)
    except TapeError as error:
        print(error)
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    tape.append("message", {"content": "there is room again"})
    print(written + 1)


def many(path: str, count: str) -> None:
    """So many records in the shape of a real session's."""
    tape = Tape(path, clock=lambda: 1.0)
    data = {"event": "PreToolUse", "handler": "guard.sh", "dialect": "harness", "source": "settings.json#/hooks/0"}
    for number in range(int(count)):
        tape.append("hook_call", {**data, "surface": "tool", "payload": {"tool_name": "Bash", "n": number}})
    tape.close()


def peak(verb: str, path: str) -> None:
    """Read or verify a tape; the most memory this took, in kilobytes."""
    from hookline.tallying import tallied
    from hookline.tape import read, verify

    done = {"verify": lambda: verify(path).records, "read": lambda: sum(1 for _ in read(path)),
            "stats": lambda: tallied(read(path))["records"]}[verb]()  # fmt: skip
    print(done, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
