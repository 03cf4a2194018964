"""The ways to run a hook that are measured, each as a function that makes its rounds.

A round that did not end well raises: the time of a failure says nothing.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from time import perf_counter_ns
from typing import Any

from msgspec.structs import replace

from bench.building import Programs
from bench.coprocess import coprocess
from bench.measuring import Rounds, repeated
from hookline import Event, Hook, Hooks, Ruling, engine, waiting
from hookline.compacting import compact
from hookline.planning import plan
from hookline.runners import process
from hookline.tape import iso

INPUT = 1024
EVENT = "PreToolUse"
SESSION = "bench"


def fields(content: str = "") -> dict[str, Any]:
    """The payload of the event that is fired."""
    return {"tool_name": "Write", "tool_input": {"file_path": "notes.txt", "content": content}}


def event_for(hook: Hook) -> Event:
    """An event that comes to exactly as many bytes on this hook's stdin as the floor writes."""
    event = Event(EVENT, fields(), session_id=SESSION, cwd=os.getcwd(), timestamp=iso(0.0))
    missing = INPUT - len(compact(engine.job_of(hook, event).payload))
    return replace(event, payload=fields("x" * missing))


def by_floor(
    programs: Programs, width: int, argv: Sequence[str], env: Mapping[str, str] | None = None
) -> AbstractContextManager[Rounds]:
    """The operating system's own price of `width` processes at once."""
    if programs.floor:
        return coprocess([programs.floor, str(width), *argv], env)
    return nullcontext(repeated(lambda: _spawned(width, argv, os.environ if env is None else env)))


def _spawned(width: int, argv: Sequence[str], env: Mapping[str, str]) -> int:
    began = perf_counter_ns()
    started = [_start(argv, env) for _ in range(width)]
    codes = []
    for pid, *outputs in started:
        for output in outputs:
            while os.read(output, 65536):
                pass
            os.close(output)
        codes.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    took = perf_counter_ns() - began
    if any(codes):
        raise RuntimeError(f"{argv[0]} exited with {max(codes, key=abs)}")
    return took


def _start(argv: Sequence[str], env: Mapping[str, str]) -> tuple[int, int, int]:
    (stdin, feed), (out, stdout), (err, stderr) = os.pipe(), os.pipe(), os.pipe()
    actions = [(os.POSIX_SPAWN_DUP2, fd, number) for number, fd in enumerate((stdin, stdout, stderr))]
    pid = os.posix_spawn(argv[0], tuple(argv), env, file_actions=actions)
    for fd in (stdin, stdout, stderr):
        os.close(fd)
    try:
        os.write(feed, b"x" * INPUT)
    except BrokenPipeError:
        pass  # `python -c pass` does not read
    os.close(feed)
    return pid, out, err


def by_subprocess(argv: Sequence[str]) -> Rounds:
    data = b"x" * INPUT

    def once() -> int:
        began = perf_counter_ns()
        subprocess.run(argv, input=data, capture_output=True, check=True)
        return perf_counter_ns() - began

    return repeated(once)


def by_asyncio(loop: asyncio.AbstractEventLoop, argv: Sequence[str], width: int = 1) -> Rounds:
    data, pipe = b"x" * INPUT, asyncio.subprocess.PIPE

    async def one() -> int | None:
        running = await asyncio.create_subprocess_exec(*argv, stdin=pipe, stdout=pipe, stderr=pipe)
        await running.communicate(data)
        return running.returncode

    async def once() -> int:
        began = perf_counter_ns()
        codes = await asyncio.gather(*(one() for _ in range(width)))
        took = perf_counter_ns() - began
        if any(codes):
            raise RuntimeError(f"{argv[0]} exited with {codes}")
        return took

    return repeated(lambda: loop.run_until_complete(once()))


def by_fire(hooks: Hooks) -> Rounds:
    """A whole event: plan, payload, process, verdict, ruling."""
    payload = event_for(*hooks).payload

    def once() -> int:
        began = perf_counter_ns()
        ruling = hooks.fire(EVENT, session_id=SESSION, **payload)
        took = perf_counter_ns() - began
        _ended_well(ruling, 1)
        return took

    return repeated(once)


def by_fire_async(loop: asyncio.AbstractEventLoop, hooks: Hooks) -> Rounds:
    payload = event_for(*hooks).payload

    async def once() -> int:
        began = perf_counter_ns()
        ruling = await hooks.fire_async(EVENT, session_id=SESSION, **payload)
        took = perf_counter_ns() - began
        _ended_well(ruling, 1)
        return took

    return repeated(lambda: loop.run_until_complete(once()))


def by_wave(hook: Hook, width: int) -> Rounds:
    """A whole event with `width` hooks in one wave: `Hooks.fire` from the plan on.

    The hooks are marked parallel by hand: the same child and payload as everywhere, whichever dialect has waves.
    """
    hooks = [replace(hook, parallel=True)] * width
    event = event_for(hook)

    def once() -> int:
        began = perf_counter_ns()
        ruling = waiting.block(engine.fire(event, plan(hooks, event)))
        took = perf_counter_ns() - began
        _ended_well(ruling, width)
        return took

    return repeated(once)


def by_runner(hook: Hook, width: int) -> Rounds:
    """The process runner alone: what the engine adds is the difference."""
    jobs = [engine.job_of(hook, event_for(hook))] * width

    def once() -> int:
        began = perf_counter_ns()
        outcomes = process.run(jobs)
        took = perf_counter_ns() - began
        if any(outcome.exit_code != 0 for outcome in outcomes):
            raise RuntimeError(f"a hook of the wave failed: {outcomes}")
        return took

    return repeated(once)


def _ended_well(ruling: Ruling, hooks: int) -> None:
    if not ruling.healthy or [report.exit_code for report in ruling.hooks] != [0] * hooks:
        raise RuntimeError(f"a hook failed: {ruling.to_dict()}")
