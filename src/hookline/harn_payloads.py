"""What a Harn handler is called with, as types: one TypedDict per event, in Harn's own shape.

    @hooks.on_tool("exec_*")
    def guard(payload: PreToolUse) -> PreToolAnswer:
        return {"deny": "exec is gated"} if payload["tool"]["args"] else None

Only type checkers and editors read this module; tests/test_payloads.py holds it to what the dialect really sends.
(No postponed annotations here: with them Python would not see which keys are NotRequired.)
"""

from collections.abc import Sequence
from typing import Any, Literal, NotRequired, TypedDict


class Session(TypedDict):
    """Which session it is."""

    id: str


class Tool(TypedDict):
    """A call of a tool."""

    name: str
    args: dict[str, Any] | None


class Result(TypedDict):
    """What a tool came to, as the model reads it."""

    text: str


class Step(TypedDict):
    """A step of a persona, and its positional arguments."""

    name: str
    function: str
    args: list[Any]


class Common(TypedDict):
    """What every payload has."""

    session: Session


# -- tools


class PreToolUse(Common):
    event: Literal["PreToolUse"]
    tool: Tool


class PostToolUse(Common):
    event: Literal["PostToolUse"]
    tool: Tool
    result: Result


# -- steps and personas


class PreStep(Common):
    """`target` is `persona.step`, or the step's name where there is no persona."""

    event: Literal["PreStep"]
    persona: str
    target: str
    step: Step


class PostStep(Common):
    event: Literal["PostStep"]
    persona: str
    target: str
    step: Step
    output: NotRequired[Any]


class _PersonaNotice(Common):
    persona: str
    target: NotRequired[str]
    step: NotRequired[Step]
    reason: NotRequired[str]
    details: NotRequired[dict[str, Any]]


class OnApprovalRequested(_PersonaNotice):
    event: Literal["OnApprovalRequested"]


class OnHandoffEmitted(_PersonaNotice):
    event: Literal["OnHandoffEmitted"]


class OnPersonaPaused(_PersonaNotice):
    event: Literal["OnPersonaPaused"]


class OnPersonaResumed(_PersonaNotice):
    event: Literal["OnPersonaResumed"]


class OnBudgetThreshold(Common):
    event: Literal["OnBudgetThreshold"]
    pct: float
    persona: str
    target: NotRequired[str]
    step: NotRequired[Step]
    details: NotRequired[dict[str, Any]]


# -- the session


class SessionStart(Common):
    event: Literal["SessionStart"]
    task: str
    system: str
    source: NotRequired[str]
    max_iterations: NotRequired[int]


class UserPromptSubmit(Common):
    event: Literal["UserPromptSubmit"]
    prompt: str
    system: str


class PermissionAsked(Common):
    event: Literal["PermissionAsked"]
    tool: Tool
    reason: str


class PermissionReplied(Common):
    event: Literal["PermissionReplied"]
    tool: Tool
    reason: str
    decision: str


class FileEdited(Common):
    event: Literal["FileEdited"]
    path: str
    metadata: Any


class PostTurn(Common):
    event: Literal["PostTurn"]
    session_id: str
    iteration: NotRequired[int]
    text: NotRequired[str]
    visible_text: NotRequired[str]
    has_tool_calls: NotRequired[bool]
    dispatch: NotRequired[Any]
    tool_results: NotRequired[Sequence[Any]]
    tool_count: NotRequired[int]
    tool_names: NotRequired[Sequence[str]]
    successful_tool_names: NotRequired[Sequence[str]]
    rejected_tool_names: NotRequired[Sequence[str]]
    session_successful_tools: NotRequired[Sequence[str]]
    session_rejected_tools: NotRequired[Sequence[str]]
    provider: NotRequired[str]
    model: NotRequired[str]
    tool_format: NotRequired[str]
    tools: NotRequired[Sequence[Any]]


class _Compaction(Common):
    trigger: NotRequired[str]
    strategy: NotRequired[str]
    engine_strategy: NotRequired[str]
    message_count: NotRequired[int]
    keep_last: NotRequired[int]


class PreCompact(_Compaction):
    event: Literal["PreCompact"]


class PostCompact(_Compaction):
    event: Literal["PostCompact"]
    archived_messages: NotRequired[int]
    remaining_messages: NotRequired[int]
    new_summary_len: NotRequired[int]
    summary: NotRequired[str]


class SessionIdle(Common):
    event: Literal["SessionIdle"]
    iteration: NotRequired[int]
    wake_interval_ms: NotRequired[float]
    consolidate_on_idle: NotRequired[bool]


class SessionError(Common):
    event: Literal["SessionError"]
    final_status: str
    stop_reason: str
    error: Any


class SessionEnd(Common):
    event: Literal["SessionEnd"]
    final_status: str
    stop_reason: str
    iterations: int
    reason: NotRequired[str]


class PreFinish(Common):
    event: Literal["PreFinish"]
    return_value: Any
    unsettled: dict[str, Any]
    has_on_finish: bool


class OnUnsettledDetected(Common):
    event: Literal["OnUnsettledDetected"]
    unsettled: dict[str, Any]


class PostFinish(Common):
    event: Literal["PostFinish"]
    return_value: Any
    unsettled: dict[str, Any]
