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

from hookline.errors import ConfigError
from hookline.model import Notice, OnFailure, Outcome, Source
from hookline.wording import kind_of, nearest, seconds, shown

LARGEST_CONFIG = 4 * 1024 * 1024
LARGEST_INJECTION = 32 * 1024
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
    """The document in a file: JSON or YAML as `form` says, else as its suffix or its first sign does."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        byte = f"byte 0x{data[error.start]:02x} at offset {error.start}"
        raise ConfigError(f"is not UTF-8: {byte}; save it as UTF-8", file=file) from None
    if not text.strip():
        raise ConfigError("is empty", file=file)
    if form is None:
        form = "yaml" if file.endswith((".yaml", ".yml")) else "json" if text.lstrip()[0] in "{[" else "yaml"
    return _json(text, file) if form == "json" else _yaml(text, file)


def _json(text: str, file: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        import json

        try:  # msgspec counts bytes; people count lines
            json.loads(text, parse_constant=_no_constant)
        except json.JSONDecodeError as error:
            where = f"line {error.lineno}, column {error.colno}"
            raise ConfigError(f"is not valid JSON: {error.msg} at {where}", file=file) from None
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"is not valid JSON: {error}", file=file) from None
        raise ConfigError("is not valid JSON", file=file) from None


def _no_constant(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")


def _yaml(text: str, file: str) -> Any:
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return yaml.load(text, Loader=loader)  # noqa: S506  (a safe loader either way)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise ConfigError(f"is not valid YAML: {error.problem or error.context}{where}", file=file) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ConfigError(f"is not valid YAML: {error}", file=file) from None


class Entries:
    """Walks a parsed configuration and keeps what was wrong with it, each with file and pointer."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.notices: list[Notice] = []

    def note(self, pointer: str, text: str) -> None:
        self.notices.append(Notice(text, Source(self.file, pointer)))

    def flat(self, document: Any, events: Mapping[str, str]) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """The (event, pointer, entry) of a file that maps each event to a list of entries."""
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
        for spelling, entries in table.items():
            pointer = f"/hooks/{_escaped(spelling)}"
            if spelling not in events:
                hint = nearest(spelling, events) if isinstance(spelling, str) else ""
                self.note(pointer, f"no event is called {shown(spelling)}{hint or '; it knows ' + ', '.join(events)}")
            elif entries is None:
                continue
            elif not isinstance(entries, list):
                self.note(pointer, f"must be a list of hooks, not {kind_of(entries)}; skipped: {shown(entries)}")
            else:
                yield from self._entries(events[spelling], pointer, entries)

    def _entries(self, event: str, pointer: str, entries: list[Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
        for index, entry in enumerate(entries):
            if isinstance(entry, dict):
                yield event, f"{pointer}/{index}", entry
            else:
                self.note(f"{pointer}/{index}", f"a hook is an object, not {kind_of(entry)}; skipped: {shown(entry)}")

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
        usable = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value > 0
        if not usable:
            self.note(where, f"timeout must be a positive number, not {shown(value)}; {seconds(default)} is used")
            return default
        low, high = doubtful
        if not low <= value <= high:
            here, other = ("milliseconds", "seconds") if unit < 1 else ("seconds", "milliseconds")
            meant = f"{shown(value)} is {seconds(value * unit)}; was it meant in {other}?"
            self.note(where, f"timeout is in {here} here: {meant}")
        return min(float(value) * unit, LONGEST_TIMEOUT)

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
        return NOT_JSON


class _NotJson:
    pass


NOT_JSON = _NotJson()


def injected(text: str) -> tuple[str, tuple[str, ...]]:
    """A text on its way into the model's context, cut to a bearable size, and the notice of the cut."""
    data = text.encode("utf-8", "replace")
    if len(data) <= LARGEST_INJECTION:
        return text, ()
    kept = data[:LARGEST_INJECTION].decode("utf-8", "ignore")
    mark = f"[hookline: cut after {LARGEST_INJECTION} of {len(data)} bytes]"
    return f"{kept}\n{mark}", (f"its text of {len(data)} bytes was cut to {LARGEST_INJECTION}",)


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
