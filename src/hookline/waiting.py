"""Two ways to drive the engine's steps: by blocking, and on an event loop. Neither knows what the steps mean."""

from __future__ import annotations

from collections.abc import Generator
from functools import cache
from importlib import import_module
from typing import TypeVar, cast

from hookline.model import Job, Outcome, Runner

RUNNERS = {
    "process": "hookline.runners.process",
    "call": "hookline.runners.call",
}
"""A new runner is one file and one line here; each is imported when it is first needed."""

_T = TypeVar("_T")


@cache
def runner(name: str) -> Runner:
    return cast("Runner", import_module(RUNNERS[name]))


def block(steps: Generator[list[Job], list[Outcome], _T], using: Runner | None = None) -> _T:
    """Drive the steps on this thread, with each hook's own runner, or with this one."""
    try:
        jobs = next(steps)
        while True:
            try:
                outcomes = (using or runner(jobs[0].hook.action.runner)).run(jobs)
            except BaseException as error:  # whoever asked for it may have to say so; nobody can go on
                steps.throw(error)
                raise
            jobs = steps.send(outcomes)
    except StopIteration as done:
        result: _T = done.value
        return result
    finally:
        steps.close()


async def on_loop(steps: Generator[list[Job], list[Outcome], _T], using: Runner | None = None) -> _T:
    """Drive the steps on the running event loop, which goes on with other things meanwhile."""
    try:
        jobs = next(steps)
        while True:
            try:
                outcomes = await (using or runner(jobs[0].hook.action.runner)).run_async(jobs)
            except BaseException as error:
                steps.throw(error)
                raise
            jobs = steps.send(outcomes)
    except StopIteration as done:
        result: _T = done.value
        return result
    finally:
        steps.close()
