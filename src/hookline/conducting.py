"""How a session's calls are written once and driven twice: by blocking, and on an event loop.

A call is a generator. It yields what it needs from the world, an event fired or something of the host's
done, and is sent the answer; what that raises is raised where it was asked for.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Generator
from functools import update_wrapper, wraps
from typing import Any, Concatenate, Literal, ParamSpec, Protocol, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from hookline.model import Ruling
from hookline.results import Reported

Kind = Literal["tool", "model", "approval", "compaction", "own"]
"""What of the host's is done. All but its `own` flow is answered from the tape when a session is replayed."""


class Fire(Struct, frozen=True):
    """An event to be fired; the answer is its ruling."""

    event: str
    payload: dict[str, Any]
    bare: bool = False
    """Whether nothing is done with the ruling but to hand it over."""
    had: dict[str, Any] | None = None
    """Values of the payload as the host has them, where hooks get copies."""


class Do(Struct, frozen=True):
    """Something of the host's to be done; the answer is what it returns."""

    kind: Kind
    call: Callable[..., Any]
    arguments: tuple[Any, ...] = ()


class Wait(Struct, frozen=True):
    """The background hooks of a session to be waited for."""

    session_id: str


Step = Fire | Do | Wait
_T = TypeVar("_T")
Steps = Generator[Step, Any, _T]
_P = ParamSpec("_P")


class World(Protocol):
    """What answers the steps."""

    def entered(self) -> None:
        """A call begins."""

    def perform(self, step: Step) -> Any: ...

    async def perform_async(self, step: Step) -> Any: ...


_W = TypeVar("_W", bound=World)


def drive(world: World, steps: Steps[_T]) -> _T:
    """Drive a call on this thread."""
    try:
        step = next(steps)
        while True:
            try:
                answer = world.perform(step)
            except BaseException as error:  # noqa: BLE001  (the call itself decides what an interruption means)
                step = steps.throw(error)
            else:
                step = steps.send(answer)
    except StopIteration as done:
        result: _T = done.value
        return result
    finally:
        steps.close()


async def drive_async(world: World, steps: Steps[_T]) -> _T:
    """Drive a call on the running event loop."""
    try:
        step = next(steps)
        while True:
            try:
                answer = await world.perform_async(step)
            except BaseException as error:  # noqa: BLE001
                step = steps.throw(error)
            else:
                step = steps.send(answer)
    except StopIteration as done:
        result: _T = done.value
        return result
    finally:
        steps.close()


def fired(event: str, payload: dict[str, Any], *, bare: bool = False) -> Steps[Ruling]:
    """A call that fires one event, and gives back its ruling."""
    ruling: Ruling = yield Fire(event, payload, bare)
    return ruling


def waited(session_id: str) -> Steps[None]:
    """A call that waits for the background hooks of a session."""
    yield Wait(session_id)


def each(*calls: Steps[Any]) -> Steps[None]:
    """One call after another, whatever becomes of those before; what was raised first is raised in the end."""
    raised: BaseException | None = None
    for call in calls:
        try:
            yield from call
        except GeneratorExit:
            raise
        except BaseException as error:  # noqa: BLE001  (it is raised below)
            raised = raised or error
    if raised is not None:
        raise raised


_R = TypeVar("_R", bound=Reported)


def reporting(call: Callable[Concatenate[_W, _P], Steps[_R]]) -> Callable[Concatenate[_W, _P], Steps[_R]]:
    """The same call, whose result also tells what the rulings of all its events say of the hooks' health."""

    @wraps(call)
    def reported(self: _W, /, *args: _P.args, **kwargs: _P.kwargs) -> Steps[_R]:
        rulings: list[Ruling] = []
        result = yield from _overheard(call(self, *args, **kwargs), rulings)
        notices = [str(notice) for ruling in rulings for notice in ruling.notices]
        healthy = all(ruling.healthy for ruling in rulings)
        return replace(result, healthy=healthy, notices=notices + result.notices)

    return reported


def _overheard(steps: Steps[_T], rulings: list[Ruling]) -> Steps[_T]:
    """The same steps; the rulings among their answers are kept."""
    try:
        step = next(steps)
        while True:
            try:
                answer = yield step
            except GeneratorExit:
                raise
            except BaseException as error:  # noqa: BLE001  (the call itself decides what an interruption means)
                step = steps.throw(error)
            else:
                if isinstance(answer, Ruling):
                    rulings.append(answer)
                step = steps.send(answer)
    except StopIteration as done:
        result: _T = done.value
        return result
    finally:
        steps.close()


def both(
    call: Callable[Concatenate[_W, _P], Steps[_T]],
) -> tuple[Callable[Concatenate[_W, _P], _T], Callable[Concatenate[_W, _P], Coroutine[Any, Any, _T]]]:
    """A call and its async twin: `submit, submit_async = both(_submit)`."""

    def blocking(self: _W, /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
        self.entered()
        return drive(self, call(self, *args, **kwargs))

    async def on_loop(self: _W, /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
        self.entered()
        return await drive_async(self, call(self, *args, **kwargs))

    return _named(blocking, call, ""), _named(on_loop, call, "_async")


_F = TypeVar("_F", bound=Callable[..., Any])


def _named(made: _F, call: Callable[..., Any], suffix: str) -> _F:
    """With the signature and docstring of the generator, and the name the host calls it by."""
    update_wrapper(made, call)
    made.__name__ = call.__name__.lstrip("_") + suffix
    made.__qualname__ = call.__qualname__.replace(call.__name__, made.__name__)
    return made


def done(step: Do) -> Any:
    """Do it here and now."""
    from inspect import isawaitable

    answer = step.call(*step.arguments)
    if isawaitable(answer):
        from hookline.runners.call import awaited

        return awaited(answer, getattr(step.call, "__qualname__", "it"), "this call's twin with _async")
    return answer


async def done_async(step: Do) -> Any:
    """Do it on the running loop."""
    from inspect import isawaitable

    answer = step.call(*step.arguments)
    return await _value(answer) if isawaitable(answer) else answer


async def _value(answer: Awaitable[Any]) -> Any:
    return await answer
