"""The call runner: Python handlers, on the thread or the event loop of whoever fires.

A handler that is awaitable is awaited where there is a loop; without one it gets a loop of its own.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Sequence
from inspect import isawaitable, iscoroutine
from time import perf_counter_ns
from typing import Any

from hookline.errors import UsageError
from hookline.model import Job, Outcome, Verdict

NEVER_AWAITED = frozenset({type(None), bool, str, dict, list, tuple, Verdict})
"""What handlers answer with: to ask whether one of these is awaitable takes longer than most handlers."""

INSTEAD = "`await hooks.fire_async(...)` (of a session: `async with`, and each call's twin with `_async`)"


def run(jobs: Sequence[Job]) -> list[Outcome]:
    """Call one after another; what a handler raises is an outcome."""
    outcomes = []
    for job in jobs:
        action: Any = job.hook.action
        began = perf_counter_ns()
        try:
            value = action.handler(job.payload)
        except (Exception, SystemExit) as error:  # noqa: BLE001  (its dialect says what a raise means)
            outcomes.append(_raised(error, began))
            continue
        if value.__class__ not in NEVER_AWAITED and isawaitable(value):
            outcomes.append(_waited_for(value, job.hook.name, began))
        else:
            outcomes.append(Outcome("returned", value=value, duration_ms=(perf_counter_ns() - began) // 1000 / 1000))
    return outcomes


async def run_async(jobs: Sequence[Job]) -> list[Outcome]:
    """The same inside an event loop: an async handler is awaited in the task that fires, without one of its own."""
    outcomes = []
    for job in jobs:
        action: Any = job.hook.action
        began = perf_counter_ns()
        try:
            value = action.handler(job.payload)
            if value.__class__ not in NEVER_AWAITED and isawaitable(value):
                value = await value
        except (Exception, SystemExit) as error:  # noqa: BLE001
            outcomes.append(_raised(error, began))
        else:
            outcomes.append(_returned(value, began))
    return outcomes


def _waited_for(value: Awaitable[Any], name: str, began: int) -> Outcome:
    _outside_of_loops(value, name, INSTEAD)
    try:
        return _returned(awaited(value, name, INSTEAD), began)
    except (Exception, SystemExit) as error:  # noqa: BLE001
        return _raised(error, began)


def awaited(value: Awaitable[Any], name: str, instead: str) -> Any:
    """Await outside of any loop, on one of its own."""
    _outside_of_loops(value, name, instead)
    import asyncio

    async def wait() -> Any:
        return await value

    return asyncio.run(wait())


def _outside_of_loops(value: Awaitable[Any], name: str, instead: str) -> None:
    """A loop that runs on this thread cannot wait for a second one inside it: whoever called has to await instead."""
    if not _loop_runs_here():
        return
    if iscoroutine(value):
        value.close()
    raise UsageError(f"{name} is async and was called inside a running event loop; write {instead} there")


def _loop_runs_here() -> bool:
    if "asyncio" not in sys.modules:
        return False
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _returned(value: Any, began: int) -> Outcome:
    return Outcome("returned", value=value, duration_ms=(perf_counter_ns() - began) // 1000 / 1000)


def _raised(error: BaseException, began: int) -> Outcome:
    return Outcome(
        "raised",
        error=f"raised {type(error).__name__}: {error}",
        exception=error,
        duration_ms=(perf_counter_ns() - began) // 1000 / 1000,
    )
