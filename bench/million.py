"""`python -m bench.million`: a tape of a million records; how fast, and in how much memory, it is written and read."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

RECORDS = 1_000_000
WORKS = {
    "write": "from bench.taping import DATA; t = Tape(path)\nfor _ in range(count): t.append('hook_call', DATA)",
    "verify": "assert tape.verify(path).records == count",
    "read": "assert sum(1 for _ in tape.read(path)) == count",
}
PROGRAM = "import sys\nfrom hookline import Tape, tape\npath, count = sys.argv[1], int(sys.argv[2])\n"


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="hookline-bench-") as folder:
        path = Path(folder, "tape")
        for name, work in WORKS.items():
            began = perf_counter()
            subprocess.run([sys.executable, "-c", PROGRAM + work, str(path), str(RECORDS)], check=True)
            took = perf_counter() - began
            most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
            speed = f"{took:>7.1f} s {RECORDS / took:>10,.0f} a second"
            print(f"{name:<8}{RECORDS:>10,} records {speed}, at most {most:.0f} MB")


if __name__ == "__main__":
    main()
