"""What a secret looks like, by the name it goes by and by its shape, and how it is kept out of a tape. Pure.

Masking changes what is stored, never what hooks get. What is masked already stays as it is and counts as masked,
so that masking twice changes nothing. A text that is JSON stays JSON.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

import msgspec

from hookline.errors import UsageError
from hookline.holding import held
from hookline.spelling import Known
from hookline.spotting import MASK, addressed, hinted, hints, shaped, spots
from hookline.telling import TEXTS, counts, tells

__all__ = ["MASK", "Masking", "filled", "masking", "shaped", "tells", "told"]

SHORTEST = 8
"""The value of an environment variable that is shorter is looked for nowhere else: it would be found in any text."""

SHORT = 1000
"""Below this length of a line, looking for all hints at once is quicker than looking for each; then it is slower."""

OURS = frozenset(
    {
        *("event", "decision", "literal", "kind", "handler", "hook", "dialect", "surface", "status", "source"),
        *("result", "role", "role_hint", "propagate", "skipped", "reason", "error", "exit_code", "signal", "stdout"),
        *("stderr", "duration_ms", "body", "tags"),
    }
)
"""Keys that hold records and answers together: no pattern of a caller's changes them."""


@cache
def _hinted_line() -> Callable[[bytes], object]:
    """What looks for a hint in a line; with RE2, which is quicker, if somebody has paid for its import already."""
    wanted = [hint.encode() for hint in hints()]
    found: Callable[[bytes], object] = sys.modules.get("re2", re).compile(b"|".join(map(re.escape, wanted))).search
    if "re2" in sys.modules:
        return found
    return lambda line: found(line) if len(line) < SHORT else any(hint in line for hint in wanted)


class Masking:
    """Masks secrets in JSON values: all text below a telling key, and the telling part of any other text.

    `patterns` are regular expressions for more of them; of one with a group `secret` only that part is masked.
    `values` are secrets that are known, wherever they turn up.
    """

    def __init__(self, patterns: Iterable[str] = (), *, values: Iterable[str] = ()) -> None:
        if isinstance(patterns, str):
            raise UsageError("mask takes a list of patterns, such as [r'internal-\\d+'], not one text")
        self._added = [_compiled(pattern) for pattern in patterns]
        self._known = Known(values)

    def suspects(self, line: bytes) -> bool:
        """Whether this JSON may hold a secret: it is worth a closer look."""
        if self._added or self._known.suspected(line):
            return True
        return bool(_hinted_line()(line.lower()))

    def masked(self, value: Any) -> tuple[Any, list[str]]:
        """The value without its secrets, and where they were, as JSON pointers."""
        places: list[str] = []
        return self._value(value, "", 0, places), places

    def record(self, kind: str, data: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
        """The data of a record without its secrets; what holds the record together stays, whatever it looks like."""
        places: list[str] = []
        kept = {key: self._value(value, f"/{key}", _telling(key, value, 0), places) for key, value in data.items()}
        for *way, last in held(kind, data):
            new: Any = kept
            old: Any = data
            for step in way:
                new, old = new[step], old[step]
            if new[last] != old[last]:
                new[last] = old[last]
                places.remove("".join(f"/{step}" for step in (*way, last)))
        return kept, places

    def _value(self, value: Any, pointer: str, telling: int, places: list[str]) -> Any:
        """One frame for each level: what could be written as JSON can be masked, too."""
        if isinstance(value, str):
            done = MASK if telling and value else self.text(value)
            if done != value or MASK in value:
                places.append(pointer)
            return done
        if isinstance(value, dict):
            kept: dict[str, Any] = {}
            numbers: dict[str, int] = {}
            for key, item in value.items():
                name = self._key(str(key), kept, numbers)
                place = f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}"
                if MASK in name:
                    places.append(place)
                kept[name] = self._value(item, place, _telling(key, item, telling), places)
            return kept
        if isinstance(value, list | tuple):
            items = []
            for index, item in enumerate(value):
                items.append(self._value(item, f"{pointer}/{index}", telling, places))
            return items
        if isinstance(value, int | float) and not isinstance(value, bool) and counts(telling, value):
            places.append(pointer)
            return MASK
        return value

    def _key(self, key: str, taken: dict[str, Any], numbers: dict[str, int]) -> str:
        """The key without secrets. Of keys that become the same each further one gets a number: no field may go."""
        if key in OURS:
            return key
        whole, number = _unnumbered(key)
        name = masked = self.text(whole) + number
        while name in taken:
            numbers[masked] = numbers.get(masked, 1) + 1
            name = f"{masked} {numbers[masked]}"
        return name

    def text(self, text: str) -> str:
        """The text without its secrets."""
        if not self._added and not hinted(text) and not self._known.suspected(text.encode("utf-8", "replace")):
            return text
        if (whole := self._json(text)) is not None:
            return whole
        if "\n{" not in text and "\n[" not in text:
            return self._plain(text)
        done: list[str] = []
        plain: list[str] = []
        for line in text.splitlines(keepends=True):  # JSON may stand in lines of its own
            if (json := self._json(line)) is None:
                plain.append(line)
            else:
                done += (self._plain("".join(plain)), json)
                plain.clear()
        return "".join((*done, self._plain("".join(plain))))

    def _json(self, text: str) -> str | None:
        """JSON stays JSON: its values are masked, and it is written anew only if there was something to mask.

        What somebody has added after it changes nothing of that.
        """
        if text.lstrip()[:1] not in ("{", "["):
            return None
        try:
            value = msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            begin, rest = _begin(text)
            first = self._json(begin) if begin else None
            return None if first is None else first + self._plain(rest)
        kept, _ = self.masked(value)
        if kept == value and not _repeats(text):
            return text
        return msgspec.json.encode(kept).decode() + text[len(text.rstrip()) :]

    def _plain(self, text: str) -> str:
        for _ in range(4):  # what was masked may bring to light what stands beside it
            before = text
            for mask in (self._without_known, *(self._without_added(pattern) for pattern in self._added)):
                text = MASK.join(map(mask, text.split(MASK)))
            text = _without_spans(text, spots(text))
            if text == before:
                break
        return text

    def _without_known(self, text: str) -> str:
        return _without_spans(text, self._known.spans(text)) if self._known else text

    def _without_added(self, pattern: re.Pattern[str]) -> Callable[[str], str]:
        return lambda text: pattern.sub(_without, text)


def _without_spans(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """A text with a mask in the place of each span; where they overlap, in the place of all of them."""
    pieces: list[str] = []
    at = covered = 0
    for start, end in sorted(spans):
        if start >= covered:
            pieces += (text[at:start], MASK)
        at = covered = max(end, covered)
    return "".join((*pieces, text[at:]))


def _begin(text: str) -> tuple[str, str]:
    """The JSON that a text begins with, and what comes after it."""
    import json

    start = len(text) - len(text.lstrip())
    try:
        _, end = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return "", text
    return text[:end], text[end:]


def _repeats(text: str) -> bool:
    """Whether an object in this JSON has a key twice: what stood below the first of them is in no value."""
    import json

    def pairs(found: list[tuple[str, Any]]) -> None:
        if len({key for key, _ in found}) < len(found):
            raise KeyError

    try:
        json.loads(text, object_pairs_hook=pairs)
    except KeyError:
        return True
    except (ValueError, RecursionError):
        return True  # what only one of two parsers can read is written anew
    return False


def _unnumbered(key: str) -> tuple[str, str]:
    """A key that was masked without the number it got, and that number."""
    whole, space, number = key.rpartition(" ")
    return (whole, space + number) if MASK in whole and number.isdecimal() else (key, "")


def _without(found: re.Match[str]) -> str:
    """A match with its secret masked: the named part that took part in it, or all of it."""
    names = [name for name, part in found.groupdict().items() if part is not None]
    start, end = found.span(names[0]) if names else found.span()
    if start == end:
        return found[0]
    whole, begin = found[0], found.start()
    return whole[: start - begin] + MASK + whole[end - begin :]


def _telling(key: object, value: Any, above: int) -> int:
    """What a key says of the value below it."""
    name = str(key)
    return max(above, tells(name), TEXTS if isinstance(value, str) and _leads(name, value) else 0)


def _leads(name: str, value: str) -> bool:
    """Whether an address of this name holds who may use it: DATABASE_URL, say."""
    if "://" not in value or not name.lower().endswith(("url", "uri", "dsn")):
        return False
    return addressed(value) or (re.search(r"://[^\s/?#]*@", value) is not None and any(True for _ in spots(value)))


def told(environ: Mapping[str, str]) -> list[str]:
    """The values of an environment that are secrets by the names of their variables; paths are none."""
    return [
        value
        for name, value in environ.items()
        if len(value) >= SHORTEST
        and name != "PWD"
        and not value.startswith(("/", "~", "."))
        and (tells(name) or _leads(name, value))
    ]


def masking(mask: bool | Iterable[str], environ: Mapping[str, str]) -> Masking | None:
    """What a caller chose: True, the patterns to add, or False for no masking at all."""
    if mask is False:
        return None
    return Masking(() if mask is True else mask, values=told(environ))


def filled(now: Any, recorded: Any, telling: int = 0) -> Any:
    """A value made again, with what the recording masked taken from there, wherever the rest is the same."""
    if isinstance(recorded, str):
        if recorded == MASK and isinstance(now, int | float) and not isinstance(now, bool) and counts(telling, now):
            return recorded
        return recorded if isinstance(now, str) and MASK in recorded and _fits(now, recorded) else now
    if isinstance(recorded, dict) and isinstance(now, dict) and len(recorded) == len(now):
        pairs = zip(now.items(), recorded.items(), strict=True)
        return {_filled_key(key, old): filled(item, was, max(telling, tells(key))) for (key, item), (old, was) in pairs}
    if isinstance(recorded, list) and isinstance(now, list) and len(recorded) == len(now):
        return [filled(item, was, telling) for item, was in zip(now, recorded, strict=True)]
    return now


def _filled_key(now: str, recorded: str) -> str:
    whole, _ = _unnumbered(recorded)
    return recorded if MASK in whole and _fits(now, whole) else str(filled(now, recorded))


def _fits(now: str, recorded: str) -> bool:
    """Whether a text can be what was masked: the same around the masks, or the same JSON, in every line."""
    if MASK not in recorded:
        return now == recorded
    if _around(now, recorded.split(MASK)):
        return True
    try:
        was = msgspec.json.decode(recorded)
        return bool(filled(msgspec.json.decode(now), was) == was)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        pass
    lines, masked = now.splitlines(keepends=True), recorded.splitlines(keepends=True)
    return len(lines) == len(masked) > 1 and all(map(_fits, lines, masked))


def _around(now: str, pieces: list[str]) -> bool:
    """Whether a text has these pieces in their order, the first at its begin, the last at its end."""
    first, *middle, last = pieces
    at, end = len(first), len(now) - len(last)
    if not now.startswith(first) or not now.endswith(last) or end < at:
        return False
    for piece in middle:
        found = now.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except (re.error, TypeError) as error:
        raise UsageError(f"mask: {pattern!r} is no regular expression: {error}") from None
