"""The catalogue: one row per event. Nothing else in the code lists events.

A row says what the event is called in each dialect, what its payload holds, which field a matcher
looks at, and which effects it can have on the host. A dialect's own matrix says which of these
effects its hooks may use.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from hookline.compacting import compact
from hookline.errors import UsageError
from hookline.model import BASE_FIELDS
from hookline.wording import kind_of, nearest, shown

EFFECTS = {
    "deny": "denied",
    "ask": "asked",
    "allow": "decided",
    "halt": "halted",
    "context": "context",
    "messages": "messages",
    "tool_input": "input rewritten",
    "tool_output": "output rewritten",
    "llm_request": "request rewritten",
    "llm_response": "response given",
    "tools": "tools restricted",
    "args": "arguments rewritten",
    "output": "output rewritten",
    "suppress_output": "suppressed",
    "clear_context": "context cleared",
    "reminders": "reminders",
}
"""Every effect a hook can have, and how the tables call an event that honours it."""

EVERYWHERE = frozenset({"context", "reminders"})
"""Effects every event honours: a Harness hook may print context, a Harn hook may leave a reminder."""

TYPES: dict[str, tuple[str, tuple[type, ...]]] = {
    "string": ("a string", (str,)),
    "boolean": ("true or false", (bool,)),
    "integer": ("a whole number", (int,)),
    "number": ("a number", (int, float)),
    "object": ("an object", (dict,)),
    "object or null": ("an object", (dict, type(None))),
    "strings": ("a list of strings", (list, tuple)),
    "list": ("a list", (list, tuple)),
    "any": ("any JSON value", (object,)),
}

FIELD_TYPES = {
    "agent": "string",
    "archived_messages": "integer",
    "consolidate_on_idle": "boolean",
    "decision": "string",
    "details": "object",
    "dispatch": "any",
    "engine_strategy": "string",
    "error": "any",
    "final_status": "string",
    "has_on_finish": "boolean",
    "has_tool_calls": "boolean",
    "iteration": "integer",
    "iterations": "integer",
    "keep_last": "integer",
    "llm_request": "object",
    "llm_response": "object",
    "max_iterations": "integer",
    "mcp": "object or null",
    "message": "string",
    "message_count": "integer",
    "metadata": "any",
    "model": "string",
    "new_summary_len": "integer",
    "notification_type": "string",
    "output": "any",
    "path": "string",
    "pct": "number",
    "persona": "string",
    "prompt": "string",
    "provider": "string",
    "reason": "string",
    "rejected_tool_names": "strings",
    "remaining_messages": "integer",
    "response": "string",
    "return_value": "any",
    "session_rejected_tools": "strings",
    "session_successful_tools": "strings",
    "source": "string",
    "step": "object",
    "stop_hook_active": "boolean",
    "stop_reason": "string",
    "strategy": "string",
    "successful_tool_names": "strings",
    "summary": "string",
    "system": "string",
    "task": "string",
    "text": "string",
    "tool_count": "integer",
    "tool_error": "any",
    "tool_format": "string",
    "tool_input": "object or null",
    "tool_name": "string",
    "tool_names": "strings",
    "tool_output": "any",
    "tool_results": "list",
    "tools": "list",
    "trigger": "string",
    "unsettled": "object",
    "visible_text": "string",
    "wake_interval_ms": "number",
}
"""A field has the same type wherever it occurs."""


PLAIN: dict[str, frozenset[type]] = {
    "strings": frozenset({list, tuple}),
    "any": frozenset({str, bool, int, float, dict, list, tuple, type(None)}),
} | {word: frozenset(types) for word, (_, types) in TYPES.items() if word not in ("strings", "any")}
"""The classes themselves whose values need no closer look; a bool, which is an int to Python, is not among the ints."""


class Row(Struct, frozen=True):
    """One event: everything there is to know about it. `plain` has the PLAIN classes of each field."""

    name: str
    when: str
    fields: tuple[str, ...]
    required: frozenset[str]
    matches: str
    effects: frozenset[str]
    spellings: dict[str, str]
    surface: str
    plain: dict[str, frozenset[type]]

    @property
    def snake(self) -> str:
        return snake_case(self.name)


def snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _row(
    name: str,
    when: str,
    fields: str = "",
    *,
    effects: str = "",
    matches: str = "",
    surface: str = "session",
    harness: bool = False,
    goose: str = "",
    llxprt: str = "",
    harn: bool | str = False,
) -> Row:
    """A row. A field with `!` is required; Harn's session events are also spelled in snake_case."""
    names = tuple(word.rstrip("!") for word in fields.split())
    snake = snake_case(name)
    spellings = {
        "harness": name if harness else "",
        "goose": goose,
        "llxprt": llxprt,
        "harn": harn if isinstance(harn, str) else snake if harn else "",
    }
    return Row(
        name=name,
        when=when,
        fields=names,
        required=frozenset(word[:-1] for word in fields.split() if word.endswith("!")),
        matches=matches,
        effects=EVERYWHERE | frozenset(effects.split()),
        spellings={dialect: word for dialect, word in spellings.items() if word},
        surface=surface,
        plain={name: PLAIN[FIELD_TYPES[name]] for name in names},
    )


_TURN = """iteration text visible_text has_tool_calls dispatch tool_results tool_count tool_names
successful_tool_names rejected_tool_names session_successful_tools session_rejected_tools
provider model tool_format tools"""
_COMPACT = "trigger strategy engine_strategy message_count keep_last"

CATALOGUE: tuple[Row, ...] = (
    _row(
        "SessionStart",
        "a session begins",
        "source task system max_iterations",
        effects="messages",
        matches="source",
        harness=True,
        goose="session_start",
        llxprt="SessionStart",
        harn=True,
    ),
    _row(
        "UserPromptSubmit",
        "the user sent a prompt, before the agent sees it",
        "prompt! system",
        effects="deny halt messages",
        matches="prompt",
        harness=True,
        goose="prompt_submit",
        llxprt="BeforeAgent",
        harn=True,
    ),
    _row(
        "BeforeToolSelection",
        "before the tools of a model request are settled",
        "llm_request!",
        effects="tools halt",
        llxprt="BeforeToolSelection",
    ),
    _row(
        "BeforeModel",
        "before a request goes to the model",
        "llm_request!",
        effects="deny halt llm_request llm_response",
        llxprt="BeforeModel",
    ),
    _row(
        "AfterModel",
        "after the whole response of the model came in",
        "llm_request! llm_response!",
        effects="halt llm_response suppress_output messages",
        llxprt="AfterModel",
    ),
    _row(
        "PermissionAsked",
        "the permission policy is about to refuse a tool call",
        "tool_name! tool_input! reason",
        effects="deny allow ask",
        matches="tool_name",
        harn=True,
    ),
    _row(
        "PermissionReplied",
        "the permission of a tool call was decided",
        "tool_name! tool_input! reason decision",
        matches="tool_name",
        harn=True,
    ),
    _row(
        "PreToolUse",
        "before a tool runs",
        "tool_name! tool_input! mcp",
        effects="deny ask tool_input halt messages",
        matches="tool_name",
        surface="tool",
        harness=True,
        goose="pre_tool_use",
        llxprt="BeforeTool",
        harn="PreToolUse",
    ),
    _row(
        "PostToolUse",
        "after a tool ran",
        "tool_name! tool_input! tool_output tool_error mcp",
        effects="tool_output suppress_output halt messages",
        matches="tool_name",
        surface="tool",
        goose="post_tool_use",
        llxprt="AfterTool",
        harn="PostToolUse",
    ),
    _row("FileEdited", "the agent changed a file", "path! metadata", matches="path", harn=True),
    _row("PostTurn", "a turn of model and tools is on record", _TURN, harn=True),
    _row(
        "PreCompact",
        "before the transcript is compacted",
        _COMPACT,
        effects="deny messages suppress_output",
        matches="trigger",
        llxprt="PreCompress",
        harn=True,
    ),
    _row(
        "PostCompact",
        "after the transcript was compacted",
        _COMPACT + " archived_messages remaining_messages new_summary_len summary",
        matches="trigger",
        harn=True,
    ),
    _row(
        "Notification",
        "the agent wants a person's attention",
        "notification_type message! details",
        effects="messages suppress_output",
        llxprt="Notification",
    ),
    _row(
        "SubagentStop",
        "a subagent is about to stop",
        "agent output stop_hook_active",
        effects="deny",
        matches="agent",
        harness=True,
    ),
    _row(
        "Stop",
        "the agent is about to stop",
        "prompt response stop_hook_active",
        effects="deny halt clear_context messages suppress_output",
        harness=True,
        llxprt="AfterAgent",
    ),
    _row("SessionIdle", "a waiting agent goes to sleep", "iteration wake_interval_ms consolidate_on_idle", harn=True),
    _row("SessionError", "a session ends badly", "final_status stop_reason error", harn=True),
    _row(
        "SessionEnd",
        "a session ends",
        "reason final_status stop_reason iterations",
        effects="messages suppress_output",
        matches="reason",
        harness=True,
        goose="session_stop",
        llxprt="SessionEnd",
        harn=True,
    ),
    _row(
        "PreStep",
        "before a step of a persona",
        "persona! step!",
        effects="deny args",
        matches="persona",
        surface="step",
        harn="PreStep",
    ),
    _row(
        "PostStep",
        "after a step of a persona",
        "persona! step! output",
        effects="output",
        matches="persona",
        surface="step",
        harn="PostStep",
    ),
    _row(
        "OnApprovalRequested",
        "a persona asks for approval",
        "persona! step reason details",
        matches="persona",
        surface="step",
        harn="OnApprovalRequested",
    ),
    _row(
        "OnHandoffEmitted",
        "a persona hands work over",
        "persona! step reason details",
        matches="persona",
        surface="step",
        harn="OnHandoffEmitted",
    ),
    _row(
        "OnPersonaPaused",
        "a persona pauses",
        "persona! step reason details",
        matches="persona",
        surface="step",
        harn="OnPersonaPaused",
    ),
    _row(
        "OnPersonaResumed",
        "a persona goes on",
        "persona! step reason details",
        matches="persona",
        surface="step",
        harn="OnPersonaResumed",
    ),
    _row(
        "OnBudgetThreshold",
        "a persona reports how much of its budget is spent",
        "pct! persona step details",
        matches="persona",
        surface="step",
        harn="OnBudgetThreshold",
    ),
    _row(
        "PreFinish",
        "a pipeline is about to finish",
        "return_value unsettled has_on_finish",
        effects="deny",
        harn=True,
    ),
    _row("OnUnsettledDetected", "a finishing pipeline has work left", "unsettled", harn=True),
    _row("PostFinish", "a pipeline has finished", "return_value unsettled", harn=True),
)

ROWS: dict[str, Row] = {row.name: row for row in CATALOGUE}

_NAMES: dict[str, Row] = {
    word: row
    for row in CATALOGUE
    for spelling in (row.name, *row.spellings.values())
    for word in (spelling, snake_case(spelling))
} | {"error": ROWS["SessionError"]}


def find(name: str) -> Row:
    """The row of an event, whichever dialect's spelling or snake_case it is named in."""
    row = _NAMES.get(name) or _NAMES.get(name.strip()) if isinstance(name, str) else None
    if row is None:
        hint = nearest(name, ROWS | _NAMES) if isinstance(name, str) else ""
        raise UsageError(f"no event is called {shown(name)}{hint or '; `hookline events` lists them all'}")
    return row


def spellings(dialect: str) -> dict[str, str]:
    """The events of a dialect: its spelling -> the catalogue's name."""
    return {row.spellings[dialect]: row.name for row in CATALOGUE if dialect in row.spellings}


def checked(row: Row, payload: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of the payload, if it is one of this event; else an error that says how to mend it."""
    check(row, payload)
    return dict(payload)


def check(row: Row, payload: Mapping[str, Any]) -> None:
    """Raise an error that says how to mend it, if the payload is none of this event."""
    for name, value in payload.items():
        if value.__class__ not in row.plain.get(name, ()):
            _looked_at(row, name, value)
    if not row.required <= payload.keys():
        missing = sorted(row.required - payload.keys())
        raise UsageError(f"{row.name} needs {' and '.join(missing)}; its fields are {_listed(row)}")


def _looked_at(row: Row, name: str, value: Any) -> None:
    """A field that is not plainly right: it may be of a subclass."""
    if name not in row.fields:
        hint = nearest(name, (*row.fields, *BASE_FIELDS))
        raise UsageError(f"{row.name} has no field {shown(name)}{hint or '; its fields are ' + _listed(row)}")
    words, types = TYPES[FIELD_TYPES[name]]
    if not isinstance(value, types) or (isinstance(value, bool) and int in types):
        raise UsageError(f"{row.name}: {name} must be {words}, not {kind_of(value)}: {shown(value)}")


REWRITTEN = {"tool_input": "object", "args": "list"}
"""What a rewrite must be where it is more than the type of the field it stands in for."""

OWN_FLOW = frozenset({"args", "output"})
"""What a step is given and gives: any objects of the program's."""


def misfit(name: str, value: Any) -> str:
    """What keeps a value from being put in the place of this field; "" where it may."""
    words, types = TYPES[REWRITTEN.get(name) or FIELD_TYPES[name]]
    if not isinstance(value, types):
        return f"must be {words}, not {kind_of(value)}: {shown(value)}"
    if name in OWN_FLOW:
        return ""
    try:
        compact(value)
    except UsageError as error:
        return str(error).removeprefix("a payload ")
    return ""


def _listed(row: Row) -> str:
    return ", ".join(name + ("" if name in row.required else "?") for name in (*row.fields, *BASE_FIELDS[:2]))
