"""The reminders of a session: what hooks and the host put there, and what the tape has of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import stages
from hookline import Hooks, UsageError, remind

Way = Callable[..., Any]


def test_what_the_host_injects(way: Way) -> None:
    """It is given back with everything filled in, and stands in the sequence."""
    with way(Hooks(), id="s") as s:
        made = s.reminders.inject("think", tags=["a", "a"], dedupe_key="k", ttl_turns=3, role_hint="developer")
        assert (made.body, made.tags, made.dedupe_key, made.ttl_turns) == ("think", ("a",), "k", 3)
        assert (made.preserve_on_compact, made.propagate, made.role_hint) == (False, "session", "developer")
        assert (made.source, made.fired_at_turn, made.originating_agent_id) == ("in_pipeline", 0, None)
        assert (list(s.reminders), len(s.reminders), s.reminders[0], made in s.reminders) == ([made], 1, made, True)
        assert not hasattr(s.reminders, "append")


def test_bad_reminders(way: Way) -> None:
    """A reminder without text, and a clear without a selector, are mistakes, and nothing is changed."""
    with way(Hooks()) as s:
        with pytest.raises(UsageError, match="not blank"):
            s.reminders.inject(" ")
        with pytest.raises(UsageError, match="did you mean 'ttl_turns'"):
            s.reminders.inject("x", ttl_turn=1)
        with pytest.raises(UsageError, match="say which"):
            s.reminders.clear()
        assert len(s.reminders) == 0


def test_clearing(way: Way) -> None:
    """All given selectors must fit; the number of those that went is given back."""
    with way(Hooks()) as s:
        for number in range(4):
            s.reminders.inject(f"{number}", tags=["even" if number % 2 == 0 else "odd"], dedupe_key=f"k{number}")
        assert s.reminders.clear(tag="even", dedupe_key="k1") == 0
        assert s.reminders.clear(tag="even", dedupe_key="k2") == 1
        assert s.reminders.clear(tag="odd") == 2
        assert [reminder.body for reminder in s.reminders] == ["0"]


def test_hooks_leave_reminders_on_every_surface(way: Way) -> None:
    """Tool, step and session hooks, and handlers of ours: their reminders reach the next request, rendered in order."""
    hooks = Hooks()
    hooks.register_session_hook("session_start", lambda payload: {"body": "one"})
    hooks.register_tool_hook(pre=lambda payload: {"reminder": {"body": "two"}, "then": {"args": {"n": 2}}})
    hooks.register_persona_hook("*", "PreStep", lambda payload: {"reminder": {"body": "three"}})
    hooks.on("Notification")(lambda payload: remind("four"))
    with way(hooks) as s:
        assert s.tool("t", {"n": 1}, lambda given: given).input == {"n": 2}
        s.step("x", lambda: None)
        s.notify("ring")
        assert s.system("Base.") == "\n\n".join(
            ["Base.", *(f"System reminder:\n{body}" for body in ("one", "two", "three", "four"))]
        )
        assert {reminder.source for reminder in s.reminders} == {"hook"}


def test_a_newer_one_with_the_same_key_takes_the_place(way: Way) -> None:
    """It goes to the end."""
    hooks = Hooks()
    hooks.on("Notification")(lambda payload: remind(payload["message"], dedupe_key="k"))
    with way(hooks) as s:
        for message in ("old", "other", "new"):
            if message == "other":
                s.reminders.inject(message)
            else:
                s.notify(message)
        assert [reminder.body for reminder in s.reminders] == ["other", "new"]


def test_reminders_before_a_denial_stay(way: Way) -> None:
    """A hook that denies a call may still tell the model something."""
    hooks = Hooks()
    hooks.register_tool_hook(pre=lambda payload: {"reminder": {"body": "use the sandbox"}, "deny": "never"})
    with way(hooks) as s:
        assert s.tool("t", {}, stages.echo).status == "denied"
        assert s.system() == "System reminder:\nuse the sandbox"


def test_reminders_are_on_the_tape(way: Way, tmp_path: Path) -> None:
    """Those of hooks after the hook's answer, those of the host where they were injected; each with its own id."""
    hooks = Hooks()
    hooks.register_session_hook("session_start", lambda payload: [{"body": "one"}, {"body": "two", "ttl_turns": 1}])
    tape = tmp_path / "tape.jsonl"
    with way(hooks, id="s", tape=tape) as s:
        s.reminders.inject("three")
        pending = [reminder.to_dict() for reminder in s.reminders]
    assert [data["reminder"] for _, data in stages.records(tape, "system_reminder")] == pending
    assert len({reminder["id"] for reminder in pending}) == 3
    kinds = [kind for kind, _ in stages.records(tape)]
    at = kinds.index("system_reminder")
    assert kinds[at - 1 : at + 4] == [
        "hook_returned",
        "system_reminder",
        "system_reminder",
        "ruling",
        "system_reminder",
    ]
    with way(hooks, id="s") as again:
        assert [reminder.id for reminder in again.reminders] == [reminder["id"] for reminder in pending[:2]]
