"""What hooks see of a model call: LLMRequest, LLMResponse and HookToolConfig, whatever SDK makes the call.

    request(value)     -> LLMRequest        a whole request, exactly
    response(value)    -> LLMResponse       a whole response, exactly
    tool_config(value) -> HookToolConfig
    amendments(value)  -> Amendments        what a hook answered: any part of a request, read with patience
    synthetic(value)   -> LLMResponse       the response a hook answered, read with patience

The formats are text only and stable: a field is never renamed, and unknown keys are let through, so a hook
written for a later version still works. `null` is the same as leaving a field out.

Whatever cannot be understood is a UsageError that names the place by its JSON pointer, and what belongs there.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Literal, TypeVar

import msgspec
from msgspec import Struct, to_builtins

from hookline.errors import UsageError
from hookline.wording import kind_of, nearest, shown

Role = Literal["user", "model", "system"]
Mode = Literal["AUTO", "ANY", "NONE"]
FinishReason = Literal["STOP", "MAX_TOKENS", "SAFETY", "RECITATION", "OTHER"]

OTHER_ROLES: dict[object, Role] = {"assistant": "model", "developer": "system"}
"""What people also write for a role. Any other word is a user's, as it is on the way to the hook."""


class Message(Struct, frozen=True):
    """One message of a conversation: who speaks, and the text of it."""

    role: Role
    content: str


class Config(Struct, frozen=True, rename="camel", omit_defaults=True):
    """How the model is to answer. Every field is optional."""

    temperature: float | None = None
    max_output_tokens: int | None = None
    top_p: float | None = None
    top_k: float | None = None
    stop_sequences: tuple[str, ...] | None = None
    candidate_count: int | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None


class HookToolConfig(Struct, frozen=True, rename="camel", omit_defaults=True):
    """Which tools the model may call. No list means no limit; an empty list means none of them."""

    mode: Mode | None = None
    allowed_function_names: tuple[str, ...] | None = None

    def to_dict(self) -> dict[str, Any]:
        return _plain(self)


class LLMRequest(Struct, frozen=True, rename="camel", omit_defaults=True):
    """A request to a model, as hooks see it."""

    model: str
    messages: tuple[Message, ...]
    config: Config | None = None
    tool_config: HookToolConfig | None = None

    def to_dict(self) -> dict[str, Any]:
        return _plain(self)


class Amendments(Struct, frozen=True, rename="camel", omit_defaults=True):
    """The part of a request that a hook answered. What it left out is None."""

    model: str | None = None
    messages: tuple[Message, ...] | None = None
    config: Config | None = None
    tool_config: HookToolConfig | None = None

    def to_dict(self) -> dict[str, Any]:
        return _plain(self)


class Content(Struct, frozen=True, kw_only=True):
    """The text of one candidate, in the parts the model gave it."""

    role: Literal["model"] = "model"
    parts: tuple[str, ...]


class SafetyRating(Struct, frozen=True):
    """How a candidate was rated. Whether it was blocked is not for hooks to see."""

    category: str
    probability: str


class Candidate(Struct, frozen=True, rename="camel", omit_defaults=True):
    """One answer of the model."""

    content: Content
    finish_reason: FinishReason | None = None
    index: int | None = None
    safety_ratings: tuple[SafetyRating, ...] | None = None


class Usage(Struct, frozen=True, rename="camel", omit_defaults=True):
    """How many tokens it took."""

    prompt_token_count: int | None = None
    candidates_token_count: int | None = None
    total_token_count: int | None = None


class LLMResponse(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A response of a model, as hooks see it. `text` is that of the first candidate."""

    text: str | None = None
    candidates: tuple[Candidate, ...]
    usage_metadata: Usage | None = None

    def to_dict(self) -> dict[str, Any]:
        return _plain(self)


SCHEMAS: dict[str, type[Struct]] = {
    "llm-request": LLMRequest,
    "llm-response": LLMResponse,
    "tool-config": HookToolConfig,
}


def schemas() -> dict[str, dict[str, Any]]:
    """The JSON Schema of each format, by the name of its page in docs/schemas."""
    draft = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return {name: draft | _schema(kind) for name, kind in SCHEMAS.items()}


def request(value: object) -> LLMRequest:
    """A whole request; `model` and `messages` are required."""
    return _read(value, LLMRequest, "an LLMRequest")


def response(value: object) -> LLMResponse:
    """A whole response; `candidates` is required."""
    return _read(value, LLMResponse, "an LLMResponse")


def tool_config(value: object) -> HookToolConfig:
    """A restriction of the tools."""
    return _read(value, HookToolConfig, "a tool config")


def amendments(value: object) -> Amendments:
    """What a hook answered in `llm_request`. Content that is no string becomes one; a role is taken as it is meant."""
    if isinstance(value, dict) and isinstance(value.get("messages"), list):
        value = value | {"messages": [_message(message) for message in value["messages"]]}
    return _read(value, Amendments, "a hook's llm_request")


def synthetic(value: object) -> LLMResponse:
    """What a hook answered in `llm_response`. A bare `text` is a response of one candidate."""
    if isinstance(value, dict):
        candidates = value.get("candidates")
        if candidates is None and isinstance(value.get("text"), str):
            candidates = [{"content": {"parts": [value["text"]]}}]
        if isinstance(candidates, list):
            value = value | {"candidates": [_candidate(candidate) for candidate in candidates]}
    return _read(value, LLMResponse, "a hook's llm_response")


def _message(message: Any) -> Any:
    if not isinstance(message, dict):
        return message
    role = message.get("role")
    if role not in ("user", "model", "system"):
        role = OTHER_ROLES.get(role, "user") if isinstance(role, str) else "user"
    return message | {"role": role, "content": _text(message.get("content"))}


def _candidate(candidate: Any) -> Any:
    content = candidate.get("content") if isinstance(candidate, dict) else None
    parts = content.get("parts") if isinstance(content, dict) else None
    if not isinstance(parts, list):
        return candidate
    # A part is a string here; people who know the SDK write {"text": ...}.
    texts = [_text(part["text"] if isinstance(part, dict) and "text" in part else part) for part in parts]
    return candidate | {"content": {"role": "model", "parts": texts}}


def _text(value: object) -> str:
    """A text where one belongs: nothing for null, JSON for whatever else is not a string."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, ValueError, RecursionError):
        return str(value)


_Kind = TypeVar("_Kind")


def _read(value: object, kind: type[_Kind], what: str) -> _Kind:
    try:
        return msgspec.convert(_whole(value), kind)
    except msgspec.ValidationError as error:
        raise UsageError(f"{what}: {_explained(str(error), value, kind)}") from None
    except RecursionError:
        raise UsageError(f"{what} is nested too deeply") from None


def _whole(value: object) -> object:
    """4096.0 is the whole number 4096: JSON makes no difference, and neither does our schema."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, dict):
        return {key: _whole(item) for key, item in value.items()}
    return [_whole(item) for item in value] if isinstance(value, list | tuple) else value


def _plain(value: Struct) -> dict[str, Any]:
    done: dict[str, Any] = _listed(to_builtins(value))
    return done


def _listed(value: Any) -> Any:
    """JSON has lists and no tuples."""
    if isinstance(value, dict):
        return {key: _listed(item) for key, item in value.items()}
    return [_listed(item) for item in value] if isinstance(value, list | tuple) else value


# -- saying what is wrong


@cache
def _schema(kind: type) -> dict[str, Any]:
    return msgspec.json.schema(kind)


def _explained(error: str, value: Any, kind: type) -> str:
    """What msgspec found, in the words of somebody who writes a hook: where, what is there, what belongs there."""
    problem, _, path = error.partition(" - at `$")
    whole = _schema(kind)
    schema, pointer = whole, ""
    for name, index in re.findall(r"\.(\w+)|\[(\d+)\]", path):
        schema = _resolved(schema, whole)
        schema = schema["properties"][name] if name else schema["items"]
        value = value[name] if name else value[int(index)]
        pointer += f"/{name or index}"
    missing = re.search(r"missing required field `(\w+)`", problem)
    if missing:
        wanted = _wanted(_resolved(schema, whole)["properties"][missing[1]], whole)
        return f'{pointer or "it"} has no "{missing[1]}", which must be {wanted}: {shown(value)}'
    words = _resolved(schema, whole).get("enum", ())
    found, hint = f"{kind_of(value)}: {shown(value)}", ""
    if words and isinstance(value, str):
        found, hint = shown(value), nearest(value, words)
    return f"{pointer or 'it'} must be {_wanted(schema, whole)}, not {found}{hint}"


def _resolved(schema: dict[str, Any], whole: dict[str, Any]) -> dict[str, Any]:
    """The schema that is meant: without the null that every optional field allows, and without references."""
    if "anyOf" in schema:
        schema = next(choice for choice in schema["anyOf"] if choice.get("type") != "null")
    if "$ref" in schema:
        return dict(whole["$defs"][schema["$ref"].rpartition("/")[2]])
    return schema


def _wanted(schema: dict[str, Any], whole: dict[str, Any]) -> str:
    schema = _resolved(schema, whole)
    if "enum" in schema:
        return " or ".join(f'"{word}"' for word in schema["enum"])
    if schema["type"] == "array":
        return f"a list, and each item {_wanted(schema['items'], whole)}"
    if schema["type"] == "object":
        if not schema["required"]:
            return "an object with any of " + ", ".join(f'"{key}"' for key in schema["properties"])
        return "an object with " + " and ".join(f'"{key}"' for key in schema["required"])
    return {"string": "a string", "number": "a number", "integer": "a whole number"}[schema["type"]]
