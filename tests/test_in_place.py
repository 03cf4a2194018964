"""Handlers that change the payload in place, answer with what they were given, or with what is no JSON."""

from __future__ import annotations

import dataclasses
import datetime as dt
import sys
import threading
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from hookline import BadAnswer, HookError, Hooks, Tape, UsageError, deny, rewrite
from hookline.compacting import compact
from hookline.replay import replay
from hookline.session import Session

# -- in place


def changes_and_answers(payload: dict[str, Any]) -> Any:
    payload["tool_input"]["command"] = "echo safe"
    return rewrite(tool_input=payload["tool_input"])


def changes_and_answers_as_harn(event: dict[str, Any]) -> Any:
    event["tool"]["args"]["command"] = "echo safe"
    return {"args": event["tool"]["args"]}


def guarded(how: str) -> Hooks:
    hooks = Hooks()
    if how == "ours":
        hooks.on("PreToolUse")(changes_and_answers)
    elif how == "harn":
        hooks.on_tool("*")(changes_and_answers_as_harn)
    else:

        @hooks.on("PreToolUse")
        def changes(payload: dict[str, Any]) -> None:
            payload["tool_input"]["command"] = "echo safe"

        hooks.on("PreToolUse")(lambda payload: rewrite(tool_input={"command": "echo safe"}))
    return hooks


@pytest.mark.parametrize("how", ["ours", "harn", "two"])
@pytest.mark.parametrize("taped", [False, True])
def test_a_rewrite_counts_although_it_was_made_in_place(how: str, taped: bool, tmp_path: Path) -> None:
    """What a guard answered is what runs, whatever it did to the payload before; and a replay knows it, too."""
    tape = tmp_path / "t" if taped else None

    def host(s: Session, run: Any) -> str:
        return s.tool("Bash", {"command": "rm -rf /"}, run).output

    with guarded(how).session(id="s", cwd="/", tape=tape) as s:
        assert host(s, lambda given: f"ran {given['command']}") == "ran echo safe"
    if tape:
        assert replay(tape).divergence is None
        with Hooks().replay(tape) as s:
            assert host(s, None) == "ran echo safe"


@pytest.mark.parametrize("how", ["ours", "harn", "two"])
def test_a_host_without_a_session_has_the_change_already(how: str, tmp_path: Path) -> None:
    """`fire` hands over the host's own dict: what is left in it, or in the ruling, is the guard's."""
    for tape in (None, Tape(tmp_path / "t")):
        given = {"command": "rm -rf /"}
        ruling = guarded(how).fire("PreToolUse", tool_name="Bash", tool_input=given, tape=tape)
        assert (ruling.tool_input or given) == {"command": "echo safe"}
    assert replay(tmp_path / "t").divergence is None


def test_to_change_is_not_to_answer(tmp_path: Path) -> None:
    """A handler that only changes what it was given has answered nothing: the host's arguments run."""
    hooks = Hooks()
    hooks.on("PreToolUse")(lambda payload: payload["tool_input"].update(command="other"))
    with hooks.session() as s:
        assert s.tool("Bash", {"command": "ls"}, lambda given: given["command"]).output == "ls"


# -- the objects of a step


@dataclasses.dataclass
class Thing:
    size: int


class Incomparable:
    def __eq__(self, other: object) -> bool:
        raise ValueError("the truth value of it is ambiguous")

    __hash__ = None  # type: ignore[assignment]


OBJECTS = [
    *(dt.date(2024, 1, 1), Decimal("1.50"), Thing(1), b"abc", {1, 2}, float("inf"), {1: 2}, object()),
    *(Path("x"), Incomparable()),
]


@pytest.mark.parametrize("thing", OBJECTS, ids=lambda thing: type(thing).__name__)
def test_what_is_passed_through_stays_what_it_is(thing: Any) -> None:
    """The step of the program gets its own objects, and so does whoever called it: a hook that hands them on hands
    on those, not what JSON would make of them."""
    hooks = Hooks()
    hooks.register_step_hook("*", "audit", "PreStep", lambda ctx: {"body": "x", "then": {"args": ctx["step"]["args"]}})
    hooks.register_persona_hook("*", "PreStep", lambda ctx: {"args": [*ctx["step"]["args"]]})
    hooks.register_persona_hook("*", "PostStep", lambda ctx: {"output": ctx["output"]})
    hooks.on("PostStep")(lambda payload: rewrite(output=payload["output"]))
    with hooks.session() as s:
        assert s.step("audit", lambda given: given, thing) is thing


@pytest.mark.parametrize("taped", [False, True])
def test_a_step_handler_is_given_the_programs_objects(taped: bool, tmp_path: Path) -> None:
    """With a tape as without one: it may look at their attributes, and hand them on."""
    hooks = Hooks()

    @hooks.on_step("*", "merge", "PreStep")
    def adds(ctx: dict[str, Any]) -> Any:
        thing = ctx["step"]["args"][0]
        return {"args": [thing, thing.size]}

    @hooks.on_persona("*", "PostStep")
    def looks(ctx: dict[str, Any]) -> Any:
        assert ctx["output"].size == 1

    with hooks.session(tape=tmp_path / "t" if taped else None) as s:
        thing = Thing(1)
        assert s.step("merge", lambda given, size: given if size == 1 else None, thing) is thing


@pytest.mark.parametrize("taped", [False, True])
def test_a_tool_handler_is_given_what_the_host_gave(taped: bool, tmp_path: Path) -> None:
    """A tuple, a number as a key, a date are what they are, with a tape, too."""
    seen: list[Any] = []
    hooks = Hooks()
    hooks.on("PreToolUse")(lambda payload: seen.append(payload["tool_input"]))
    given = {"pair": (1, 2), "when": dt.date(2024, 1, 1), "table": {1: "one"}}
    tape = Tape(tmp_path / "t") if taped else None
    hooks.fire("PreToolUse", tool_name="x", tool_input=given, tape=tape)
    assert seen == [given]
    assert type(seen[0]["pair"]) is tuple


@pytest.mark.parametrize("taped", [False, True])
@pytest.mark.parametrize("harns", [False, True])
def test_arguments_that_are_no_json(taped: bool, harns: bool, tmp_path: Path) -> None:
    """A tool's arguments are JSON, with a tape and without: what is none is the handler's mistake, at once."""
    hooks = Hooks()
    if harns:
        hooks.register_tool_hook(pre=lambda event: {"args": {"x": object()}})
    else:
        hooks.on("PreToolUse")(lambda payload: rewrite(tool_input={"x": object()}))
    tape = Tape(tmp_path / "t") if taped else None
    for _ in range(2):
        with pytest.raises(BadAnswer, match="must be made of JSON values"):
            hooks.fire("PreToolUse", tool_name="x", tool_input={}, tape=tape)


@pytest.mark.parametrize(
    ("made", "complaint"),
    [
        (lambda: rewrite(tool_input="ls"), "it rewrites tool_input, which must be an object, not a string: 'ls'"),
        (lambda: rewrite(prompt=5), "it rewrites prompt, which must be a string, not a number: 5"),
        (lambda: deny(ValueError("x")), "deny() takes a text"),  # type: ignore[arg-type]
        (rewrite, "rewrite() needs something to rewrite"),
        (lambda: rewrite(tool_inptu={}), "did you mean 'tool_input'?"),
        (lambda: {"deny": "no"}, "dicts are for Harn's handlers"),
        (lambda: deny, "call it: an answer is no function"),
    ],
)
def test_a_verdict_that_cannot_be(made: Any, complaint: str) -> None:
    """A guard that misbuilds its answer must not pass for one that failed, and let the operation go on."""
    hooks = Hooks()
    hooks.on("PreToolUse")(lambda payload: made())
    ran: list[Any] = []
    with hooks.session() as s, pytest.raises(BadAnswer) as caught:
        s.tool("Bash", {"command": "rm"}, ran.append)
    assert ran == []
    assert complaint in str(caught.value)
    assert f"({next(iter(hooks)).source})" in str(caught.value)


def test_harns_answers_are_no_verdicts() -> None:
    """Whoever takes one protocol for the other is told which is which."""
    hooks = Hooks()
    hooks.on_tool("*")(lambda event: deny("no"))  # type: ignore[arg-type,return-value]
    with pytest.raises(BadAnswer, match=r"which is a Verdict; verdicts are for @hooks\.on; it takes None, \{'deny'"):
        hooks.fire("PreToolUse", tool_name="x", tool_input={})
    with pytest.raises(TypeError, match="unsupported operand"):
        deny("x") | "foo"  # type: ignore[operator]


def test_what_a_tool_returned_that_is_no_text() -> None:
    """Bytes are text, as those of a process are; what the model could not be told is told by the tool's name."""
    with Hooks().session() as s:
        assert s.tool("x", {}, lambda given: "aé\n".encode() + b"\xff").output == "aé\n�"
        with pytest.raises(
            UsageError, match=r"the tool x returned something that is no text and no JSON value, an object: {'a'"
        ):
            s.tool("x", {}, lambda given: {"a": object()})


def test_an_exception_that_cannot_tell_of_itself() -> None:
    """It is a failure like any other."""

    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no str")

    def raises(payload: dict[str, Any]) -> None:
        raise Mute

    ours, harns = Hooks(), Hooks()
    ours.on("Stop")(raises)
    harns.register_session_hook("post_turn", raises)
    assert ours.fire("Stop").hooks[0].error == "raised Mute"
    with pytest.raises(HookError, match="raised Mute"):
        harns.fire("PostTurn")


# -- what is half a character


@pytest.mark.parametrize("answer", [deny("bad file \udcff"), rewrite(tool_input={"path": "c\udcff"})])
def test_half_a_character_on_a_tape(answer: Any, tmp_path: Path) -> None:
    """A name that is not UTF-8, as Python has it: with a tape as without one, and in a replay."""
    hooks = Hooks()
    hooks.on("PreToolUse")(lambda payload: answer)

    def host(s: Session) -> tuple[str, str]:
        result = s.tool("rm", {}, lambda given: "ran")
        return result.status, result.output.replace("\ufffd", "\udcff")

    with hooks.session(id="s", cwd="/") as s:
        live = host(s)
    with hooks.session(id="s", cwd="/", tape=tmp_path / "t") as s:
        assert host(s) == live
    assert replay(tmp_path / "t").divergence is None
    with Hooks().replay(tmp_path / "t") as s:
        assert host(s) == live


# -- beside others


def test_a_guard_registered_while_others_fire_is_heard_from_then_on() -> None:
    """Also by tools that are called for the very first time just then, on whatever thread."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(30):
            hooks = Hooks()
            begin, stop = threading.Barrier(4), threading.Event()
            fired: list[str] = []

            def fire(who: int, hooks: Hooks = hooks, begin: Any = begin, stop: Any = stop, fired: Any = fired) -> None:
                begin.wait()
                for number in range(200):
                    name = f"tool{who}_{number}"
                    hooks.fire("PreToolUse", tool_name=name, tool_input={})
                    fired.append(name)
                    if stop.is_set():
                        return

            threads = [threading.Thread(target=fire, args=(who,)) for who in range(3)]
            for thread in threads:
                thread.start()
            begin.wait()
            hooks.register_tool_hook(pattern="*", deny="no")
            stop.set()
            for thread in threads:
                thread.join()
            for name in fired:
                assert hooks.fire("PreToolUse", tool_name=name, tool_input={}).decision == "deny"
    finally:
        sys.setswitchinterval(interval)


def test_nobody_and_then_somebody() -> None:
    """The same, stopped at the very place: between the look at who listens and what is remembered of it."""
    hooks = Hooks()

    def tracer(frame: Any, event: str, arg: Any) -> Any:
        if frame.f_code.co_name == "_unheard" and event == "call":
            sys.settrace(None)
            hooks.register_tool_hook(pattern="*", deny="no")
        return tracer

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        assert hooks.fire("PreToolUse", tool_name="never_heard_of", tool_input={}).decision == "none"
    finally:
        sys.settrace(before)
    assert hooks.fire("PreToolUse", tool_name="never_heard_of", tool_input={}).decision == "deny"


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"a": [1, {"b": object()}]}, "at /a/1/b is an object"),
        ({"a": {1, object()}}, "at /a is a set"),
        (object(), "an object is none"),
    ],
)
def test_what_is_no_json_is_told_by_its_place(value: Any, told: str) -> None:
    """Where in a payload something is that no hook could be told of."""
    with pytest.raises(UsageError, match=f"a payload must be made of JSON values: {told}"):
        compact(value)
