"""Prompts: accepted and blocked, and the context slots."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import stages
from hookline import Hooks, context, deny, halt
from stages import Watch

Way = Callable[..., Any]


def test_an_accepted_prompt(way: Way, tmp_path: Path) -> None:
    """It is on the tape as a message, and the result says so."""
    hooks = Hooks()
    watch = Watch(hooks)
    tape = tmp_path / "tape.jsonl"
    with way(hooks, id="s", tape=tape) as s:
        done = s.submit("hello", system="Be kind.")
        assert (done.status, done.stop_reason, done.reason, done.error, done.context) == (
            "accepted",
            None,
            None,
            None,
            [],
        )
        assert done.ruling.event == "UserPromptSubmit"
        assert done.to_dict() == {"status": "accepted", "session_id": "s", "task": "hello", "context": []}
    assert watch.of("UserPromptSubmit") == [{"prompt": "hello", "system": "Be kind."}]
    assert stages.records(tape, "message") == [("message", {"role": "user", "content": "hello"})]


BLOCKERS: dict[str, Callable[[Hooks, Path], Any]] = {
    "harness": lambda hooks, at: hooks.load(stages.harness(at, "UserPromptSubmit", "echo 'not here' >&2; exit 2")),
    "llxprt": lambda hooks, at: hooks.load(
        stages.llxprt(at, "BeforeAgent", {"decision": "block", "reason": "not here"})
    ),
    "llxprt halt": lambda hooks, at: hooks.load(
        stages.llxprt(at, "BeforeAgent", {"continue": False, "stopReason": "not here"})
    ),
    "harn": lambda hooks, at: hooks.register_session_hook(
        "user_prompt_submit", lambda payload: {"block": True, "reason": "not here"}
    ),
    "python": lambda hooks, at: hooks.on("UserPromptSubmit")(lambda payload: deny("not here")),
    "python halt": lambda hooks, at: hooks.on("UserPromptSubmit")(lambda payload: halt("not here")),
}


@pytest.mark.parametrize("who", BLOCKERS)
def test_a_blocked_prompt(way: Way, tmp_path: Path, who: str) -> None:
    """Every dialect that can block one gives the same result; nothing is stored, and the session goes on."""
    hooks = Hooks()
    BLOCKERS[who](hooks, tmp_path)
    tape = tmp_path / "tape.jsonl"
    with way(hooks, id="s", tape=tape) as s:
        done = s.submit("do it")
        assert (done.status, done.stop_reason, done.reason) == ("blocked", "user_prompt_submit_blocked", "not here")
        error = {"category": "hook_denied", "event": "UserPromptSubmit", "reason": "not here"}
        assert done.error == error
        assert done.to_dict() == {
            "status": "blocked",
            "final_status": "blocked",
            "stop_reason": "user_prompt_submit_blocked",
            "error": error,
            "text": "",
            "visible_text": "",
            "llm": {"iterations": 0},
            "tools": {"calls": []},
            "tokens_used": 0,
            "cost_usd": 0,
            "session_id": "s",
            "task": "do it",
            "transcript": str(tape),
        }
        assert s.slots == {}
        assert s.turn_done().event == "PostTurn"
    assert stages.records(tape, "message") == []


def test_slots(way: Way) -> None:
    """Each prompt's injection replaces the one before, or empties the slot; SessionStart's stays."""
    hooks = Hooks()
    hooks.on("SessionStart")(lambda payload: context("the project is old"))
    hooks.on("UserPromptSubmit")(lambda payload: context("about " + payload["prompt"]) if payload["prompt"] else None)
    with way(hooks) as s:
        start = {"session_start_hook": "the project is old"}
        assert s.slots == start
        for prompt, text in (("a", "about a"), ("b", "about b"), ("", None), ("c", "about c")):
            assert s.submit(prompt).context == ([text] if text else [])
            assert s.slots == start | ({"hook_prompt_submit": text} if text else {})
        assert s.system("Base.") == "Base.\n\nthe project is old\n\nabout c"
        assert s.system() == "the project is old\n\nabout c"
        s.reminders.inject("think")
        assert s.system("Base.").endswith("about c\n\nSystem reminder:\nthink")


def test_a_blocked_prompt_leaves_the_slot_alone(way: Way) -> None:
    """What an earlier prompt put there still belongs to the conversation."""
    hooks = Hooks()
    hooks.on("UserPromptSubmit")(lambda payload: deny("no") if payload["prompt"] == "b" else context(payload["prompt"]))
    with way(hooks) as s:
        s.submit("a")
        s.submit("b")
        assert s.slots == {"hook_prompt_submit": "a"}


def test_slots_hold_what_every_dialect_says(way: Way, tmp_path: Path) -> None:
    """The Harness's stdout, Goose's text, LLxprt's context and message stand below each other, and on the tape."""
    hooks = Hooks()
    hooks.load(stages.harness(tmp_path, "UserPromptSubmit", "echo from the harness"))
    hooks.load(stages.goose(tmp_path, "prompt_submit", """echo '{"context_injection": "from goose"}'"""))
    specific = {"additionalContext": "from llxprt"}
    hooks.load(stages.llxprt(tmp_path, "BeforeAgent", {"systemMessage": "mind it", "hookSpecificOutput": specific}))
    tape = tmp_path / "tape.jsonl"
    with way(hooks, tape=tape) as s:
        done = s.submit("x")
        assert done.context == ["from the harness", "from goose", "from llxprt"]
        assert s.slots["hook_prompt_submit"] == "from the harness\nfrom goose\nfrom llxprt\n[System] mind it"
    [ruling] = [data for _, data in stages.records(tape, "ruling") if data["event"] == "UserPromptSubmit"]
    assert (ruling["context"], ruling["messages"]) == (done.context, ["mind it"])


def test_invisible_characters_are_no_context(way: Way) -> None:
    """Unicode's tag characters, which a model reads and a person does not see, are taken out."""
    hooks = Hooks()
    hidden = "".join(chr(0xE0000 + ord(letter)) for letter in "obey")
    hooks.on("SessionStart")(lambda payload: context(f"a{hidden}b"))
    with way(hooks) as s:
        assert s.slots == {"session_start_hook": "ab"}


def test_context_of_other_events_is_read_with_the_next_call(way: Way) -> None:
    """What hooks add where nothing has a place for it stands in the system prompt of one model call, and then goes."""
    hooks = Hooks()
    hooks.on("PostTurn")(lambda payload: context("turn over") if payload["iteration"] == 0 else None)
    hooks.on("Notification")(lambda payload: context("rang"))
    with way(hooks) as s:
        s.notify("ring")
        assert s.system("Base.") == "Base.\n\nrang"
        s.model(stages.request("x"), stages.answer)
        s.turn_done()
        assert s.system("Base.") == "Base.\n\nturn over"
        s.model(stages.request("x"), stages.answer)
        s.turn_done()
        assert s.system("Base.") == "Base."


def test_firing_an_event_by_name_only_hands_it_over(way: Way) -> None:
    """`fire` leaves context to the host; the base fields are filled in."""
    hooks = Hooks()
    watch = Watch(hooks)
    hooks.on("Notification")(lambda payload: context("rang"))
    with way(hooks, id="s", cwd="/") as s:
        ruling = s.fire("notification", message="ring")
        assert (ruling.context, s.system()) == (("rang",), "")
        [(_, payload)] = [heard for heard in watch.heard if heard[0] == "Notification"]
        assert (payload["session_id"], payload["cwd"], payload["message"]) == ("s", "/", "ring")
        assert s.fire("SessionIdle", session_id="other").event == "SessionIdle"
        assert watch.ids() == {"s", "other"}
