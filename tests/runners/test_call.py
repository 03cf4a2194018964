"""The call runner: whatever can be called with a payload, with an event loop and without one."""

from __future__ import annotations

import asyncio
import functools
import threading
import types
from collections.abc import Awaitable, Callable, Coroutine, Generator
from typing import Any

import pytest

from hookline import BadAnswer, HookError, Hooks, UsageError, Verdict, context, deny
from hookline.model import Call, Hook, Job, Outcome, Source
from hookline.runners import call

TOOL = {"tool_name": "Bash", "tool_input": {"command": "ls"}}
SWALLOWED = {
    "SessionEnd": {},
    "SessionError": {},
    "PermissionReplied": TOOL,
    "FileEdited": {"path": "a.py"},
}
LOUD = {
    "SessionStart": {},
    "UserPromptSubmit": {"prompt": "p"},
    "PreCompact": {},
    "PostCompact": {},
    "PostTurn": {},
    "SessionIdle": {},
    "PermissionAsked": TOOL,
    "PreFinish": {},
    "OnUnsettledDetected": {},
    "PostFinish": {},
}


def job(handler: Callable[[dict[str, Any]], Any], **payload: Any) -> Job:
    return Job(Hook("h", "PreToolUse", "harn", Source("f"), Call(handler, "h")), payload, "/")


# -- everything that can be called


def sync(payload: dict[str, Any]) -> Any:
    return {"deny": payload["tool"]["name"]}


async def unhurried(payload: dict[str, Any]) -> Any:
    await asyncio.sleep(0)
    return {"deny": payload["tool"]["name"]}


def extra(word: str, payload: dict[str, Any], *, end: str = "") -> Any:
    return {"deny": word + payload["tool"]["name"] + end}


class Guard:
    """A guard with methods of every kind."""

    def method(self, payload: dict[str, Any]) -> Any:
        return sync(payload)

    async def unhurried(self, payload: dict[str, Any]) -> Any:
        return await unhurried(payload)

    @classmethod
    def of_the_class(cls, payload: dict[str, Any]) -> Any:
        return sync(payload)

    @staticmethod
    def static(payload: dict[str, Any]) -> Any:
        return sync(payload)

    @staticmethod
    async def static_async(payload: dict[str, Any]) -> Any:
        return await unhurried(payload)

    def __call__(self, payload: dict[str, Any]) -> Any:
        return sync(payload)


class AsyncGuard:
    async def __call__(self, payload: dict[str, Any]) -> Any:
        return await unhurried(payload)


class Promise:
    """Something that can be awaited and is no coroutine."""

    def __await__(self) -> Generator[Any, None, Any]:
        yield from asyncio.sleep(0).__await__()
        return {"deny": "Bash"}


@types.coroutine
def of_old(payload: dict[str, Any]) -> Generator[Any, Any, Any]:
    """A generator that is awaited: how coroutines were made before they had a word of their own."""
    yield from asyncio.sleep(0).__await__()
    return sync(payload)


def optional(payload: dict[str, Any], more: int = 0) -> Any:
    return sync(payload)


def starred(*payloads: dict[str, Any], **more: Any) -> Any:
    return sync(*payloads)


CALLABLES: dict[str, Callable[..., Any]] = {
    "function": sync,
    "async function": unhurried,
    "lambda": lambda payload: {"deny": payload["tool"]["name"]},
    "callable object": Guard(),
    "async callable object": AsyncGuard(),
    "partial": functools.partial(extra, "", end=""),
    "async partial": functools.partial(unhurried),
    "partial of a partial": functools.partial(functools.partial(extra, end=""), ""),
    "partial of an object": functools.partial(AsyncGuard()),
    "bound method": Guard().method,
    "async bound method": Guard().unhurried,
    "class method": Guard.of_the_class,
    "static method": Guard.static,
    "async static method": Guard.static_async,
    "other arguments with defaults": optional,
    "any arguments": starred,
    "awaitable that is no coroutine": lambda payload: Promise(),
    "generator that is a coroutine": of_old,
}


@pytest.mark.parametrize("handler", CALLABLES.values(), ids=CALLABLES)
def test_whatever_can_be_called(handler: Callable[..., Any]) -> None:
    """Outside a loop `fire` calls, and inside one `fire_async` awaits, every sort of callable with the same result."""
    hooks = Hooks()
    hooks.register_tool_hook(pre=handler)
    for ruling in (hooks.fire("PreToolUse", **TOOL), asyncio.run(hooks.fire_async("PreToolUse", **TOOL))):
        assert (ruling.decision, ruling.reason) == ("deny", "Bash")
        assert (ruling.hooks[0].status, ruling.hooks[0].success) == ("ran", True)


@pytest.mark.parametrize("handler", CALLABLES.values(), ids=CALLABLES)
def test_every_callable_has_a_name_and_a_place(handler: Callable[..., Any]) -> None:
    """A hook is found again by the name and the file of its handler, also inside a partial or an object."""
    hooks = Hooks()
    hooks.on("PreToolUse")(handler)
    [hook] = hooks
    assert hook.name.startswith(f"{__name__}.")
    assert hook.source.file == __file__
    assert hook.source.pointer.startswith("L")
    assert "functools" not in hook.name


def test_a_builtin_is_a_handler_too() -> None:
    """What tells neither its signature nor its file is taken as it is."""
    hooks = Hooks()
    seen: list[Any] = []
    hooks.on("SessionStart")(seen.append)
    hooks.fire("SessionStart", session_id="s")
    assert [payload["session_id"] for payload in seen] == ["s"]


# -- the signature, checked when registered


def none() -> None: ...


def two(payload: Any, other: Any) -> None: ...


def keyword_only(payload: Any, *, needed: Any) -> None: ...


async def async_none() -> None: ...


class TwoCall:
    def __call__(self, payload: Any, other: Any) -> None: ...


WRONG = [none, two, keyword_only, async_none, TwoCall(), functools.partial(two, 1, 2), Guard.method]


@pytest.mark.parametrize("handler", WRONG, ids=lambda handler: getattr(handler, "__name__", type(handler).__name__))
def test_a_signature_that_does_not_fit(handler: Any) -> None:
    """A handler that cannot be called with one payload is refused when it is registered, with its signature."""
    hooks = Hooks()
    ways: list[Callable[[], Any]] = [
        lambda: hooks.register_tool_hook(pre=handler),
        lambda: hooks.register_tool_hook(post=handler),
        lambda: hooks.register_session_hook("session_start", handler),
        lambda: hooks.register_persona_hook("*", "PreStep", handler),
        lambda: hooks.register_step_hook("*", "audit", "PreStep", handler),
        lambda: hooks.on("PreToolUse")(handler),
    ]
    for way in ways:
        with pytest.raises(UsageError, match="is called with one argument, the payload, but"):
            way()
    assert len(hooks) == 0


@pytest.mark.parametrize("handler", ["guards::check", 5, {}, object()])
def test_what_cannot_be_called(handler: Any) -> None:
    """What is no function is refused when it is registered."""
    hooks = Hooks()
    for way in (
        lambda: hooks.register_tool_hook(pre=handler),
        lambda: hooks.register_session_hook("session_start", handler),
        lambda: hooks.on("SessionStart")(handler),
    ):
        with pytest.raises(UsageError, match="must be a function of one argument, the payload, not"):
            way()
    assert len(hooks) == 0


def test_a_handler_may_not_be_left_out() -> None:
    """Session, persona and step hooks need a handler; tool hooks may do without."""
    hooks = Hooks()
    with pytest.raises(UsageError, match="must be a function"):
        hooks.register_session_hook("session_start", None)  # type: ignore[call-overload]
    with pytest.raises(UsageError, match="must be a function"):
        hooks.register_persona_hook("*", "PreStep", None)  # type: ignore[call-overload]
    assert hooks.register_tool_hook(pre=None, post=None).hooks == ()


# -- loops


def test_the_impossible_combination() -> None:
    """`fire` inside a running loop cannot wait for an async handler; the error says what to write, nothing leaks."""
    hooks = Hooks()
    hooks.register_tool_hook(pre=unhurried)

    async def host() -> None:
        hooks.fire("PreToolUse", **TOOL)

    with pytest.raises(UsageError, match=r"tool_hook::\*::pre is async .* write `await hooks.fire_async") as caught:
        asyncio.run(host())
    assert not isinstance(caught.value, HookError)


def test_the_impossible_combination_on_the_last_event() -> None:
    """It is the host's mistake, so it is loud even where a handler's own is swallowed, and for `@hooks.on`."""
    hooks = Hooks()
    hooks.register_session_hook("session_end", unhurried)
    ours = Hooks()
    ours.on("SessionEnd")(unhurried)

    async def host(some: Hooks) -> None:
        some.fire("SessionEnd")

    for some in (hooks, ours):
        with pytest.raises(UsageError, match="is async"):
            asyncio.run(host(some))


def test_sync_handlers_in_a_running_loop() -> None:
    """`fire` with sync handlers works inside a loop too."""
    hooks = Hooks()
    hooks.register_tool_hook(pre=sync)

    async def host() -> str:
        return hooks.fire("PreToolUse", **TOOL).decision

    assert asyncio.run(host()) == "deny"


def test_a_thread_without_a_loop_beside_a_loop() -> None:
    """What counts is the thread that fires: a worker thread of an async program may fire async handlers."""
    hooks = Hooks()
    hooks.register_tool_hook(pre=unhurried)

    async def host() -> str:
        ruling = await asyncio.to_thread(hooks.fire, "PreToolUse", **TOOL)
        return ruling.decision

    assert asyncio.run(host()) == "deny"


def test_handlers_run_on_the_thread_that_fires() -> None:
    """Handlers run synchronously where the host is, in order: no thread, no other context."""
    hooks = Hooks()
    where: list[Any] = []
    hooks.register_tool_hook(pre=lambda payload: where.append(threading.current_thread()))
    hooks.on("PreToolUse")(lambda payload: where.append(threading.current_thread()))
    hooks.fire("PreToolUse", **TOOL)
    assert where == [threading.current_thread()] * 2


def test_async_handlers_run_in_the_task_that_fires() -> None:
    """`fire_async` awaits a handler in its own task, one after another; one that suspends lets the loop go on."""
    hooks = Hooks()
    order: list[str] = []
    tasks: set[Any] = set()
    turn = asyncio.Event()

    @hooks.on_tool()
    async def first(payload: Any) -> None:
        tasks.add(asyncio.current_task())
        order.append("first begins")
        await turn.wait()
        order.append("first ends")

    @hooks.on_tool()
    async def second(payload: Any) -> None:
        tasks.add(asyncio.current_task())
        order.append("second")

    async def host() -> None:
        async def other() -> None:
            order.append("the loop goes on")
            turn.set()

        beside = asyncio.create_task(other())
        await hooks.fire_async("PreToolUse", **TOOL)
        await beside
        assert tasks == {asyncio.current_task()}

    asyncio.run(host())
    assert order == ["first begins", "the loop goes on", "first ends", "second"]


class Counting(asyncio.SelectorEventLoop):
    """A loop that counts what it is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def create_task(self, *args: Any, **options: Any) -> Any:
        self.asked.append("task")
        return super().create_task(*args, **options)

    def call_soon(self, *args: Any, **options: Any) -> Any:
        self.asked.append("call_soon")
        return super().call_soon(*args, **options)

    def call_at(self, *args: Any, **options: Any) -> Any:
        self.asked.append("timer")
        return super().call_at(*args, **options)


async def immediate(payload: dict[str, Any]) -> Any:
    return None


def test_a_handler_that_never_suspends_costs_the_loop_nothing() -> None:
    """No task, no timer and no turn of the loop for an async handler that does not wait for anything."""
    hooks = Hooks()
    for _ in range(3):
        hooks.register_tool_hook(pre=immediate)
        hooks.on("PreToolUse")(immediate)
    asked: list[list[str]] = []

    async def host() -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, Counting)
        before = len(loop.asked), asyncio.all_tasks()
        await hooks.fire_async("PreToolUse", **TOOL)
        asked.append(loop.asked[before[0] :])
        assert asyncio.all_tasks() == before[1]

    with asyncio.Runner(loop_factory=Counting) as runner:
        runner.run(host())
    assert asked == [[]]


def test_no_suspension_at_all() -> None:
    """Driven by hand, `fire_async` with such handlers ends at the first step: it never gives the loop its turn."""
    hooks = Hooks()
    hooks.register_tool_hook(pre=immediate)
    firing: Coroutine[Any, Any, Any] = hooks.fire_async("PreToolUse", **TOOL)
    with pytest.raises(StopIteration) as done:
        firing.send(None)
    assert done.value.value.decision == "none"


# -- what handlers raise


class Broken(Exception):
    """A handler's own mistake."""


def breaks(payload: dict[str, Any]) -> None:
    raise Broken("out of order")


async def breaks_later(payload: dict[str, Any]) -> None:
    await asyncio.sleep(0)
    raise Broken("out of order")


BREAKING: list[Callable[[dict[str, Any]], Any]] = [breaks, breaks_later]


def fired(hooks: Hooks, event: str, how: str, **payload: Any) -> Any:
    if how == "fire":
        return hooks.fire(event, **payload)
    return asyncio.run(hooks.fire_async(event, **payload))


@pytest.mark.parametrize("how", ["fire", "fire_async"])
@pytest.mark.parametrize("handler", BREAKING)
@pytest.mark.parametrize("event", LOUD)
def test_a_session_handler_that_raises_is_loud(event: str, handler: Any, how: str) -> None:
    """What a Harn handler raises reaches the host as a HookError with hook and event, the cause chained."""
    hooks = Hooks()
    hooks.register_session_hook(event, handler)
    with pytest.raises(HookError) as caught:
        fired(hooks, event, how, **LOUD[event])
    error = caught.value
    assert (error.hook, error.event) == (f"session_hook::{event}", event)
    [hook] = hooks
    assert str(error) == f"session_hook::{event} on {event}: raised Broken: out of order ({hook.source})"
    assert (error.message, error.source) == ("raised Broken: out of order", str(hook.source))
    assert isinstance(error.__cause__, Broken)
    assert error.__cause__.__traceback__ is not None
    assert not isinstance(error, BadAnswer)


@pytest.mark.parametrize("how", ["fire", "fire_async"])
@pytest.mark.parametrize("handler", BREAKING)
def test_tool_and_step_handlers_that_raise_are_loud(handler: Any, how: str) -> None:
    """The same holds around tools and steps."""
    hooks = Hooks()
    hooks.register_tool_hook(pre=handler, post=handler)
    hooks.register_step_hook("*", "audit", "PostStep", handler)
    step = {"persona": "p", "step": {"name": "audit"}}
    for event, payload in {"PreToolUse": TOOL, "PostToolUse": TOOL, "PostStep": step}.items():
        with pytest.raises(HookError, match="raised Broken: out of order") as caught:
            fired(hooks, event, how, **payload)
        assert isinstance(caught.value.__cause__, Broken)


@pytest.mark.parametrize("how", ["fire", "fire_async"])
@pytest.mark.parametrize("handler", BREAKING)
@pytest.mark.parametrize("event", SWALLOWED)
def test_where_a_raise_is_swallowed(event: str, handler: Any, how: str) -> None:
    """Nothing keeps a session from its end: on four events a raise is a failed hook, and the next hooks still run."""
    hooks = Hooks()
    ran: list[str] = []
    hooks.register_session_hook(event, handler)
    hooks.register_session_hook(event, lambda payload: ran.append(payload["event"]))
    ruling = fired(hooks, event, how, **SWALLOWED[event])
    assert (ruling.decision, ruling.healthy, ran) == ("none", False, [event])
    assert [(r.status, r.success, r.error) for r in ruling.hooks] == [
        ("failed", False, "raised Broken: out of order"),
        ("ran", True, ""),
    ]
    assert [notice.text for notice in ruling.notices] == [
        f"session_hook::{event} raised Broken: out of order; it goes on without its opinion"
    ]


@pytest.mark.parametrize("event", SWALLOWED)
def test_where_a_wrong_answer_is_swallowed(event: str) -> None:
    """On the same four events a shape nobody knows is a failure too, not an error."""
    hooks = Hooks()
    hooks.register_session_hook(event, lambda payload: "nonsense")
    ruling = hooks.fire(event, **SWALLOWED[event])
    assert ruling.hooks[0].status == "failed"
    assert ruling.hooks[0].error.startswith("answered 'nonsense', which is a string; it takes None, True")
    assert ruling.notices[0].text.startswith(f"session_hook::{event} answered 'nonsense'")


@pytest.mark.parametrize("how", ["fire", "fire_async"])
def test_a_handlers_own_usage_error_is_no_exception(how: str) -> None:
    """An error of ours that a handler lets through is the handler's, with fire as with fire_async."""

    def confused(payload: dict[str, Any]) -> None:
        Hooks().fire("NoSuchEvent")

    hooks = Hooks()
    hooks.register_session_hook("post_turn", confused)
    hooks.register_session_hook("session_end", confused)
    with pytest.raises(HookError, match="raised UsageError: no event is called 'NoSuchEvent'") as caught:
        fired(hooks, "PostTurn", how)
    assert isinstance(caught.value.__cause__, UsageError)
    assert fired(hooks, "SessionEnd", how).hooks[0].status == "failed"


@pytest.mark.parametrize("how", ["fire", "fire_async"])
@pytest.mark.parametrize("event", ["PreToolUse", "SessionEnd"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, asyncio.CancelledError])
def test_what_ends_a_program_passes_through(error: type[BaseException], event: str, how: str) -> None:
    """Ctrl-C and a cancelled task are not a handler's failure: they pass as they are, on every event."""

    def ends(payload: dict[str, Any]) -> None:
        raise error("stop")

    for register in (lambda hooks: hooks.on(event)(ends), lambda hooks: _harn(hooks, event, ends)):
        hooks = Hooks(on_failure="deny")
        register(hooks)
        with pytest.raises(error):
            fired(hooks, event, how, **(TOOL if event == "PreToolUse" else {}))


def _harn(hooks: Hooks, event: str, handler: Any) -> None:
    hooks.register_tool_hook(pre=handler) if event == "PreToolUse" else hooks.register_session_hook(event, handler)


def test_a_cancelled_task_is_cancelled() -> None:
    """Cancelling the task that fires cancels the handler it waits for, which can clean up."""
    hooks = Hooks()
    seen: list[str] = []

    @hooks.on("PreToolUse")
    async def waits(payload: Any) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    async def host() -> None:
        task = asyncio.create_task(hooks.fire_async("PreToolUse", **TOOL))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(host())
    assert seen == ["cancelled"]


def test_a_group_of_exceptions_is_one() -> None:
    """What a task group raises is a raise like any other."""

    async def grouped(payload: dict[str, Any]) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(breaks_later(payload))

    hooks = Hooks()
    hooks.register_tool_hook(pre=grouped)
    with pytest.raises(HookError, match="raised ExceptionGroup") as caught:
        hooks.fire("PreToolUse", **TOOL)
    assert isinstance(caught.value.__cause__, ExceptionGroup)


# -- handlers of @hooks.on


@pytest.mark.parametrize("how", ["fire", "fire_async"])
@pytest.mark.parametrize("handler", BREAKING)
@pytest.mark.parametrize("event", ["PreToolUse", "SessionEnd", "UserPromptSubmit"])
def test_our_own_handlers_that_raise_have_failed(event: str, handler: Any, how: str) -> None:
    """With `@hooks.on` a raise is a failure: no opinion, an unhealthy ruling, a notice, and the others still run."""
    hooks = Hooks()
    hooks.on(event)(handler)
    hooks.on(event)(lambda payload: context("still here"))
    payload = {"PreToolUse": TOOL, "UserPromptSubmit": {"prompt": "p"}}.get(event, {})
    ruling = fired(hooks, event, how, **payload)
    assert (ruling.decision, ruling.healthy, ruling.context) == ("none", False, ("still here",))
    assert (ruling.hooks[0].status, ruling.hooks[0].decision) == ("failed", None)
    assert "raised Broken: out of order; it goes on without its opinion" in ruling.notices[0].text


@pytest.mark.parametrize(
    ("own", "everywhere", "decision"),
    [
        (None, None, "none"),
        ("ask", None, "ask"),
        ("deny", None, "deny"),
        (None, "deny", "deny"),
        ("ask", "deny", "ask"),
    ],
)
def test_on_failure_is_honoured(own: Any, everywhere: Any, decision: str) -> None:
    """`on_failure` of the handler comes first, then that of the Hooks."""
    hooks = Hooks(on_failure=everywhere)
    hooks.on("PreToolUse", on_failure=own)(breaks)
    ruling = hooks.fire("PreToolUse", **TOOL)
    assert ruling.decision == decision
    assert ruling.hooks[0].status == "failed"
    assert ("breaks raised Broken: out of order" in ruling.reason) == (decision != "none")


@pytest.mark.parametrize("answer", [True, False, "deny", {"deny": "x"}, {"decision": "deny"}, [], 5, deny])
def test_our_own_handlers_answer_with_verdicts(answer: Any) -> None:
    """Anything but None and a verdict is a mistake in the program: an error with the shape and the known ones."""
    hooks = Hooks()
    hooks.on("PreToolUse")(lambda payload: answer)
    with pytest.raises(BadAnswer, match="it takes None, or a verdict made with allow") as caught:
        hooks.fire("PreToolUse", **TOOL)
    assert "test_call" in caught.value.hook
    assert (repr(answer)[:70] in str(caught.value)) is True


def test_our_own_handlers_get_the_canonical_payload() -> None:
    """`@hooks.on` handlers see the event's name, the base fields and the payload as the catalogue has it."""
    hooks = Hooks(clock=lambda: 0.0)
    seen: list[dict[str, Any]] = []
    hooks.on("pre_tool_use")(seen.append)
    hooks.fire("PreToolUse", **TOOL, session_id="s1", cwd="/")
    assert seen == [
        {
            "event": "PreToolUse",
            "session_id": "s1",
            "cwd": "/",
            "timestamp": "1970-01-01T00:00:00.000Z",
            "transcript_path": "",
            **TOOL,
        }
    ]


# -- the runner itself


def test_outcomes_are_facts() -> None:
    """A return and a raise are outcomes in the order of the jobs, with their times."""
    outcomes = call.run([job(lambda payload: payload["x"], x=1), job(breaks), job(immediate)])
    assert [(o.status, o.value, o.error) for o in outcomes] == [
        ("returned", 1, ""),
        ("raised", None, "raised Broken: out of order"),
        ("returned", None, ""),
    ]
    assert isinstance(outcomes[1].exception, Broken)
    assert all(o.duration_ms >= 0 for o in outcomes)

    async def both() -> list[Outcome]:
        return await call.run_async([job(lambda payload: payload["x"], x=1), job(breaks_later), job(immediate)])

    assert [(o.status, o.value, o.error) for o in asyncio.run(both())] == [
        (o.status, o.value, o.error) for o in outcomes
    ]


def test_awaited_is_for_others_too() -> None:
    """What is awaited outside of a loop gets one of its own; inside one it is refused, and closed."""

    async def answer() -> int:
        return 7

    assert call.awaited(answer(), "run", "`await s.tool_async(...)`") == 7

    async def inside() -> None:
        call.awaited(answer(), "run", "`await s.tool_async(...)`")

    with pytest.raises(UsageError, match=r"run is async .* write `await s.tool_async"):
        asyncio.run(inside())


def test_a_handler_may_fire() -> None:
    """A handler can fire other events, of other Hooks and of its own."""
    hooks, others = Hooks(), Hooks()
    others.on("Notification")(lambda payload: deny("nobody reads this"))

    @hooks.on("PreToolUse")
    def nested(payload: Any) -> Verdict:
        inner = hooks.fire("SessionStart")
        return context(f"{inner.event} {others.fire('Notification', message='m').decision}")

    assert hooks.fire("PreToolUse", **TOOL).context == ("SessionStart none",)


def test_an_awaitable_is_awaited_once() -> None:
    """Nothing runs twice: a handler's coroutine is awaited exactly once in both ways."""
    hooks, ran = Hooks(), []

    @hooks.on_tool()
    async def counted(payload: Any) -> None:
        ran.append(1)

    hooks.fire("PreToolUse", **TOOL)
    asyncio.run(hooks.fire_async("PreToolUse", **TOOL))
    assert len(ran) == 2


def test_types_of_awaitables() -> None:
    """A future of the running loop can be a handler's answer."""
    hooks = Hooks()

    @hooks.on_tool()
    def promises(payload: Any) -> Awaitable[Any]:
        future = asyncio.get_running_loop().create_future()
        future.set_result({"deny": "from a future"})
        return future

    assert asyncio.run(hooks.fire_async("PreToolUse", **TOOL)).reason == "from a future"
