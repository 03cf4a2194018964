"""Reading what people and hooks wrote: configuration files, their entries, what a process printed.

Whatever is wrong with a whole file is a ConfigError; whatever is wrong with one entry is a notice,
and the other entries stay.
"""

from __future__ import annotations

import math
import os
import stat
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from hookline.errors import ConfigError, UsageError
from hookline.model import Notice, OnFailure, Outcome, Source, Verdict, compact
from hookline.wording import kind_of, nearest, seconds, shown

LARGEST_CONFIG = 4 * 1024 * 1024
LARGEST_TEXT = 32 * 1024
DEEPEST = 100
MOST_VALUES = 1_000_000
"""How deep a YAML file may be nested, and how many values it may come to with every alias written out."""

LONGEST_TIMEOUT = 24 * 3600.0


def read_bytes(file: str, *, what: str = "configuration") -> bytes:
    """The bytes of a regular file of reasonable size; anything else is a ConfigError."""
    try:
        # O_NONBLOCK: a FIFO in the place of a config must not hang us.
        fd = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        raise ConfigError(f"there is no such {what} file", file=file) from None
    except (OSError, ValueError) as error:
        raise ConfigError(f"cannot be read: {getattr(error, 'strerror', None) or error}", file=file) from None
    try:
        facts = os.fstat(fd)
        if stat.S_ISDIR(facts.st_mode):
            raise ConfigError(f"is a directory; name the {what} file inside it", file=file)
        if not stat.S_ISREG(facts.st_mode):
            raise ConfigError("is not a regular file", file=file)
        with os.fdopen(fd, "rb", closefd=False) as stream:
            data = stream.read(LARGEST_CONFIG + 1)
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror or error}", file=file) from None
    finally:
        os.close(fd)
    if len(data) > LARGEST_CONFIG:
        raise ConfigError(f"is larger than {LARGEST_CONFIG // 1024 // 1024} MiB; is it a {what} file?", file=file)
    return data


def parse(data: bytes, file: str, form: str | None = None) -> Any:
    """The document in a file: JSON, YAML or TOML as `form` says, else as its suffix or its first sign does."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        byte = f"byte 0x{data[error.start]:02x} at offset {error.start}"
        raise ConfigError(f"is not UTF-8: {byte}; save it as UTF-8", file=file) from None
    if not text.strip():
        raise ConfigError("is empty", file=file)
    if form is None:
        suffixes = {".yaml": "yaml", ".yml": "yaml", ".toml": "toml", ".json": "json"}
        form = suffixes.get(os.path.splitext(file)[1]) or ("json" if text.lstrip()[0] in "{[" else "yaml")
    return {"json": _json, "yaml": _yaml, "toml": _toml}[form](text, file)


def _json(text: str, file: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        import json

        text = _without_comments(text)  # people comment their settings, and the systems they come from let them

        try:  # msgspec counts bytes; people count lines
            return json.loads(text, parse_constant=_no_constant)
        except json.JSONDecodeError as error:
            where = f"line {error.lineno}, column {error.colno}"
            raise ConfigError(f"is not valid JSON: {error.msg} at {where}", file=file) from None
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"is not valid JSON: {error}", file=file) from None


def _without_comments(text: str) -> str:
    """Comments become blanks, so that every line and column stays where it was."""
    import re

    def blank(found: re.Match[str]) -> str:
        return found[0] if found[0].startswith('"') else re.sub(r"[^\n]", " ", found[0])

    return re.sub(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/', blank, text, flags=re.DOTALL)


def _no_constant(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")


def _yaml(text: str, file: str) -> Any:
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        _bearable(yaml.parse(text, Loader=loader), file)
        return yaml.load(text, Loader=loader)  # noqa: S506  (a safe loader either way)
    except yaml.MarkedYAMLError as error:
        problem = f"{error.problem or error.context}{_at(error.problem_mark)}"
        began = f" ({error.context} that begins{_at(error.context_mark)})" if error.context_mark else ""
        raise ConfigError(f"is not valid YAML: {problem}{began}", file=file) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ConfigError(f"is not valid YAML: {error}", file=file) from None


def _toml(text: str, file: str) -> Any:
    import tomllib

    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"is not valid TOML: {error}", file=file) from None


def _bearable(events: Any, file: str) -> None:
    """Refuse what would take us down: the C loader overflows its stack, and aliases of aliases grow without bound."""
    import yaml

    sizes: dict[str, int] = {}
    nested: list[tuple[str | None, int]] = [(None, 0)]
    for event in events:
        size = 0
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in sizes:
                raise ConfigError(f"the alias *{event.anchor} has nothing it could stand for", file=file)
            size = sizes[event.anchor]
        elif isinstance(event, yaml.ScalarEvent):
            size = 1
            sizes |= {event.anchor: size} if event.anchor else {}
        elif isinstance(event, yaml.CollectionStartEvent):
            nested.append((event.anchor, 1))
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, size = nested.pop()
            sizes |= {anchor: size} if anchor else {}
        nested[-1] = (nested[-1][0], nested[-1][1] + size)
        if len(nested) > DEEPEST or nested[-1][1] > MOST_VALUES:
            raise ConfigError("is nested too deeply, or its aliases come to too many values", file=file)


def _at(mark: Any) -> str:
    return f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""


class Entries:
    """Walks a parsed configuration and keeps what was wrong with it, each with file and pointer."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.notices: list[Notice] = []

    def note(self, pointer: str, text: str) -> None:
        self.notices.append(Notice(text, Source(self.file, pointer)))

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
    """What a process printed, without a byte order mark and the blanks around it."""
    return text.lstrip("\N{ZERO WIDTH NO-BREAK SPACE}").strip()


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
        return msgspec.json.decode(compact(json.loads(text, parse_constant=_no_constant)))
    except (ValueError, RecursionError, UsageError):
        return NOT_JSON


class _NotJson:
    pass


NOT_JSON = _NotJson()


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
        kept = data[:LARGEST_TEXT].decode("utf-8", "ignore")
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
    return f"exited with {code}{meaning}" + (f": {last[:300]}" if last else "")
