"""A program that does as many rounds as it is told to, and answers with the nanoseconds each took."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from bench.measuring import Rounds

PATIENCE = 10.0


@contextmanager
def coprocess(argv: Sequence[str], env: Mapping[str, str] | None = None) -> Iterator[Rounds]:
    """Its rounds, as long as it is held. We sleep until all of them are done."""
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        asks, answers = program.stdin.fileno(), program.stdout

        def rounds(count: int) -> list[int]:
            try:
                os.write(asks, b"%d\n" % count)  # a buffer would be flushed again, and fail again, at the end
            except BrokenPipeError:
                pass  # its exit status, below, says more
            lines = [answers.readline() for _ in range(count)]
            if not all(lines):
                raise RuntimeError(f"{argv[0]} ended with {program.wait(PATIENCE)} in the middle of a measurement")
            return [int(line) for line in lines]

        try:
            yield rounds
        finally:
            program.kill()
