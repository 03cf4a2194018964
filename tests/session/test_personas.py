"""Personas, their steps and reports; finishing; children."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from hookline import HookDenied, HookError, Hooks, UsageError, deny, remind, rewrite
from stages import Watch, answer, echo, request

Way = Callable[..., Any]


def add(left: int, right: int = 0) -> int:
    return left + right


def test_a_step(way: Way) -> None:
    """PreStep, the function with its arguments, PostStep with its output; the output is given back."""
    hooks = Hooks()
    watch = Watch(hooks, "PreStep", "PostStep")
    with way(hooks) as s:
        with s.persona("merge_captain"):
            assert s.step("audit", add, 1, 2) == 3
        assert s.step("audit", add, 1) == 1
    step = {"name": "audit", "function": "add", "args": [1, 2]}
    assert watch.heard[0][1]["persona"] == "merge_captain"
    assert watch.of("PreStep")[0] == {"persona": "merge_captain", "step": step}
    assert watch.of("PostStep")[0] == {"persona": "merge_captain", "step": step, "output": 3}
    assert watch.of("PreStep")[1]["persona"] == ""


def test_steps_are_rewritten(way: Way) -> None:
    """Arguments and output go through the hooks, each seeing what the one before left."""
    hooks = Hooks()
    hooks.register_step_hook("merge_*", "audit", "PreStep", lambda payload: {"args": [*payload["step"]["args"], 10]})
    hooks.register_persona_hook("*", "PostStep", lambda payload: {"output": payload["output"] * 2})
    hooks.register_persona_hook("*", "PostStep", lambda payload: {"output": payload["output"] + 1})
    hooks.on("PostStep")(lambda payload: rewrite(output=None) if payload["step"]["name"] == "forget" else None)
    watch = Watch(hooks, "PostStep")
    with way(hooks) as s, s.persona("merge_captain"):
        assert s.step("audit", add, 1) == 23
        assert s.step("other", add, 1) == 3
        assert s.step("forget", add, 1) is None
    assert watch.of("PostStep")[0]["step"]["args"] == [1, 10]


def test_a_denied_step(way: Way) -> None:
    """It raises an error that says which step, which event and why; the function does not run."""
    hooks = Hooks()
    hooks.register_step_hook("*", "merge", "PreStep", lambda payload: {"deny": "not on a Friday"})
    watch = Watch(hooks, "PostStep")
    ran: list[Any] = []
    with way(hooks) as s, s.persona("merge_captain"):
        with pytest.raises(HookDenied, match="not on a Friday") as caught:
            s.step("merge", ran.append, 1)
        assert s.step("audit", add, 1) == 1
    error = caught.value
    assert (error.category, error.event, error.reason, error.step) == (
        *("hook_denied", "PreStep", "not on a Friday", "merge"),
    )
    assert (ran, [step["step"]["name"] for step in watch.of("PostStep")]) == ([], ["audit"])


def test_a_step_that_raises(way: Way) -> None:
    """Its exception goes through, and PostStep does not fire; the persona is as it was."""
    hooks = Hooks()
    watch = Watch(hooks, "PostStep", "OnBudgetThreshold")
    with way(hooks) as s, s.persona("p"):
        with pytest.raises(ZeroDivisionError):
            s.step("x", lambda: 1 / 0)
        s.budget(5)
    assert watch.of("OnBudgetThreshold") == [{"persona": "p", "pct": 5}]
    assert watch.events == ["OnBudgetThreshold"]


def test_a_post_step_that_raises(way: Way) -> None:
    """The step has failed, and the host hears of it."""
    hooks = Hooks()
    hooks.register_persona_hook("*", "PostStep", lambda payload: 1 / 0)
    with way(hooks) as s, pytest.raises(HookError):
        s.step("x", add, 1)


def test_personas_nest(way: Way) -> None:
    """Inside is the inner one; afterwards the outer one again, also after an exception."""
    hooks = Hooks()
    watch = Watch(hooks, "OnBudgetThreshold")
    with way(hooks) as s:
        with s.persona("outer") as same:
            assert same.id == s.id
            with suppress(KeyError), s.persona("inner"):
                s.budget(1)
                raise KeyError
            s.budget(2)
        s.budget(3)
    assert [report["persona"] for report in watch.of("OnBudgetThreshold")] == ["inner", "outer", ""]


def test_reports(way: Way) -> None:
    """Budget, approval, handoff, pause and resume carry the persona, its step, a reason and details."""
    hooks = Hooks()
    watch = Watch(hooks)
    with way(hooks) as s, s.persona("p"):
        assert s.budget(80.5, tokens=9).event == "OnBudgetThreshold"
        assert s.approval_requested("merge?", branch="main").event == "OnApprovalRequested"
        assert s.handoff("to ops").event == "OnHandoffEmitted"
        assert s.pause().event == "OnPersonaPaused"
        assert s.resume().event == "OnPersonaResumed"
    assert watch.of("OnBudgetThreshold") == [{"persona": "p", "pct": 80.5, "details": {"tokens": 9}}]
    assert watch.of("OnApprovalRequested") == [{"persona": "p", "reason": "merge?", "details": {"branch": "main"}}]
    assert watch.of("OnHandoffEmitted") == [{"persona": "p", "reason": "to ops"}]
    assert watch.of("OnPersonaPaused") == watch.of("OnPersonaResumed") == [{"persona": "p"}]


def test_reports_inside_a_step() -> None:
    """They name the step, so that a step hook can hear them."""
    hooks = Hooks()
    heard: list[Any] = []
    hooks.register_step_hook("p", "build", "OnBudgetThreshold(80)", lambda payload: heard.append(payload["pct"]))
    with hooks.session() as s, s.persona("p"):
        s.budget(90)
        s.step("build", lambda: [s.budget(pct) and None for pct in (50, 80, 95)])
        s.step("other", lambda: s.budget(99) and None)
    assert heard == [80, 95]


def test_no_persona_is_on_stage_while_hooks_run() -> None:
    """A step that a handler takes is its own, also when the handler fails; afterwards the persona is back."""
    hooks = Hooks()
    watch = Watch(hooks, "PostStep", "OnBudgetThreshold")

    @hooks.on("PreStep")
    def handler(payload: Any) -> None:
        if payload["step"]["name"] == "outer":
            s.step("inner", add, 1)
            s.budget(1)
            with s.persona("helper"):
                s.budget(2)
            raise OSError("and then it fails")

    with hooks.session() as s, s.persona("p"):
        s.step("outer", add, 1)
        s.budget(3)
    assert [(step["step"]["name"], step["persona"]) for step in watch.of("PostStep")] == [("inner", ""), ("outer", "p")]
    assert [(report["pct"], report["persona"]) for report in watch.of("OnBudgetThreshold")] == [
        *((1, ""), (2, "helper"), (3, "p"))
    ]


def test_tasks_of_one_session_keep_their_personas() -> None:
    """Personas of tasks that run beside each other do not mix, and hooks that run meanwhile take nobody's away."""
    hooks = Hooks()

    @hooks.on("PreToolUse")
    async def slowly(payload: Any) -> None:
        await asyncio.sleep(0)

    watch = Watch(hooks, "OnBudgetThreshold")

    async def act(s: Any, name: str) -> None:
        with s.persona(name):
            await asyncio.gather(*(s.tool_async("t", {}, echo) for _ in range(3)))
            await s.budget_async(ord(name))

    async def host() -> None:
        async with hooks.session() as s:
            with s.persona("m"):
                await asyncio.gather(act(s, "a"), act(s, "b"), *(s.tool_async("t", {}, echo) for _ in range(3)))
                await s.budget_async(ord("m"))

    asyncio.run(host())
    reports = watch.of("OnBudgetThreshold")
    assert len(reports) == 3
    assert all(report["pct"] == ord(report["persona"]) for report in reports)


# -- finishing

LEFT = {"queued_triggers": ["later"], "suspended_subagents": []}
ALL = {
    "suspended_subagents": [],
    "queued_triggers": ["later"],
    "partial_handoffs": [],
    "in_flight_llm_calls": [],
    "pool_pending_tasks": [],
}
NONE: dict[str, list[Any]] = {name: [] for name in ALL}


def test_a_finish(way: Way) -> None:
    """PreFinish, OnUnsettledDetected, the callback, PostFinish; every event has the same snapshot of five lists."""
    hooks = Hooks()
    watch = Watch(hooks, "PreFinish", "OnUnsettledDetected", "PostFinish")
    left: dict[str, list[str]] = {"queued_triggers": ["later"]}

    def callback(session: Any, value: Any) -> Any:
        watch.heard.append(("callback", {}))
        left["queued_triggers"].clear()
        assert session.id == "s"
        return value + 1

    with way(hooks, id="s") as s:
        s.on_finish(lambda session, value: 99)
        assert s.on_finish(callback) is callback
        assert s.finish(1, unsettled=left) == 2
        assert s.finish(5) == 5
    assert watch.events == ["PreFinish", "OnUnsettledDetected", "callback", "PostFinish", "PreFinish", "PostFinish"]
    assert watch.of("PreFinish") == [
        {"return_value": 1, "unsettled": ALL, "has_on_finish": True},
        {"return_value": 5, "unsettled": NONE, "has_on_finish": False},
    ]
    assert watch.of("OnUnsettledDetected") == [{"unsettled": ALL}]
    assert watch.of("PostFinish") == [{"return_value": 2, "unsettled": ALL}, {"return_value": 5, "unsettled": NONE}]


def test_a_callback_may_return_nothing(way: Way) -> None:
    """None is a value like any other."""
    with way(Hooks()) as s:
        s.on_finish(lambda session, value: None)
        assert s.finish(1) is None


def test_a_blocked_finish(way: Way) -> None:
    """A block at PreFinish raises; the callback does not run, and is used up."""
    hooks = Hooks()
    hooks.register_session_hook("pre_finish", lambda payload: {"block": True, "reason": "tests fail"})
    watch = Watch(hooks, "OnUnsettledDetected", "PostFinish")
    called: list[Any] = []
    with way(hooks) as s:
        s.on_finish(lambda session, value: called.append(value))
        with pytest.raises(HookDenied, match="tests fail") as caught:
            s.finish(1, unsettled=LEFT)
        assert (caught.value.event, caught.value.step) == ("PreFinish", None)
    assert (called, watch.events) == ([], [])


@pytest.mark.parametrize("event", ["on_unsettled_detected", "post_finish"])
def test_other_blocks_of_a_finish_are_advice(way: Way, event: str) -> None:
    """Only PreFinish can be denied."""
    hooks = Hooks()
    hooks.register_session_hook(event, lambda payload: {"block": True})
    with way(hooks) as s:
        assert s.finish(1, unsettled=LEFT) == 1


@pytest.mark.parametrize(
    ("unsettled", "message"),
    [
        ({"queued_trigers": []}, "did you mean 'queued_triggers'"),
        ({"queued_triggers": "later"}, "queued_triggers must be a list"),
        ([1], "takes a dict of lists"),
    ],
)
def test_another_kind_of_unsettled_work(way: Way, unsettled: Any, message: str) -> None:
    """There are five kinds, and each is a list."""
    with way(Hooks()) as s, pytest.raises(UsageError, match=message):
        s.finish(1, unsettled=unsettled)


def test_a_callback_that_is_none(way: Way) -> None:
    """What is no function is refused at once."""
    with way(Hooks()) as s, pytest.raises(UsageError, match="takes a function"):
        s.on_finish("fn")


# -- children


def test_a_child(way: Way) -> None:
    """It has an id, turns and slots of its own, and neither SessionStart nor SessionEnd."""
    hooks = Hooks()
    watch = Watch(hooks)
    with way(hooks, id="parent") as s:
        s.submit("go")
        with s.subagent("helper", id="child") as child:
            assert (child.id, child.cwd, child.turn, child.started) == ("child", s.cwd, 0, None)
            child.model(request("x"), answer)
            child.turn_done()
            assert (child.turn, s.turn) == (1, 0)
            assert child.stop("found it").event == "SubagentStop"
        with pytest.raises(UsageError, match="closed"):
            child.turn_done()
        with s.subagent("helper") as other:
            assert other.id not in ("parent", "child")
    mine = [event for event, payload in watch.heard if payload["session_id"] == "child"]
    assert mine == ["BeforeToolSelection", "BeforeModel", "AfterModel", "PostTurn", "SubagentStop"]
    assert watch.of("SubagentStop") == [{"agent": "helper", "output": "found it", "stop_hook_active": False}]
    assert watch.events.count("SessionStart") == watch.events.count("SessionEnd") == 1


def test_closing_a_child_is_not_closing_its_parent(way: Way) -> None:
    """A child that is closed early ends alone; nothing fires for it but its own edits."""
    hooks = Hooks()
    watch = Watch(hooks)
    with way(hooks, id="parent") as s:
        with s.subagent("helper", id="child") as child:
            child.file_edited("a")
            child.close("error")
        s.turn_done()
    assert [(event, payload["session_id"]) for event, payload in watch.heard] == [
        ("SessionStart", "parent"),
        ("FileEdited", "child"),
        ("PostTurn", "parent"),
        ("SessionEnd", "parent"),
    ]


def test_edits_of_a_child_are_not_lost(way: Way) -> None:
    """What it did not deliver itself is delivered by its parent."""
    hooks = Hooks()
    watch = Watch(hooks, "FileEdited")
    with way(hooks) as s:
        with s.subagent("helper") as child:
            child.file_edited("a")
        s.turn_done()
    assert [edit["path"] for edit in watch.of("FileEdited")] == ["a"]


def test_a_child_that_must_carry_on(way: Way) -> None:
    """A denied SubagentStop has a reason, and the next one tells of it."""
    hooks = Hooks()
    left = [deny("look again")]
    hooks.on("SubagentStop", match="helper")(lambda payload: left.pop() if left else None)
    watch = Watch(hooks, "SubagentStop")
    with way(hooks) as s, s.subagent("helper") as child:
        ruling = child.stop("no")
        assert (ruling.decision, ruling.reason) == ("deny", "look again")
        assert child.stop("yes").decision == "none"
    assert [stop["stop_hook_active"] for stop in watch.of("SubagentStop")] == [True]


def test_a_child_has_its_parents_policy_approver_and_grants(way: Way) -> None:
    """What was granted to the parent is granted to its children, and the other way round."""
    asked: list[str] = []
    with way(Hooks(), deny=["rm"], approve=lambda ask: asked.append(ask.tool) or "session") as s:
        s.tool("rm", {"path": "a"}, echo)
        with s.subagent("helper") as child:
            child.tool("rm", {"path": "a"}, echo)
            child.tool("rm", {"path": "b"}, echo)
        s.tool("rm", {"path": "b"}, echo)
    assert asked == ["rm", "rm"]


def test_reminders_reach_children(way: Way) -> None:
    """`all` reaches every generation, `session` the children only, `none` nobody; copies tell where they came from."""
    hooks = Hooks()
    hooks.on("SessionStart")(lambda payload: remind("for all", propagate="all"))
    with way(hooks, id="first") as s:
        s.reminders.inject("for children", ttl_turns=2)
        s.reminders.inject("for me", propagate="none")
        s.model(request("x"), answer)
        s.turn_done()
        with s.subagent("child", id="child") as child:
            child.reminders.inject("of the child")
            with child.subagent("grandchild") as grandchild:
                young = [(r.body, r.source, r.originating_agent_id) for r in grandchild.reminders]
            mine = [(r.body, r.source, r.originating_agent_id, r.ttl_turns) for r in child.reminders]
        assert len(s.reminders) == 3
    assert mine == [
        ("for all", "inherited", "first", None),
        ("for children", "inherited", "first", 1),
        ("of the child", "in_pipeline", None, None),
    ]
    assert young == [("for all", "inherited", "first"), ("of the child", "inherited", "child")]


def test_what_a_child_inherits_lives_as_long_there(way: Way) -> None:
    """A ttl of n is shown in n calls of the child, whatever turn its parent is in."""
    with way(Hooks()) as s:
        for _ in range(3):
            s.model(request("x"), answer)
            s.turn_done()
        s.reminders.inject("think", ttl_turns=2)
        shown = []
        with s.subagent("child") as child:
            for _ in range(4):
                shown.append("think" in child.system())
                child.model(request("x"), answer)
                child.turn_done()
        assert shown == [True, True, False, False]
        assert len(s.reminders) == 1
