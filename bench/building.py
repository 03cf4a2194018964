"""The two C programs, where there is a compiler for them."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
COMPILERS = ("cc", "gcc", "clang")


@dataclass(frozen=True)
class Programs:
    """What the floor is made of. Without a `floor` program, Python's os.posix_spawn stands in for it."""

    child: str
    floor: str | None

    @property
    def described(self) -> str:
        return "C, posix_spawn" if self.floor else "Python, os.posix_spawn and cat: no C compiler was found"


def built(into: Path) -> Programs:
    """Compile both programs; `cat` and Python where that cannot be done."""
    child = _compiled("child", into)
    floor = _compiled("floor", into)
    if child and floor:
        return Programs(child, floor)
    return Programs(shutil.which("cat") or "/bin/cat", None)


def _compiled(name: str, into: Path) -> str | None:
    """Static where the C library allows it: a dynamic loader is no part of a floor."""
    program = into / name
    for compiler in filter(None, map(shutil.which, (os.environ.get("CC", ""), *COMPILERS))):
        for linking in (["-static"], []):
            command = [compiler, "-O2", *linking, "-o", str(program), str(HERE / f"{name}.c")]
            if subprocess.run(command, capture_output=True, check=False).returncode == 0:
                return str(program)
    return None
