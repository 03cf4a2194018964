"""The tape of a session: what each call leaves on it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import stages
from hookline import Hooks, deny, remind
from stages import answer, echo, request

Way = Callable[..., Any]


def test_the_tape_of_a_session(way: Way, tmp_path: Path) -> None:
    """Every call leaves its records in the order things happened; both ways of calling leave the same."""
    hooks = Hooks(clock=lambda: 0.0)
    hooks.on("UserPromptSubmit")(lambda payload: remind("think") if payload["prompt"] == "go" else deny("no"))
    tape = tmp_path / "tape.jsonl"
    with way(hooks, id="s", cwd="/", tape=tape, deny=["rm"], approve=lambda ask: True) as s:
        s.submit("go")
        s.submit("stop")
        s.model(request("x"), answer)
        s.tool("ls", {"a": 1}, echo)
        s.tool("rm", {}, echo)
        s.compact(lambda reminders: {"archived_messages": 1})
        with s.subagent("helper", id="child") as child:
            child.turn_done()
        s.turn_done()
    known = ("message", "tool_call", "tool_result", "system_reminder", "approval", "compaction", "subagent")
    found = stages.records(tape, *known)
    reply = {"role": "assistant", "content": "1 messages", "response": {"text": "1 messages", "candidates": []}}
    reason = "tool 'rm' is denied by the policy (rm)"
    assert [(kind, data if kind != "system_reminder" else data["reminder"]["body"]) for kind, data in found] == [
        ("system_reminder", "think"),
        ("message", {"role": "user", "content": "go"}),
        ("message", reply),
        ("tool_call", {"tool_name": "ls", "tool_input": {"a": 1}}),
        ("tool_result", {"tool_name": "ls", "output": 'ran {"a": 1}'}),
        ("approval", {"tool_name": "rm", "tool_input": {}, "reason": reason, "answer": True}),
        ("tool_call", {"tool_name": "rm", "tool_input": {}}),
        ("tool_result", {"tool_name": "rm", "output": "ran {}"}),
        ("compaction", {"archived_messages": 1, "remaining_messages": 0, "summary": ""}),
        ("subagent", {"agent": "helper", "id": "child", "parent": "s"}),
    ]
    events = [data["event"] for _, data in stages.records(tape, "event")]
    assert [data["event"] for _, data in stages.records(tape, "ruling")] == events
    assert events == [
        *("SessionStart", "UserPromptSubmit", "UserPromptSubmit", "BeforeToolSelection", "BeforeModel", "AfterModel"),
        *("PreToolUse", "PostToolUse", "PermissionAsked", "PermissionReplied", "PreToolUse", "PostToolUse"),
        *("PreCompact", "PostCompact", "PostTurn", "PostTurn", "SessionEnd"),
    ]


def test_both_ways_write_the_same_bytes(tmp_path: Path) -> None:
    """A host that blocks and one on an event loop leave the same tape."""
    written = []
    for number, way in enumerate(stages.WAYS.values()):
        hooks = Hooks(clock=lambda: 0.0)
        hooks.register_session_hook("post_turn", lambda payload: {"body": "think"})
        tape = tmp_path / str(number) / "tape.jsonl"
        tape.parent.mkdir()
        with way(hooks, id="s", cwd="/", tape=tape) as s:
            s.submit("go")
            s.tool("t", {}, echo)
            s.turn_done()
        text = tape.read_text().replace(str(tape), "TAPE")
        written.append([line.partition(',"hash"')[0].partition('"duration_ms"')[0] for line in text.splitlines()])
    assert written[0] == written[1]
