"""What a Harn handler's answer means: every row of the three return tables, and every shape that is in none of them."""

from __future__ import annotations

from typing import Any

import pytest

from hookline.answering import CONTROL, DEEPEST, SHAPES, answered
from hookline.errors import BadAnswer, HookError, UsageError
from hookline.events import ROWS
from hookline.model import NO_OPINION, Call, Event, Hook, Source, Verdict
from hookline.reminders import KEYS

STEP = {"name": "audit", "args": [1, 2]}
PAYLOADS: dict[str, dict[str, Any]] = {
    "PreToolUse": {"tool_name": "Bash", "tool_input": {"command": "ls"}},
    "PostToolUse": {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_output": "a b"},
    "PreStep": {"persona": "merge_captain", "step": STEP},
    "PostStep": {"persona": "merge_captain", "step": STEP, "output": "done"},
    "OnBudgetThreshold": {"pct": 80, "persona": "p"},
    "PermissionAsked": {"tool_name": "Bash", "tool_input": {}, "reason": "deny rule hit"},
    "UserPromptSubmit": {"prompt": "hello"},
}
NOTICES = ("OnApprovalRequested", "OnHandoffEmitted", "OnPersonaPaused", "OnPersonaResumed", "OnBudgetThreshold")
SESSION = tuple(row.name for row in ROWS.values() if row.surface == "session" and "harn" in row.spellings)
NOT_PERMISSION = tuple(name for name in SESSION if name != "PermissionAsked")


def hook_of(event: str) -> Hook:
    return Hook(f"hook::{event}", event, "harn", Source("handlers.py", "L1"), Call(print))


def read(event: str, value: Any, **payload: Any) -> Verdict:
    """What this answer means on this event."""
    happened = Event(event, {**PAYLOADS.get(event, {}), **payload}, "s1")
    return answered(hook_of(event), happened, value, ROWS[event].surface)


def refused(event: str, value: Any) -> str:
    """The message of the error this answer is; it names the hook, the event, the place and the known shapes."""
    with pytest.raises(BadAnswer) as caught:
        read(event, value)
    error = caught.value
    assert isinstance(error, HookError)
    assert isinstance(error, UsageError)
    assert (error.hook, error.event) == (f"hook::{event}", event)
    message = str(error)
    assert message.startswith(f"hook::{event} on {event}: ")
    assert message.endswith(" (handlers.py#L1)")
    return message.removesuffix(" (handlers.py#L1)")


def deny(reason: str) -> Verdict:
    return Verdict(decision="deny", reason=reason, result="block")


def reminder(body: str, **said: Any) -> dict[str, Any]:
    """A reminder as a verdict carries it."""
    default = {
        "tags": [],
        "dedupe_key": None,
        "ttl_turns": None,
        "preserve_on_compact": False,
        "propagate": "session",
        "role_hint": "system",
    }
    return {"body": body, **default, **said}


def bodies(verdict: Verdict) -> list[str]:
    return [one["body"] for one in verdict.reminders]


def wrapped(levels: int, inside: Any = None) -> Any:
    """An answer inside this many `then`, a reminder with each."""
    for level in range(levels, 0, -1):
        inside = {"reminder": {"body": f"level {level}"}, "then": inside}
    return inside


# -- around tools, section 2.2 of the rules


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        (None, NO_OPINION),
        ({}, NO_OPINION),
        ({"note": "whatever"}, NO_OPINION),
        ({"deny": "gated"}, deny("gated")),
        ({"deny": "  gated "}, deny("gated")),
        ({"deny": 42}, deny("42")),
        ({"deny": False}, deny("false")),
        ({"deny": ["a", 1]}, deny('["a",1]')),
        ({"deny": True}, deny("denied by hook::PreToolUse")),
        ({"deny": ""}, deny("denied by hook::PreToolUse")),
        ({"deny": True, "reason": "told apart"}, deny("told apart")),
        ({"deny": None}, NO_OPINION),
        ({"args": {"command": "ls -l"}}, Verdict(rewrites={"tool_input": {"command": "ls -l"}})),
        ({"args": {}}, Verdict(rewrites={"tool_input": {}})),
        ({"args": {"command": "ls"}}, Verdict(rewrites={"tool_input": {"command": "ls"}})),
        ({"args": None}, NO_OPINION),
        ({"deny": "no", "args": {"command": "x"}}, deny("no")),
        ({"deny": None, "args": {"command": "x"}}, Verdict(rewrites={"tool_input": {"command": "x"}})),
        ({"reason": "only a reason"}, NO_OPINION),
        ({"result": "text"}, Verdict(notices=("its 'result' means nothing on PreToolUse: ignored",))),
        ({"action": "deny"}, Verdict(notices=("its 'action' means nothing on PreToolUse: ignored",))),
        ({"block": True}, Verdict(notices=("its 'block' means nothing on PreToolUse: ignored",))),
        ({"decision": "deny"}, Verdict(notices=("its 'decision' means nothing on PreToolUse: ignored",))),
        ({"block": False, "control": "allow"}, NO_OPINION),
    ],
)
def test_before_a_tool(answer: Any, verdict: Verdict) -> None:
    """PreToolUse: `deny` denies with its text, `args` replaces all arguments, deny beats args, None is no deny."""
    assert read("PreToolUse", answer) == verdict


@pytest.mark.parametrize(
    ("answer", "output"),
    [
        ("short", "short"),
        ("", ""),
        ({"result": "short"}, "short"),
        ({"result": ""}, ""),
        ({"result": 5}, "5"),
        ({"result": False}, "false"),
        ({"result": {"a": [1, "é"]}}, '{"a":[1,"é"]}'),
    ],
)
def test_after_a_tool(answer: Any, output: str) -> None:
    """PostToolUse: a text, or `result` as text, is what the model reads instead."""
    assert read("PostToolUse", answer) == Verdict(rewrites={"tool_output": output})


@pytest.mark.parametrize("answer", [None, {}, {"anything": "else"}, {"result": None}])
def test_after_a_tool_nothing(answer: Any) -> None:
    """PostToolUse: None, and a dict without a known key, keep the text."""
    assert read("PostToolUse", answer) == NO_OPINION


def test_what_means_nothing_after_a_tool_is_noticed() -> None:
    """Nobody can deny what has happened, or give it other arguments: each is dropped with a notice."""
    assert read("PostToolUse", {"deny": "late", "args": {}}).notices == (
        "its 'deny' means nothing on PostToolUse: ignored",
        "its 'args' means nothing on PostToolUse: ignored",
    )


@pytest.mark.parametrize("event", ["PreToolUse", "PostToolUse"])
@pytest.mark.parametrize("answer", [True, False, 0, 1, 2.5, [], [{"reminder": {"body": "x"}}], ("a",), object(), b"x"])
def test_wrong_shapes_of_tool_hooks(event: str, answer: Any) -> None:
    """A boolean, a number, a list or an object is no answer of a tool hook, and the error prints all it takes."""
    message = refused(event, answer)
    assert repr(answer)[:60] in message
    assert message.endswith(f"it takes {SHAPES[event]}, or {{'reminder': {{'body': text}}, 'then': answer}}, "
                            "{'body': text}")  # fmt: skip


def test_a_text_before_a_tool_is_wrong() -> None:
    """PreToolUse takes no text: it would be unclear whether it refuses."""
    assert refused("PreToolUse", "no") == (
        "hook::PreToolUse on PreToolUse: it answered 'no', which is a string; it takes None, {'deny': why}, "
        "{'args': {...}}, or {'reminder': {'body': text}, 'then': answer}, {'body': text}"
    )


@pytest.mark.parametrize("args", [[], ["ls"], "ls", 1, True])
def test_tool_arguments_are_a_dict(args: Any) -> None:
    """Arguments that are no dict would reach no tool."""
    assert "the arguments of a tool are a dict" in refused("PreToolUse", {"args": args})


def test_a_result_that_is_no_json() -> None:
    """What cannot be text is an error that names the hook, not a stray one."""
    assert "made of JSON values" in refused("PostToolUse", {"result": object()})
    assert "made of JSON values" in refused("PreToolUse", {"deny": object()})


# -- steps and personas, section 4


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        (None, NO_OPINION),
        ("Allow", NO_OPINION),
        ({}, NO_OPINION),
        ({"deny": "frozen"}, deny("frozen")),
        ({"deny": "frozen", "reason": "other"}, deny("frozen")),
        ({"deny": True, "reason": "frozen"}, deny("frozen")),
        ({"deny": True}, deny("denied by hook::PreStep")),
        ({"deny": None}, NO_OPINION),
        ({"reason": "alone"}, NO_OPINION),
        ({"action": "deny"}, deny("denied by hook::PreStep")),
        ({"action": "Deny", "reason": "frozen"}, deny("frozen")),
        ({"action": "deny", "reason": None}, deny("denied by hook::PreStep")),
        ({"action": "allow"}, NO_OPINION),
        ({"args": [3]}, Verdict(rewrites={"args": [3]})),
        ({"args": (3, 4)}, Verdict(rewrites={"args": [3, 4]})),
        ({"args": []}, Verdict(rewrites={"args": []})),
        ({"modify": [5]}, Verdict(rewrites={"args": [5]})),
        ({"args": [3], "modify": [5]}, Verdict(rewrites={"args": [3]})),
        ({"args": None, "modify": [5]}, Verdict(rewrites={"args": [5]})),
        ({"deny": "no", "args": [3]}, deny("no")),
        ({"args": "x"}, Verdict(notices=("its arguments must be a list, not a string 'x': ignored",))),
        ({"args": {"a": 1}}, Verdict(notices=("its arguments must be a list, not an object {'a': 1}: ignored",))),
        ({"output": 1}, Verdict(notices=("its 'output' means nothing on PreStep: ignored",))),
        ({"result": 1}, Verdict(notices=("its 'result' means nothing on PreStep: ignored",))),
    ],
)
def test_before_a_step(answer: Any, verdict: Verdict) -> None:
    """PreStep: `deny` or action "deny" denies, a list of `args` or `modify` replaces them, a lone reason is none."""
    assert read("PreStep", answer) == verdict


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        (None, NO_OPINION),
        ("Pass", NO_OPINION),
        ({}, Verdict()),
        ({"output": 7}, Verdict(rewrites={"output": 7})),
        ({"output": None}, Verdict(rewrites={"output": None})),
        ({"result": "r"}, Verdict(rewrites={"output": "r"})),
        ({"modify": [1]}, Verdict(rewrites={"output": [1]})),
        ({"output": 1, "result": 2, "modify": 3}, Verdict(rewrites={"output": 1})),
        ({"result": 2, "modify": 3}, Verdict(rewrites={"output": 2})),
        ({"deny": "late"}, Verdict(notices=("its 'deny' means nothing on PostStep: ignored",))),
        ({"args": [1]}, Verdict(notices=("its 'args' means nothing on PostStep: ignored",))),
        ({"reason": "x"}, Verdict()),
        ({"action": "deny"}, Verdict(notices=("its 'action' means nothing on PostStep: ignored",))),
    ],
)
def test_after_a_step(answer: Any, verdict: Verdict) -> None:
    """PostStep: `output`, else `result`, else `modify` replaces the output, None included; nothing can be denied."""
    assert read("PostStep", answer) == verdict


@pytest.mark.parametrize("event", NOTICES)
def test_notices_of_personas_only_take_reminders(event: str) -> None:
    """A notice cannot be refused or rewritten; what tries is dropped with a notice of ours."""
    assert read(event, None) is NO_OPINION
    assert read(event, {"anything": 1}) == Verdict()
    assert bodies(read(event, {"body": "remember"})) == ["remember"]
    assert read(event, {"deny": "no", "output": 1}).notices == (
        f"its 'deny' means nothing on {event}: ignored",
        f"its 'output' means nothing on {event}: ignored",
    )


@pytest.mark.parametrize("event", ["PreStep", "PostStep", *NOTICES])
@pytest.mark.parametrize("answer", ["other", "allow", "", True, False, 1, [], [{"body": "x"}]])
def test_wrong_shapes_of_step_hooks(event: str, answer: Any) -> None:
    """Any other text, a boolean, a number or a list is no answer of a step hook, and the error prints all it takes."""
    message = refused(event, answer)
    assert repr(answer) in message
    takes = SHAPES.get(event, "None")
    assert f"; it takes {takes}, or {{'reminder'" in message


@pytest.mark.parametrize(("event", "word"), [("PreStep", "Pass"), ("PostStep", "Allow"), ("OnBudgetThreshold", "Pass")])
def test_the_word_of_the_other_moment_is_wrong(event: str, word: str) -> None:
    """ "Allow" is for before a step, "Pass" for after it, and neither for anything else."""
    assert repr(word) in refused(event, word)


# -- the session, section 6.1


@pytest.mark.parametrize("event", SESSION)
@pytest.mark.parametrize("answer", [None, True, {}, {"control": "allow"}, {"schema": "receipt.v1", "job_id": "j"}, []])
def test_going_on(event: str, answer: Any) -> None:
    """None, True, an empty list and a dict without a known key, such as a receipt, are no opinion everywhere."""
    assert read(event, answer) == NO_OPINION


@pytest.mark.parametrize("event", SESSION)
@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (False, "{event} hook returned false"),
        ({"block": True}, "{event} hook blocked the operation"),
        ({"block": True, "reason": None}, "{event} hook blocked the operation"),
        ({"block": True, "reason": "  "}, "{event} hook blocked the operation"),
        ({"block": True, "reason": "secret"}, "secret"),
        ({"block": True, "reason": 42}, "42"),
        ({"block": "yes"}, "{event} hook blocked the operation"),
        ({"block": 1}, "{event} hook blocked the operation"),
        ({"block": [0]}, "{event} hook blocked the operation"),
        ({"block": True, "decision": None}, "{event} hook blocked the operation"),
    ],
)
def test_a_block(event: str, answer: Any, reason: str) -> None:
    """False, and a `block` that is true, is a veto; without a reason there is a default that names the event."""
    assert read(event, answer) == deny(reason.format(event=event))


@pytest.mark.parametrize("falsy", [False, 0, 0.0, "", [], {}, None])
def test_a_block_that_is_not_true(falsy: Any) -> None:
    """What is false, zero, empty or None blocks nothing."""
    assert read("UserPromptSubmit", {"block": falsy, "reason": "x"}) == NO_OPINION


@pytest.mark.parametrize(
    ("decision", "default"),
    [
        ("allow", "permission granted by session hook: deny rule hit"),
        ("deny", "permission denied by session hook: deny rule hit"),
        ("ask", "permission not decided by session hook: deny rule hit"),
    ],
)
@pytest.mark.parametrize("spelled", [str, str.upper, " {} ".format])
def test_a_decision(decision: Any, default: str, spelled: Any) -> None:
    """PermissionAsked: a decision is trimmed and may be in capitals; its default reason has the policy's."""
    word = spelled(decision)
    result = f"decision_{decision}"
    assert read("PermissionAsked", {"decision": word}) == Verdict(decision=decision, reason=default, result=result)
    given = read("PermissionAsked", {"decision": word, "reason": "because"})
    assert given == Verdict(decision=decision, reason="because", result=result)


def test_a_decision_without_a_policy_reason() -> None:
    """Where the policy gave no reason, the default ends where it would begin."""
    assert read("PermissionAsked", {"decision": "deny"}, reason="").reason == "permission denied by session hook"


def test_a_decision_is_looked_at_before_a_block() -> None:
    """PermissionAsked: with both keys the decision counts; a decision of None leaves it to the block."""
    assert read("PermissionAsked", {"decision": "allow", "block": True}).result == "decision_allow"
    assert read("PermissionAsked", {"decision": None, "block": True}).result == "block"


@pytest.mark.parametrize("event", NOT_PERMISSION)
@pytest.mark.parametrize("decision", ["allow", "deny", "ask"])
def test_a_decision_elsewhere_is_no_opinion(event: str, decision: str) -> None:
    """Only PermissionAsked is decided; on every other event the decision is dropped with a notice."""
    verdict = read(event, {"decision": decision, "reason": "x"})
    assert verdict == Verdict(notices=(f"its 'decision' means nothing on {event}: ignored",))


@pytest.mark.parametrize("event", ["PermissionAsked", "UserPromptSubmit", "PostTurn"])
@pytest.mark.parametrize("decision", ["maybe", "", "block", True, 1, ["allow"]])
def test_an_unknown_decision_is_wrong(event: str, decision: Any) -> None:
    """A decision is one of three words, on every event."""
    assert f"a decision is one of allow, deny, ask, not {decision!r}" in refused(event, {"decision": decision})


@pytest.mark.parametrize("event", SESSION)
def test_the_words_of_other_surfaces(event: str) -> None:
    """A session hook that says `deny` decides nothing, but that is not silent: a notice says so."""
    verdict = read(event, {"deny": "no", "args": {}, "result": 1, "modify": {}})
    assert verdict == Verdict(
        notices=tuple(f"its {key!r} means nothing on {event}: ignored" for key in ("deny", "args", "result", "modify"))
    )


@pytest.mark.parametrize("event", SESSION)
@pytest.mark.parametrize("answer", ["no", "", 0, 1, 2.5, object()])
def test_wrong_shapes_of_session_hooks(event: str, answer: Any) -> None:
    """A text or a number is wrong on every session event, advisory ones too, and the error prints all it takes."""
    message = refused(event, answer)
    assert repr(answer)[:60] in message
    assert "it takes None, True, False, {'block': True, 'reason': why}, {'decision': 'allow'|'deny'|'ask'" in message


# -- reminders, on every surface

EVERY = ("PreToolUse", "PostToolUse", "PreStep", "PostStep", "OnBudgetThreshold", "UserPromptSubmit", "PostTurn")


@pytest.mark.parametrize("event", EVERY)
def test_a_reminder_alone(event: str) -> None:
    """A reminder, or the bare spec of one, comes along with no opinion; what it does not say has its default."""
    spec = {"body": " audit ", "tags": ["a", "a", " b "], "dedupe_key": " k ", "ttl_turns": 2, "role_hint": "developer"}
    kept = reminder(" audit ", tags=["a", "b"], dedupe_key="k", ttl_turns=2, role_hint="developer")
    assert read(event, {"reminder": spec}) == Verdict(reminders=(kept,))
    assert read(event, spec) == Verdict(reminders=(kept,))
    assert set(kept) == set(KEYS)


@pytest.mark.parametrize(
    ("event", "inside"),
    [
        ("PreToolUse", {"deny": "no"}),
        ("PreToolUse", {"args": {"a": 1}}),
        ("PostToolUse", "text"),
        ("PostToolUse", {"result": 1}),
        ("PreStep", {"args": [1]}),
        ("PreStep", "Allow"),
        ("PostStep", {"output": 1}),
        ("UserPromptSubmit", False),
        ("UserPromptSubmit", {"block": True, "reason": "r"}),
        ("PermissionAsked", {"decision": "allow"}),
        ("PostTurn", None),
    ],
)
def test_then(event: str, inside: Any) -> None:
    """What stands in `then` counts as if it stood alone, with a reminder, without one, and at any depth up to 32."""
    alone = read(event, inside)
    assert read(event, {"then": inside}) == alone
    one = read(event, {"reminder": {"body": "first"}, "then": inside})
    assert bodies(one) == ["first"]
    assert (one.decision, one.reason, one.rewrites, one.result) == (
        alone.decision,
        alone.reason,
        alone.rewrites,
        alone.result,
    )
    deep = read(event, wrapped(DEEPEST, inside))
    assert bodies(deep) == [f"level {level}" for level in range(1, DEEPEST + 1)]
    assert (deep.decision, deep.rewrites) == (alone.decision, alone.rewrites)


@pytest.mark.parametrize("event", EVERY)
def test_too_deep(event: str) -> None:
    """More than 32 answers inside each other are an error, not a recursion."""
    assert "more than 32 deep" in refused(event, wrapped(DEEPEST + 1, {}))
    endless: dict[str, Any] = {}
    endless["then"] = endless
    assert "more than 32 deep" in refused(event, endless)


def test_the_wrong_shape_inside_then_is_wrong() -> None:
    """An answer is read by the same table at every level."""
    assert "it answered 'no'" in refused("PreToolUse", wrapped(3, "no"))
    assert "it answered 5" in refused("PostTurn", wrapped(3, 5))


@pytest.mark.parametrize(
    ("event", "action"),
    [
        ("PreToolUse", {"deny": "no"}),
        ("PreToolUse", {"args": {"a": 1}}),
        ("PostToolUse", {"result": "x"}),
        ("PreStep", {"action": "deny"}),
        ("PostStep", {"output": 3}),
        ("UserPromptSubmit", {"block": True}),
        ("PermissionAsked", {"decision": "deny"}),
    ],
)
def test_an_action_beside_a_reminder(event: str, action: dict[str, Any]) -> None:
    """A reminder and an action may stand in one dict; a `then` of None is as good as none."""
    alone = read(event, action)
    for answer in ({"reminder": {"body": "b"}, **action}, {"reminder": {"body": "b"}, **action, "then": None}):
        verdict = read(event, answer)
        assert bodies(verdict) == ["b"]
        assert (verdict.decision, verdict.rewrites) == (alone.decision, alone.rewrites)


def test_then_beside_an_action() -> None:
    """With both, `then` counts, and the loss of the other is not silent."""
    verdict = read("PreToolUse", {"deny": "outer", "then": {"args": {"a": 1}}})
    assert (verdict.decision, verdict.rewrites) == ("none", {"tool_input": {"a": 1}})
    assert verdict.notices == ("its 'deny' stands beside 'then', which counts instead: ignored",)


@pytest.mark.parametrize("key", sorted(CONTROL))
def test_a_body_beside_an_action_is_no_reminder(key: str) -> None:
    """With any of these keys a `body` is just another unknown key."""
    for event in ("PostToolUse", "PostStep", "UserPromptSubmit"):
        assert read(event, {"body": "b", key: "allow"}).reminders == ()


@pytest.mark.parametrize("event", ["PreToolUse", "PreStep", "UserPromptSubmit", "PostTurn"])
@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ({"body": ""}, "body is ''"),
        ({"body": "  "}, "body is '  '"),
        ({"body": 5}, "body is 5"),
        ({"body": "b", "ttl_turns": 0}, "ttl_turns is 0"),
        ({"body": "b", "ttl_turns": 1.5}, "ttl_turns is 1.5"),
        ({"body": "b", "tags": "x"}, "tags is 'x'"),
        ({"body": "b", "propagate": "most"}, "propagate is 'most'"),
        ({"body": "b", "role_hint": "boss"}, "role_hint is 'boss'"),
        ({"body": "b", "preserve_on_compact": 1}, "preserve_on_compact is 1"),
        ({"body": "b", "ttl": 3}, "there is no key 'ttl'; a reminder takes body, tags"),
    ],
)
def test_a_wrong_reminder(event: str, spec: dict[str, Any], complaint: str) -> None:
    """A reminder that cannot be one is an error that begins with the event, as a spec and bare."""
    for answer in ({"reminder": spec}, spec, {"then": {"reminder": spec}}):
        message = refused(event, answer)
        assert f": {event} hook reminder: " in message
        assert complaint in message


@pytest.mark.parametrize("spec", ["text", 5, [], True])
def test_a_reminder_is_a_dict(spec: Any) -> None:
    """A reminder that is no dict is wrong; one of None is none."""
    assert "takes a dict such as" in refused("PreToolUse", {"reminder": spec})
    assert read("PreToolUse", {"reminder": None}) == NO_OPINION


# -- lists of effects, for the session only


@pytest.mark.parametrize("event", SESSION)
def test_a_list_of_effects(event: str) -> None:
    """Every form of an effect is a reminder; they come in order, and nothing is decided."""
    effects = [
        {"reminder": {"body": "1"}},
        {"type": "reminder", "spec": {"body": "2"}},
        {"kind": "Reminder", "reminder": {"body": "3"}},
        {"body": "4"},
        {"reminder": {"body": "5"}, "then": {"body": "6", "then": {"reminder": {"body": "7"}}}},
    ]
    for answer in (effects, tuple(effects), {"effects": effects}, {"then": effects}):
        verdict = read(event, answer)
        assert bodies(verdict) == list("1234567")
        assert (verdict.decision, verdict.notices) == ("none", ())


def test_effects_come_before_the_reminder() -> None:
    """`effects` may be one item, and comes before the dict's own reminder; the dict may still decide."""
    answer = {"effects": {"body": "1"}, "reminder": {"body": "2"}, "block": True, "reason": "r"}
    verdict = read("UserPromptSubmit", answer)
    assert (bodies(verdict), verdict.decision, verdict.reason) == (["1", "2"], "deny", "r")
    assert bodies(read("UserPromptSubmit", {"effects": None, "body": "b"})) == ["b"]
    assert bodies(read("UserPromptSubmit", {"effects": [{"body": "a"}], "body": "b"})) == ["a", "b"]


@pytest.mark.parametrize(
    "effect",
    [None, True, "text", 5, {}, [], {"block": True}, {"reminder": {"body": "b"}, "block": True}, {"type": "x"}],
)
def test_an_effect_that_is_no_reminder(effect: Any) -> None:
    """An effect is a reminder and nothing else: a block hidden in a list is not lost, it is an error."""
    for answer in ([effect], [{"body": "b"}, effect]):
        message = refused("SessionIdle", answer)
        assert repr(effect) in message
        assert "an effect is a reminder such as" in message


def test_effects_too_deep() -> None:
    """The limit holds inside a list too."""
    assert "more than 32 deep" in refused("PostTurn", [wrapped(DEEPEST + 2, {"body": "b"})])


@pytest.mark.parametrize("event", ["PreToolUse", "PostToolUse", "PreStep", "PostStep", "OnBudgetThreshold"])
def test_effects_are_for_session_hooks(event: str) -> None:
    """Tool and step hooks take no list of effects; the error says what to use."""
    message = refused(event, {"effects": [{"body": "b"}]})
    assert "a list of effects is for session hooks; use 'reminder'" in message


# -- the messages


def test_a_long_answer_is_shown_short() -> None:
    """A handler that returns a whole file by mistake does not fill the log with it."""
    assert len(refused("PreToolUse", "x" * 100_000)) < 400


def test_an_object_that_cannot_be_shown() -> None:
    """An answer whose repr raises is still named."""

    class Odd:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    assert "it answered <Odd>, which is an Odd" in refused("PreToolUse", Odd())
