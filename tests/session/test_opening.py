"""How a session begins and ends."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hookline
import stages
from hookline import HookError, Hooks, TapeError, UsageError, remind
from hookline.permissions import Policy
from hookline.session import ILL, Session
from stages import Watch

Way = Callable[..., Any]


def test_a_life(way: Way, tmp_path: Path) -> None:
    """SessionStart when it is entered, SessionEnd when it is left; both with the facts the host gave."""
    hooks = Hooks()
    watch = Watch(hooks)
    with way(hooks, id="s1", cwd=tmp_path, source="resume", task="mend it", system="Be kind.") as s:
        assert (s.id, s.cwd, s.turn) == ("s1", str(tmp_path), 0)
        assert s.started.event == "SessionStart"
        s.turn_done()
        assert s.turn == 1
    assert watch.events == ["SessionStart", "PostTurn", "SessionEnd"]
    assert watch.of("SessionStart") == [{"source": "resume", "task": "mend it", "system": "Be kind."}]
    end = {"reason": "exit", "final_status": "done", "stop_reason": "exit", "iterations": 1}
    assert watch.of("SessionEnd") == [end]
    assert {payload["cwd"] for _, payload in watch.heard} == {str(tmp_path)}
    assert {payload["transcript_path"] for _, payload in watch.heard} == {""}


def test_ids_and_clock_are_injected(way: Way) -> None:
    """Made-up ids come from `new_id`, times from `clock`; without them ids differ."""
    names = iter(["first", "second"])
    hooks = Hooks(clock=lambda: 0.0, new_id=lambda: next(names))
    watch = Watch(hooks, "SessionStart")
    for name in ("first", "second"):
        with way(hooks) as s:
            assert s.id == name
    assert {payload["timestamp"] for _, payload in watch.heard} == {"1970-01-01T00:00:00.000Z"}
    assert len({Hooks().session().id for _ in range(3)}) == 3


def test_an_exception_goes_through(way: Way) -> None:
    """The body's exception is not swallowed; SessionError tells of it, then SessionEnd."""
    hooks = Hooks()
    watch = Watch(hooks)
    with pytest.raises(ValueError, match=r"^oops$"), way(hooks):
        raise ValueError("oops")
    assert watch.events == ["SessionStart", "SessionError", "SessionEnd"]
    final = {"final_status": "error", "stop_reason": "error"}
    assert watch.of("SessionError") == [final | {"error": "ValueError: oops"}]
    assert watch.of("SessionEnd") == [final | {"reason": "exit", "iterations": 0}]


@pytest.mark.parametrize("status", sorted(ILL))
def test_a_status_that_is_ill(way: Way, status: str) -> None:
    """Five statuses are errors, also where no exception says so."""
    hooks = Hooks()
    watch = Watch(hooks)
    with way(hooks) as s:
        s.close(status)
    assert watch.of("SessionError") == [{"final_status": status, "stop_reason": status, "error": None}]
    assert watch.events == ["SessionStart", "SessionError", "SessionEnd"]


@pytest.mark.parametrize("status", ["done", "cancelled"])
def test_a_status_that_is_well(way: Way, status: str) -> None:
    """Any other status ends without SessionError; the reason is the host's."""
    hooks = Hooks()
    watch = Watch(hooks)
    with way(hooks) as s:
        s.close(status, reason="logout")
    stop = "logout" if status == "done" else status
    end = {"reason": "logout", "final_status": status, "stop_reason": stop, "iterations": 0}
    assert (watch.events, watch.of("SessionEnd")) == (["SessionStart", "SessionEnd"], [end])


def test_an_error_without_an_exception(way: Way) -> None:
    """A host may say in its own words what went wrong."""
    hooks = Hooks()
    watch = Watch(hooks)
    with way(hooks) as s:
        s.close("cancelled", error="the user left")
    assert [error["error"] for error in watch.of("SessionError")] == ["the user left"]


def test_closing_twice_is_closing_once(way: Way) -> None:
    """The second close, and leaving the block, fire nothing more."""
    hooks = Hooks()
    watch = Watch(hooks)
    with way(hooks) as s:
        s.close()
        s.close("error")
    assert watch.events == ["SessionStart", "SessionEnd"]


CALLS: dict[str, Callable[[Any], Any]] = {
    "submit": lambda s: s.submit("x"),
    "model": lambda s: s.model(stages.request("x"), stages.answer),
    "tool": lambda s: s.tool("t", {}, stages.echo),
    "turn_done": lambda s: s.turn_done(),
    "file_edited": lambda s: s.file_edited("a"),
    "compact": lambda s: s.compact(lambda reminders: {}),
    "persona": lambda s: s.persona("p").__enter__(),
    "step": lambda s: s.step("x", lambda: None),
    "budget": lambda s: s.budget(5),
    "approval_requested": lambda s: s.approval_requested(),
    "handoff": lambda s: s.handoff(),
    "pause": lambda s: s.pause(),
    "resume": lambda s: s.resume(),
    "idle": lambda s: s.idle(),
    "notify": lambda s: s.notify("x"),
    "stop": lambda s: s.stop(),
    "subagent": lambda s: s.subagent("x").__enter__(),
    "on_finish": lambda s: s.on_finish(lambda s, value: value),
    "finish": lambda s: s.finish(1),
    "fire": lambda s: s.fire("Notification", message="x"),
}


def test_every_call_is_in_the_table() -> None:
    """What follows speaks of every call a host can make."""
    public = {name for name, _ in inspect.getmembers(Session, inspect.isfunction) if not name.startswith("_")}
    ours = {name for name in public if not name.endswith("_async")}
    assert ours - {"entered", "perform", "perform_async", "system", "close"} == set(CALLS)
    waits = {name for name in ours if f"{name}_async" in public}
    assert set(CALLS) - waits == {"file_edited", "persona", "subagent", "on_finish"}


@pytest.mark.parametrize("name", CALLS)
def test_calls_after_the_end(way: Way, name: str) -> None:
    """Every call of a closed session is a mistake, and says so."""
    hooks = Hooks()
    with way(hooks) as s:
        s.close()
        with pytest.raises(UsageError, match="the session is closed"):
            CALLS[name](s)


@pytest.mark.parametrize("name", CALLS)
def test_calls_before_the_beginning(name: str) -> None:
    """A session that was not entered tells how to enter it."""
    with pytest.raises(UsageError, match=r"with hooks\.session"):
        CALLS[name](Hooks().session())


@pytest.mark.parametrize("name", CALLS)
def test_calls_without_any_hook(way: Way, name: str) -> None:
    """Every call works where nobody listens."""
    with way(Hooks()) as s:
        CALLS[name](s)


def test_twins_carry_their_names() -> None:
    """A call and its twin are called what the host calls them, and have the same parameters and text."""
    for name in {*CALLS, "close"} - {"file_edited", "persona", "subagent", "on_finish"}:
        call, twin = getattr(Session, name), getattr(Session, f"{name}_async")
        assert (call.__name__, twin.__name__) == (name, f"{name}_async")
        assert inspect.signature(call).parameters == inspect.signature(twin).parameters
        assert call.__doc__
        assert call.__doc__ == twin.__doc__


def test_a_session_is_entered_once(way: Way) -> None:
    """A second run of an agent is a second session."""
    session = Hooks().session()
    with session:
        pass
    with pytest.raises(UsageError, match="entered before"), session:
        pass


def test_a_session_start_that_fails_loudly(way: Way, tmp_path: Path) -> None:
    """A Harn handler that raises keeps the session from beginning; it ends all the same, and lets go of its tape."""
    hooks = Hooks()
    watch = Watch(hooks, "SessionError", "SessionEnd")
    hooks.register_session_hook("session_start", lambda payload: 1 / 0)
    tape = tmp_path / "tape.jsonl"
    with pytest.raises(HookError, match="ZeroDivisionError"), way(hooks, tape=tape):
        raise AssertionError("it did not begin")
    assert watch.events == ["SessionError", "SessionEnd"]
    hookline.Tape(str(tape)).close()


def test_a_handler_that_fails_at_the_end_is_swallowed(way: Way) -> None:
    """Nothing keeps a session from its end: Harn's handlers of SessionError and SessionEnd may raise."""
    hooks = Hooks()
    for event in ("session_error", "session_end"):
        hooks.register_session_hook(event, lambda payload: 1 / 0)
    watch = Watch(hooks, "SessionError", "SessionEnd")
    with pytest.raises(KeyError), way(hooks):
        raise KeyError("x")
    assert watch.events == ["SessionError", "SessionEnd"]


def test_a_mistake_at_the_end_comes_after_everything_else(way: Way, tmp_path: Path) -> None:
    """A handler with an impossible answer raises out of close, but only when all the others have had their turn."""
    hooks = Hooks()
    hooks.on("FileEdited")(lambda payload: "nonsense")  # type: ignore[arg-type,return-value]
    watch = Watch(hooks)
    tape = tmp_path / "tape.jsonl"

    def edits() -> None:
        with way(hooks, tape=tape) as s:
            s.file_edited("a")
            s.file_edited("b")

    with pytest.raises(hookline.BadAnswer, match="nonsense"):
        edits()
    assert watch.events == ["SessionStart", "SessionEnd"]
    hookline.Tape(str(tape)).close()


def test_the_tape_is_the_transcript_and_is_continued(way: Way, tmp_path: Path) -> None:
    """Events name the tape; a second session goes on where the first ended; two at once cannot write it."""
    tape = tmp_path / "tape.jsonl"
    hooks = Hooks()
    watch = Watch(hooks, "SessionStart")
    for name in ("one", "two"):
        with way(hooks, id=name, tape=tape), pytest.raises(TapeError, match="another session"):
            hooks.session(tape=tape).__enter__()
    assert {payload["transcript_path"] for _, payload in watch.heard} == {str(tape)}
    assert [data["session_id"] for _, data in stages.records(tape, "event")] == ["one", "one", "two", "two"]


def test_a_session_never_entered_can_be_closed(tmp_path: Path) -> None:
    """Closing lets go of the tape, and fires nothing."""
    hooks = Hooks()
    watch = Watch(hooks)
    tape = tmp_path / "tape.jsonl"
    hooks.session(tape=tape).close()
    hookline.Tape(str(tape)).close()
    assert watch.events == []


def test_sessions_of_one_hooks_share_nothing(way: Way) -> None:
    """Reminders, slots, grants and turns are each session's own."""
    hooks = Hooks()

    @hooks.on("SessionStart")
    def start(payload: Any) -> hookline.Verdict:
        return hookline.context(payload["session_id"]) | remind(f"of {payload['session_id']}")

    with way(hooks, id="a") as a, hooks.session(id="b") as b:
        a.turn_done()
        assert (a.turn, b.turn) == (1, 0)
        assert (a.system(), b.system()) == ("a\n\nSystem reminder:\nof a", "b\n\nSystem reminder:\nof b")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"approve": True}, "approve is a function that gets the question, as in lambda ask: True, not a boolean True"),
        ({"tape": 7}, "tape is the path of a file, not a number 7"),
        ({"replay": 7}, "replay is the path of a file, not a number 7"),
        (
            {"deny": ["Bash|Write"]},
            "deny: 'Bash|Write' fits no tool: a glob has no '|'; give each name a glob of its own",
        ),
        ({"allow": ["read_*", "Bash(rm *)"]}, "allow: 'Bash(rm *)' fits no tool: a glob sees the name of a tool"),
    ],
)
def test_options_that_cannot_be(options: dict[str, Any], message: str) -> None:
    """They are refused before the session begins, with what to write."""
    with pytest.raises(UsageError) as caught:
        Hooks().session(**options)
    assert str(caught.value).startswith(message)


def test_an_open_tape_is_no_path(tmp_path: Path) -> None:
    """A session opens its tape itself; a Tape that is open already is for `fire`."""
    tape = hookline.Tape(tmp_path / "s.jsonl")
    with pytest.raises(UsageError, match="tape is the path of a file, which the session opens itself: close this"):
        Hooks().session(tape=tape)  # type: ignore[arg-type]
    tape.close()


def test_a_policy_that_is_on_a_tape() -> None:
    """It is replayed as it was recorded, by whatever version: only what somebody writes now is refused."""
    policy = Policy(None, ["Bash|Write"])
    assert policy.refusal("Bash") == ""
    with pytest.raises(UsageError, match="fits no tool"):
        policy.checked()
