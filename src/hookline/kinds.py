"""The kinds of records there are, and the fields of each: what the documentation shows, as a JSON Schema, too."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

TEXT: dict[str, Any] = {"type": "string"}
NUMBER: dict[str, Any] = {"type": "number"}
WHOLE: dict[str, Any] = {"type": "integer"}
FLAG: dict[str, Any] = {"type": "boolean"}
OBJECT: dict[str, Any] = {"type": "object"}
TEXTS: dict[str, Any] = {"type": "array", "items": TEXT}
LIST: dict[str, Any] = {"type": "array"}
ANY: dict[str, Any] = {}
HASH: dict[str, Any] = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
DECISIONS = ["allow", "ask", "deny", "none"]


class Kind(Struct, frozen=True):
    """One kind of record: when it is written, and its fields. A name that ends in `?` may be left out."""

    when: str
    fields: dict[str, dict[str, Any]]


_HOOK = {"event": TEXT, "handler": TEXT, "dialect": TEXT, "source": TEXT, "digest?": HASH}
_BACKGROUND = {"background?": FLAG}
_INTERRUPTED = {"interrupted?": FLAG}

KINDS = {
    "session": Kind(
        "a session begins",
        {
            "id": TEXT,
            "cwd": TEXT,
            "source": TEXT,
            "task": TEXT,
            "system": TEXT,
            "allow": {"type": ["array", "null"], "items": TEXT},
            "deny": TEXTS,
            "approver": FLAG,
        },
    ),
    "event": Kind(
        "an event is fired",
        {"event": TEXT, "session_id": TEXT, "cwd": TEXT, "timestamp": TEXT, "transcript_path": TEXT, "payload": OBJECT},
    ),
    "hook_skipped": Kind("a hook does not run", {**_HOOK, "reason": TEXT}),
    "hook_call": Kind(
        "before a hook starts",
        {
            **_HOOK,
            "surface": {"enum": ["tool", "step", "session"]},
            "payload": OBJECT,
            "timeout?": NUMBER,
            "on_failure?": {"enum": ["ask", "deny"]},
            **_BACKGROUND,
        },
    ),
    "hook_returned": Kind(
        "a hook has ended",
        {**_HOOK, **_BACKGROUND, "result": TEXT, "raw": ANY, "duration_ms": NUMBER, "injected?": WHOLE},
    ),
    "hook_raised": Kind(
        "a Python handler raised, or answered nonsense",
        {**_HOOK, **_BACKGROUND, "error": TEXT, "duration_ms": NUMBER, "loud?": FLAG, "raw?": ANY, **_INTERRUPTED},
    ),
    "system_reminder": Kind("a hook, or the host, left a reminder", {"reminder": OBJECT}),
    "hook_vetoed": Kind(
        "a hook denied, blocked or decided",
        {**_HOOK, **_BACKGROUND, "reason": TEXT, "decision": {"enum": [*DECISIONS, None]}},
    ),
    "ruling": Kind(
        "all hooks of the event have spoken, before the host is told",
        {
            "event": TEXT,
            "decision": {"enum": DECISIONS},
            "healthy": FLAG,
            "reason?": TEXT,
            "context?": TEXTS,
            "messages?": TEXTS,
            "tool_input?": ANY,
            "tool_output?": ANY,
            "prompt?": ANY,
            "llm_request?": ANY,
            "llm_response?": ANY,
            "args?": ANY,
            "output?": ANY,
            "tools?": OBJECT,
            "halt?": OBJECT,
            "suppress_output?": FLAG,
            "clear_context?": FLAG,
            **{f"{name}?": {"type": "array", "items": OBJECT} for name in ("reminders", "notices", "hooks")},
        },
    ),
    "message": Kind("a prompt was accepted, a model replied", {"role": TEXT, "content": TEXT, "response?": OBJECT}),
    "model_failed": Kind("the call of the model raised", {"error": TEXT, **_INTERRUPTED}),
    "tool_call": Kind("before a tool runs", {"tool_name": TEXT, "tool_input": ANY}),
    "tool_result": Kind(
        "a tool returned, or raised", {"tool_name": TEXT, "output?": TEXT, "error?": TEXT, **_INTERRUPTED}
    ),
    "tool_refused": Kind("a tool was not run", {"tool_name": TEXT, "tool_input": ANY, "reason": TEXT}),
    "approval": Kind(
        "a person was asked",
        {
            "tool_name": TEXT,
            "tool_input": ANY,
            "reason": TEXT,
            "answer": {"enum": [True, False, "session"]},
            "error?": TEXT,
            **_INTERRUPTED,
        },
    ),
    "compaction": Kind(
        "the transcript was compacted", {"archived_messages": WHOLE, "remaining_messages": WHOLE, "summary": TEXT}
    ),
    "compaction_failed": Kind("a compactor raised", {"error": TEXT, **_INTERRUPTED}),
    "subagent": Kind("a child session begins", {"agent": TEXT, "id": TEXT, "parent": TEXT}),
    "within": Kind(
        "a tool, a model, a person, a compactor or a handler has changed a session while it ran",
        {
            "session_id": TEXT,
            "turn?": WHOLE,
            "prompt?": TEXT,
            "slots?": OBJECT,
            "asides?": LIST,
            "reminders?": {"type": "array", "items": OBJECT},
            "edits?": {"type": "array", "items": OBJECT},
            "calls?": {"type": "array", "items": OBJECT},
            "tools_used?": OBJECT,
            "allowed_tools?": {"type": ["array", "null"], "items": TEXT},
            "grants?": LIST,
            "halted?": {"type": ["string", "null"]},
            "stops_denied?": WHOLE,
            "model_called?": FLAG,
            "at_turn_start?": FLAG,
        },
    ),
    "torn": Kind("a torn last line was repaired", {"bytes": WHOLE, "text": TEXT}),
}
"""In the order they are met. A new kind is one row here."""

EVERYWHERE = {"masked?": TEXTS, "of?": WHOLE, "beside?": WHOLE, "since?": WHOLE, "version?": {"const": 1}}
"""What the tape adds to the data of any record."""


_TYPES: dict[str, Any] = {"string": str, "object": dict, "integer": int, "number": (int, float), "boolean": bool}
_TYPES["array"] = list


def flaw(kind: str, data: dict[str, Any]) -> str:
    """What keeps a record from being one of its kind: a field that is missing, or is something else. "" is none."""
    for field, wanted in KINDS[kind].fields.items() if kind in KINDS else ():
        name = field.removesuffix("?")
        if name not in data:
            if name == field:
                return f"has no {name!r}"
            continue
        known = _TYPES.get(str(wanted.get("type")))
        if known and not isinstance(data[name], known):
            return f"has a {name!r} that is no {wanted['type']}"
        if "enum" in wanted and data[name] not in wanted["enum"]:
            return f"has a {name!r} that is none of {', '.join(map(str, wanted['enum']))}"
        item = _TYPES.get(str(wanted.get("items", {}).get("type")), object)
        if "items" in wanted and not all(isinstance(each, item) for each in data[name] or ()):
            return f"has a {name!r} in which something is no {wanted['items']['type']}"
    return ""


def schema() -> dict[str, Any]:
    """The JSON Schema of one line of a tape."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A record of a hookline tape, version 1",
        "type": "object",
        "properties": {
            "seq": {"type": "integer", "minimum": 1},
            "at": {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$"},
            "kind": {"enum": list(KINDS)},
            "data": OBJECT,
            "hash": HASH,
        },
        "required": ["seq", "at", "kind", "data", "hash"],
        "additionalProperties": False,
        "allOf": [
            {
                "if": {"properties": {"kind": {"const": name}}},
                "then": {"properties": {"data": _object(kind.fields)}, "description": kind.when},
            }
            for name, kind in KINDS.items()
        ],
    }


def _object(fields: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name.removesuffix("?"): kind for name, kind in (fields | EVERYWHERE).items()},
        "required": [name for name in fields if not name.endswith("?")],
        "additionalProperties": False,
    }
