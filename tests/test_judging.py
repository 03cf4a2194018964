"""What would change: recorded events, fired at the hooks there are now."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hookline import Hooks, Tape, allow, context, deny, remind
from hookline.judging import Change, by_hook, changes, summary, wish
from studio import record, scripts


def taped(path: Path, hooks: Hooks, *commands: str) -> Path:
    """A tape with one PreToolUse for each command."""
    tape = Tape(path)
    for command in commands:
        hooks.fire("PreToolUse", tool_name="Bash", tool_input={"command": command}, session_id="s", tape=tape)
    tape.close()
    return path


def refusing(*words: str) -> Hooks:
    """Hooks that deny commands with one of these words in them."""
    hooks = Hooks()

    @hooks.on("PreToolUse")
    def guard(payload: dict[str, Any]) -> Any:
        found = [word for word in words if word in payload["tool_input"]["command"]]
        return deny(f"no {found[0]}") if found else None

    return hooks


def judged(tape: Path, hooks: Hooks, **options: Any) -> list[Change]:
    return [change for change in changes(str(tape), hooks, **options) if change is not None]


def test_what_was_denied_and_would_be_allowed(tmp_path: Path) -> None:
    """Each change has its record, event, tool, both rulings, and the hook that decides; the rest is the same."""
    tape = taped(tmp_path / "t", refusing("rm", "dd"), "ls", "rm x", "dd y", "rm z", "cat")
    found = judged(tape, refusing("dd", "cat"))
    assert [(c.seq, c.event, c.tool, *c.turn) for c in found] == [
        (9, "PreToolUse", "Bash", "denied", "allowed"),
        (19, "PreToolUse", "Bash", "denied", "allowed"),
        (23, "PreToolUse", "Bash", "allowed", "denied"),
    ]
    assert [c.after.get("reason") for c in found] == [None, None, "no cat"]
    assert all(c.deciders[0].endswith("guard") for c in found)
    assert summary(found) == [
        "2 events that were denied would now be allowed",
        "1 event that was allowed would now be denied",
    ]
    assert sum(by_hook(found).values()) == 3
    assert found[0].to_dict().keys() == {"seq", "event", "tool", "before", "after", "decided_by"}


def test_the_hooks_of_today_really_run(tmp_path: Path) -> None:
    """Once for every recorded event, with the recorded payload; the hooks that were recorded do not."""
    then: list[str] = []
    hooks = Hooks()
    hooks.on("PreToolUse")(lambda payload: then.append("then"))
    tape = taped(tmp_path / "t", hooks, "ls", "rm")
    now = Hooks()
    now.load(scripts(tmp_path, today=f"cat >> {tmp_path}/got; echo >> {tmp_path}/got"))
    assert judged(tape, now) == []
    assert then == ["then", "then"]
    got = [json.loads(line) for line in (tmp_path / "got").read_text().splitlines()]
    assert [payload["tool_input"]["command"] for payload in got] == ["ls", "rm"]
    assert {payload["session_id"] for payload in got} == {"s"}
    assert {payload["transcript_path"] for payload in got} == {str(tape)}


def test_only_the_plan(tmp_path: Path) -> None:
    """Nothing is started; what is compared is which hooks would run."""
    tape = taped(tmp_path / "t", refusing("rm"), "ls", "rm")
    now = Hooks()
    now.load(scripts(tmp_path, today=f"touch {tmp_path}/ran"))
    found = judged(tape, now, plan_only=True)
    assert [c.before["hooks"][0].endswith("guard") for c in found] == [True, True]
    assert [c.after["hooks"] for c in found] == [["today.sh"], ["today.sh"]]
    assert summary(found) == ["2 events would run other hooks"]
    assert not (tmp_path / "ran").exists()
    assert judged(tape, refusing("nothing"), plan_only=True) == []


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        (None, allow(), True), (allow("fine"), None, True), (deny("a"), deny("b"), True), (deny("a"), None, False),
        (context("a"), context("a"), True), (context("a"), context("b"), False), (None, remind("x"), False),
        (remind("x"), remind("x"), True), (remind("x"), remind("x", ttl_turns=2), False),
    ],
)  # fmt: skip
def test_what_counts_as_a_change(tmp_path: Path, before: Any, after: Any, same: bool) -> None:
    """What is asked of the host; how it came about, and in which words it is denied, does not count."""
    then, now = Hooks(), Hooks()
    then.on("PreToolUse")(lambda payload: before)
    now.on("PreToolUse")(lambda payload: after)
    assert (judged(taped(tmp_path / "t", then, "x"), now) == []) == same


def test_permission_is_asked_for_an_answer() -> None:
    """There an allow is more than no opinion."""
    assert wish({"event": "PermissionAsked", "decision": "allow"}) != wish(
        {"event": "PermissionAsked", "decision": "none"}
    )
    assert wish({"event": "PreToolUse", "decision": "allow"}) == wish({"event": "PreToolUse", "decision": "none"})


def test_a_handler_that_raises_now(tmp_path: Path) -> None:
    """The host would hear of it: that is a change."""

    def breaks(payload: dict[str, Any]) -> Any:
        raise ValueError("broken")

    tape = taped(tmp_path / "t", Hooks(), "x")
    now = Hooks()
    now.register_tool_hook(pattern="*", pre=breaks)
    [change] = judged(tape, now)
    assert "broken" in change.after["error"]
    assert change.turn == ("allowed", "stopped by an error in tool_hook::*::pre")
    assert change.deciders == ["tool_hook::*::pre"]
    assert summary([change]) == ["1 event that was allowed would now be stopped by an error in tool_hook::*::pre"]


def test_a_failure_that_denies(tmp_path: Path) -> None:
    """Then the hook that failed is the one that decides."""
    now = Hooks(on_failure="deny")
    now.load(scripts(tmp_path, crashes="exit 7"))
    [change] = judged(taped(tmp_path / "t", Hooks(), "x"), now)
    assert (change.turn, change.deciders) == (("allowed", "denied"), ["crashes.sh"])


def test_a_whole_session_against_no_hooks_at_all(tmp_path: Path) -> None:
    """Everything that hooks asked for is a change; a directory that is gone is no obstacle."""
    _, _, studio = record(tmp_path / "w", tmp_path / "t")
    studio.wreck()
    (tmp_path / "w").rmdir()
    found = judged(tmp_path / "t", Hooks())
    assert {change.event for change in found} >= {"SessionStart", "UserPromptSubmit", "PreToolUse", "Stop", "PreStep"}
    assert all(change.turn[1] == "allowed" for change in found)
    assert "events that were denied would now be allowed" in " ".join(summary(found))


def test_events_beside_each_other(tmp_path: Path) -> None:
    """A ruling is compared with that of its own event, also where another one happened meanwhile."""
    hooks = Hooks()
    tape = Tape(tmp_path / "t")

    @hooks.on("PreToolUse")
    def outer(payload: dict[str, Any]) -> Any:
        hooks.fire("Notification", message="inside", tape=tape)
        return deny("outside")

    hooks.fire("PreToolUse", tool_name="x", tool_input={}, tape=tape)
    tape.close()
    [change] = judged(tmp_path / "t", Hooks())
    assert (change.event, change.before["reason"]) == ("PreToolUse", "outside")
