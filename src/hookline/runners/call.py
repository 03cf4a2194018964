"""The call runner: Python handlers, on the thread or the event loop of whoever fires.

A handler that is awaitable is awaited where there is a loop; without one it gets a loop of its own.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Awaitable, Sequence
from time import perf_counter_ns
from types import CoroutineType, GeneratorType
from typing import Any

from hookline.errors import UsageError
from hookline.model import Job, Outcome, Verdict
from hookline.wording import told

NEVER_AWAITED = frozenset({type(None), bool, str, dict, list, tuple, Verdict})
"""What handlers answer with: to ask whether one of these is awaitable takes longer than most handlers."""

ITERABLE_COROUTINE = 0x100
"""The flag of generators made with `types.coroutine`."""

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
            outcomes.append(_raised(error, _since(began)))
            continue
        if value.__class__ not in NEVER_AWAITED and _awaitable(value):
            outcomes.append(_waited_for(value, job.hook.name, began))
        else:
            outcomes.append(Outcome("returned", value=value, duration_ms=_since(began)))
    return outcomes


class Begun:
    """Goes on where somebody else began: who was called already is not called again, the rest is called now.

    `took` has the time of each that was called, None where nobody looked at the clock. All but the last had nothing to
    say; the last answered, or raised. What an answer came to that was `waited_for` is not awaited once more.
    """

    def __init__(
        self, took: list[float | None], answer: Any, error: BaseException | None = None, *, waited_for: bool = False
    ) -> None:
        self.took, self.answer, self.error = took, answer, error
        self._left, self._waited_for = deque(took), waited_for

    @property
    def waits(self) -> bool:
        """Whether the answer has to be awaited."""
        return not self._waited_for and self.answer.__class__ not in NEVER_AWAITED and _awaitable(self.answer)

    async def awaited(self) -> Begun:
        """The same with what the answer comes to."""
        began = perf_counter_ns()
        try:
            answer, error = await self.answer, None
        except (Exception, SystemExit) as raised:  # noqa: BLE001
            answer, error = None, raised
        return Begun([*self.took[:-1], _since(began)], answer, error, waited_for=True)

    def run(self, jobs: Sequence[Job]) -> list[Outcome]:
        if not self._left:
            return run(jobs)
        took = self._left.popleft()
        if self._left:
            return [Outcome("returned", duration_ms=took)]
        if self.error is not None:
            return [_raised(self.error, took)]
        if self.waits:
            return [_waited_for(self.answer, jobs[0].hook.name, perf_counter_ns())]
        return [Outcome("returned", value=self.answer, duration_ms=took)]

    async def run_async(self, jobs: Sequence[Job]) -> list[Outcome]:
        return self.run(jobs) if self._left else await run_async(jobs)


async def run_async(jobs: Sequence[Job]) -> list[Outcome]:
    """The same inside an event loop: an async handler is awaited in the task that fires, without one of its own."""
    outcomes = []
    for job in jobs:
        action: Any = job.hook.action
        began = perf_counter_ns()
        try:
            value = action.handler(job.payload)
            if value.__class__ not in NEVER_AWAITED and _awaitable(value):
                value = await value
        except (Exception, SystemExit) as error:  # noqa: BLE001
            outcomes.append(_raised(error, _since(began)))
        else:
            outcomes.append(_returned(value, began))
    return outcomes


def _awaitable(value: Any) -> bool:
    """What `inspect.isawaitable` says; to import that takes longer than most hooks."""
    of_generator = isinstance(value, GeneratorType) and value.gi_code.co_flags & ITERABLE_COROUTINE
    return isinstance(value, Awaitable) or bool(of_generator)


def _waited_for(value: Awaitable[Any], name: str, began: int) -> Outcome:
    _outside_of_loops(value, name, INSTEAD)
    try:
        return _returned(awaited(value, name, INSTEAD), began)
    except (Exception, SystemExit) as error:  # noqa: BLE001
        return _raised(error, _since(began))


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
    if isinstance(value, CoroutineType):
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
    return Outcome("returned", value=value, duration_ms=_since(began))


def _since(began: int) -> float:
    """Milliseconds, to a thousandth."""
    return (perf_counter_ns() - began) // 1000 / 1000


def _raised(error: BaseException, took: float | None) -> Outcome:
    return Outcome(
        "raised",
        error=f"raised {told(error)}",
        exception=error,
        duration_ms=took,
    )
