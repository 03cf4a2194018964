"""Folding verdicts into a ruling."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from hookline import Hooks, rewrite
from hookline.events import ROWS
from hookline.merging import RANK, admitted, amended, effects_of, fold, settles
from hookline.model import Command, Event, Halt, Hook, Ruling, Source, Tools, Verdict

EVENT = Event("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "ls"}})
ALL = ROWS["PreToolUse"].effects


def hook(name: str) -> Hook:
    return Hook(name, "PreToolUse", "harness", Source("settings.json", f"/{name}"), Command(("x",), 1.0))


def folded(*waves: list[Verdict], event: Event = EVENT) -> Ruling:
    ruling = Ruling(event.name)
    for number, wave in enumerate(waves):
        ruling = fold(ruling, event, [(hook(f"h{number}{i}"), verdict) for i, verdict in enumerate(wave)])
    return ruling


VERDICTS = st.builds(
    Verdict,
    decision=st.sampled_from(["none", "allow", "ask", "deny"]),
    reason=st.text(max_size=8),
    context=st.lists(st.text(max_size=4), max_size=2).map(tuple),
    rewrites=st.dictionaries(st.just("tool_input"), st.dictionaries(st.text(max_size=2), st.integers()), max_size=1),
    halt=st.none() | st.text(max_size=4),
    suppress_output=st.booleans(),
)


@given(st.lists(VERDICTS, max_size=5), st.randoms())
def test_the_decision_does_not_depend_on_the_order(verdicts, random) -> None:
    """However verdicts are ordered and spread over waves, the decision is the strictest of them."""
    shuffled = list(verdicts)
    random.shuffle(shuffled)
    strictest = max((v.decision for v in verdicts), key=RANK.__getitem__, default="none")
    assert folded(verdicts).decision == strictest
    assert folded(*([v] for v in shuffled)).decision == strictest


@given(st.lists(VERDICTS, max_size=4), st.lists(VERDICTS, max_size=4))
def test_a_deny_never_disappears(before, after) -> None:
    """Whatever other hooks say before or after, a deny stays, with its reason, and no rewrite survives it."""
    ruling = folded(before, [Verdict("deny", "because")], after)
    assert ruling.decision == "deny"
    assert "because" in ruling.reason.split("\n")
    assert ruling.rewrites == {}


@given(st.lists(VERDICTS, max_size=5))
def test_contexts_keep_their_order(verdicts) -> None:
    """Every text is there once, in plan order."""
    assert folded(*([v] for v in verdicts)).context == tuple(text for v in verdicts for text in v.context)


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_reasons_are_those_of_the_winners(order) -> None:
    """Two asks and an allow: the reasons of the asks, in plan order, and not that of the allow."""
    verdicts = [Verdict("ask", "one?"), Verdict("allow", "fine"), Verdict("ask", "two?")]
    ruling = folded(*([verdicts[i]] for i in order))
    wanted = [verdicts[i].reason for i in order if verdicts[i].decision == "ask"]
    assert (ruling.decision, ruling.reason) == ("ask", "\n".join(wanted))


def test_rewrites_chain() -> None:
    """The next wave sees the amended event, and the last rewrite is the ruling's."""
    first = folded([Verdict(rewrites={"tool_input": {"command": "ls -l"}})])
    assert amended(EVENT, first).payload == {"tool_name": "Bash", "tool_input": {"command": "ls -l"}}
    assert EVENT.payload["tool_input"] == {"command": "ls"}
    both = folded(
        [Verdict(rewrites={"tool_input": {"command": "ls -l"}})], [Verdict(rewrites={"tool_input": {"command": "pwd"}})]
    )
    assert both.tool_input == {"command": "pwd"}
    assert both.notices == ()


def test_two_rewrites_in_one_wave() -> None:
    """The later in plan order wins, and a notice names both hooks."""
    ruling = folded([Verdict(rewrites={"tool_input": {"a": 1}}), Verdict(rewrites={"tool_input": {"b": 2}})])
    assert ruling.tool_input == {"b": 2}
    assert [str(n) for n in ruling.notices] == ["settings.json#/h01: rewrites tool_input over h00, which ran beside it"]


def test_a_step_is_amended_in_its_arguments() -> None:
    """Rewritten arguments of a step take their place inside it."""
    event = Event("PreStep", {"persona": "p", "step": {"name": "audit", "args": [1]}})
    ruling = folded([Verdict(rewrites={"args": [2]})], event=event)
    assert amended(event, ruling).payload["step"] == {"name": "audit", "args": [2]}
    assert folded([Verdict(rewrites={"args": [2]})], [Verdict("deny", "no")], event=event).rewrites == {}


def test_a_denied_model_call_keeps_the_answer_given_in_its_place() -> None:
    """A synthetic response is no rewrite: a deny does not drop it. A rewritten request goes."""
    event = Event("BeforeModel", {"llm_request": {"model": "m"}})
    denied = Verdict("deny", "cached", rewrites={"llm_response": {"text": "hi"}, "llm_request": {"model": "n"}})
    assert folded([denied], event=event).rewrites == {"llm_response": {"text": "hi"}}


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        ([Tools("AUTO", ("b", "a")), Tools(None, ("c",))], Tools("AUTO", ("a", "b", "c"))),
        ([Tools("ANY"), Tools("AUTO")], Tools("ANY", None)),
        ([Tools("NONE"), Tools("ANY", ("a",))], Tools("NONE", ())),
        ([Tools(None, ())], Tools("AUTO", ())),
        ([None, None], None),
    ],
)
def test_tool_restrictions_merge(asked, wanted) -> None:
    """The strictest mode, the union of names; no list is not an empty list; NONE means none."""
    event = Event("BeforeToolSelection", {"llm_request": {}})
    assert folded([Verdict(tools=t) for t in asked], event=event).tools == wanted
    assert folded(*([Verdict(tools=t)] for t in asked), event=event).tools == wanted


def test_halts_add_up_and_settle() -> None:
    """Every halt's reason is kept; a halt or a deny makes later waves needless, nothing else does."""
    assert folded([Verdict(halt="enough"), Verdict(halt="stop")]).halt == Halt("enough\nstop")
    assert settles(Verdict(halt=""))
    assert settles(Verdict("deny"))
    assert not settles(Verdict("ask"))
    assert not settles(Verdict("allow", context=("x",)))


@given(VERDICTS, st.frozensets(st.sampled_from(sorted(ALL))))
def test_what_an_event_cannot_have_is_dropped_with_a_notice(verdict, honoured) -> None:
    """Nothing outside the matrix survives, nothing inside it is touched, and each drop is one notice."""
    kept = admitted(verdict, "PreToolUse", honoured)
    dropped = [name for name in effects_of(verdict) if name not in honoured]
    assert effects_of(kept) == [name for name in effects_of(verdict) if name in honoured]
    assert len(kept.notices) - len(verdict.notices) == len(dropped)
    if not dropped:
        assert kept is verdict


def test_a_dropped_deny_keeps_its_reason_in_the_notice() -> None:
    """What a hook wanted to say is not lost with its effect."""
    kept = admitted(Verdict("deny", "bad output"), "PostToolUse", frozenset())
    assert (kept.decision, kept.reason) == ("none", "")
    assert "bad output" in kept.notices[0]


def test_the_ruling_as_json_leaves_out_what_nobody_touched() -> None:
    """An empty ruling is three fields; a full one has each field under its own name."""
    assert Ruling("Stop").to_dict() == {"event": "Stop", "decision": "none", "healthy": True}
    full = replace(
        folded([Verdict("ask", "sure?", ("c",), ("m",), {"tool_input": {}, "output": None}, Tools("NONE"), "h")]),
        clear_context=True,
        suppress_output=True,
        reminders=({"body": "b"},),
    )
    assert full.to_dict() == {
        "event": "PreToolUse",
        "decision": "ask",
        "healthy": True,
        "reason": "sure?",
        "context": ["c"],
        "messages": ["m"],
        "tool_input": {},
        "output": None,
        "tools": {"mode": "NONE", "allowed": []},
        "halt": {"reason": "h"},
        "suppress_output": True,
        "clear_context": True,
        "reminders": [{"body": "b"}],
    }


# -- what comes back to what it was


@pytest.mark.parametrize(
    ("before", "rewrites", "after"),
    [
        ({"a": 1}, [{"a": 1}], None),
        ({"a": 1, "b": 2}, [{"b": 2, "a": 1}], None),
        ({"a": 1}, [{"a": 2}, {"a": 1}], None),
        ({"a": 1}, [{"a": 1}, {"a": 2}], {"a": 2}),
        ({"n": 1}, [{"n": 1.0}], None),
        ({"n": True}, [{"n": 1}], {"n": 1}),
        ({"n": [0]}, [{"n": [False]}], {"n": [False]}),
        (None, [{}], None),
        (None, [{"a": 1}], {"a": 1}),
        ({"a": 1}, [{}], {}),
    ],
)
@pytest.mark.parametrize("harn", [True, False])
def test_a_rewrite_to_what_was_there_is_none(before: Any, rewrites: list[Any], after: Any, harn: bool) -> None:
    """As JSON means it: true is not 1. What the hooks in between saw does not matter."""
    hooks = Hooks()
    seen = []

    def rewriter(new: Any) -> Any:
        def handler(payload: Any) -> Any:
            seen.append(payload["tool"]["args"] if harn else payload["tool_input"])
            return {"args": new} if harn else rewrite(tool_input=new)

        return handler

    for new in rewrites:
        if harn:
            hooks.register_tool_hook(pre=rewriter(new))
        else:
            hooks.on("PreToolUse")(rewriter(new))
    for _ in range(2):
        assert hooks.fire("PreToolUse", tool_name="x", tool_input=before).tool_input == after
    assert seen == [before, *rewrites[:-1]] * 2


def test_a_step_that_gets_its_own_arguments_back_is_not_rewritten() -> None:
    """The same for the arguments of steps, and for their output."""
    hooks = Hooks()
    for args in ([2], [1]):
        hooks.register_persona_hook("*", "PreStep", lambda payload, args=args: {"args": args})
        hooks.register_persona_hook("*", "PostStep", lambda payload, args=args: {"output": args})
    step = {"name": "s", "args": [1]}
    assert hooks.fire("PreStep", persona="p", step=step).rewrites == {}
    assert hooks.fire("PostStep", persona="p", step=step, output=[1]).rewrites == {}
    assert hooks.fire("PreStep", persona="p", step=step | {"args": [3]}).rewrites == {"args": [1]}
