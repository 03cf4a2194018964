"""What a handler of `@hooks.on` is called with, as types: one TypedDict per event, as the catalogue has it.

    @hooks.on("PreToolUse", match="Bash")
    def guard(payload: PreToolUse) -> Verdict | None: ...

Only type checkers and editors read this module; tests/test_payloads.py holds it to the catalogue. (No postponed
annotations here: with them Python would not see which keys are NotRequired.)
"""

from collections.abc import Sequence
from typing import Any, Literal, NotRequired, TypedDict


class Common(TypedDict):
    """What every payload has. Times are UTC, with milliseconds; `transcript_path` is "" where there is no tape."""

    session_id: str
    cwd: str
    timestamp: str
    transcript_path: str


class _ToolCall(Common):
    tool_name: str
    tool_input: dict[str, Any] | None


class _Compaction(Common):
    trigger: NotRequired[str]
    strategy: NotRequired[str]
    engine_strategy: NotRequired[str]
    message_count: NotRequired[int]
    keep_last: NotRequired[int]


class _PersonaNotice(Common):
    persona: str
    step: NotRequired[dict[str, Any]]
    reason: NotRequired[str]
    details: NotRequired[dict[str, Any]]


class SessionStart(Common):
    """A session begins."""

    event: Literal["SessionStart"]
    source: NotRequired[str]
    task: NotRequired[str]
    system: NotRequired[str]
    max_iterations: NotRequired[int]


class UserPromptSubmit(Common):
    """The user sent a prompt, before the agent sees it."""

    event: Literal["UserPromptSubmit"]
    prompt: str
    system: NotRequired[str]


class BeforeToolSelection(Common):
    """Before the tools of a model request are settled."""

    event: Literal["BeforeToolSelection"]
    llm_request: dict[str, Any]


class BeforeModel(Common):
    """Before a request goes to the model."""

    event: Literal["BeforeModel"]
    llm_request: dict[str, Any]


class AfterModel(Common):
    """After the whole response of the model came in."""

    event: Literal["AfterModel"]
    llm_request: dict[str, Any]
    llm_response: dict[str, Any]


class PermissionAsked(_ToolCall):
    """The permission policy is about to refuse a tool call."""

    event: Literal["PermissionAsked"]
    reason: NotRequired[str]


class PermissionReplied(_ToolCall):
    """The permission of a tool call was decided."""

    event: Literal["PermissionReplied"]
    reason: NotRequired[str]
    decision: NotRequired[str]


class PreToolUse(_ToolCall):
    """Before a tool runs."""

    event: Literal["PreToolUse"]
    mcp: NotRequired[dict[str, Any] | None]


class PostToolUse(_ToolCall):
    """After a tool ran."""

    event: Literal["PostToolUse"]
    tool_output: NotRequired[Any]
    tool_error: NotRequired[Any]
    mcp: NotRequired[dict[str, Any] | None]


class FileEdited(Common):
    """The agent changed a file."""

    event: Literal["FileEdited"]
    path: str
    metadata: NotRequired[Any]


class PostTurn(Common):
    """A turn of model and tools is on record."""

    event: Literal["PostTurn"]
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


class PreCompact(_Compaction):
    """Before the transcript is compacted."""

    event: Literal["PreCompact"]


class PostCompact(_Compaction):
    """After the transcript was compacted."""

    event: Literal["PostCompact"]
    archived_messages: NotRequired[int]
    remaining_messages: NotRequired[int]
    new_summary_len: NotRequired[int]
    summary: NotRequired[str]


class Notification(Common):
    """The agent wants a person's attention."""

    event: Literal["Notification"]
    notification_type: NotRequired[str]
    message: str
    details: NotRequired[dict[str, Any]]


class SubagentStop(Common):
    """A subagent is about to stop."""

    event: Literal["SubagentStop"]
    agent: NotRequired[str]
    output: NotRequired[Any]
    stop_hook_active: NotRequired[bool]


class Stop(Common):
    """The agent is about to stop."""

    event: Literal["Stop"]
    prompt: NotRequired[str]
    response: NotRequired[str]
    stop_hook_active: NotRequired[bool]


class SessionIdle(Common):
    """A waiting agent goes to sleep."""

    event: Literal["SessionIdle"]
    iteration: NotRequired[int]
    wake_interval_ms: NotRequired[float]
    consolidate_on_idle: NotRequired[bool]


class SessionError(Common):
    """A session ends badly."""

    event: Literal["SessionError"]
    final_status: NotRequired[str]
    stop_reason: NotRequired[str]
    error: NotRequired[Any]


class SessionEnd(Common):
    """A session ends."""

    event: Literal["SessionEnd"]
    reason: NotRequired[str]
    final_status: NotRequired[str]
    stop_reason: NotRequired[str]
    iterations: NotRequired[int]


class PreStep(Common):
    """Before a step of a persona."""

    event: Literal["PreStep"]
    persona: str
    step: dict[str, Any]


class PostStep(Common):
    """After a step of a persona."""

    event: Literal["PostStep"]
    persona: str
    step: dict[str, Any]
    output: NotRequired[Any]


class OnApprovalRequested(_PersonaNotice):
    """A persona asks for approval."""

    event: Literal["OnApprovalRequested"]


class OnHandoffEmitted(_PersonaNotice):
    """A persona hands work over."""

    event: Literal["OnHandoffEmitted"]


class OnPersonaPaused(_PersonaNotice):
    """A persona pauses."""

    event: Literal["OnPersonaPaused"]


class OnPersonaResumed(_PersonaNotice):
    """A persona goes on."""

    event: Literal["OnPersonaResumed"]


class OnBudgetThreshold(Common):
    """A persona reports how much of its budget is spent."""

    event: Literal["OnBudgetThreshold"]
    pct: float
    persona: NotRequired[str]
    step: NotRequired[dict[str, Any]]
    details: NotRequired[dict[str, Any]]


class PreFinish(Common):
    """A pipeline is about to finish."""

    event: Literal["PreFinish"]
    return_value: NotRequired[Any]
    unsettled: NotRequired[dict[str, Any]]
    has_on_finish: NotRequired[bool]


class OnUnsettledDetected(Common):
    """A finishing pipeline has work left."""

    event: Literal["OnUnsettledDetected"]
    unsettled: NotRequired[dict[str, Any]]


class PostFinish(Common):
    """A pipeline has finished."""

    event: Literal["PostFinish"]
    return_value: NotRequired[Any]
    unsettled: NotRequired[dict[str, Any]]
