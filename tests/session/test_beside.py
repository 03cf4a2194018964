"""Sessions beside each other: threads and tasks, each with its own, on one Hooks."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import stages
from hookline import Hooks, context, deny, remind
from stages import answer, request

ROUNDS = 5
NAMES = ("a", "b")
SAYS_ITS_SESSION = """sed 's/.*"session_id":"\\([^"]*\\)".*/\\1/'"""


def crossed(directory: Path) -> Hooks:
    """Hooks of three dialects whose answers depend on the session they hear from."""
    hooks = Hooks()
    hooks.load(stages.harness(directory, "UserPromptSubmit", SAYS_ITS_SESSION))
    hooks.load(stages.goose(directory, "post_tool_use", "cat >> log; echo >> log"))
    hooks.on("SessionStart")(lambda payload: context(payload["session_id"]) | remind(payload["session_id"]))

    @hooks.on("PreToolUse")
    def own(payload: Any) -> Any:
        return None if payload["tool_input"] == {"by": payload["session_id"]} else deny("not yours")

    return hooks


def checked(s: Any, name: str, directory: Path) -> None:
    """Nothing of the other session is in this one."""
    assert s.system() == f"{name}\n\n{name}\n\nSystem reminder:\n{name}"
    assert (s.id, s.turn) == (name, ROUNDS)
    events = {data["session_id"] for kind, data in stages.records(directory / name / "tape.jsonl", "event")}
    assert events == {name}


def test_two_threads(tmp_path: Path) -> None:
    """Two threads with a session each, in step with each other: nothing of one is in the other."""
    hooks = crossed(tmp_path)
    together = threading.Barrier(len(NAMES), timeout=30)

    def host(name: str) -> None:
        (tmp_path / name).mkdir()
        with hooks.session(id=name, cwd=tmp_path / name, tape=tmp_path / name / "tape.jsonl") as s, s.persona(name):
            for number in range(ROUNDS):
                together.wait()
                assert s.submit(f"{number}").context == [name]
                assert s.model(request("x"), answer).status == "ok"
                assert s.tool("t", {"by": name}, lambda given: given["by"]).output == name
                assert s.step("x", lambda: name) == name
                s.turn_done()
            checked(s, name, tmp_path)

    with ThreadPoolExecutor() as pool:
        list(pool.map(host, NAMES))
    for name in NAMES:
        assert (tmp_path / name / "log").read_text().count(f'"session_id":"{name}"') == ROUNDS


def test_two_tasks(tmp_path: Path) -> None:
    """Two tasks of one event loop with a session each: nothing of one is in the other, and neither waits alone."""
    hooks = crossed(tmp_path)

    async def host(name: str, mine: asyncio.Event, other: asyncio.Event) -> None:
        (tmp_path / name).mkdir()
        async with hooks.session(id=name, cwd=tmp_path / name, tape=tmp_path / name / "tape.jsonl") as s:
            with s.persona(name):
                for number in range(ROUNDS):
                    assert (await s.submit_async(f"{number}")).context == [name]

                    async def run(given: Any) -> str:
                        mine.set()
                        await asyncio.wait_for(other.wait(), 30)  # both are inside of their tool at once
                        return str(given["by"])

                    assert (await s.tool_async("t", {"by": name}, run)).output == name
                    await s.turn_done_async()
                checked(s, name, tmp_path)

    async def both() -> None:
        first, second = asyncio.Event(), asyncio.Event()
        await asyncio.gather(host("a", first, second), host("b", second, first))

    asyncio.run(both())
    for name in NAMES:
        assert (tmp_path / name / "log").read_text().count(f'"session_id":"{name}"') == ROUNDS


# -- what may be async


def test_async_callbacks(tmp_path: Path) -> None:
    """In the twins tool, model, approver, compactor, step, callback and handlers may all be coroutines."""
    hooks = Hooks()

    @hooks.on("UserPromptSubmit")
    async def handler(payload: Any) -> Any:
        await asyncio.sleep(0)
        return context("from a coroutine")

    async def later(*given: Any) -> Any:
        await asyncio.sleep(0)
        return given[-1]

    async def yes(ask: Any) -> bool:
        return True

    async def compactor(reminders: Any) -> dict[str, Any]:
        return {"archived_messages": 2}

    async def model(asked: Any) -> dict[str, Any]:
        return {"text": "hi"}

    async def host() -> None:
        async with hooks.session(deny=["*"], approve=yes) as s:
            assert (await s.submit_async("x")).context == ["from a coroutine"]
            assert (await s.tool_async("t", {"n": 1}, later)).output == '{"n":1}'
            assert (await s.model_async(request("x"), model)).response == {"text": "hi"}
            assert (await s.compact_async(compactor)).archived_messages == 2
            assert await s.step_async("x", later, 7) == 7
            s.on_finish(later)
            assert await s.finish_async(9) == 9

    asyncio.run(host())


CALLBACKS: dict[str, Callable[[Any, Any], Any]] = {
    "tool": lambda s, fn: s.tool("t", {}, fn).output,
    "step": lambda s, fn: s.step("x", fn, 1),
}


@pytest.mark.parametrize("call", CALLBACKS)
def test_coroutines_in_blocking_calls(call: str) -> None:
    """Outside of a loop a coroutine is waited for; inside of one the twin has to be used, and the error says so."""

    async def fn(given: Any) -> str:
        await asyncio.sleep(0)
        return "done"

    with Hooks().session() as s:
        assert CALLBACKS[call](s, fn) == "done"

        async def host() -> None:
            with pytest.raises(Exception, match="_async"):
                CALLBACKS[call](s, fn)

        asyncio.run(host())


def test_a_cancelled_task(tmp_path: Path) -> None:
    """A session whose task is cancelled in the middle of a tool ends with SessionError and SessionEnd."""
    hooks = Hooks()
    watch = stages.Watch(hooks, "PostToolUse", "SessionError", "SessionEnd")

    async def host(inside: asyncio.Event) -> None:
        async def run(given: Any) -> None:
            inside.set()
            await asyncio.sleep(300)

        async with hooks.session() as s:
            await s.tool_async("t", {}, run)

    async def main() -> None:
        inside = asyncio.Event()
        task = asyncio.create_task(host(inside))
        await inside.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert watch.events == ["SessionError", "SessionEnd"]
