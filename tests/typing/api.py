"""Handlers as people write them, for the type checker: tests/test_typing.py has mypy look at it; nobody runs it.

Every `type: ignore` below is a mistake that must be found: one that is not needed is itself an error.
"""

from __future__ import annotations

import functools
from typing import Any, assert_type

from hookline import (
    Hooks,
    Registration,
    Ruling,
    Verdict,
    allow,
    context,
    deny,
    harn_payloads,
    payloads,
    remind,
    rewrite,
)
from hookline.results import Ask
from hookline.signatures import (
    Handler,
    HarnHandler,
    NoticeAnswer,
    PostStepAnswer,
    PostToolAnswer,
    PreStepAnswer,
    PreToolAnswer,
    ReminderSpec,
    SessionAnswer,
    ToolHook,
)

hooks = Hooks()


# -- @hooks.on: our own payloads and verdicts


@hooks.on("PreToolUse", match="Bash")
def guard(payload: payloads.PreToolUse) -> Verdict | None:
    assert_type(payload["tool_name"], str)
    assert_type(payload["cwd"], str)
    assert_type(payload.get("mcp"), dict[str, Any] | None)
    payload["tool_nam"]  # type: ignore[typeddict-item]
    return deny("not this one") if payload["tool_input"] else None


@hooks.on("before_tool", on_failure="deny")
async def waits(payload: payloads.PreToolUse) -> Verdict | None:
    return allow() | context("it is allowed")


@hooks.on("PostCompact")
def counted(payload: payloads.PostCompact) -> None:
    assert_type(payload.get("archived_messages"), int | None)
    payload["summary"]  # may be missing at run time, which a TypedDict does not forbid


@hooks.on("PreToolUse")
def loose(payload: dict[str, Any]) -> Verdict:
    return rewrite(tool_input={**payload["tool_input"], "timeout": 10})


class Policy:
    def __call__(self, payload: payloads.UserPromptSubmit) -> Verdict | None:
        return deny("no") if "secret" in payload["prompt"] else None

    def bound(self, payload: payloads.Stop) -> Verdict | None:
        return None


def limited(limit: int, payload: payloads.PostTurn) -> Verdict | None:
    return None


hooks.on("UserPromptSubmit")(Policy())
hooks.on("Stop")(Policy().bound)
hooks.on("post_turn")(functools.partial(limited, 3))
hooks.on("PreToolUse")(lambda payload: deny(payload["tool_name"]))
kept: Handler[payloads.PreToolUse] = guard


def both(payload: payloads.PreToolUse | payloads.PostToolUse) -> None:
    """One function for two events; `event` tells them apart."""
    if payload["event"] == "PostToolUse":
        assert_type(payload, payloads.PostToolUse)
    else:
        assert_type(payload, payloads.PreToolUse)


hooks.on("PreToolUse")(both)
hooks.on("PostToolUse")(both)


def any_event(name: str) -> None:
    """A name that is only known at run time is as good."""
    hooks.on(name)(guard)
    hooks.on_session(name)(blocks)
    hooks.on_persona("*", f"{name}(80)")(spent)
    hooks.register_session_hook(name, loosely)
    hooks.register_step_hook("*", "audit", name, loosely)


rewrite(tool_output=7, prompt="shorter", args=[1]) | remind(
    "be brief", ttl_turns=2, tags=["style"], role_hint="developer"
)
rewrite(tool_inputt={})  # type: ignore[call-arg]
rewrite(tool_input="x")  # type: ignore[arg-type]
remind("be brief", ttl=3)  # type: ignore[call-arg]
remind("be brief", ttl_turns="many")  # type: ignore[arg-type]
hooks.on("PostToolUse")(guard)  # type: ignore[arg-type]
hooks.on("PreToolUse", match=7)  # type: ignore[call-overload]
hooks.on("PreToolUse")(lambda payload: "no")  # type: ignore[arg-type, return-value]
hooks.on("PreToolUse", on_failure="retry")  # type: ignore[call-overload]


# -- tools


@hooks.on_tool("exec_*")
def gated(payload: harn_payloads.PreToolUse) -> PreToolAnswer:
    assert_type(payload["tool"]["name"], str)
    assert_type(payload["session"]["id"], str)
    payload["tool_name"]  # type: ignore[typeddict-item]
    if payload["tool"]["args"] is None:
        return {"denied": "exec is gated"}  # type: ignore[return-value]
    return {"deny": "exec is gated", "reminder": {"body": "ask first", "ttl_turns": 2}}


@hooks.on_tool("fetch_*", when="post")
async def shortened(payload: harn_payloads.PostToolUse) -> PostToolAnswer:
    return payload["result"]["text"][:1000]


assert_type(hooks.register_tool_hook(pattern="exec_*", deny="exec is gated", max_output=4000), Registration)
hooks.register_tool_hook(pre=gated, post=shortened)
hooks.register_tool_hook({"pattern": "exec_*", "pre": gated})
as_one: ToolHook = {"pattern": "exec_*", "max_output": 4000}
hooks.register_tool_hook(as_one)


def from_a_file(config: dict[str, Any]) -> None:
    hooks.register_tool_hook(config)


hooks.register_tool_hook(patern="exec_*")  # type: ignore[call-overload]
hooks.register_tool_hook(max_output="many")  # type: ignore[call-overload]
hooks.register_tool_hook(pre=shortened)  # type: ignore[arg-type]
hooks.on_tool("*", when="before")  # type: ignore[call-overload]
hooks.on_tool("*", when="post")(gated)  # type: ignore[arg-type]


# -- the session


@hooks.on_session("user_prompt_submit")
def blocks(payload: harn_payloads.UserPromptSubmit) -> SessionAnswer:
    assert_type(payload["system"], str)
    return {"block": True, "reason": "not today"} if "secret" in payload["prompt"] else True


@hooks.on_session("PermissionAsked", "exec_*")
def decides(payload: harn_payloads.PermissionAsked) -> SessionAnswer:
    return {"decision": "allow", "reason": payload["reason"]}


@hooks.on_session("post_turn")
def reminds(payload: harn_payloads.PostTurn) -> list[ReminderSpec]:
    return [{"body": "run the tests", "dedupe_key": "tests"}]


@hooks.on_session("post_turn")
def reminds_plainly(payload: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"body": "run the tests"}]


@hooks.on_session("post_turn")
async def reminds_later(payload: harn_payloads.PostTurn) -> list[dict[str, Any]]:
    return [{"body": "run the tests"}]


def loosely(payload: dict[str, Any]) -> dict[str, Any]:
    return {"block": False}


assert_type(hooks.register_session_hook("session_end", loosely), Registration)
hooks.register_session_hook("post_turn", reminds_plainly)
hooks.register_session_hook("UserPromptSubmit", blocks, pattern="*")
hooks.register_session_hook("session_start", blocks)  # type: ignore[arg-type]
hooks.register_session_hook("session_end", lambda payload: "bye")  # type: ignore[arg-type]
hooks.on_session("session_idle")(blocks)  # type: ignore[arg-type]
wrong: ReminderSpec = {"text": "body is missing"}  # type: ignore[typeddict-item, typeddict-unknown-key]
asked: SessionAnswer = {"decision": "perhaps"}  # type: ignore[assignment]


# -- personas and their steps


@hooks.on_step("merge_*", "audit", "PreStep")
def audited(payload: harn_payloads.PreStep) -> PreStepAnswer:
    assert_type(payload["step"]["args"], list[Any])
    return {"args": [*payload["step"]["args"], payload["target"]]}


@hooks.on_persona("merge_*", "PostStep")
def checked(payload: harn_payloads.PostStep) -> PostStepAnswer:
    return "Pass" if payload.get("output") else {"output": "nothing"}


@hooks.on_persona("merge_*", "OnBudgetThreshold(80)")
def spent(payload: harn_payloads.OnBudgetThreshold) -> NoticeAnswer:
    assert_type(payload["pct"], float)
    return {"body": "come to an end"}


hooks.register_persona_hook("*", "OnPersonaPaused", loosely)
hooks.register_persona_hook("*", "OnBudgetThreshold(80)", spent, once=True)
hooks.on_step("*", "audit", "OnBudgetThreshold", once=True)(spent)
hooks.register_step_hook("*", "audit", "pre_step", audited)
hooks.register_persona_hook("*", "PostStep", audited)  # type: ignore[arg-type]
hooks.register_step_hook("*", "audit", "PreStep", lambda payload: 7)  # type: ignore[return-value, arg-type]
hooks.on_persona("*", "OnBudgetThreshold(80)")(loosely)
hooks.on_persona("*", "OnBudgetThreshold(80)")(audited)  # type: ignore[arg-type]
hooks.on_step("*", "audit", "OnBudgetThreshold(80)")(spent)
hooks.on_step("*", "audit", "OnBudgetThreshold(80)")(blocks)  # type: ignore[arg-type]
hooks.on_persona("*", "OnBudgetThreshold")(audited)  # type: ignore[arg-type]
stepping: HarnHandler[harn_payloads.PreStep, PreStepAnswer] = audited


# -- a session's options


def by_hand(ask: Ask) -> bool:
    return ask.tool == "Bash"


hooks.session(approve=by_hand)
hooks.session(approve=lambda ask: "session", deny=["exec_*"])
hooks.session(approve=True)  # type: ignore[arg-type]
hooks.session(approve=lambda: True)  # type: ignore[arg-type, misc]


# -- what comes back

ruling = hooks.fire("PreToolUse", tool_name="Bash", tool_input={})
assert_type(ruling, Ruling)
assert_type(ruling.reason, str)
