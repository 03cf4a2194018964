"""What is compared with what, and the goal of each comparison."""

from __future__ import annotations

import json
import os
import shutil
import sys
import sysconfig
from asyncio import AbstractEventLoop
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bench import inprocess, taping
from bench.building import Programs
from bench.contenders import (
    EVENT,
    by_asyncio,
    by_fire,
    by_fire_async,
    by_floor,
    by_runner,
    by_subprocess,
    by_wave,
    event_for,
)
from bench.coprocess import coprocess
from bench.measuring import Contender
from hookline import Hooks

WIDTH = 8
MEGABYTES = 500

BASH_HOOK = """\
#!{bash}
INPUT=$(cat)
case "$INPUT" in
  *'rm -rf'*) echo '{{"decision":"block","message":"no"}}' ;;
  *) echo '{{"continue":true}}' ;;
esac
"""


@dataclass(frozen=True)
class Place:
    """Where the benchmark works: its directory, its programs, its event loop, what is closed at the end."""

    directory: Path
    programs: Programs
    loop: AbstractEventLoop
    stack: ExitStack

    def floor(self, name: str, *argv: str, width: int = 1, env: dict[str, str] | None = None) -> Contender:
        return Contender(name, self.stack.enter_context(by_floor(self.programs, width, argv, env)))

    def config(self, path: str) -> str:
        """A configuration of The Harness with one hook."""
        file = self.directory / f"{Path(path).name}.settings.json"
        file.write_text(json.dumps({"hooks": {EVENT: [{"path": path}]}}))
        return str(file)

    def hooks(self, path: str) -> Hooks:
        hooks = Hooks()
        hooks.load(self.config(path), "harness")
        return hooks


@dataclass(frozen=True)
class Comparison:
    """Contenders for one work. The first is what the others are measured by; the goal is set for the one named `aim`.

    Without a limit it is for orientation. `rate` is what the times are told in, by the second, too.
    A goal `against_c` says nothing where the floor had to be made in Python, which is slower than C.
    """

    goal: str
    limit: float | None
    aim: str
    prepare: Callable[[Place], list[Contender]]
    blocks: int
    rounds: int
    against_c: bool = True
    unit: Literal["ms", "us"] = "ms"
    rate: str = ""


def static(place: Place) -> list[Contender]:
    child = place.programs.child
    hooks = place.hooks(child)
    (hook,) = hooks
    return [
        place.floor("floor", child),
        Contender("subprocess.run", by_subprocess([child])),
        Contender("asyncio", by_asyncio(place.loop, [child])),
        Contender("hooks.fire", by_fire(hooks)),
        Contender("hooks.fire_async", by_fire_async(place.loop, hooks)),
        Contender("the process runner alone", by_runner(hook, 1)),
    ]


def wave(place: Place) -> list[Contender]:
    child = place.programs.child
    (hook,) = place.hooks(child)
    return [
        place.floor("floor, eight at once", child, width=WIDTH),
        Contender("asyncio, gathered", by_asyncio(place.loop, [child], WIDTH)),
        Contender("wave of eight", by_wave(hook, WIDTH)),
        Contender("the process runner alone", by_runner(hook, WIDTH)),
    ]


def bash(place: Place) -> list[Contender]:
    shell = shutil.which("bash") or "/bin/bash"
    script = place.directory / "hook.sh"
    script.write_text(BASH_HOOK.format(bash=shell))
    script.chmod(0o755)
    return [
        place.floor("bare bash", str(script)),
        Contender("subprocess.run", by_subprocess([str(script)])),
        Contender("hooks.fire", by_fire(place.hooks(str(script)))),
    ]


def resident(place: Place) -> list[Contender]:
    config = place.config(place.programs.child)
    sizes = {"small process": 0, f"{MEGABYTES} MB process": MEGABYTES}
    return [
        Contender(
            name,
            place.stack.enter_context(coprocess([sys.executable, "-m", "bench.resident", str(size), config])),
        )
        for name, size in sizes.items()
    ]


def cold(place: Place) -> list[Contender]:
    script = Path(sysconfig.get_path("scripts"), "hookline")
    command = [str(script)] if script.exists() else [sys.executable, "-m", "hookline"]
    config = place.config(place.programs.child)
    # What is installed has its bytecode beside it; here it must not be written into the source tree.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    env["PYTHONPYCACHEPREFIX"] = str(place.directory / "bytecode")
    payload = event_for(*place.hooks(place.programs.child)).payload
    arguments = ["fire", EVENT, "--config", config, "--payload", json.dumps(payload), "--json"]
    return [
        place.floor("python -c pass", sys.executable, "-c", "pass", env=env),
        place.floor("hookline fire", *command, *arguments, env=env),
    ]


def on_tape(
    goal: str, limit: float | None, aim: str, contenders: Callable[[Path], list[Contender]], blocks: int, rate: str
) -> Comparison:
    """A comparison of what is done with a tape, each in a directory of its own."""

    def prepare(place: Place) -> list[Contender]:
        directory = place.directory / f"tape-{rate}-{aim.replace(' ', '-')}"
        directory.mkdir()
        return contenders(directory)

    return Comparison(goal, limit, aim, prepare, blocks, 2, False, "us", rate)


def in_process(goal: str, limit: float, aim: str, contenders: Callable[[], list[Contender]]) -> Comparison:
    """A comparison without any process: many short rounds."""
    return Comparison(goal, limit, aim, lambda place: contenders(), 100, 3, False, "us")


COMPARISONS = {
    "static": Comparison("one static command hook", 1.5, "hooks.fire", static, 200, 5),
    "wave": Comparison("eight in a wave", 1.35, "wave of eight", wave, 120, 3),
    "bash": Comparison("a bash hook", 1.10, "hooks.fire", bash, 120, 3),
    "resident": Comparison(
        f"a hook of a {MEGABYTES} MB process", 1.10, f"{MEGABYTES} MB process", resident, 200, 5, False
    ),
    "cold": Comparison("a cold `hookline fire`", 5.0, "hookline fire", cold, 40, 2, False),
    "nobody": in_process("nobody listens, in plain calls", 10, "hooks.fire, a prompt", inprocess.nobody),
    "handler": in_process("one handler, in plain calls", 30, "hooks.fire, of a step", inprocess.one),
    "further": in_process("each further one, in plain calls", 8, "one more of a step", inprocess.more),
    "pluggy": in_process("one handler, beside pluggy", 0.5, "hooks.fire, a handler of Harn", inprocess.pluggy),
    "many": in_process("one of 1000 hooks matches", 1.5, "1000 registered hooks", inprocess.many),
    "after": in_process("one of 1000, after a tool", 1.5, "1000 hooks after tools", inprocess.many_after),
    "steps": in_process("one of 1000, of steps", 1.5, "1000 hooks of steps", inprocess.many_steps),
    "async": Comparison(
        "async that never suspends",
        1.5,
        "fire_async, an async handler",
        lambda place: inprocess.asynchronous(place.loop),
        100,
        3,
        False,
        "us",
    ),
    "record": on_tape("a record of a tape", None, "a record", taping.record, 40, "records"),
    "mask": on_tape("masking 200 kB of text", 5.0, "prose with ten hints", taping.masking, 20, "texts"),
    "verify": on_tape("verifying, 10 us a record", 1.0, "verify, each record", taping.verifying, 10, "records"),
    "replay": on_tape("replaying an event", None, "replay, each event", taping.replaying, 10, "events"),
}
