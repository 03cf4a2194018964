"""What a hostile reader of the session found: interruptions, failing hosts, and calls at the wrong moment."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import stages
import zoo
from hookline import Divergence, HookError, Hooks, Tape, TapeError, UsageError, context, halt, remind
from hookline.background import Background
from hookline.loop import Agent, ScriptedModel
from stages import Watch

Way = Callable[..., Any]
WAITS = "cat > /dev/null; touch inside; for i in $(seq 500); do [ -e go ] && exit 0; sleep 0.02; done; exit 1"


# -- closing


def crowded(directory: Path) -> Hooks:
    """Hooks of Goose in the background: one that waits for the file `go`, one at the end."""
    hooks = Hooks()
    hooks.load(stages.goose(directory, "post_tool_use", WAITS))
    hooks.load(stages.goose(directory, "session_stop", "cat > ended"))
    return hooks


def all_ran(hooks: Hooks, directory: Path) -> None:
    """The background hooks ran to their end, their records are on the tape, and the tape is free."""
    (directory / "go").touch()
    hooks.wait()
    assert (directory / "ended").exists()
    found = [data["event"] for _, data in stages.records(directory / "tape", "hook_returned")]
    assert found == ["PostToolUse", "SessionEnd"]
    Tape(directory / "tape").close()


HOST = """
import signal
from hookline import Hooks

signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job of a shell ignores it
hooks = Hooks()
hooks.load("goose_post_tool_use.yaml")
hooks.load("goose_session_stop.yaml")
hooks.on("SessionEnd")(lambda payload: open("closing", "w").close())
try:
    with hooks.session(id="s", cwd=".", tape="tape") as s, s.subagent("helper") as child:
        for session in (s, child):
            session.tool("t", {}, lambda args: "ok")
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_ctrl_c_while_the_close_waits(tmp_path: Path) -> None:
    """Interrupted while it waits for background hooks, a session keeps its tape open until they have ended."""
    crowded(tmp_path)
    (tmp_path / "host.py").write_text(HOST)
    host = subprocess.Popen([sys.executable, "host.py"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert zoo.eventually((tmp_path / "closing").exists, 30)
        time.sleep(0.2)
        for _ in ("s", "child"):  # it waits for either
            host.send_signal(signal.SIGINT)
            time.sleep(0.2)
        assert host.poll() is None
        (tmp_path / "go").touch()
        out, err = host.communicate(timeout=30)
    finally:
        host.kill()
        host.wait()
    assert (out, err, host.returncode) == (b"interrupted\n", b"", 0)
    assert (tmp_path / "ended").exists()
    ended = [data for _, data in stages.records(tmp_path / "tape", "hook_returned") if data["dialect"] == "goose"]
    assert sorted(data["event"] for data in ended) == ["PostToolUse", "PostToolUse", "SessionEnd"]


def test_what_comes_after_the_background_work_of_sessions() -> None:
    """Work for afterwards is done at once where nothing is to be done, else by whichever session ends last."""
    background, go, done = Background(), {name: threading.Event() for name in "ab"}, []
    background.after(["a", "b"], lambda: done.append("at once"))
    for name, event in go.items():
        background.submit(name, lambda event=event: event.wait(10) and None)  # type: ignore[misc]
    background.after(["a", "b"], lambda: done.append("later"))
    go["a"].set()
    background.wait("a")
    assert done == ["at once"]
    go["b"].set()
    background.wait()
    assert done == ["at once", "later"]


def test_a_task_cancelled_while_the_close_waits(tmp_path: Path) -> None:
    """The same of a cancelled task: the background hooks end, and so does their tape."""
    hooks = crowded(tmp_path)

    async def host() -> None:
        async with hooks.session(id="s", cwd=tmp_path, tape=tmp_path / "tape") as s:
            await s.tool_async("t", {}, stages.echo)

    async def main() -> None:
        task = asyncio.create_task(host())
        while not (tmp_path / "inside").exists():
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        (tmp_path / "go").touch()

    asyncio.run(main())
    all_ran(hooks, tmp_path)


def test_threads_that_close_at_once() -> None:
    """Whoever closes first closes; the others change nothing."""
    hooks = Hooks()
    watch = Watch(hooks, "SessionEnd")
    together = threading.Barrier(8)
    session = hooks.session().__enter__()

    def close() -> None:
        together.wait()
        session.close()

    threads = [threading.Thread(target=close) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert watch.events == ["SessionEnd"]
    assert session.closed


def test_a_handler_of_the_end_that_closes() -> None:
    """A handler of SessionEnd that closes the session ends nothing a second time."""
    hooks = Hooks()
    watch = Watch(hooks, "SessionEnd")
    session = hooks.session()
    hooks.on("SessionEnd")(lambda payload: session.close())
    with session:
        pass
    assert watch.events == ["SessionEnd"]


# -- tapes


def held() -> list[str]:
    """The files this process has open."""
    return [os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if _is_open(fd)]


def _is_open(fd: str) -> bool:
    return os.path.lexists(f"/proc/self/fd/{fd}")


def test_a_session_that_is_not_entered_holds_no_tape(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tape is opened when the session is entered, at the place it was named; a bad policy opens none."""
    hooks = Hooks()
    watch = Watch(hooks, "SessionStart")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="deny takes a list"):
        hooks.session(tape="tape", deny="x")
    session = hooks.session(tape="tape")
    assert not (tmp_path / "tape").exists()
    assert str(tmp_path / "tape") not in held()
    monkeypatch.chdir("/")
    with session:
        assert str(tmp_path / "tape") in held()
    assert str(tmp_path / "tape") not in held()
    assert watch.heard[0][1]["transcript_path"] == str(tmp_path / "tape")


def test_a_tape_that_cannot_be_opened(way: Way, tmp_path: Path) -> None:
    """Entering raises, and nothing was fired."""
    hooks = Hooks()
    watch = Watch(hooks)
    with pytest.raises(TapeError, match="cannot be opened"), way(hooks, tape=tmp_path / "none" / "tape"):
        pass
    assert watch.events == []


class Full:
    """A disk that is full from some moment on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._patch = monkeypatch

    def now(self) -> None:
        def write(fd: int, data: bytes) -> int:
            raise OSError(28, "No space left on device")

        def ftruncate(fd: int, size: int) -> None:
            raise OSError(5, "Input/output error")

        self._patch.setattr("hookline.tape.os.write", write)
        self._patch.setattr("hookline.tape.os.ftruncate", ftruncate)


def test_an_exception_is_not_replaced_by_a_broken_tape(
    way: Way, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The host gets its own exception; that the tape broke, too, is a note to it."""

    def host(full: Callable[[], None]) -> None:
        with way(Hooks(), tape=tmp_path / "tape"):
            full()
            raise ValueError("mine")

    with monkeypatch.context() as patch, pytest.raises(ValueError, match=r"^mine") as caught:
        host(Full(patch).now)
    assert "No space left on device" in caught.value.__notes__[0]


@pytest.mark.parametrize("moment", ["open", "call", "close"])
def test_a_full_disk_is_called_one(way: Way, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    """What the host gets of a tape that cannot be written is the first error, whenever that was."""

    def host(full: Callable[[], None]) -> None:
        if moment == "open":
            full()
        with way(Hooks(), tape=tmp_path / "tape") as s:
            full()
            if moment == "call":
                s.submit("hello")

    with monkeypatch.context() as patch, pytest.raises(TapeError, match="No space left on device"):
        host(Full(patch).now)


# -- what the host hears


def crash(payload: Any) -> None:
    raise ValueError("the guard is broken")


@pytest.mark.parametrize("event", ["PermissionAsked", "PermissionReplied", "PreToolUse", "PostToolUse"])
def test_a_crashed_guard_of_a_tool_is_told(way: Way, event: str) -> None:
    """A hook that failed on any event of a tool call is in the result: unhealthy, with a notice."""
    hooks = Hooks()
    with way(hooks, deny=["guarded"], approve=lambda ask: True) as s:
        assert (s.tool("guarded", {}, stages.echo).healthy, s.tool("t", {}, stages.echo).notices) == (True, [])
        hooks.on(event)(crash)
        done = s.tool("guarded", {}, stages.echo)
    assert (done.status, done.healthy, len(done.notices)) == ("ok", False, 1)
    assert "the guard is broken" in done.notices[0]


@pytest.mark.parametrize("event", ["BeforeToolSelection", "BeforeModel", "AfterModel"])
def test_a_crashed_guard_of_a_model_call_is_told(way: Way, event: str) -> None:
    """The same of a model call."""
    hooks = Hooks()
    hooks.on(event)(crash)
    with way(hooks) as s:
        done = s.model(stages.request("hello"), stages.answer)
    assert (done.status, done.healthy, len(done.notices)) == ("ok", False, 1)
    assert "the guard is broken" in done.notices[0]


@pytest.mark.parametrize("event", ["PreCompact", "PostCompact"])
def test_a_crashed_guard_of_a_compaction_is_told(way: Way, event: str) -> None:
    """The same of a compaction."""
    hooks = Hooks()
    hooks.on(event)(crash)
    with way(hooks) as s:
        done = s.compact(lambda reminders: {"archived_messages": 1})
    assert (done.status, done.healthy, len(done.notices)) == ("done", False, 1)
    assert "the guard is broken" in done.notices[0]


def broken(given: Any) -> str:
    raise OSError("disk full")


def test_a_halt_after_a_tool_that_failed(way: Way) -> None:
    """The tool's exception goes to the host, and `halted` says why the agent has to end, until the next prompt."""
    hooks = Hooks()
    hooks.on("PostToolUse")(lambda payload: halt("enough"))
    with way(hooks) as s:
        assert s.halted is None
        with pytest.raises(OSError, match="disk full"):
            s.tool("t", {}, broken)
        assert s.halted == "enough"
        s.submit("again")
        assert s.halted is None


def test_the_loop_obeys_a_halt_after_a_tool_that_failed() -> None:
    """The reference loop ends there, and does not call the model again."""
    hooks = Hooks()
    hooks.on("PostToolUse")(lambda payload: halt("enough"))
    model = ScriptedModel([{"text": "I try.", "tool_calls": [{"name": "t"}]}, {"text": "Again."}])
    with Agent(model, {"t": broken}, hooks) as agent:
        assert agent.run("go") == "halted: enough"
    assert len(model.requests) == 1


# -- reminders


def test_reminders_injected_by_a_compactor_stay(way: Way) -> None:
    """What is injected while a compaction runs is kept, what is cleared meanwhile is gone."""
    with way(Hooks()) as s:
        s.reminders.inject("dropped")
        s.reminders.inject("preserved", preserve_on_compact=True)
        s.reminders.inject("old", preserve_on_compact=True, dedupe_key="key")
        s.reminders.inject("cleared", preserve_on_compact=True, tags=["gone"])

        def run(reminders: Any) -> dict[str, Any]:
            s.reminders.inject("new")
            s.reminders.inject("newer", dedupe_key="key")
            s.reminders.clear(tag="gone")
            return {"archived_messages": 1}

        s.compact(run)
        assert [reminder.body for reminder in s.reminders] == ["preserved", "new", "newer"]


def unreachable(request: Any) -> Any:
    raise ConnectionError("no network")


def test_a_model_call_that_failed_does_not_count(way: Way) -> None:
    """What comes before the call is made again is shown by it: a ttl of one is one call, whoever injected."""
    hooks = Hooks()
    added = iter([remind("by a hook", ttl_turns=1) | context("aside"), None, None])
    hooks.on("BeforeModel")(lambda payload: next(added))
    with way(hooks) as s:
        with pytest.raises(ConnectionError):
            s.model(stages.request("hello"), unreachable)
        s.reminders.inject("by the host", ttl_turns=1)
        assert "by a hook" in s.system()
        assert "by the host" in s.system()
        assert "aside" in s.system()
        s.model(stages.request("hello"), stages.answer)
        s.turn_done()
        assert s.system() == ""


def test_a_second_call_of_a_turn_that_failed(way: Way) -> None:
    """Where the turn had a model call that went well, what came after it is still for the next turn."""
    with way(Hooks()) as s:
        s.model(stages.request("hello"), stages.answer)
        s.reminders.inject("once", ttl_turns=1)
        with pytest.raises(ConnectionError):
            s.model(stages.request("hello"), unreachable)
        s.turn_done()
        assert len(s.reminders) == 1


def test_reminders_outside_of_a_session(way: Way) -> None:
    """Nothing is injected before a session is entered, or after it is closed."""
    session = Hooks().session()
    with pytest.raises(UsageError, match="has not begun"):
        session.reminders.inject("early")
    with way(Hooks()) as s:
        pass
    with pytest.raises(UsageError, match="is closed"):
        s.reminders.inject("late")


# -- approval


def absent(ask: Any) -> bool:
    raise TimeoutError("nobody is there")


def test_an_approver_that_raises(way: Way, tmp_path: Path) -> None:
    """PermissionReplied says once that the call was refused, and why; a replay of it goes on."""
    hooks = Hooks()
    watch = Watch(hooks, "PermissionAsked", "PermissionReplied", "PreToolUse")
    tape = tmp_path / "tape"
    with way(hooks, deny=["t"], approve=absent, tape=tape) as s:
        with pytest.raises(TimeoutError):
            s.tool("t", {}, stages.echo)
        s.submit("hello")
    assert watch.events == ["PermissionAsked", "PermissionReplied"]
    [replied] = watch.of("PermissionReplied")
    assert replied["decision"] == "deny"
    assert "(the approver failed: TimeoutError: nobody is there)" in replied["reason"]
    with way(Hooks(), replay=tape, tape=tmp_path / "copy") as s:
        with pytest.raises(Exception, match="TimeoutError: nobody is there"):
            s.tool("t", {}, stages.echo)
        s.submit("hello")
    assert (tmp_path / "copy").read_bytes() == tape.read_bytes()


def test_an_approval_is_told(way: Way) -> None:
    """PermissionReplied says that a person approved."""
    hooks = Hooks()
    watch = Watch(hooks, "PermissionReplied")
    with way(hooks, deny=["t"], approve=lambda ask: True) as s:
        s.tool("t", {}, stages.echo)
    assert watch.of("PermissionReplied")[0]["reason"] == "tool 't' is denied by the policy (t) (approved)"


@pytest.mark.parametrize("answer", [1, 0, 1.0, None, "yes"])
def test_an_answer_that_is_none(way: Way, answer: Any) -> None:
    """An approver says True, False or 'session', and nothing that merely equals them."""
    with way(Hooks(), deny=["t"], approve=lambda ask: answer) as s, pytest.raises(UsageError, match="approve"):
        s.tool("t", {}, stages.echo)


# -- misuse


@pytest.mark.parametrize("result", [{"archived_messages": "abc"}, {"remaining_messages": -1}, {"summary": 7}])
def test_a_compactor_that_talks_nonsense(way: Way, result: Any) -> None:
    """Its counts are numbers from zero on, its summary is text."""
    with way(Hooks()) as s, pytest.raises(UsageError, match="a compactor's"):
        s.compact(lambda reminders: result)


def test_a_child_of_a_closed_session(way: Way) -> None:
    """A child ends with its parent."""
    with way(Hooks()) as s, s.subagent("helper") as child:
        s.close()
        assert child.closed
        with pytest.raises(UsageError, match="is closed"):
            child.tool("t", {}, stages.echo)


def test_an_async_handler_of_a_blocking_session_in_a_loop() -> None:
    """The message names what to write in a session."""
    hooks = Hooks()

    async def handler(payload: Any) -> None: ...

    hooks.on("SessionStart")(handler)

    async def main() -> None:
        with pytest.raises((UsageError, HookError), match=r"`async with`.*`_async`"), hooks.session():
            pass

    asyncio.run(main())


@pytest.mark.parametrize(("given", "names"), [({}, ["t"]), ({"tool_names": ()}, ["t"]), ({"tool_names": ["u"]}, ["u"])])
def test_the_tools_of_a_turn(way: Way, given: dict[str, Any], names: list[str]) -> None:
    """Those that ran, unless the host names others."""
    hooks = Hooks()
    watch = Watch(hooks, "PostTurn")
    with way(hooks) as s:
        s.tool("t", {}, stages.echo)
        s.turn_done("", **given)
    assert watch.of("PostTurn")[0]["tool_names"] == names


def test_a_replay_that_goes_astray_says_so(tmp_path: Path) -> None:
    """A host's exception in a replay that had none is a divergence still."""
    with Hooks().session(tape=tmp_path / "tape"):
        pass
    with pytest.raises(Divergence), Hooks().session(replay=tmp_path / "tape"):
        raise ValueError("mine")


def test_a_handler_that_changes_the_input_in_place_changes_nothing() -> None:
    """What an earlier guard has passed is what runs, and the host's own dict stays as it is."""
    hooks = Hooks()
    hooks.register_tool_hook(pre=lambda payload: payload["tool"]["args"].update(cmd="rm -rf /"))
    mine = {"cmd": "ls"}
    with hooks.session() as s:
        result = s.tool("Bash", mine, lambda given: given["cmd"])
    assert (result.output, result.input, mine) == ("ls", {"cmd": "ls"}, {"cmd": "ls"})
