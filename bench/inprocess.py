"""What an event costs without any process: beside plain function calls, beside pluggy, beside itself.

A plain call is that of an empty function that names the parameters it is given: the cheapest there is. Nothing
here waits, so what counts is the time of the processor: a machine that does something else meanwhile would make a long
batch look longer than many short ones.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine
from time import perf_counter_ns, thread_time_ns
from typing import Any

from bench.measuring import Contender, Rounds
from hookline import Hooks, Ruling

BATCH = 100
"""Calls that are timed together: one alone takes less time than looking at the clock twice."""

MORE = 10
MANY = 1000
EVENT = "PreToolUse"
TOOL = "Bash"
FIELDS: dict[str, Any] = {"tool_name": TOOL, "tool_input": {"command": "ls"}, "session_id": "bench", "cwd": os.getcwd()}
AFTER: dict[str, Any] = FIELDS | {"tool_output": "README.md"}
STEP: dict[str, Any] = {
    "persona": "captain", "step": {"name": "audit", "args": ["main"]}, "session_id": "bench", "cwd": os.getcwd(),
}  # fmt: skip
PROMPT: dict[str, Any] = {"prompt": "list the files", "session_id": "bench", "cwd": os.getcwd()}

Handler = Callable[[dict[str, Any]], None]


def calls(function: Callable[..., Any], *args: Any, fields: dict[str, Any] = FIELDS) -> Rounds:
    """The same call over and over; the time of one is that of a batch, divided."""

    def once() -> int:
        began = thread_time_ns()
        for _ in range(BATCH):
            function(*args, **fields)
        return (thread_time_ns() - began) // BATCH

    return lambda count: [once() for _ in range(count)]


def plain_call() -> Contender:
    def plain(event: str, /, *, tool_name: str, tool_input: Any, session_id: str, cwd: str) -> None:
        pass

    return Contender("a plain call", calls(plain, EVENT))


def handler() -> Handler:
    """A handler with nothing to say; each is a function of its own."""
    return lambda payload: None


def with_ours(count: int = 1) -> Hooks:
    hooks = Hooks()
    for _ in range(count):
        hooks.on(EVENT, match=TOOL)(handler())
    return hooks


def with_harns(count: int = 1) -> Hooks:
    hooks = Hooks()
    for _ in range(count):
        hooks.register_tool_hook(pattern=TOOL, pre=handler())
    return hooks


def with_prompts(count: int = 1) -> Hooks:
    hooks = Hooks()
    for _ in range(count):
        hooks.register_session_hook("user_prompt_submit", handler())
    return hooks


def with_posts(count: int = 1) -> Hooks:
    hooks = Hooks()
    for _ in range(count):
        hooks.register_tool_hook(pattern=TOOL, post=handler())
    return hooks


def with_steps(count: int = 1) -> Hooks:
    hooks = Hooks()
    for _ in range(count):
        hooks.register_step_hook("cap*", "audit", "PreStep", handler())
    return hooks


def fires(name: str, hooks: Hooks, ran: int, event: str = EVENT, fields: dict[str, Any] = FIELDS) -> Contender:
    """Events at these hooks, of which so many run."""
    _as_meant(hooks.fire(event, **fields), ran)
    return Contender(name, calls(hooks.fire, event, fields=fields))


def further(name: str, make: Callable[[int], Hooks], event: str = EVENT, fields: dict[str, Any] = FIELDS) -> Contender:
    """What one more handler adds: what a batch of events costs with some more, less what it costs with one."""
    few, many = (calls(make(count).fire, event, fields=fields) for count in (1, 1 + MORE))

    def rounds(count: int) -> list[int]:
        return [(b - a) // MORE for a, b in zip(few(count), many(count), strict=True)]

    return Contender(name, rounds)


def nobody() -> list[Contender]:
    elsewhere = Hooks()
    elsewhere.on("Stop")(handler())
    return [
        plain_call(),
        fires("hooks.fire, a tool", elsewhere, 0),
        fires("hooks.fire, a prompt", elsewhere, 0, "UserPromptSubmit", PROMPT),
    ]


def one() -> list[Contender]:
    return [
        plain_call(),
        fires("hooks.fire, a handler of ours", with_ours(), 1),
        fires("hooks.fire, a handler of Harn", with_harns(), 1),
        fires("hooks.fire, of a prompt", with_prompts(), 1, "UserPromptSubmit", PROMPT),
        fires("hooks.fire, of a step", with_steps(), 1, "PreStep", STEP),
        fires("hooks.fire, after a tool", with_posts(), 1, "PostToolUse", AFTER),
    ]


def more() -> list[Contender]:
    return [
        plain_call(),
        further("one more of ours", with_ours),
        further("one more of Harn", with_harns),
        further("one more of a prompt", with_prompts, "UserPromptSubmit", PROMPT),
        further("one more of a step", with_steps, "PreStep", STEP),
        further("one more after a tool", with_posts, "PostToolUse", AFTER),
    ]


def pluggy() -> list[Contender]:
    """The same call of the same handler through pluggy: a hook with a specification, one plugin that implements it.

    The goal is pluggy as it is. It checks no value, times nothing and lets an exception through, so beside it runs
    one that is monitored: the nearest it has to a report of what was called, and how long it took.
    """
    from pluggy import HookimplMarker, HookspecMarker, PluginManager

    class Specification:
        @HookspecMarker("bench")
        def pre_tool_use(self, tool_name: str, tool_input: Any, session_id: str, cwd: str) -> None: ...

    class Plugin:
        @HookimplMarker("bench")
        def pre_tool_use(self, tool_name: str, tool_input: Any, session_id: str, cwd: str) -> None: ...

    def manager() -> PluginManager:
        made = PluginManager("bench")
        made.add_hookspecs(Specification)
        made.register(Plugin())
        return made

    began: list[int] = []
    took: list[tuple[str, int]] = []
    monitored = manager()
    monitored.add_hookcall_monitoring(
        lambda name, implementations, arguments: began.append(perf_counter_ns()),
        lambda outcome, name, implementations, arguments: took.append((name, perf_counter_ns() - began.pop())),
    )
    return [
        Contender("pluggy", calls(manager().hook.pre_tool_use)),
        Contender("pluggy, monitored", calls(monitored.hook.pre_tool_use)),
        fires("hooks.fire, a handler of ours", with_ours(), 1),
        fires("hooks.fire, a handler of Harn", with_harns(), 1),
    ]


def many() -> list[Contender]:
    """Exact names, globs and expressions that do not match, and one handler that does, in the middle."""
    crowd = Hooks()
    for number in range(MANY - 1):
        if number == MANY // 2:
            crowd.on(EVENT, match=TOOL)(handler())
        match = f"Tool{number}" if number % 2 else f"*tool{number}*"
        if number % 3:
            crowd.on(EVENT, match=match)(handler())
        else:
            crowd.register_tool_hook(pattern=match, pre=handler())
    return [fires("one registered hook", with_ours(), 1), fires(f"{MANY} registered hooks", crowd, 1)]


def many_after() -> list[Contender]:
    """The same after a tool, where hooks also look at whether it succeeded."""
    crowd = Hooks()
    for number in range(MANY):
        crowd.register_tool_hook(pattern=TOOL if number == MANY // 2 else f"Tool{number}", post=handler())
    names = "one hook after tools", f"{MANY} hooks after tools"
    return [
        fires(name, hooks, 1, "PostToolUse", AFTER) for name, hooks in zip(names, (with_posts(), crowd), strict=True)
    ]


def many_steps() -> list[Contender]:
    """The same of steps, where hooks look at two names."""
    crowd = Hooks()
    for number in range(MANY):
        step = "audit" if number == MANY // 2 else f"step{number}"
        crowd.register_step_hook("cap*", step, "PreStep", handler())
    names = "one hook of a step", f"{MANY} hooks of steps"
    return [fires(name, hooks, 1, "PreStep", STEP) for name, hooks in zip(names, (with_steps(), crowd), strict=True)]


def asynchronous(loop: asyncio.AbstractEventLoop) -> list[Contender]:
    """Handlers awaited inside an event loop: one that never suspends must get by without a task and a timer."""

    async def waits(payload: dict[str, Any]) -> None:
        pass

    hooks = Hooks()
    hooks.on(EVENT, match=TOOL)(waits)
    return [
        Contender("fire_async, a sync handler", _on_loop(loop, with_ours())),
        Contender("fire_async, an async handler", _on_loop(loop, hooks)),
    ]


def _on_loop(loop: asyncio.AbstractEventLoop, hooks: Hooks) -> Rounds:
    async def once() -> int:
        began = thread_time_ns()
        for _ in range(BATCH):
            ruling = await hooks.fire_async(EVENT, **FIELDS)
        took = thread_time_ns() - began
        _as_meant(ruling, 1)
        return took // BATCH

    def rounds(count: int) -> list[int]:
        return [loop.run_until_complete(once()) for _ in range(count)]

    if extra := loop.run_until_complete(_scheduled(hooks)):
        raise RuntimeError(f"firing scheduled {', '.join(extra)}")
    return rounds


async def _scheduled(hooks: Hooks) -> list[str]:
    """The tasks and timers that one event sets up on the running loop."""
    loop: Any = asyncio.get_running_loop()
    found: list[str] = []

    def make(of: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, Any], **options: Any) -> asyncio.Task[Any]:
        found.append("a task")
        return asyncio.Task(work, loop=of, **options)

    def call_at(*args: Any, **options: Any) -> Any:
        found.append("a timer")
        return type(loop).call_at(loop, *args, **options)

    loop.set_task_factory(make)
    loop.call_at = call_at
    try:
        await hooks.fire_async(EVENT, **FIELDS)
    finally:
        loop.set_task_factory(None)
        del loop.call_at
    return found


def _as_meant(ruling: Ruling, ran: int) -> None:
    if not ruling.healthy or [report.status for report in ruling.hooks].count("ran") != ran:
        raise RuntimeError(f"not the hooks that were meant: {ruling.to_dict()}")
