"""The short way: none of the handlers that an event concerns has anything to say, which is so most of the time.

Where all hooks of a plan are Python handlers that run one after another, what their silence comes to is known
beforehand, and the engine is not needed. The first handler that does say something ends the short way: the engine
takes over, with what was answered so far, and nobody is called twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter_ns
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hookline.dialects import dialect
from hookline.handlers import Handler
from hookline.model import BeforeTool, Event, Report, Ruling
from hookline.planning import Plan
from hookline.registry import Listeners
from hookline.runners.call import Begun
from hookline.sequences import Reports

EVENT = "PreToolUse"


def asked(plan: Plan, event: Event, before: Sequence[float | None] = ()) -> Begun | Ruling | None:
    """Ask the handlers of a plan: the ruling if none of them has anything to say, else how far it got.

    Those who had nothing to say `before` took so long. None where the plan is not made of handlers alone.
    """
    if plan.calls is None:
        return None
    took = [*before]
    began = perf_counter_ns()
    try:
        for entry in plan.calls[len(took) :]:
            hook: Any = entry.hook
            answer = hook.action.handler(dialect(hook.dialect).encode(hook, event))
            ended = perf_counter_ns()
            took.append((ended - began) // 1000 / 1000)
            if answer is not None:
                return Begun(took, answer)
            began = ended
    except (Exception, SystemExit) as error:  # noqa: BLE001  (its dialect says what a raise means)
        return Begun([*took, (perf_counter_ns() - began) // 1000 / 1000], None, error)
    return Ruling(plan.event, hooks=Reports(plan.reports, partial(_timed, plan, took)))


async def asked_async(plan: Plan, event: Event) -> Begun | Ruling | None:
    """The same on an event loop: a handler that is async is awaited, in the task that fires."""
    said = asked(plan, event)
    while isinstance(said, Begun) and said.waits:
        said = await said.awaited()
        if said.answer is not None or said.error is not None:
            break
        said = asked(plan, event, said.took)
    return said


def _timed(plan: Plan, took: list[float | None]) -> dict[int, Report]:
    calls = plan.calls or ()
    return {
        each.index: replace(plan.reports[each.index], duration_ms=time) for each, time in zip(calls, took, strict=True)
    }


class Shortcut(Struct, frozen=True):
    """The same before a tool is called, where not even an event is made: the payload of each handler is made at once.

    `steps` are the handlers, numbered, each with what makes its payload; `ruling` is what their silence comes to, and
    is not timed: to look at the clock takes longer than most handlers. `placed` says that one of them is told the
    working directory and the time.
    """

    plan: Plan
    steps: tuple[tuple[int, Handler, Callable[..., dict[str, Any]]], ...]
    ruling: Ruling
    placed: bool


def remember(listeners: Listeners, tool: str, plan: Plan) -> None:
    """Keep the shortcut of a tool; None where its plan has none, or depends on more than the tool."""
    if tool in listeners.shortcuts or tool.__class__ is not str:
        return
    found = None
    if listeners.fields in ((), ("tool_name",)):
        known = listeners.known.get((tool,) if listeners.fields else ())
        if listeners and known is None:  # forgotten meanwhile: nobody knows what the plan depends on
            return
        found = _shortcut(plan) if known is plan or not listeners else None
    if len(listeners.shortcuts) >= listeners.many:
        listeners.shortcuts.clear()
    listeners.shortcuts[tool] = found


def _shortcut(plan: Plan) -> Shortcut | None:
    if plan.calls is None:
        return None
    steps, placed = [], False
    for number, entry in enumerate(plan.calls):
        hook: Any = entry.hook
        told: BeforeTool = getattr(dialect(hook.dialect), "BEFORE_TOOL")  # noqa: B009
        steps.append((number, hook.action.handler, told.encode))
        placed = placed or told.placed
    return Shortcut(plan, tuple(steps), Ruling(EVENT, hooks=Reports(plan.reports)), placed)
