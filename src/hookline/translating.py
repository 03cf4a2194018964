"""What every translator does the same way: a conversation as hooks see it, and their answer laid over the original.

One rule decides everything: **a hook changes only what it saw.** It saw the texts, so:

* What comes back as it was shown leaves the original alone, down to the same objects.
* An edited message changes the text of its entry. Where the text was spread over several parts, the parts before and
  after the edited stretch stay as they are, and so does everything between them that is no text.
* A message that is gone, or whose content is now empty, takes its text away. An entry that holds nothing else goes
  with it; one that also holds an image or a tool call stays, with those.
* A new message stands where the hook put it among those it saw: directly before the next of them, otherwise at the
  end. It never comes between a tool call and its result.
* An entry without text was never shown, and is never touched.
* `messages` left out, or empty, changes nothing: no model can be asked nothing.

Which message of the answer is which of the original: equal ones are matched first, in order, so deleting one does not
shift the others. What lies between is matched by position, or by role from its end where something came or went. A
message never becomes a system message or stops being one: it is removed there and added here.

The same rule for the rest of a request: the model, each field of the config, the tool config: left out, null, or as
shown, it keeps its value.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from msgspec import Struct

from hookline.llm import Amendments, Candidate, Config, HookToolConfig, LLMRequest, LLMResponse, Message, Role, Usage


class Entry(Struct, frozen=True):
    """One entry of an SDK's conversation, and what a hook sees of it.

    `texts` are its text parts in order. A `bound` entry answers the one before it, a tool call: nothing comes between.
    """

    item: Any
    role: Role
    texts: tuple[str, ...]
    bound: bool = False

    @property
    def text(self) -> str:
        return "".join(self.texts)


Pair = tuple[Entry | None, Message | None]
Key = tuple[str, str]


Rewrite = Callable[[Entry, Role | None, Sequence[str | None]], Any]
"""The entry's item with each text replaced, or dropped where it is None, and its role where that is given.

None if nothing is left of it."""

Create = Callable[[Message], Any]
"""An item for a message that a hook added."""


def messages(entries: Sequence[Entry]) -> tuple[Message, ...]:
    """What a hook sees: every entry that has a text."""
    return tuple(Message(entry.role, entry.text) for entry in entries if entry.text)


def merged(
    entries: Sequence[Entry], answer: Sequence[Message] | None, rewrite: Rewrite, create: Create
) -> list[Any] | None:
    """The items of the conversation as the hook wants it; None where it wants no change."""
    if not answer or tuple(answer) == messages(entries):
        return None
    places = [place for place, entry in enumerate(entries) if entry.text]
    added: dict[int, list[Message]] = {}
    kept: dict[int, Message | None] = {}
    ahead = iter(places)
    place = next(ahead, len(entries))
    for entry, message in _split(_paired([entries[p] for p in places], answer)):
        if entry is not None:
            kept[place] = message
            place = next(ahead, len(entries))
        elif message is not None and message.content:
            added.setdefault(_free(entries, place), []).append(message)
    items: list[Any] = []
    for place, entry in enumerate(entries):
        items += [create(message) for message in added.get(place, ())]
        item = _rewritten(entry, kept[place], rewrite) if place in kept else entry.item
        items += [] if item is None else [item]
    return items + [create(message) for message in added.get(len(entries), ())]


def _rewritten(entry: Entry, message: Message | None, rewrite: Rewrite) -> Any:
    if message is None or not message.content:
        return rewrite(entry, None, [None] * len(entry.texts))
    role = None if message.role == entry.role else message.role
    if message.content == entry.text:
        return entry.item if role is None else rewrite(entry, role, entry.texts)
    return rewrite(entry, role, spread(entry.texts, message.content))


def _free(entries: Sequence[Entry], place: int) -> int:
    """The nearest place, at or before this one, where a new entry parts no tool call from its result."""
    while 0 < place < len(entries) and entries[place].bound and entries[place - 1].role != "system":
        place -= 1
    return place


def _paired(old: Sequence[Entry], new: Sequence[Message]) -> Iterator[Pair]:
    """Each message with the entry it came from. Never more than n log n steps: the answer is a stranger's."""
    before = [(entry.role, entry.text) for entry in old]
    after = [(message.role, message.content) for message in new]
    i, k = 0, 0
    for j, m in _anchors(before, after):
        yield from _paired_between(old[i:j], new[k:m], before[i:j], after[k:m])
        yield old[j], new[m]
        i, k = j + 1, m + 1
    yield from _paired_between(old[i:], new[k:], before[i:], after[k:])


def _anchors(before: Sequence[Key], after: Sequence[Key]) -> list[tuple[int, int]]:
    """Where messages stand that were said once, and still are: as many as kept their order."""
    once = [Counter(before), Counter(after)]
    there = {key: place for place, key in enumerate(after)}
    pairs = [(i, there[key]) for i, key in enumerate(before) if once[0][key] == once[1][key] == 1]
    # The longest increasing run of their new places: `ends[n]` is the smallest place a run of n + 1 can end at.
    ends: list[int] = []
    lengths = []
    for _, place in pairs:
        length = bisect_left(ends, place)
        ends[length : length + 1] = [place]
        lengths.append(length)
    chosen: list[tuple[int, int]] = []
    wanted = len(ends) - 1
    for pair, length in zip(reversed(pairs), reversed(lengths), strict=True):
        if length == wanted and (not chosen or pair[1] < chosen[-1][1]):
            chosen.append(pair)
            wanted -= 1
    return chosen[::-1]


def _paired_between(
    old: Sequence[Entry], new: Sequence[Message], before: Sequence[Key], after: Sequence[Key]
) -> Iterator[Pair]:
    """The ends that are equal; between them what has the same position, if as many are left, else the same role."""
    head = _common(before, after)
    tail = _common(before[head:][::-1], after[head:][::-1])
    some_old, some_new = old[head : len(old) - tail], new[head : len(new) - tail]
    yield from zip(old[:head], new[:head], strict=True)
    if len(some_old) == len(some_new):
        yield from zip(some_old, some_new, strict=True)
    else:
        yield from _paired_by_role(some_old, some_new)
    yield from zip(old[len(old) - tail :], new[len(new) - tail :], strict=True)


def _paired_by_role(old: Sequence[Entry], new: Sequence[Message]) -> Iterator[Pair]:
    """Something came or went here: the ends whose roles agree are taken for edited.

    The end first, because hooks put what they add in front of a conversation, and take away what is oldest.
    """
    before, after = [entry.role for entry in old], [message.role for message in new]
    tail = _common(before[::-1], after[::-1])
    yield from zip_longest(old[: len(old) - tail], new[: len(new) - tail])
    yield from zip(old[len(old) - tail :], new[len(new) - tail :], strict=True)


def _split(pairs: Iterator[Pair]) -> Iterator[Pair]:
    """System messages and the conversation do not turn into each other; what is added comes before what goes."""
    for entry, message in pairs:
        if entry is not None and message is not None and (entry.role == "system") != (message.role == "system"):
            yield None, message
            yield entry, None
        else:
            yield entry, message


def _common(one: Sequence[object], other: Sequence[object]) -> int:
    """How many items both begin with."""
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def spread(texts: Sequence[str], new: str) -> list[str | None]:
    """A new text in the parts of the old one: what is equal before and after the edit stays in its part.

    The edit itself goes to the first part it touches. A part that it leaves empty is None.
    """
    old = "".join(texts)
    begin = _common(old, new)
    tail = _common(old[begin:][::-1], new[begin:][::-1])
    end, put = len(old) - tail, new[begin : len(new) - tail]
    pieces: list[str | None] = []
    pending, start = True, 0
    for text in texts:
        stop = start + len(text)
        piece = text[: max(begin - start, 0)]
        touched = start < end and stop > begin if end > begin else stop >= begin
        if pending and touched:
            piece, pending = piece + put, False
        piece += text[max(end - start, 0) :] if end > start else text
        pieces.append(piece if piece or not text else None)
        start = stop
    return pieces


def shown_request(
    model: str, entries: Sequence[Entry], config: dict[str, Any], tools: HookToolConfig | None
) -> LLMRequest:
    """A request as hooks see it. `config` has its values by the names of Config; None is no value."""
    given: dict[str, Any] = {name: value for name, value in config.items() if value is not None}
    if "stop_sequences" in given:
        given["stop_sequences"] = tuple(given["stop_sequences"])
    return LLMRequest(model, messages(entries), Config(**given) if given else None, tools)


def shown_response(candidates: Sequence[Candidate], counts: Sequence[int | None]) -> LLMResponse:
    """A response as hooks see it. `counts` are those of Usage, in its order; None is no count."""
    parts = candidates[0].content.parts if candidates else ()
    return LLMResponse(
        text="".join(parts) if parts else None,
        candidates=tuple(candidates),
        usage_metadata=None if all(count is None for count in counts) else Usage(*counts),
    )


def settings(answer: Amendments, seen: LLMRequest) -> dict[str, Any]:
    """The fields of the config that the hook changed, by the names of Config."""
    before, after = seen.config or Config(), answer.config or Config()
    wanted: dict[str, Any] = {}
    for name in Config.__struct_fields__:
        wish = getattr(after, name)
        if wish is not None and wish != getattr(before, name):
            wanted[name] = list(wish) if isinstance(wish, tuple) else wish
    if "top_k" in wanted and wanted["top_k"].is_integer():  # a float in one SDK, a whole number in the others
        wanted["top_k"] = int(wanted["top_k"])
    return wanted


def restriction(answer: Amendments, seen: LLMRequest) -> HookToolConfig | None:
    """The tool config the hook wants; None where it wants no change.

    An explicit empty list allows no tool, which most APIs would take for no limit at all: it becomes the mode NONE.
    """
    before, after = seen.tool_config or HookToolConfig(), answer.tool_config or HookToolConfig()
    mode = before.mode if after.mode is None else after.mode
    names = before.allowed_function_names if after.allowed_function_names is None else after.allowed_function_names
    if HookToolConfig(mode, names) == before:
        return None
    return HookToolConfig("NONE", ()) if mode == "NONE" or names == () else HookToolConfig(mode, names)


# -- SDKs take plain dicts and objects of their own alike, often mixed in one request


def value(thing: Any, name: str) -> Any:
    """A field of a dict (in snake_case or camelCase) or of an SDK's object; None where there is none."""
    if isinstance(thing, dict):
        return thing[name] if name in thing else thing.get(camel(name))
    return getattr(thing, name, None)


def changed(thing: Any, changes: Mapping[str, Any], empty: Callable[[], Any] = dict) -> Any:
    """A copy of a dict or an SDK's object with some fields replaced, in the spelling it has them in.

    Fields that become None are not replaced: that is how a hook leaves them out.
    """
    changes = {name: wish for name, wish in changes.items() if wish is not None}
    thing = empty() if thing is None else thing
    if not changes:
        return thing
    if isinstance(thing, dict):
        return thing | {camel(n) if camel(n) in thing and n not in thing else n: v for n, v in changes.items()}
    return thing.model_copy(update=changes)


def rewritten(parts: Iterable[Any], texts: Sequence[str | None], text_of: Callable[[Any], str | None]) -> list[Any]:
    """Parts in their order, each of those that have a text with its new one, or without its part where that is None."""
    left = iter(texts)
    done: list[Any] = []
    for part in parts:
        before = text_of(part)
        after = next(left) if before is not None else None
        if before is None or before == after:
            done.append(part)
        elif after is not None:
            done.append(after if isinstance(part, str) else changed(part, {"text": after}))
    return done


def texts_of(content: Any) -> tuple[str, ...]:
    """The texts of a content that is a string, or a list of typed blocks."""
    if isinstance(content, str):
        return (content,)
    texts = map(text_of_block, content if isinstance(content, list) else ())
    return tuple(text for text in texts if text is not None)


def text_of_block(block: Any) -> str | None:
    text = value(block, "text") if value(block, "type") == "text" else None
    return text if isinstance(text, str) else None


def content_with(content: Any, texts: Sequence[str | None]) -> Any:
    """A content that is a string, or a list of typed blocks, with new texts; empty where nothing is left."""
    return texts[0] if isinstance(content, str) else rewritten(content, texts, text_of_block)


def plain(response: Any) -> dict[str, Any]:
    """A response as a dict: many SDKs give an object that can be made one."""
    done: dict[str, Any] = response.model_dump() if hasattr(response, "model_dump") else response or {}
    return done


def camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)
