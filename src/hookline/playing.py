"""Playing a tape: a strict cursor over its records, which is also the tape that is written meanwhile.

Every record that is made must be, byte for byte, the next one. What the hooks of an event answered is known from its
records, and goes through the same engine again.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any, NoReturn, Self

import msgspec

from hookline import engine, waiting
from hookline.compacting import compact
from hookline.errors import Divergence, HookError, TapeError
from hookline.events import find
from hookline.masking import filled
from hookline.model import Event, Ruling
from hookline.recalling import Recording, event_of
from hookline.runners.recorded import Recorded, Unrecorded
from hookline.tape import ADDED, Record, chained, line, read_whole, sealed, verify
from hookline.wording import shown

MADE_OF_IT = ("injected", "reason")
"""What records say of a hook's texts: how many characters it injected, why it objects. The texts may have been cut."""

OF_AN_EVENT = ("hook_skipped", "hook_call", "hook_returned", "hook_raised", "system_reminder", "hook_vetoed", "ruling")


class _Line:
    """A record that is still to come. `made` says that it came about again, and waits for those before it."""

    def __init__(self, record: Record, text: bytes, previous: str) -> None:
        self.record, self.text, self.previous = record, text, previous
        self.made = False


class Player:
    """A strict cursor over a tape, which is also the tape that is written: every record must be the next one.

    What background hooks wrote, and what happened inside of a hook or a tool that is not called now, passes as it is.
    """

    def __init__(self, path: str | os.PathLike[str], copy: str | os.PathLike[str] | None = None) -> None:
        self.path, self.file = os.path.abspath(path), os.fspath(path)
        self.seq = self._front = 0
        verify(path)
        self._read = read_whole(path)
        self._ahead: deque[_Line] = deque()
        self._last = ""
        self._due: deque[_Line] | None = None
        self._reminders: deque[dict[str, Any]] = deque()
        self._open = self._masked = False
        self._astray = False
        self._copy = None if copy is None else _Copy(os.fspath(copy), self.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """The end: what background hooks, or later sessions, left on the tape is still written."""
        if self._copy and not self._copy.closed:
            while not self._astray and self._peek(0) is not None:
                self._write(self._ahead[0])
            self._copy.close()

    def malformed(self, error: Exception) -> TapeError:
        """A record that no hookline wrote: the event it belongs to is the next one."""
        first = self._ahead[0].record if self._ahead else None
        seq = first.seq if first else self.seq
        made = TapeError(f"{self.file}: record {seq} cannot be replayed, its event is malformed: {error!r}")
        made.line = seq
        return made

    # -- looking ahead

    def ahead(self) -> Record | None:
        """The next record that has not come about again."""
        found = self._next()
        return None if found is None else found.record

    def _next(self) -> _Line | None:
        while (first := self._peek(0)) is not None and (first.made or first.record.data.get("background")):
            self._write(first)
        return first

    def _peek(self, index: int) -> _Line | None:
        while len(self._ahead) <= index:
            found = next(self._read, None)
            if found is None:
                return None
            self._ahead.append(_Line(*found, self._last))
            self._last = found[0].hash
        return self._ahead[index]

    def _following(self) -> Iterator[_Line]:
        """The lines to come, from the next one on."""
        self._next()
        for index in count():
            if (found := self._peek(index)) is None:
                return
            if not found.made and not found.record.data.get("background"):
                yield found

    def _group(self) -> list[_Line]:
        """The records of the event that is next, up to its ruling, or to the handler's exception that ended it.

        They stand together, unless other events happened meanwhile; then `of` says where a record belongs.
        """
        found: list[_Line] = []
        together = True
        for entry in self._following():
            record = entry.record
            if not found:
                found.append(entry)
                continue
            if record.kind == "system_reminder" and record.data["reminder"].get("source") == "in_pipeline":
                continue  # the host's own, or a handler's
            together = together and record.kind in OF_AN_EVENT and "of" not in record.data
            if together or record.data.get("of") == found[0].record.seq:
                found.append(entry)
                if record.kind == "ruling" or record.data.get("loud"):
                    break
            elif _begins_anew(record):
                break  # whoever wrote the tape was ended in the middle of this event
        return found

    def _breaks_off(self, group: list[_Line]) -> bool:
        """Whether the records of an event simply end: its writer did, and nothing but a new begin may follow."""
        if not group or group[-1].record.kind == "ruling" or group[-1].record.data.get("loud"):
            return False
        last = group[-1].record.seq
        after = next((entry.record for entry in self._following() if entry.record.seq > last), None)
        return after is None or _begins_anew(after)

    # -- writing: the tape of a replay

    def append(self, kind: str, data: dict[str, Any], *, last: bool = False, since: int | None = None) -> None:
        """A record is made again: it must be, byte for byte, the next one, or the next one of the event at hand."""
        inside = self._due is not None
        entry = self._next() if self._due is None else self._due.popleft() if self._due else None
        if entry is None:
            if inside and self._open:
                raise Unrecorded(f"the recording ends before this {kind}")
            where = "the event has no such record" if inside else "the recording has ended"
            self._stray(self.seq + 1, f"{where}, and a {kind} came: {shown(data)}")
        again, text = _again(entry, kind, data, masked=inside and self._masked)
        if text != entry.text:
            self._stray(entry.record.seq, _difference(entry.record, again))
        self._came_about(entry)
        self._next()

    def _came_about(self, entry: _Line) -> None:
        entry.made = True
        self._front = max(self._front, entry.record.seq)

    def take(self, event: dict[str, Any]) -> Self:
        self.append("event", event)
        return self

    def _write(self, entry: _Line) -> None:
        self._ahead.popleft()
        self.seq = entry.record.seq
        if self._copy:
            self._copy.write(entry.text)

    def _stray(self, seq: int, message: str) -> NoReturn:
        self._astray = True
        raise Divergence(seq, message)

    # -- playing

    def fired(self, event: Event, keep: engine.Keep | None = None) -> Ruling:
        """An event through the engine, its hooks answered from the tape."""
        group = self._group()
        recorded = Recording(event, [entry.record for entry in group])
        self._due, self._open, self._masked = deque(group), self._breaks_off(group), recorded.masked
        self._reminders = deque(_reminders(group))
        try:
            steps = engine.fire(event, recorded.plan, tape=self, keep=keep, recall=recorded)
            ruling = waiting.block(steps, Recorded(recorded.outcomes))
        except Unrecorded:  # the recording ends in the middle of the event
            for entry in self._due:
                self._came_about(entry)
            raise
        finally:
            left, self._due = self._due, None
        if left:
            self._stray(left[0].record.seq, f"expected {said(left[0].record)}, got nothing more of {event.name}")
        return ruling

    def again(self, record: Record) -> None:
        """A recorded event, fired once more. The reminders its hooks left are those of the tape."""
        find(record.data["event"])  # one that we know
        left = deque(_reminders(self._group()))
        try:
            self.fired(event_of(record.data), lambda spec: left.popleft() if left else spec)
        except (HookError, Unrecorded):
            pass  # the host heard of it when it was recorded, or was ended itself
        except BaseException as error:
            if not hasattr(error, "recorded_as"):
                raise


def _reminders(group: Iterable[_Line]) -> Iterator[dict[str, Any]]:
    """Those that the hooks of an event left, in order."""
    return (entry.record.data["reminder"] for entry in group if entry.record.kind == "system_reminder")


class _Copy:
    """The copy of a tape: the bytes of its records. A file that holds something is never written over."""

    def __init__(self, path: str, original: str) -> None:
        try:
            if os.path.exists(path) and os.path.getsize(path):
                same = os.path.samefile(path, original)
                raise TapeError(f"{path}: is {'the tape itself' if same else 'there already'}; name a new file")
            self._file = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600), "wb")
        except OSError as error:
            raise TapeError(f"{path}: the copy cannot be written: {error.strerror}") from None

    @property
    def closed(self) -> bool:
        return self._file.closed

    def write(self, text: bytes) -> None:
        self._file.write(text)

    def close(self) -> None:
        self._file.close()


def _again(entry: _Line, kind: str, data: dict[str, Any], *, masked: bool) -> tuple[dict[str, Any], bytes]:
    """The record as it would be written now, at the recorded time, with what was masked then masked again.

    Where what a hook said is `masked`, what was made of it before it was masked is known from the record alone.
    """
    record = entry.record
    added = {key: record.data[key] for key in ADDED if key in record.data}
    now = filled(msgspec.json.decode(compact(data)), record.said) if masked or "masked" in added else data
    if masked and record.kind == kind:
        now |= {key: record.data[key] for key in MADE_OF_IT if key in now and key in record.data}
    bare = line(record.seq, record.at, kind, compact({**now, **added}))
    made: dict[str, Any] = msgspec.json.decode(bare)
    return made, sealed(bare, chained(entry.previous, bare))


def _begins_anew(record: Record) -> bool:
    """Whether somebody else wrote this record: whoever wrote those before it was ended."""
    return record.kind in ("session", "torn") or (record.kind == "event" and "beside" not in record.data)


def said(record: Record) -> str:
    """A record in a few words."""
    about = record.data.get("handler") or record.data.get("event") or record.data.get("tool_name") or ""
    return f"{record.kind} {about}".strip()


def _difference(expected: Record, got: dict[str, Any]) -> str:
    """Where two records part."""
    if expected.kind != got["kind"]:
        return f"expected {said(expected)}, got {got['kind']} {shown(got['data'])}"
    place, before, now = next(_differences(expected.data, got["data"], ""), ("/", expected.data, got["data"]))
    return f"{said(expected)}: at {place} expected {shown(before)}, got {shown(now)}"


def _differences(before: Any, now: Any, place: str) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(before, dict) and isinstance(now, dict):
        for key in (*before, *(key for key in now if key not in before)):
            yield from _differences(before.get(key), now.get(key), f"{place}/{key}")
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for index, pair in enumerate(zip(before, now, strict=True)):
            yield from _differences(*pair, f"{place}/{index}")
    elif before != now:
        yield place, before, now
