"""Reading what people and hooks wrote: the entries of a configuration, what a process printed.

Whatever is wrong with one entry is a notice, and the other entries stay.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from hookline.compacting import compact
from hookline.errors import ConfigError, UsageError
from hookline.model import Notice, OnFailure, Outcome, Source, Verdict
from hookline.parsing import NoConstant, no_constant
from hookline.wording import kind_of, nearest, seconds, shown

LARGEST_TEXT = 32 * 1024
LONGEST_TIMEOUT = 24 * 3600.0
MOST_NOTICES = 200
"""Of one file: a person stops reading long before that."""

BOM = "\N{ZERO WIDTH NO-BREAK SPACE}"
CUT = "[hookline: "
"""How the mark of a cut begins; in front it says that only blanks were kept of an answer."""


class Entries:
    """Walks a parsed configuration and keeps what was wrong with it, each with file and pointer."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.notices: list[Notice] = []

    def note(self, pointer: str, text: str) -> None:
        if len(self.notices) < MOST_NOTICES:
            self.notices.append(Notice(text, Source(self.file, pointer)))
        elif len(self.notices) == MOST_NOTICES:
            self.notices.append(Notice("has more that is wrong with it than is told here", Source(self.file)))

    def lists(
        self, document: Any, events: Mapping[str, str], *, besides: tuple[str, ...] = ()
    ) -> Iterator[tuple[str, str, list[Any]]]:
        """The (event, pointer, list) of a file that maps events to lists. The keys `besides` are no events."""
        if not isinstance(document, dict):
            raise ConfigError(f"must hold an object with the key 'hooks', not {kind_of(document)}", file=self.file)
        table = document.get("hooks")
        if table is None:
            self.note("", "has no key 'hooks', so it configures nothing")
            return
        if not isinstance(table, dict):
            raise ConfigError(
                f"must map events to lists of hooks, not be {kind_of(table)}: {shown(table)}",
                file=self.file,
                pointer="/hooks",
            )
        for spelling, listed in table.items():
            pointer = f"/hooks/{_escaped(spelling)}"
            if spelling in besides or (spelling in events and listed is None):
                continue
            if spelling not in events:
                hint = nearest(spelling, events) if isinstance(spelling, str) else ""
                self.note(pointer, f"no event is called {shown(spelling)}{hint or '; it knows ' + ', '.join(events)}")
            elif not isinstance(listed, list):
                self.note(pointer, f"must be a list of hooks, not {kind_of(listed)}; skipped: {shown(listed)}")
            else:
                yield events[spelling], pointer, listed

    def objects(self, pointer: str, listed: list[Any], what: str = "a hook") -> Iterator[tuple[str, dict[str, Any]]]:
        """The (pointer, object) of a list of objects."""
        for index, entry in enumerate(listed):
            if isinstance(entry, dict):
                yield f"{pointer}/{index}", entry
            else:
                self.note(f"{pointer}/{index}", f"{what} is an object, not {kind_of(entry)}; skipped: {shown(entry)}")

    def flat(self, document: Any, events: Mapping[str, str]) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """The (event, pointer, entry) of a file that maps each event to a list of entries."""
        for event, place, listed in self.lists(document, events):
            for pointer, entry in self.objects(place, listed):
                yield event, pointer, entry

    def unknown(self, entry: dict[str, Any], pointer: str, known: tuple[str, ...]) -> None:
        """Note every key the dialect does not know."""
        for key in entry:
            if key not in known:
                hint = nearest(key, known) if isinstance(key, str) else ""
                self.note(f"{pointer}/{_escaped(key)}", f"unknown key {shown(key)}, ignored{hint}")

    def text(self, entry: dict[str, Any], pointer: str, key: str) -> str | None:
        """A required string; where it is not one, a notice and None."""
        value = entry.get(key)
        if isinstance(value, str) and value.strip():
            return value
        what = "is missing" if key not in entry else f"must be a non-empty string, not {kind_of(value)} {shown(value)}"
        self.note(pointer if key not in entry else f"{pointer}/{key}", f"{key} {what}; this hook is skipped")
        return None

    def timeout(
        self, entry: dict[str, Any], pointer: str, *, unit: float, default: float, doubtful: tuple[float, float]
    ) -> float:
        """The timeout in seconds. Outside the `doubtful` range, in the file's own unit, the unit is in doubt."""
        value = entry.get("timeout")
        if value is None:
            return default
        where = f"{pointer}/timeout"
        usable = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf
        if not usable:
            self.note(where, f"timeout must be a positive number, not {shown(value)}; {seconds(default)} is used")
            return default
        time = float(min(value, LONGEST_TIMEOUT / unit)) * unit
        low, high = doubtful
        if not low <= value <= high:
            here, other = ("milliseconds", "seconds") if unit < 1 else ("seconds", "milliseconds")
            mixed_up = value < low if unit < 1 else value > high
            question = f"was it meant in {other}?" if mixed_up else "is it meant?"
            self.note(where, f"timeout is in {here} here: {shown(value)} is {seconds(time)}; {question}")
        return time

    def on_failure(self, entry: dict[str, Any], pointer: str) -> OnFailure | None:
        """hookline's own key: what a failure of this hook comes to."""
        value = entry.get("on_failure")
        if value in ("ask", "deny"):
            return "ask" if value == "ask" else "deny"
        if value is not None:
            self.note(f"{pointer}/on_failure", f"on_failure must be 'ask' or 'deny', not {shown(value)}; ignored")
        return None


def _escaped(key: object) -> str:
    return str(key).replace("~", "~0").replace("/", "~1")


def printed(text: str) -> str:
    """What a process printed, without byte order marks and the blanks around it, in whatever order they come."""
    bare = text.strip().strip(BOM)
    while bare != text:
        text, bare = bare, bare.strip().strip(BOM)
    return bare


def json_value(text: str) -> Any:
    """The JSON value a text holds; `NOT_JSON` where it holds none."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return _patiently(text) if text[:1] in ("{", '"') else NOT_JSON


def _patiently(text: str) -> Any:
    """JSON that others read and msgspec refuses: half a surrogate pair, a number too large for a double."""
    import json

    try:
        return msgspec.json.decode(compact(json.loads(text, parse_constant=no_constant)))
    except (json.JSONDecodeError, NoConstant):
        return NOT_JSON
    except (ValueError, RecursionError, UsageError):  # nested too deep, too many digits
        return BEYOND


class _No:
    pass


NOT_JSON = _No()
BEYOND = _No()
"""What a text holds that may well be JSON, but not for us: it has no meaning, so it is never taken for text."""


def unreadable(outcome: Outcome, text: str) -> str:
    """Why an answer that may hold a decision cannot be read; nothing if it can, or if it is plainly a text."""
    if outcome.stdout_cut and text.startswith(("{", '"', CUT)):
        return f"printed {outcome.stdout_cut} bytes too many, so its answer cannot be read"
    if text.startswith("{") and json_value(text) is BEYOND:
        return "printed JSON that is nested too deep, or has too long a number, to be read"
    return ""


LONGEST_WORD = 400


def _whole_words(text: str) -> str:
    """A text that was cut, without the word the cut went through: half a secret fits nobody's pattern."""
    words = text[-LONGEST_WORD:].rsplit(maxsplit=1)
    cut = words[-1] if len(words) == 2 or len(text) <= LONGEST_WORD else ""
    return text.removesuffix(cut)


LONGEST_COMPLAINT = 300
"""What a failure says of what its process complained about, last, on stderr."""


def bearable(verdict: Verdict) -> Verdict:
    """The verdict with every text that the model gets to read cut to a bearable size, and a notice of each cut."""
    texts = (*verdict.context, *verdict.messages, verdict.reason, verdict.halt or "")
    if not any(len(text) > LARGEST_TEXT // 4 for text in texts):  # a character has four bytes at most
        return verdict
    notices: list[str] = []

    def cut(text: str) -> str:
        data = text.encode("utf-8", "replace")
        if len(data) <= LARGEST_TEXT:
            return text
        notices.append(f"its text of {len(data)} bytes was cut to {LARGEST_TEXT}")
        kept = _whole_words(data[:LARGEST_TEXT].decode("utf-8", "ignore"))
        return f"{kept}\n[hookline: cut after {LARGEST_TEXT} of {len(data)} bytes]"

    return replace(
        verdict,
        context=tuple(map(cut, verdict.context)),
        messages=tuple(map(cut, verdict.messages)),
        reason=cut(verdict.reason),
        halt=None if verdict.halt is None else cut(verdict.halt),
        notices=(*verdict.notices, *dict.fromkeys(notices)),
    )


def no_answer(outcome: Outcome, timeout: float) -> str:
    """Why a process cannot have answered at all; nothing if it ended by itself with an exit code."""
    if outcome.status == "timeout":
        return f"timed out after {seconds(timeout)}"
    if outcome.status != "exited":
        return outcome.error
    return f"was killed by {outcome.signal}" if outcome.signal else ""


def bad_exit(outcome: Outcome) -> str:
    """A non-zero exit in words, with what is worth knowing of it."""
    code = outcome.exit_code
    meaning = {126: " (found, but not executable)", 127: " (command or interpreter not found)"}.get(code or 0, "")
    last = outcome.stderr.strip().rpartition("\n")[2]
    if len(last) > LONGEST_COMPLAINT:
        last = _whole_words(last[:LONGEST_COMPLAINT]) + "…"
    return f"exited with {code}{meaning}" + (f": {last}" if last else "")
