"""The OpenAI chat-completions format, as plain dicts; no package is needed.

A request is what `chat.completions.create` takes, a response is its dict (`completion.model_dump()`, or the object
itself). Messages may be dicts or the SDK's objects. The rule for what a hook's answer changes is in
hookline.translating; this is special here:

* `system` and `developer` messages are shown as system, `assistant` as model. Messages of tools are not shown.
* `topK` is no setting of this format: it is shown and changed only where the request has a `top_k`.
* `tool_choice` names one function, or several as `allowed_tools`.
* A response made of a hook's answer has no tool calls, so it never finishes for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hookline import llm
from hookline.llm import FinishReason, HookToolConfig, LLMRequest, LLMResponse, Message, Mode, Role
from hookline.translating import (
    Entry,
    changed,
    content_with,
    merged,
    plain,
    restriction,
    settings,
    shown_request,
    shown_response,
    texts_of,
    value,
)

NAME = "openai"

ROLES: dict[object, Role] = {"system": "system", "developer": "system", "assistant": "model", "user": "user"}
WORDS: dict[Role, str] = {"system": "system", "model": "assistant", "user": "user"}

FIELDS = {
    "temperature": ("temperature",),
    "max_output_tokens": ("max_completion_tokens", "max_tokens"),
    "top_p": ("top_p",),
    "top_k": ("top_k",),
    "stop_sequences": ("stop",),
    "candidate_count": ("n",),
    "presence_penalty": ("presence_penalty",),
    "frequency_penalty": ("frequency_penalty",),
}
"""Each field of the config, and what it may be called here; a new one gets the first name."""

MODES: dict[object, Mode] = {"auto": "AUTO", "required": "ANY", "none": "NONE"}
CHOICES: dict[Mode | None, str] = {"AUTO": "auto", "ANY": "required", None: "auto"}

FINISHES: dict[object, FinishReason] = {
    "stop": "STOP",
    "length": "MAX_TOKENS",
    "content_filter": "SAFETY",
    "tool_calls": "STOP",
    "function_call": "STOP",
}
REASONS = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
    "OTHER": "stop",
}

COUNTS = {
    "prompt_token_count": "prompt_tokens",
    "candidates_token_count": "completion_tokens",
    "total_token_count": "total_tokens",
}

NEW = {"id": "hookline", "object": "chat.completion", "created": 0, "model": ""}
"""What a response has that no model gave."""

OURS = {"max_completion_tokens", "n", "stop", "presence_penalty", "frequency_penalty", "response_format", "seed"}
NOT_OURS = {"contents", "system", "stop_sequences", "thinking", "config", "toolConfig"}
PARTS = ("text", "image_url", "input_audio", "file", "refusal")


def claims(thing: Any) -> bool:
    """A call or a response that can be of this format, or an object of the SDK."""
    if not isinstance(thing, dict):
        return type(thing).__module__.partition(".")[0] == "openai"
    if isinstance(thing.get("choices"), list):
        return True
    said, tools = thing.get("messages"), thing.get("tools") or ()
    if not isinstance(said, list) or thing.keys() & NOT_OURS:
        return False
    if thing.keys() & OURS or any(value(message, "role") not in ("user", "assistant") for message in said):
        return all(value(message, "role") != "model" for message in said)
    if any(value(part, "type") not in PARTS for message in said for part in _parts(message)):
        return False
    if any(value(tool, "input_schema") is not None for tool in tools):
        return False
    # What is left could be Anthropic's as well, if it has the max_tokens they require; the model's name may tell.
    return "max_tokens" not in thing or not str(thing.get("model")).startswith("claude")


def request_to_hook(request: dict[str, Any]) -> dict[str, Any]:
    """The request as hooks see it."""
    return _seen(request, _entries(request)).to_dict()


def request_from_hook(hook_request: dict[str, Any], request: dict[str, Any]) -> dict[str, Any]:
    """The request to make, after a hook answered."""
    entries, answer = _entries(request), llm.amendments(hook_request)
    seen = _seen(request, entries)
    changes: dict[str, Any] = {}
    if answer.model and answer.model != seen.model:
        changes["model"] = answer.model
    for name, wish in settings(answer, seen).items():
        if (key := _key(request, name)) in request or name != "top_k":
            changes[key] = wish
    items = merged(entries, answer.messages, _rewritten, _created)
    if items is not None:
        changes["messages"] = items
    if wanted := restriction(answer, seen):
        changes["tool_choice"] = _choice(wanted)
    return request | changes if changes else request


call_to_hook, call_from_hook = request_to_hook, request_from_hook


def response_to_hook(response: Any) -> dict[str, Any]:
    """The response as hooks see it."""
    return _seen_response(response).to_dict()


def response_from_hook(hook_response: dict[str, Any], base: Any = None) -> dict[str, Any]:
    """A response of text only. What the hook left out comes from `base`."""
    answer, base = llm.synthetic(hook_response), plain(base)
    old = base.get("choices") or []
    choices = []
    for number, candidate in enumerate(answer.candidates):
        before = old[number] if number < len(old) else {}
        reason = candidate.finish_reason or FINISHES.get(value(before, "finish_reason"), "STOP")
        index = value(before, "index") if candidate.index is None else candidate.index
        choices.append(
            {
                "index": number if index is None else index,
                "message": {"role": "assistant", "content": "".join(candidate.content.parts)},
                "finish_reason": REASONS[reason],
            }
        )
    done: dict[str, Any] = NEW | base | {"choices": choices}
    if answer.usage_metadata is not None:
        counts = {theirs: getattr(answer.usage_metadata, name) for name, theirs in COUNTS.items()}
        done["usage"] = changed(base.get("usage"), counts)
    return done


# -- toward the hook


def _seen(request: dict[str, Any], entries: Sequence[Entry]) -> LLMRequest:
    config = {name: request.get(_key(request, name)) for name in FIELDS}
    if isinstance(config["stop_sequences"], str):
        config["stop_sequences"] = [config["stop_sequences"]]
    return shown_request(str(request.get("model") or ""), entries, config, _tools(request.get("tool_choice")))


def _key(request: dict[str, Any], name: str) -> str:
    """What a field is called in this request."""
    return next((key for key in FIELDS[name] if request.get(key) is not None), FIELDS[name][0])


def _tools(choice: Any) -> HookToolConfig | None:
    if isinstance(choice, str):
        return HookToolConfig(MODES[choice]) if choice in MODES else None
    kind = value(choice, "type")
    if kind == "allowed_tools":
        limit = value(choice, "allowed_tools")
        names = (_name(tool) for tool in value(limit, "tools") or ())
        return HookToolConfig(MODES.get(value(limit, "mode"), "AUTO"), tuple(name for name in names if name))
    name = _name(choice)
    return HookToolConfig("ANY", (name,)) if name else None


def _name(tool: Any) -> str | None:
    """The name of a tool, which stands under the word for its sort."""
    name = value(value(tool, str(value(tool, "type"))), "name")
    return name if isinstance(name, str) else None


def _entries(request: dict[str, Any]) -> list[Entry]:
    return [_entry(message) for message in request.get("messages") or ()]


def _entry(message: Any) -> Entry:
    role = value(message, "role")
    if role not in ROLES:  # a tool's result, or something newer than this file
        return Entry(message, "user", ())
    return Entry(message, ROLES[role], texts_of(value(message, "content")))


def _parts(message: Any) -> list[Any]:
    content = value(message, "content")
    return content if isinstance(content, list) else []


def _seen_response(response: Any) -> LLMResponse:
    usage = value(response, "usage")
    candidates = [_candidate(choice) for choice in value(response, "choices") or ()]
    return shown_response(candidates, [value(usage, name) for name in COUNTS.values()])


def _candidate(choice: Any) -> llm.Candidate:
    texts, reason = texts_of(value(value(choice, "message"), "content")), value(choice, "finish_reason")
    finish = None if reason is None else FINISHES.get(reason, "OTHER")
    return llm.Candidate(llm.Content(parts=texts), finish, value(choice, "index"))


# -- and back


def _rewritten(entry: Entry, role: Role | None, texts: Sequence[str | None]) -> Any:
    content = content_with(value(entry.item, "content"), texts)
    others = ("tool_calls", "function_call", "audio", "refusal")
    if not content and not any(value(entry.item, name) for name in others):
        return None
    done = changed(entry.item, {"content": content, "role": WORDS[role] if role else None})
    # changed() takes None for "leave it", and here it is the content of a message that only calls tools.
    return done if content else _silent(done)


def _silent(message: Any) -> Any:
    return message | {"content": None} if isinstance(message, dict) else message.model_copy(update={"content": None})


def _created(message: Message) -> dict[str, str]:
    return {"role": WORDS[message.role], "content": message.content}


def _choice(wanted: HookToolConfig) -> Any:
    if wanted.mode == "NONE":
        return "none"
    names = wanted.allowed_function_names
    if names is None:
        return CHOICES[wanted.mode]
    tools = [{"type": "function", "function": {"name": name}} for name in names]
    if wanted.mode == "ANY" and len(tools) == 1:
        return tools[0]
    return {"type": "allowed_tools", "allowed_tools": {"mode": CHOICES[wanted.mode], "tools": tools}}
