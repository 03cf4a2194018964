"""`python -m bench`: measure, print the goals beside what is reached."""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from bench.building import built
from bench.comparisons import COMPARISONS, Place
from bench.measuring import interleaved
from bench.report import Result, as_json, as_text

BROKEN = 1
FEWEST = 2
"""Blocks there must be to say anything of their spread."""

EXPLANATION = """\
The contenders of a comparison take turns in small blocks, so that a noisy machine is noisy for all
of them; read the ratios, not the milliseconds. The comparisons:

{comparisons}

The exit code is 0 whether or not the goals are reached, and 1 where something could not be measured.
"""


def main(argv: Sequence[str] | None = None) -> int:
    parser = _parser()
    arguments = parser.parse_args(argv)
    if unknown := [name for name in arguments.comparison if name not in COMPARISONS]:
        parser.error(f"no comparison is called {unknown[0]!r}; there are {', '.join(COMPARISONS)}")
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hookline-bench-")))
        loop = asyncio.new_event_loop()
        stack.callback(loop.close)
        programs = built(directory)
        results = []
        for name in arguments.comparison or COMPARISONS:
            print(f"measuring {COMPARISONS[name].goal} ...", file=sys.stderr)
            try:
                with ExitStack() as inner:
                    results.append(_measured(name, Place(directory, programs, loop, inner), arguments.blocks))
            except (RuntimeError, OSError, subprocess.SubprocessError) as error:
                print(f"bench: {name} could not be measured: {error}", file=sys.stderr)
                return BROKEN
    if arguments.json:
        print(json.dumps(as_json(results, programs), indent=2))
    else:
        print("\n".join(as_text(results, programs)))
    return 0


def _measured(name: str, place: Place, blocks: int | None) -> Result:
    comparison = COMPARISONS[name]
    series = interleaved(comparison.prepare(place), blocks=blocks or comparison.blocks, rounds=comparison.rounds)
    return Result(name, comparison, tuple(series), place.programs)


def _parser() -> argparse.ArgumentParser:
    listed = "\n".join(
        f"  {name:<10} {c.goal}" + (f", at most {c.limit:g} times" if c.limit is not None else "")
        for name, c in COMPARISONS.items()
    )
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description="Measure what hookline costs beside what the operating system costs.",
        epilog=EXPLANATION.format(comparisons=listed),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("comparison", nargs="*", metavar="COMPARISON", help="only these (default: all)")
    parser.add_argument(
        "--blocks",
        type=_blocks,
        metavar="N",
        help="so many turns of each contender (default: 40 to 200); few show that it works, and prove nothing",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


def _blocks(text: str) -> int:
    if not text.isdecimal() or int(text) < FEWEST:
        raise argparse.ArgumentTypeError(f"must be a number from {FEWEST} on, not {text!r}")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
