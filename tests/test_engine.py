"""The engine's steps, driven by hand: what it asks to be run, what it makes of the outcomes, what it writes down."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline import engine
from hookline.matching import fields
from hookline.model import Command, Event, Hook, Job, Notice, OnFailure, Outcome, Report, Ruling, Source
from hookline.planning import plan

PRE = Event("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "ls"}}, "s", "/w", "t", "")
SILENT = Outcome("exited", 0)
ALLOW = {"harness": '{"continue":true}', "goose": '{"decision":"allow"}'}
BLOCK = '{"decision":"block","message":"no","reason":"no"}'


def hook(name: str, dialect: str = "harness", event: str = "PreToolUse", **options: Any) -> Hook:
    return Hook(name, event, dialect, Source("f", f"/{name}"), Command((name,), 1.0), **options)


def said(stdout: str, code: int = 0) -> Outcome:
    return Outcome("exited", code, stdout=stdout)


class List:
    """A tape that keeps its records in memory."""

    def __init__(self) -> None:
        self.records: list[tuple[str, dict[str, Any]]] = []

    def append(self, kind: str, data: dict[str, Any], *, last: bool = False) -> None:
        self.records.append((kind, data))

    def take(self, event: dict[str, Any]) -> List:
        self.append("event", event)
        return self


def driven(
    hooks: list[Hook], outcomes: dict[str, Outcome], event: Event = PRE, **options: Any
) -> tuple[Ruling, list[list[str]]]:
    """The ruling, and the names of the hooks each step asked for."""
    steps = engine.fire(event, plan(hooks, event), **options)
    asked: list[list[str]] = []
    try:
        jobs = next(steps)
        while True:
            asked.append([job.hook.name for job in jobs])
            jobs = steps.send([outcomes.get(job.hook.name, SILENT) for job in jobs])
    except StopIteration as done:
        return done.value, asked


def statuses(ruling: Ruling) -> list[tuple[str, str]]:
    return [(report.hook, report.skipped or report.status) for report in ruling.hooks]


def test_nothing_is_asked_for_where_nothing_matches() -> None:
    """Without a matching hook there is no job, and no payload is made of what could not even be one."""
    event = Event("PreToolUse", {"tool_name": "Bash", "tool_input": {"odd": object()}})
    assert driven([], {}, event) == (Ruling("PreToolUse"), [])
    ruling, asked = driven([hook("a", matcher=fields({"tool_name": "Write"}))], {}, event)
    assert (asked, statuses(ruling)) == ([], [("a", "no match: tool_name = Write")])


def test_sequential_hooks_are_asked_for_one_by_one() -> None:
    """Each hook is a step of its own, in plan order, with the payload of its own dialect and the event's directory."""
    a, b = hook("a"), hook("b", "goose")
    steps = engine.fire(PRE, plan([a, b], PRE))
    common = {"session_id": "s", "transcript_path": "", "hook_event_name": "PreToolUse", "cwd": "/w", "timestamp": "t"}
    assert next(steps) == [Job(a, {**common, **PRE.payload}, "/w")]
    wanted = {"event": "pre_tool_use", "session_id": "s", "tool_name": "Bash", "tool_arguments": {"command": "ls"}}
    assert steps.send([SILENT]) == [Job(b, wanted, "/w")]
    with pytest.raises(StopIteration):
        steps.send([SILENT])


def test_parallel_hooks_are_asked_for_together() -> None:
    """A wave is one step; its results are reported in plan order and all of them count."""
    hooks = [hook(name, parallel=True) for name in "abc"]
    ruling, asked = driven(hooks, {"a": said("one"), "b": said("", 2), "c": said("three")})
    assert asked == [["a", "b", "c"]]
    assert ruling.context == ("one", "three")
    assert [(r.hook, r.decision) for r in ruling.hooks] == [("a", "none"), ("b", "deny"), ("c", "none")]


def test_a_deny_settles() -> None:
    """After a deny no later wave runs, of whatever dialect; each is reported as settled by the hook that denied."""
    hooks = [hook("a"), hook("b", "goose"), hook("c", "goose"), hook("off", barred="disabled"), hook("d")]
    ruling, asked = driven(hooks, {"a": said(ALLOW["harness"]), "b": said(BLOCK)})
    assert asked == [["a"], ["b"]]
    assert statuses(ruling) == [
        ("a", "ran"),
        ("b", "ran"),
        ("c", "settled by b"),
        ("off", "disabled"),
        ("d", "settled by b"),
    ]
    assert (ruling.decision, ruling.reason) == ("deny", "no")


@pytest.mark.parametrize("answer", ['{"decision":"ask","message":"q"}', ALLOW["harness"], "text", ""])
def test_nothing_else_settles(answer: str) -> None:
    """An ask, an allow, a text and silence let the later hooks run."""
    assert driven([hook("a"), hook("b")], {"a": said(answer)})[1] == [["a"], ["b"]]


def test_a_failure_that_counts_as_a_deny_settles_too() -> None:
    """With on_failure deny the first failure ends the run."""
    ruling, asked = driven([hook("a"), hook("b")], {"a": said("", 1)}, on_failure="deny")
    assert (asked, ruling.decision, statuses(ruling)[1]) == ([["a"]], "deny", ("b", "settled by a"))


DENIABLE = {"UserPromptSubmit": {"prompt": "x"}, "Stop": {}, "SubagentStop": {}}
GOES_ON = "it goes on without its opinion"


@pytest.mark.parametrize(
    ("event", "payload", "own", "general", "decision", "what"),
    [
        ("PreToolUse", PRE.payload, None, None, "none", GOES_ON),
        ("PreToolUse", PRE.payload, None, "ask", "ask", "so somebody must be asked (on_failure=ask)"),
        ("PreToolUse", PRE.payload, None, "deny", "deny", "so it is denied (on_failure=deny)"),
        ("PreToolUse", PRE.payload, "ask", "deny", "ask", "so somebody must be asked (on_failure=ask)"),
        ("PreToolUse", PRE.payload, "deny", "ask", "deny", "so it is denied (on_failure=deny)"),
        *(
            (name, payload, None, "ask", "deny", "so it is denied (on_failure=ask)")
            for name, payload in DENIABLE.items()
        ),
        *(
            (name, payload, "deny", None, "deny", "so it is denied (on_failure=deny)")
            for name, payload in DENIABLE.items()
        ),
        ("SessionStart", {}, "deny", "deny", "none", f"{GOES_ON} (on_failure=deny)"),
        ("SessionEnd", {}, "ask", None, "none", f"{GOES_ON} (on_failure=ask)"),
    ],
)
def test_health_is_not_policy(
    event: str, payload: dict[str, Any], own: OnFailure | None, general: OnFailure | None, decision: str, what: str
) -> None:
    """A failure changes nothing unless the host insists; a hook's own word goes before the host's; each is noticed."""
    failing = hook("a", event=event, on_failure=own)
    ruling, _ = driven([failing], {"a": said("{}", 7)}, Event(event, payload), on_failure=general)
    assert ruling == Ruling(
        event,
        decision=decision,  # type: ignore[arg-type]
        healthy=False,
        reason="" if decision == "none" else "a exited with 7 (f#/a)",
        notices=(Notice(f"a exited with 7; {what}", Source("f", "/a")),),
        hooks=(
            Report(
                "a", "harness", "f#/a", "failed", success=False, exit_code=7, duration_ms=0.0, error="exited with 7"
            ),
        ),
    )


def test_a_failure_takes_nothing_from_the_others() -> None:
    """An allow before and a context after a failure stay what they are, and the ruling is unhealthy."""
    hooks = [hook("a"), hook("b", "goose"), hook("c")]
    ruling, _ = driven(hooks, {"a": said(ALLOW["harness"]), "b": said(BLOCK, 1), "c": said("text")})
    assert (ruling.decision, ruling.context, ruling.healthy) == ("allow", ("text",), False)


def test_a_denial_is_not_ill_health() -> None:
    """A hook that exits with 2 did its work."""
    ruling, _ = driven([hook("a")], {"a": said("", 2)})
    assert (ruling.decision, ruling.healthy, ruling.notices) == ("deny", True, ())


def test_an_effect_outside_the_matrix_is_dropped_with_a_notice() -> None:
    """A prompt cannot be asked about by The Harness: the report keeps what was said, the ruling does not."""
    ruling, _ = driven(
        [hook("a", event="UserPromptSubmit")],
        {"a": said('{"decision":"ask","message":"sure?"}')},
        Event("UserPromptSubmit", {"prompt": "x"}),
    )
    assert (ruling.decision, ruling.reason, ruling.hooks[0].decision) == ("none", "", "ask")
    assert [str(n) for n in ruling.notices] == ["f#/a: UserPromptSubmit takes no ask from it: ignored (sure?)"]


def test_background_hooks_are_only_mentioned() -> None:
    """The steps of an event do not wait for its fire-and-forget hooks; they stand in their place in the report."""
    event = Event("SessionEnd", {})
    hooks = [hook("a", "goose", "SessionEnd", background=True), hook("b", event="SessionEnd")]
    ruling, asked = driven(hooks, {}, event)
    assert (asked, statuses(ruling)) == ([["b"]], [("a", "background"), ("b", "ran")])


def test_every_step_is_on_the_tape_before_the_next() -> None:
    """A call is written before its outcome is known, a return and a veto before the next call, the ruling last."""
    tape = List()
    hooks = [hook("off", barred="disabled"), hook("a"), hook("b", "goose"), hook("c")]
    steps = engine.fire(PRE, plan(hooks, PRE), tape=tape)
    kinds = lambda: [(kind, data.get("handler")) for kind, data in tape.records]  # noqa: E731
    [job] = next(steps)
    assert kinds() == [("event", None), ("hook_skipped", "off"), ("hook_call", "a")]
    told = {"event": "PreToolUse", "handler": "a", "dialect": "harness", "source": "f#/a"}
    assert tape.records[2][1] == {**told, "surface": "tool", "payload": job.payload, "timeout": 1.0}
    steps.send([Outcome("exited", 1, stderr="x")])
    assert kinds()[3:] == [("hook_returned", "a"), ("hook_call", "b")]
    raw = {"status": "exited", "exit_code": 1, "stderr": "x"}
    assert tape.records[3][1] == {**told, "result": "failed", "raw": raw, "duration_ms": 0.0}
    with pytest.raises(StopIteration) as done:
        steps.send([said(BLOCK)])
    assert kinds()[5:] == [("hook_returned", "b"), ("hook_vetoed", "b"), ("hook_skipped", "c"), ("ruling", None)]
    vetoed, skipped, ruling = (data for _, data in tape.records[6:])
    told = {"event": "PreToolUse", "handler": "b", "dialect": "goose", "source": "f#/b"}
    assert vetoed == {**told, "reason": "no", "decision": "deny"}
    assert skipped == {**told, "handler": "c", "dialect": "harness", "source": "f#/c", "reason": "settled by b"}
    assert ruling == done.value.value.to_dict()


def test_fire_and_forget() -> None:
    """Background jobs are asked for one after another; answers are ignored, each report is told at its end."""
    tape = List()
    event = Event("PostToolUse", {"tool_name": "t", "tool_input": {}})
    hooks = [hook(name, "goose", "PostToolUse", background=True, on_failure="deny") for name in "ab"]
    jobs = [engine.job_of(each, event) for each in hooks]
    told: list[Report] = []
    steps = engine.fire_and_forget(jobs, event, tape=tape, tell=told.append)
    assert next(steps) == [jobs[0]]
    assert steps.send([Outcome("timeout", signal="SIGKILL", duration_ms=5.0)]) == [jobs[1]]
    why = "timed out after 1 s"
    first = Report("a", "goose", "f#/a", "timeout", success=False, signal="SIGKILL", duration_ms=5.0, error=why)
    assert told == [first]
    with pytest.raises(StopIteration):
        steps.send([said(BLOCK)])
    second = Report("b", "goose", "f#/b", "ran", decision="none", success=True, exit_code=0, duration_ms=0.0)
    assert told == [first, second]
    assert [kind for kind, _ in tape.records] == ["hook_call", "hook_returned"] * 2


OUTCOMES = st.builds(
    Outcome,
    status=st.sampled_from(["exited", "exited", "exited", "timeout", "unstartable", "lost"]),
    exit_code=st.sampled_from([0, 0, 0, 1, 2, 127]),
    stdout=st.sampled_from(["", "text", BLOCK, *ALLOW.values(), '{"decision":"ask","message":"q"}'])
    | st.text(max_size=8)
    | st.dictionaries(st.text(max_size=3), st.text(max_size=3), max_size=2).map(json.dumps),
    stderr=st.text(max_size=5),
    error=st.just("gone"),
)


@given(
    st.lists(st.tuples(st.sampled_from(["harness", "goose"]), st.booleans(), OUTCOMES), max_size=6),
    st.sampled_from([None, "ask", "deny"]),
)
def test_whatever_happens_the_ruling_holds_together(
    drawn: list[tuple[str, bool, Outcome]], on_failure: OnFailure | None
) -> None:
    """No outcome raises; the decision is that of the reports and the policy; a denial has a reason and ends the run."""
    hooks = [hook(f"h{i}", dialect, parallel=side) for i, (dialect, side, _) in enumerate(drawn)]
    outcomes = {f"h{i}": outcome for i, (_, _, outcome) in enumerate(drawn)}
    ruling, asked = driven(hooks, outcomes, on_failure=on_failure)
    assert [report.hook for report in ruling.hooks] == list(outcomes)
    ran = [name for wave in asked for name in wave]
    assert len(set(ran)) == len(ran)
    assert [r.hook for r in ruling.hooks if r.status != "skipped"] == [name for name in outcomes if name in ran]
    failed = [r for r in ruling.hooks if r.status in ("failed", "timeout")]
    assert ruling.healthy == (not failed)
    assert len(ruling.notices) >= len(failed)
    decisions = [r.decision for r in ruling.hooks if r.decision] + ([on_failure] if failed and on_failure else [])
    order = ["none", "allow", "ask", "deny"]
    assert ruling.decision == max(decisions, key=order.index, default="none")
    assert bool(ruling.reason) >= (ruling.decision in ("ask", "deny"))
    for report in failed:
        assert (report.decision, bool(report.error)) == (None, True)
    skipped = {r.skipped.removeprefix("settled by ") for r in ruling.hooks if r.skipped}
    assert skipped <= set(ran)
    assert bool(skipped) <= (ruling.decision == "deny")
    json.dumps(ruling.to_dict())
