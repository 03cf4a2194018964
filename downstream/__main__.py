"""`python -m downstream`: play every case on both sides, print where they agree and where and why they differ."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from downstream.cases import LEFT_OUT, Case, cases
from downstream.explaining import Line, compared, table

HERE = Path(__file__).parent
PACKAGE = HERE / "node_modules" / "@google" / "gemini-cli-core" / "package.json"
INSTALL = ("npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts", "--omit=optional")
MARK = "<!-- everything below is written by `python -m downstream --write` -->"
PATIENCE = 600
"""Seconds the installation may take."""


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m downstream", description=__doc__, allow_abbrev=False)
    parser.add_argument("part", nargs="*", help="only cases whose name holds one of these")
    parser.add_argument("--list", action="store_true", help="list the cases, play none; needs no network")
    parser.add_argument("--differences", action="store_true", help="leave out the cases that agree")
    parser.add_argument("--write", action="store_true", help="put the table into README.md as well")
    arguments = parser.parse_args(argv)
    chosen = [case for case in cases() if not arguments.part or any(part in case.name for part in arguments.part)]
    if arguments.list:
        _say("\n".join(f"{case.name}: {case.states}" for case in chosen))
        _say("\n".join(f"left out: tables/{name}, for {why}" for name, why in LEFT_OUT.items()))
        return 0
    if problem := _installed():
        _say(f"Nothing was compared: @google/gemini-cli-core cannot be installed here, for {problem}.")
        return 0
    lines = _played(chosen)
    found = table(lines, differences_only=arguments.differences)
    _say(found)
    if arguments.write:
        readme = HERE / "README.md"
        head = readme.read_text(encoding="utf-8").partition(MARK)[0]
        readme.write_text(f"{head}{MARK}\n\n{found}\n", encoding="utf-8")
    return 1 if any(line.bad for line in lines) else 0


def _installed() -> str:
    """Install the package beside this file; why not, if it cannot be."""
    if PACKAGE.exists():
        return ""
    if not (shutil.which("npm") and shutil.which("node")):
        return "there is no npm"
    try:
        done = subprocess.run(INSTALL, cwd=HERE, capture_output=True, text=True, check=False, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return f"npm took longer than {PATIENCE} seconds"
    return "" if PACKAGE.exists() else f"npm ended with exit code {done.returncode}"


def _played(chosen: Sequence[Case]) -> list[Line]:
    from downstream.playing import ours, theirs  # the list of cases needs neither hookline nor Google's SDK

    with tempfile.TemporaryDirectory(prefix="downstream-") as name:
        base = Path(name).resolve()
        (base / "home").mkdir()
        places = [f"{number:03}" for number in range(len(chosen))]
        them = theirs(chosen, [base / "theirs" / place for place in places], base / "home")
        us = [ours(case, base / "ours" / place) for case, place in zip(chosen, places, strict=True)]
    return [line for case, our, their in zip(chosen, us, them, strict=True) for line in compared(case.name, our, their)]


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


if __name__ == "__main__":
    sys.exit(main())
