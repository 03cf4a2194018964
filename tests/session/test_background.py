"""Goose's fire-and-forget hooks in a session: they delay no call, and are waited for when the session closes."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import stages
import zoo
from hookline import Hooks

Way = Callable[..., Any]
WAITS = "cat >> log; echo >> log; for i in $(seq 500); do [ -e go ] && exit 0; sleep 0.02; done; exit 1"


def logged(directory: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (directory / "log").read_text().splitlines() if line]


def test_calls_go_on_and_the_close_waits(way: Way, tmp_path: Path) -> None:
    """Tools run while the log hook of the first still waits; the session closes only when all have ended."""
    hooks = Hooks()
    hooks.load(stages.goose(tmp_path, "post_tool_use", WAITS))
    hooks.load(stages.goose(tmp_path, "session_stop", "cat >> log"))
    tape = tmp_path / "tape.jsonl"
    with way(hooks, cwd=tmp_path, tape=tape) as s:
        for name in ("first", "second"):
            assert s.tool(name, {}, stages.echo).status == "ok"
        s.turn_done()
        assert zoo.eventually((tmp_path / "log").exists)
        assert len(logged(tmp_path)) <= 1  # the first one waits for us, and the second for the first
        threading.Timer(0.1, (tmp_path / "go").touch).start()
    events = [(entry["event"], entry.get("tool_name")) for entry in logged(tmp_path)]
    assert events == [("post_tool_use", "first"), ("post_tool_use", "second"), ("session_stop", None)]
    ended = [data["result"] for kind, data in stages.records(tape) if kind == "hook_returned"]
    assert ended == ["none", "none", "none"]


def test_hooks_of_a_child_are_waited_for_with_its_parent(way: Way, tmp_path: Path) -> None:
    """The end of a child delays nobody either."""
    hooks = Hooks()
    hooks.load(stages.goose(tmp_path, "post_tool_use", WAITS))
    with way(hooks, cwd=tmp_path) as s:
        with s.subagent("helper") as child, child.subagent("helper") as grandchild:
            grandchild.tool("t", {}, stages.echo)
        assert not (tmp_path / "go").exists()
        s.turn_done()
        (tmp_path / "go").touch()
    assert [entry["tool_name"] for entry in logged(tmp_path)] == ["t"]


def test_a_failed_tool_is_logged_too(way: Way, tmp_path: Path) -> None:
    """Goose's post_tool_use hears of a tool that raised, with its error."""
    hooks = Hooks()
    hooks.load(stages.goose(tmp_path, "post_tool_use", "cat >> log"))
    try:
        with way(hooks, cwd=tmp_path) as s:
            s.tool("t", {}, lambda given: 1 / 0)
    except ZeroDivisionError:
        pass
    [entry] = logged(tmp_path)
    assert entry["tool_error"] == "ZeroDivisionError: division by zero"
