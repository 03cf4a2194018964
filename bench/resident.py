"""`python -m bench.resident MEGABYTES CONFIG`: fires a hook from a process of that size.

For every number on stdin, as many times; then prints the nanoseconds each took.
"""

from __future__ import annotations

import sys

from bench.contenders import by_fire
from hookline import Hooks

PAGE = 4096


def main(megabytes: str, config: str) -> None:
    held = bytearray(int(megabytes) * 1024 * 1024)
    held[::PAGE] = b"x" * len(held[::PAGE])  # untouched pages are not resident
    hooks = Hooks()
    hooks.load(config)
    rounds = by_fire(hooks)
    for line in sys.stdin:
        print(*rounds(int(line)), sep="\n", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
