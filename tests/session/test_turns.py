"""Turns: what PostTurn tells, how long reminders live, edits, compaction, idling, notices, stops."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import stages
from hookline import HookError, Hooks, UsageError, Verdict, deny, halt, remind
from stages import Watch, answer, echo, request

Way = Callable[..., Any]


def test_what_post_turn_tells(way: Way) -> None:
    """The turn's own calls by what became of them, and those of the session so far."""
    hooks = Hooks()
    watch = Watch(hooks, "PostTurn")
    hooks.on("PreToolUse", match="rm")(lambda payload: deny("never"))
    with way(hooks) as s:
        s.tool("ls", {}, echo)
        s.tool("rm", {}, echo)
        with pytest.raises(ZeroDivisionError):
            s.tool("crash", {}, lambda given: 1 / 0)
        assert s.turn_done("looked").event == "PostTurn"
        s.tool("ls", {}, echo)
        s.turn_done("", tool_names=["ls", "elsewhere"])
        s.turn_done()
    first, second, third = watch.of("PostTurn")
    assert first == {
        "iteration": 0,
        "text": "looked",
        "visible_text": "looked",
        "has_tool_calls": True,
        "tool_results": [
            {"tool_name": "ls", "status": "ok", "output": "ran {}"},
            {"tool_name": "rm", "status": "denied", "output": "The call of rm was denied: never"},
            {"tool_name": "crash", "status": "failed", "output": "ZeroDivisionError: division by zero"},
        ],
        "tool_count": 3,
        "tool_names": ["ls", "rm", "crash"],
        "successful_tool_names": ["ls"],
        "rejected_tool_names": ["rm"],
        "session_successful_tools": ["ls"],
        "session_rejected_tools": ["rm"],
    }
    assert (second["iteration"], second["tool_names"], second["tool_count"]) == (1, ["ls", "elsewhere"], 2)
    assert (second["successful_tool_names"], second["rejected_tool_names"]) == (["ls"], [])
    assert (third["iteration"], third["has_tool_calls"], third["tool_results"]) == (2, False, [])
    assert third["session_rejected_tools"] == ["rm"]


# -- how long reminders live


MOMENTS = {
    "before the first call": 0,
    "SessionStart": 0,
    "UserPromptSubmit": 0,
    "FileEdited": 1,
    "BeforeToolSelection": 1,
    "BeforeModel": 1,
    "AfterModel": 1,
    "PreToolUse": 1,
    "PostToolUse": 1,
    "PostTurn": 1,
    "after the model call": 1,
    "Notification": 3,
}
"""When a reminder is injected in the first turn (Notification: between the third and the fourth) -> its first call."""


@pytest.mark.parametrize("ttl", [1, 2, 3])
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_ttl_counts_model_calls(way: Way, moment: str, ttl: int) -> None:
    """A ttl of n is shown in exactly n model calls, whenever the reminder came."""
    hooks = Hooks()
    left = [remind("think", ttl_turns=ttl)]
    if moment[0].isupper():
        hooks.on(moment)(lambda payload: left.pop() if left else None)
    shown = []
    with way(hooks) as s:
        if moment == "before the first call":
            s.reminders.inject("think", ttl_turns=ttl)
        s.submit("go")
        s.file_edited("a")
        for turn in range(8):
            if turn == 3:
                s.notify("ring")
            shown.append("think" in s.system())
            s.model(request("x"), answer)
            s.tool("t", {}, echo)
            if turn == 0 and moment == "after the model call":
                s.reminders.inject("think", ttl_turns=ttl)
            s.turn_done()
    assert [turn for turn, seen in enumerate(shown) if seen] == list(range(MOMENTS[moment], MOMENTS[moment] + ttl))


def test_a_reminder_without_a_ttl_stays(way: Way) -> None:
    """It is shown until it is cleared."""
    with way(Hooks()) as s:
        kept = s.reminders.inject("think")
        for _ in range(5):
            assert s.system() == "System reminder:\nthink"
            s.model(request("x"), answer)
            s.turn_done()
        assert s.reminders.clear(id=kept.id) == 1
        assert s.system() == ""


# -- edits


def test_edits_wait_for_the_next_turn(way: Way) -> None:
    """One event each, the oldest first: before the first call of a turn, and when a turn is done."""
    hooks = Hooks()
    watch = Watch(hooks, "FileEdited", "BeforeToolSelection", "PreToolUse", "PostTurn", "SessionEnd")
    with way(hooks) as s:
        s.file_edited("a", {"operation": "write"})
        s.file_edited(Path("b"))
        s.file_edited("a")
        s.model(request("x"), lambda asked: s.file_edited("c") or answer(asked))
        s.tool("t", {}, lambda given: s.file_edited("d") or "ok")
        s.turn_done()
        s.file_edited("e")
        s.tool("t", {}, echo)
        s.file_edited("f")
    assert [payload.get("path", event) for event, payload in watch.heard] == [
        *(
            "a",
            "b",
            "a",
            "BeforeToolSelection",
            "PreToolUse",
            "PostTurn",
            "c",
            "d",
            "e",
            "PreToolUse",
            "f",
            "SessionEnd",
        )
    ]
    assert [edit["metadata"] for edit in watch.of("FileEdited")][:2] == [{"operation": "write"}, None]


def test_an_edit_whose_handler_fails(way: Way) -> None:
    """The others are delivered all the same."""
    hooks = Hooks()
    seen: list[str] = []

    def handler(payload: dict[str, Any]) -> None:
        seen.append(payload["path"])
        raise OSError("index locked")

    hooks.register_session_hook("file_edited", handler)
    with way(hooks) as s:
        for path in "abc":
            s.file_edited(path)
        s.turn_done()
    assert seen == ["a", "b", "c"]


# -- compaction

DONE = {"archived_messages": 4, "remaining_messages": 2, "summary": "they talked"}


def test_a_compaction(way: Way, tmp_path: Path) -> None:
    """PreCompact, the host's compactor, PostCompact; the result is on the tape."""
    hooks = Hooks()
    watch = Watch(hooks, "PreCompact", "PostCompact")
    tape = tmp_path / "tape.jsonl"
    with way(hooks, tape=tape) as s:
        done = s.compact(lambda reminders: DONE, trigger="manual", strategy="llm", message_count=6, keep_last=2)
        assert (done.status, done.reason, done.archived_messages, done.summary) == ("done", None, 4, "they talked")
        assert done.remaining_messages == 2
    facts = {"trigger": "manual", "strategy": "llm", "engine_strategy": "llm", "message_count": 6, "keep_last": 2}
    assert watch.of("PreCompact") == [facts]
    assert watch.of("PostCompact") == [facts | DONE | {"new_summary_len": 11}]
    assert stages.records(tape, "compaction") == [("compaction", DONE)]


def test_nothing_was_archived(way: Way) -> None:
    """PostCompact fires only where something was."""
    hooks = Hooks()
    watch = Watch(hooks, "PostCompact")
    with way(hooks) as s:
        assert s.compact(lambda reminders: {"archived_messages": None}).status == "done"
    assert watch.events == []


def test_a_denied_compaction(way: Way) -> None:
    """The compactor is not called, reminders stay as they are, PostCompact does not fire."""
    hooks = Hooks()
    hooks.register_session_hook("pre_compact", lambda payload: {"block": True, "reason": "not now"})
    watch = Watch(hooks, "PostCompact")
    called: list[Any] = []
    with way(hooks) as s:
        s.reminders.inject("think", ttl_turns=1)
        done = s.compact(called.append)
        assert (done.status, done.reason, done.archived_messages) == ("blocked", "not now", 0)
        assert len(s.reminders) == 1
    assert (called, watch.events) == ([], [])


def test_reminders_in_a_compaction(way: Way) -> None:
    """The compactor is shown what has not expired; afterwards only the preserved are left, one call shorter."""
    with way(Hooks()) as s:
        s.reminders.inject("expires", ttl_turns=1, preserve_on_compact=True)
        s.reminders.inject("goes")
        s.reminders.inject("stays", preserve_on_compact=True)
        s.reminders.inject("ages", ttl_turns=3, preserve_on_compact=True)
        shown: list[Any] = []
        s.compact(lambda reminders: shown.extend(reminders) or DONE)
        assert [reminder.body for reminder in shown] == ["goes", "stays", "ages"]
        assert [(reminder.body, reminder.ttl_turns) for reminder in s.reminders] == [("stays", None), ("ages", 2)]


def test_a_compactor_that_fails(way: Way) -> None:
    """Its exception reaches the host, and no reminder is lost; another shape than the known one is a mistake."""
    with way(Hooks()) as s:
        s.reminders.inject("goes")
        with pytest.raises(ZeroDivisionError):
            s.compact(lambda reminders: 1 / 0)
        with pytest.raises(UsageError, match="archived_messages"):
            s.compact(lambda reminders: None)
        assert len(s.reminders) == 1


# -- idling, notices


def test_idling_and_notices(way: Way) -> None:
    """A daemon tells when it goes to sleep, and an agent when it wants a person."""
    hooks = Hooks()
    watch = Watch(hooks)
    with way(hooks) as s:
        s.turn_done()
        assert s.idle(wake_interval_ms=500).event == "SessionIdle"
        assert s.notify("look", notification_type="Idle", details={"n": 1}).event == "Notification"
        s.notify("look")
    assert watch.of("SessionIdle") == [{"iteration": 1, "wake_interval_ms": 500}]
    assert watch.of("Notification") == [
        {"message": "look", "notification_type": "Idle", "details": {"n": 1}},
        {"message": "look", "notification_type": "ToolPermission", "details": {}},
    ]


# -- stopping


def test_a_stop(way: Way) -> None:
    """Stop carries the latest prompt and the response; stop_hook_active tells of a denial since the last prompt."""
    hooks = Hooks()
    left: list[Verdict | None] = [deny("run the tests"), None, deny("and again"), None]
    hooks.on("Stop")(lambda payload: left.pop(0))
    watch = Watch(hooks, "Stop")
    with way(hooks) as s:
        s.submit("mend it")
        assert (s.stop("done").decision, s.stop("done now").decision) == ("deny", "none")
        s.submit("more")
        again = s.stop("yes")
        assert (again.decision, again.reason) == ("deny", "and again")
        assert s.stop("yes").decision == "none"
    assert [(stop["prompt"], stop["response"], stop["stop_hook_active"]) for stop in watch.of("Stop")] == [
        ("mend it", "done now", True),
        ("more", "yes", True),
    ]


def test_a_stop_is_denied_eight_times(way: Way) -> None:
    """Then the agent stops, and a notice says why; a new prompt counts anew; the host may set another bound."""
    hooks = Hooks()
    hooks.on("Stop")(lambda payload: deny("carry on"))
    with way(hooks) as s:
        s.submit("go")
        rulings = [s.stop() for _ in range(10)]
        assert [ruling.decision for ruling in rulings] == ["deny"] * 8 + ["none"] * 2
        assert [str(notice) for notice in rulings[8].notices] == [
            "the stop was denied 8 times in a row, so the agent stops now: carry on"
        ]
        s.submit("again")
        assert s.stop().decision == "deny"


def test_another_bound() -> None:
    """`most_stops` may be any number, and subagents have their parent's."""
    hooks = Hooks()
    hooks.on("Stop")(lambda payload: deny("carry on"))
    hooks.on("SubagentStop")(lambda payload: deny("carry on"))
    with hooks.session() as s:
        s.most_stops = 1
        assert [s.stop().decision for _ in range(2)] == ["deny", "none"]
        with s.subagent("helper") as child:
            assert [child.stop().decision for _ in range(2)] == ["deny", "none"]


def test_a_halt_outweighs_a_denied_stop(way: Way, tmp_path: Path) -> None:
    """Whoever wants the agent to end is stronger than whoever wants it to carry on."""
    hooks = Hooks()
    hooks.load(stages.llxprt(tmp_path, "AfterAgent", {"decision": "block", "reason": "carry on"}))
    hooks.on("Stop")(lambda payload: halt("enough"))
    both = Hooks()
    both.on("Stop")(lambda payload: deny("carry on") | halt("enough"))
    with way(both) as s:
        ruling = s.stop()
        assert ruling.halt
        assert (ruling.decision, ruling.halt.reason) == ("none", "enough")


def test_clearing_the_context(way: Way, tmp_path: Path) -> None:
    """LLxprt's AfterAgent may ask for a fresh start; the ruling says so."""
    hooks = Hooks()
    hooks.load(stages.llxprt(tmp_path, "AfterAgent", {"hookSpecificOutput": {"clearContext": True}}))
    with way(hooks) as s:
        assert s.stop().clear_context


def test_a_post_turn_handler_that_raises(way: Way) -> None:
    """It fails loudly; the turn is over all the same, and its reminders have one call less to live."""
    hooks = Hooks()
    hooks.register_session_hook("post_turn", lambda payload: 1 / 0)
    with way(hooks) as s:
        s.reminders.inject("once", ttl_turns=1)
        with pytest.raises(HookError):
            s.turn_done()
        assert (s.turn, list(s.reminders)) == (1, [])
