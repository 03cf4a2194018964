"""The Anthropic messages format, as plain dicts; no package is needed.

A request is what `messages.create` takes, a response is its dict (`message.model_dump()`, or the object itself).
Blocks may be dicts or the SDK's objects. The rule for what a hook's answer changes is in hookline.translating; this is
special here:

* `system` is shown as the first message, of the role system. Wherever a hook puts system messages, they go there.
* Blocks other than text (tool_use, tool_result, thinking, images, documents) are not shown, and stay.
* Hooks can set no `candidateCount` and no penalties: this format has none.
* `tool_choice` can name one tool. To hold the model to several, `tools` is cut down to them: a limit that cannot be
  said must still hold.
* A response made of a hook's answer is its first candidate, and has no tool_use, so it never stops for one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

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

NAME = "anthropic"

FIELDS = {
    "temperature": "temperature",
    "max_output_tokens": "max_tokens",
    "top_p": "top_p",
    "top_k": "top_k",
    "stop_sequences": "stop_sequences",
}

MODES: dict[object, Mode] = {"auto": "AUTO", "any": "ANY", "none": "NONE", "tool": "ANY"}
CHOICES: dict[Mode | None, str] = {"AUTO": "auto", "ANY": "any", None: "auto"}

FINISHES: dict[object, FinishReason] = {
    "end_turn": "STOP",
    "stop_sequence": "STOP",
    "tool_use": "STOP",
    "max_tokens": "MAX_TOKENS",
    "model_context_window_exceeded": "MAX_TOKENS",
    "refusal": "SAFETY",
}
REASONS = {
    "STOP": "end_turn",
    "MAX_TOKENS": "max_tokens",
    "SAFETY": "refusal",
    "RECITATION": "refusal",
    "OTHER": "end_turn",
}

CACHED = ("cache_creation_input_tokens", "cache_read_input_tokens")
"""Input that is counted apart here, and with the rest everywhere else."""

NEW = {"id": "hookline", "type": "message", "role": "assistant", "model": "", "stop_sequence": None}
NO_USAGE = {"input_tokens": 0, "output_tokens": 0}
"""What a response has that no model gave."""

OURS = {"system", "stop_sequences", "thinking"}
NOT_OURS = {"contents", "choices", "n", "stop", "max_completion_tokens", "presence_penalty", "frequency_penalty"}
NOT_OURS |= {"response_format", "seed", "config", "toolConfig"}
NOT_BLOCKS = ("image_url", "input_audio", "file", "refusal")
OTHERS = ("gpt", "chatgpt", "o1", "o3", "o4")


class _System(Struct, frozen=True):
    """The `system` of a request: a string, or a list of blocks."""

    content: Any


def claims(thing: Any) -> bool:
    """A call or a response that no other format has, or an object of the SDK."""
    if not isinstance(thing, dict):
        return type(thing).__module__.partition(".")[0] == "anthropic"
    if "stop_reason" in thing and "content" in thing:
        return True
    said, tools = thing.get("messages"), thing.get("tools") or ()
    if not isinstance(said, list) or thing.keys() & NOT_OURS or isinstance(thing.get("tool_choice"), str):
        return False
    if any(value(message, "role") not in ("user", "assistant") for message in said):
        return False
    kinds = {value(block, "type") for message in said for block in _blocks(message)}
    if kinds & set(NOT_BLOCKS) or any(value(tool, "function") is not None for tool in tools):
        return False
    if thing.keys() & OURS or kinds - {"text"} or any(value(tool, "input_schema") is not None for tool in tools):
        return True
    # What is left could be OpenAI's as well; ours always have max_tokens, and the model's name may tell.
    return "max_tokens" in thing and not str(thing.get("model")).startswith(OTHERS)


def request_to_hook(request: dict[str, Any]) -> dict[str, Any]:
    """The request as hooks see it."""
    return _seen(request, _entries(request)).to_dict()


def request_from_hook(hook_request: dict[str, Any], request: dict[str, Any]) -> dict[str, Any]:
    """The request to make, after a hook answered."""
    entries, answer = _entries(request), llm.amendments(hook_request)
    seen = _seen(request, entries)
    changes = {FIELDS[name]: wish for name, wish in settings(answer, seen).items() if name in FIELDS}
    if answer.model and answer.model != seen.model:
        changes["model"] = answer.model
    items = merged(entries, answer.messages, _rewritten, _created)
    if items is not None:
        changes["messages"] = [item for item in items if not isinstance(item, _System)]
        changes["system"] = _joined([item.content for item in items if isinstance(item, _System)])
    if wanted := restriction(answer, seen):
        changes |= _restricted(request, wanted)
    if changes.get("system", "") is None:
        del changes["system"]
        request = {name: given for name, given in request.items() if name != "system"}
    return request | changes if changes else request


call_to_hook, call_from_hook = request_to_hook, request_from_hook


def response_to_hook(response: Any) -> dict[str, Any]:
    """The response as hooks see it: one candidate."""
    return _seen_response(response).to_dict()


def response_from_hook(hook_response: dict[str, Any], base: Any = None) -> dict[str, Any]:
    """A response of text only, made of the first candidate. What the hook left out comes from `base`."""
    answer, base = llm.synthetic(hook_response), plain(base)
    seen = _seen_response(base)
    texts = answer.candidates[0].content.parts if answer.candidates else ()
    finish = answer.candidates[0].finish_reason if answer.candidates else None
    done: dict[str, Any] = NEW | base | {"content": [{"type": "text", "text": text} for text in texts]}
    before = base.get("stop_reason")
    if before in (None, "tool_use") or finish not in (None, seen.candidates[0].finish_reason):
        done |= {"stop_reason": REASONS[finish or "STOP"], "stop_sequence": None}
    done["usage"] = base.get("usage") or NO_USAGE
    if (usage := answer.usage_metadata) is not None and usage != seen.usage_metadata:
        counts = {"input_tokens": usage.prompt_token_count, "output_tokens": usage.candidates_token_count}
        if usage.prompt_token_count is not None:
            counts["input_tokens"] = max(0, usage.prompt_token_count - _cached(base.get("usage")))
        done["usage"] = changed(done["usage"], counts)
    return done


# -- toward the hook


def _seen(request: dict[str, Any], entries: Sequence[Entry]) -> LLMRequest:
    config = {name: request.get(theirs) for name, theirs in FIELDS.items()}
    return shown_request(str(request.get("model") or ""), entries, config, _tools(request.get("tool_choice")))


def _tools(choice: Any) -> HookToolConfig | None:
    mode = MODES.get(value(choice, "type"))
    name = value(choice, "name")
    return HookToolConfig(mode, (name,) if isinstance(name, str) else None) if mode else None


def _entries(request: dict[str, Any]) -> list[Entry]:
    system = request.get("system")
    first = [] if system is None else [Entry(_System(system), "system", texts_of(system))]
    return first + [_entry(message) for message in request.get("messages") or ()]


def _entry(message: Any) -> Entry:
    bound = any(value(block, "type") == "tool_result" for block in _blocks(message))
    role: Role = "model" if value(message, "role") == "assistant" else "user"
    return Entry(message, role, texts_of(value(message, "content")), bound)


def _blocks(message: Any) -> list[Any]:
    content = value(message, "content")
    return content if isinstance(content, list) else []


def _cached(usage: Any) -> int:
    return sum(value(usage, name) or 0 for name in CACHED)


def _seen_response(response: Any) -> LLMResponse:
    usage, reason = value(response, "usage"), value(response, "stop_reason")
    counts = value(usage, "input_tokens"), value(usage, "output_tokens")
    total = None
    if None not in counts:
        prompt = counts[0] + _cached(usage)
        counts, total = (prompt, counts[1]), prompt + counts[1]
    finish = None if reason is None else FINISHES.get(reason, "OTHER")
    content = llm.Content(parts=texts_of(value(response, "content")))
    return shown_response([llm.Candidate(content, finish, 0)], [*counts, total])


# -- and back


def _rewritten(entry: Entry, role: Role | None, texts: Sequence[str | None]) -> Any:
    content = content_with(value(entry.item, "content"), texts)
    if not content:
        return None
    if isinstance(entry.item, _System):
        return _System(content)
    return changed(entry.item, {"content": content, "role": _word(role) if role else None})


def _created(message: Message) -> Any:
    if message.role == "system":
        return _System(message.content)
    return {"role": _word(message.role), "content": message.content}


def _word(role: Role) -> str:
    return "assistant" if role == "model" else "user"


def _joined(systems: list[Any]) -> Any:
    """All that is system, in order: blocks if some of it is blocks, else one string; None if there is nothing."""
    if len(systems) < 2:
        return systems[0] if systems else None
    if all(isinstance(system, str) for system in systems):
        return "\n\n".join(system for system in systems if system)
    blocks: list[Any] = []
    for system in systems:
        blocks += [{"type": "text", "text": system}] if isinstance(system, str) else system
    return blocks


def _restricted(request: dict[str, Any], wanted: HookToolConfig) -> dict[str, Any]:
    names, tools = wanted.allowed_function_names, request.get("tools")
    before = request.get("tool_choice")
    kept = {name: given for name, given in (before or {}).items() if name not in ("type", "name")}
    if wanted.mode == "NONE":
        return {"tool_choice": {"type": "none"}}
    if wanted.mode == "ANY" and names is not None and len(names) == 1:
        return {"tool_choice": {"type": "tool", "name": names[0]} | kept}
    done: dict[str, Any] = {"tool_choice": {"type": CHOICES[wanted.mode]} | kept}
    if names is not None and tools is not None:
        done["tools"] = [tool for tool in tools if value(tool, "name") in names]
        if not done["tools"]:
            return {"tool_choice": {"type": "none"}}
    return done
