"""Google's `google-genai` SDK: the arguments of `generate_content`, and its response.

`contents` is taken in every shape the SDK takes: a string, a part, a Content, a dict, or a list of those. Loose strings
and parts that stand together are one message, as the SDK sends them. The rule for what a hook's answer changes is in
hookline.translating; this is special here:

* A text part marked as a thought is no text: hooks do not see it and cannot change it.
* A Content without a role is a user's, as it is for the API.
* The system instruction is not shown, and is kept. A system message that a hook adds is appended to it, because
  `contents` knows no such role.
* Nothing changed gives back the same objects; one string that was edited is still a string.
* A response made of a hook's answer has text parts only, and no `parsed`, citations or logprobs: they told of another
  text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from hookline import llm
from hookline.errors import UsageError
from hookline.llm import FinishReason, HookToolConfig, LLMRequest, LLMResponse, Message, Role
from hookline.translating import (
    Entry,
    changed,
    merged,
    restriction,
    rewritten,
    settings,
    shown_request,
    shown_response,
    value,
)

if TYPE_CHECKING:
    from google.genai import types as genai_types

NAME = "genai"

FINISHES: dict[str, FinishReason | None] = {
    "FINISH_REASON_UNSPECIFIED": None,
    "STOP": "STOP",
    "MAX_TOKENS": "MAX_TOKENS",
    **dict.fromkeys(("SAFETY", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR"), "SAFETY"),
    **dict.fromkeys(("IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT"), "SAFETY"),
    **dict.fromkeys(("RECITATION", "IMAGE_RECITATION"), "RECITATION"),
}
"""The reasons hooks know. All others are OTHER."""

MODES: dict[str, llm.Mode] = {"AUTO": "AUTO", "ANY": "ANY", "NONE": "NONE", "VALIDATED": "AUTO"}


class _Run(Struct, frozen=True):
    """Loose strings and parts of `contents` that stand together."""

    parts: list[Any]


def claims(thing: Any) -> bool:
    """A call with `contents`, or an object of the SDK."""
    return (isinstance(thing, dict) and "contents" in thing) or type(thing).__module__.startswith("google.genai")


def call_to_hook(call: dict[str, Any]) -> dict[str, Any]:
    """`request_to_hook` on keyword arguments."""
    return request_to_hook(call.get("model"), call.get("contents"), call.get("config"))


def call_from_hook(hook_request: dict[str, Any], call: dict[str, Any]) -> dict[str, Any]:
    """`request_from_hook` on keyword arguments; others than model, contents and config are kept."""
    names = ("model", "contents", "config")
    done = request_from_hook(hook_request, *(call.get(name) for name in names))
    return call | {name: item for name, item in zip(names, done, strict=True) if name in call or item is not None}


def request_to_hook(model: str | None, contents: Any, config: Any = None) -> dict[str, Any]:
    """The request as hooks see it: texts only, all of the config that hooks know, the tool config if there is one."""
    return _seen(model, _entries(contents), config).to_dict()


def request_from_hook(
    hook_request: dict[str, Any], model: str | None, contents: Any, config: Any = None
) -> tuple[Any, Any, Any]:
    """The (model, contents, config) to call with, after a hook answered."""
    types = _types()
    entries, answer = _entries(contents), llm.amendments(hook_request)
    seen = _seen(model, entries, config)
    changes = settings(answer, seen)
    items = merged(entries, answer.messages, _rewritten, _created)
    if items is not None:
        contents = _contents([item for item in items if not isinstance(item, Message)], contents)
        if added := [item.content for item in items if isinstance(item, Message)]:
            changes["system_instruction"] = _instructed(value(config, "system_instruction"), added)
    if wanted := restriction(answer, seen):
        changes["tool_config"] = _restricted(value(config, "tool_config"), wanted, seen.tool_config)
    if changes:
        config = changed(config, changes, types.GenerateContentConfig)
    return answer.model or model, contents, config


def response_to_hook(response: Any) -> dict[str, Any]:
    """The response as hooks see it: the text parts of every candidate."""
    return _seen_response(response).to_dict()


def response_from_hook(hook_response: dict[str, Any], base: Any = None) -> genai_types.GenerateContentResponse:
    """A response of text parts only. What the hook left out, and what is not text, comes from `base`."""
    types = _types()
    answer = llm.synthetic(hook_response)
    seen = _seen_response(base) if base is not None else LLMResponse(candidates=())
    old = (value(base, "candidates") if base is not None else None) or []
    candidates = []
    for number, candidate in enumerate(answer.candidates):
        known = number < len(old)
        before, shown = (old[number], seen.candidates[number]) if known else (None, None)
        reason: Any = candidate.finish_reason
        if shown and reason in (None, shown.finish_reason):
            reason = value(before, "finish_reason")
        ratings: Any = [{"category": r.category, "probability": r.probability} for r in candidate.safety_ratings or ()]
        if shown and candidate.safety_ratings in (None, shown.safety_ratings):
            ratings = value(before, "safety_ratings")
        candidates.append(
            types.Candidate(
                content=types.Content(role="model", parts=[types.Part(text=text) for text in candidate.content.parts]),
                finish_reason=reason,
                index=value(before, "index") if candidate.index is None else candidate.index,
                safety_ratings=ratings or None,
            )
        )
    changes: dict[str, Any] = {"candidates": candidates}
    if answer.usage_metadata is not None:
        counts = {name: getattr(answer.usage_metadata, name) for name in llm.Usage.__struct_fields__}
        empty = types.GenerateContentResponseUsageMetadata
        changes["usage_metadata"] = changed(value(base, "usage_metadata"), counts, empty)
    done: genai_types.GenerateContentResponse = (
        types.GenerateContentResponse(**changes) if base is None else base.model_copy(update=changes | {"parsed": None})
    )
    return done


# -- toward the hook


def _seen(model: str | None, entries: Sequence[Entry], config: Any) -> LLMRequest:
    return shown_request(
        model or "", entries, {name: value(config, name) for name in llm.Config.__struct_fields__}, _tools(config)
    )


def _tools(config: Any) -> HookToolConfig | None:
    calling = value(value(config, "tool_config"), "function_calling_config")
    names = value(calling, "allowed_function_names")
    found = HookToolConfig(MODES.get(_word(value(calling, "mode"))), None if names is None else tuple(names))
    return None if found == HookToolConfig() else found


def _entries(contents: Any) -> list[Entry]:
    listed = contents if isinstance(contents, list | tuple) else [] if contents is None else [contents]
    found: list[Entry] = []
    run: list[Any] = []
    for item in [*listed, None]:
        if run and (not _is_part(item) or _calls(item) != _calls(run[0])):
            found.append(_entry(_Run(run), "model" if _calls(run[0]) else "user"))
            run = []
        if _is_part(item):
            run.append(item)
        elif item is not None:
            role = value(item, "role")
            found.append(_entry(item, role if role in ("model", "system") else "user"))
    return found


def _entry(item: Any, role: Role) -> Entry:
    texts = (_text(part) for part in _parts(item))
    bound = any(value(part, "function_response") is not None for part in _parts(item))
    return Entry(item, role, tuple(text for text in texts if text is not None), bound)


def _is_part(item: Any) -> bool:
    """Whether an item of `contents` is a part and no Content; a list of parts is a Content."""
    if isinstance(item, dict):
        return bool(item.keys() - {"role", "parts"})
    return item is not None and not isinstance(item, list) and not hasattr(item, "parts")


def _calls(part: Any) -> bool:
    return value(part, "function_call") is not None


def _parts(item: Any) -> list[Any]:
    parts = item if isinstance(item, list) else value(item, "parts")
    return parts if isinstance(parts, list) else []


def _text(part: Any) -> str | None:
    if isinstance(part, str):
        return part
    text = None if value(part, "thought") else value(part, "text")
    return text if isinstance(text, str) else None


def _word(choice: Any) -> str:
    """An enum of the SDK, or the string for it."""
    return str(getattr(choice, "value", choice))


def _seen_response(response: Any) -> LLMResponse:
    usage = value(response, "usage_metadata")
    candidates = [_candidate(candidate) for candidate in value(response, "candidates") or ()]
    return shown_response(candidates, [value(usage, name) for name in llm.Usage.__struct_fields__])


def _candidate(candidate: Any) -> llm.Candidate:
    texts = (_text(part) for part in _parts(value(candidate, "content")))
    reason, ratings = value(candidate, "finish_reason"), value(candidate, "safety_ratings")
    return llm.Candidate(
        llm.Content(parts=tuple(text for text in texts if text is not None)),
        None if reason is None else FINISHES.get(_word(reason), "OTHER"),
        value(candidate, "index"),
        None if ratings is None else tuple(_rating(rating) for rating in ratings),
    )


def _rating(rating: Any) -> llm.SafetyRating:
    return llm.SafetyRating(_word(value(rating, "category")), _word(value(rating, "probability")))


# -- and back


def _rewritten(entry: Entry, role: Role | None, texts: Sequence[str | None]) -> Any:
    parts = rewritten(_parts(entry.item), texts, _text)
    if not parts:
        return None
    if isinstance(entry.item, dict):
        return changed(entry.item, {"parts": parts} | ({"role": role} if role else {}))
    if role is not None:
        return _types().Content(role=role, parts=[_whole(part) for part in parts])
    if isinstance(entry.item, list):
        return parts
    return _Run(parts) if isinstance(entry.item, _Run) else changed(entry.item, {"parts": parts})


def _whole(part: Any) -> Any:
    """A part as a Content takes it: loose ones may be strings, dicts and uploaded files."""
    types = _types()
    if isinstance(part, str):
        return types.Part(text=part)
    if isinstance(part, dict):
        return types.Part(file_data=part) if value(part, "file_uri") else types.Part.model_validate(part)
    if isinstance(part, types.File):
        return types.Part.from_uri(file_uri=part.uri, mime_type=part.mime_type)
    return part


def _created(message: Message) -> Any:
    if message.role == "system":
        return message
    types = _types()
    return types.Content(role=message.role, parts=[types.Part(text=message.content)])


def _contents(items: Sequence[Any], contents: Any) -> Any:
    flat = [part for item in items for part in (item.parts if isinstance(item, _Run) else [item])]
    return flat[0] if len(flat) == 1 and not isinstance(contents, list | tuple) else flat


def _instructed(instruction: Any, added: list[str]) -> Any:
    """A system instruction, in any shape the SDK takes, with texts behind it."""
    if instruction is None or isinstance(instruction, str):
        return "\n\n".join([instruction, *added] if instruction else added)
    if isinstance(instruction, list):
        return [*instruction, *added]
    if _is_part(instruction):
        return [instruction, *added]
    part = dict if isinstance(instruction, dict) else _types().Part
    return changed(instruction, {"parts": [*_parts(instruction), *(part(text=text) for text in added)]})


def _restricted(tools: Any, wanted: HookToolConfig, seen: HookToolConfig | None) -> Any:
    types = _types()
    before, changes = seen or HookToolConfig(), {}
    if wanted.mode != before.mode:
        changes["mode"] = types.FunctionCallingConfigMode(wanted.mode)
    if wanted.allowed_function_names not in (None, before.allowed_function_names):
        changes["allowed_function_names"] = list(wanted.allowed_function_names or ())
    calling = changed(value(tools, "function_calling_config"), changes, types.FunctionCallingConfig)
    return changed(tools, {"function_calling_config": calling}, types.ToolConfig)


def _types() -> Any:
    """The SDK, imported when it is first needed."""
    try:
        from google.genai import types
    except ImportError as error:
        raise UsageError(
            f"the genai translator needs google-genai: pip install 'hookline[genai]', from a clone '.[genai]' ({error})"
        ) from error
    return types
