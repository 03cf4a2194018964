"""Replay: the same engine on a tape. No hook is registered, no process started, and the tape it writes is the same.

tape alone     every recorded event goes through the engine again, its hooks answered from the tape
with a host    the host makes the same calls; hooks, tools, models, compactors and approvals are answered
               from the tape, and a call that does not fit it raises Divergence
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import TYPE_CHECKING, Any, NoReturn, Self

import msgspec
from msgspec import Struct

from hookline import engine, waiting
from hookline.conducting import Do, Fire
from hookline.errors import Divergence, HookError, HooklineError, RecordedError, TapeError, interrupt
from hookline.events import checked, find
from hookline.masking import filled
from hookline.model import BASE_FIELDS, Event, Ruling, compact
from hookline.recalling import Recording, event_of
from hookline.runners.recorded import Recorded, Unrecorded
from hookline.tape import ADDED, Record, chained, line, read, read_whole, sealed, verify
from hookline.wording import shown

if TYPE_CHECKING:
    from hookline.hooks import Hooks
    from hookline.session import Session

MADE_OF_IT = ("injected", "reason")
"""What records say of a hook's texts: how many characters it injected, why it objects. The texts may have been cut."""

OF_AN_EVENT = ("hook_skipped", "hook_call", "hook_returned", "hook_raised", "system_reminder", "hook_vetoed", "ruling")
ANSWERS = {"tool": ("tool_result",), "model": ("message", "model_failed"), "approval": ("approval",)}
ANSWERS |= {"compaction": ("compaction", "compaction_failed")}
"""The records that have the answer to something of the host's."""


class Replay(Struct, frozen=True):
    """How a replay of a tape alone went."""

    records: int
    divergence: Divergence | None = None

    def to_dict(self) -> dict[str, Any]:
        done: dict[str, Any] = {"identical": self.divergence is None, "records": self.records}
        if self.divergence is not None:
            done["divergence"] = {"seq": self.divergence.seq, "reason": str(self.divergence)}
        return done


def replay(path: str | os.PathLike[str], copy: str | os.PathLike[str] | None = None) -> Replay:
    """Run a recorded tape through the engine once more; `copy` gets what it writes."""
    with Player(path, copy) as player:
        try:
            while (record := player.ahead()) is not None:
                if record.kind == "event":
                    player.again(record)
                else:
                    player.append(record.kind, record.said)
        except Divergence as divergence:
            return Replay(player.seq, divergence)
        except TapeError:
            raise
        except (HooklineError, LookupError, TypeError, ValueError, AttributeError, StopIteration) as error:
            raise player.malformed(error) from error
        return Replay(player.seq)


class _Line:
    """A record that is still to come. `made` says that it came about again, and waits for those before it."""

    def __init__(self, record: Record, text: bytes, previous: str) -> None:
        self.record, self.text, self.previous = record, text, previous
        self.made = False


class Player:
    """A strict cursor over a tape, which is also the tape that is written: every record must be the next one.

    What background hooks wrote, and what happened inside of a hook or a tool that is not called now, passes as it is;
    what it did to a session of the `cast` is done again.
    """

    def __init__(self, path: str | os.PathLike[str], copy: str | os.PathLike[str] | None = None) -> None:
        self.path, self.file = os.path.abspath(path), os.fspath(path)
        self.seq = self._front = 0
        self.cast: dict[str, Callable[[dict[str, Any]], None]] = {}
        verify(path)
        self._read = read_whole(path)
        self._ahead: deque[_Line] = deque()
        self._last = ""
        self._due: deque[_Line] | None = None
        self._reminders: deque[dict[str, Any]] = deque()
        self._open = self._masked = False
        self._length_is_of_a_mask = False
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
            self._stray(left[0].record.seq, f"expected {_said(left[0].record)}, got nothing more of {event.name}")
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

    # -- with a host

    def session(self, hooks: Hooks, id: str | None = None) -> Session:  # noqa: A002
        """A session whose host makes the recorded calls again: the first one, or that of this id, if there is one."""
        from hookline.permissions import Policy
        from hookline.session import Session

        ids = [record.data["id"] for record in read(self.path) if record.kind == "session"]
        if not ids:
            self.close()
            raise TapeError(f"{self.path}: holds no session that a host could drive; `hookline replay` takes it alone")
        wanted = id if id in ids else ids[0]
        facts: dict[str, Any] = {}
        for entry in self._following():
            facts = entry.record.data
            if entry.record.kind == "session" and facts["id"] == wanted:
                break
            self._came_about(entry)
        first = next((each.record.data for each in self._following() if each.record.kind == "event"), None)
        self.path = first["transcript_path"] if first else self.path  # where the tape was when it was recorded
        return Session(
            hooks,
            id=facts["id"],
            cwd=facts["cwd"],
            tape=None,
            player=self,
            approve=_nobody if facts["approver"] else None,
            policy=Policy(facts["allow"], facts["deny"]),
            opening={key: facts[key] for key in ("source", "task", "system")},
        )

    def fired_by_host(self, step: Fire, keep: engine.Keep) -> Ruling:
        """An event the host fires; it has to be the recorded one."""
        front, event, last = self._front, self._same_event(step), self._group()[-1].record.seq
        try:
            return self.fired(event, keep)
        except Unrecorded:
            self._stray(last + 1, f"the recording ends in the middle of {event.name}")
        finally:
            if not self._astray:
                self._pass_handlers(front, last)

    def _pass_handlers(self, front: int, last: int) -> None:
        """What handlers did inside of an event, up to its last record, and what that did to a session."""
        self._pass_until(last)
        while (after := self.ahead()) is not None and after.kind == "within" and after.data.get("since") == front:
            self._pass_until(after.seq)

    def _same_event(self, step: Fire) -> Event:
        """The event the host fires, with the base fields of the recorded one."""
        record, row = self.ahead(), find(step.event)
        payload = {name: value for name, value in step.payload.items() if name not in BASE_FIELDS}
        compact(checked(row, payload))  # what was refused then is refused now, before anything is compared
        if record is None or record.kind != "event" or record.data["event"] != row.name:
            self._unexpected(record, f"the event {row.name} {shown(step.payload)}")
        base = {name: record.data[name] for name in BASE_FIELDS}
        if row.name == "PostCompact" and self._length_is_of_a_mask:
            payload["new_summary_len"] = record.data["payload"].get("new_summary_len")
        return Event(row.name, payload, **base)

    def answer(self, step: Do) -> Any:
        """What a tool, a model, a person or a compactor answered."""
        record = self._answered(step.kind)
        if "error" in record.data:
            text = record.data["error"]
            raise interrupt(text) if record.data.get("interrupted") else RecordedError(text)
        if step.kind == "compaction":
            self._length_is_of_a_mask = "/summary" in record.data.get("masked", ())
            return record.said
        return record.data[{"tool": "output", "model": "response", "approval": "answer"}[step.kind]]

    def _answered(self, kind: str) -> Record:
        """The record of the answer. What happened meanwhile, to a subagent say, stands before it and passes."""
        front = self._front
        for entry in self._following():
            record = entry.record
            if record.kind in ANSWERS[kind] and record.data.get("since", front) == self._front:
                break
            front = record.seq
        else:
            self._unexpected(self.ahead(), f"a call of the {kind}")
        self._pass_until(record.seq - 1)
        return record

    def _unexpected(self, record: Record | None, got: str) -> NoReturn:
        seq, what = (self.seq + 1, "the end") if record is None else (record.seq, _said(record))
        self._stray(seq, f"expected {what}, got {got}")

    def _pass_until(self, seq: int) -> None:
        """What is not played comes about as it was recorded, and so does what it did to a session."""
        for entry in self._following():
            record = entry.record
            if record.seq > seq:
                return
            self._came_about(entry)
            if record.kind == "within" and record.data["session_id"] in self.cast:
                self.cast[record.data["session_id"]](record.said)

    def fires(self, event: str) -> bool:
        """Whether this event comes next."""
        return bool(self.known("event", "event") == event)

    def calls(self, tool: str) -> bool:
        """Whether this tool is run next."""
        return bool(self.known("tool_call", "tool_name") == tool)

    def known(self, kind: str, key: str) -> Any:
        """What the next record says, if it is of this kind: an id that was made up, say."""
        record = self.ahead()
        return record.data.get(key) if record is not None and record.kind == kind else None

    def reminder(self) -> dict[str, Any]:
        """What is known of the reminder that comes next: its id, and of a hook's the turn, which a handler may end."""
        if self._due is not None:
            recorded = self._reminders.popleft() if self._reminders else {}
            return {key: recorded[key] for key in ("id", "fired_at_turn") if key in recorded}
        recorded = self.known("system_reminder", "reminder") or {}
        return {"id": recorded["id"]} if "id" in recorded else {}


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


def _nobody(ask: Any) -> Any:
    raise AssertionError("BUG: a replay called an approver")


def _said(record: Record) -> str:
    """A record in a few words."""
    about = record.data.get("handler") or record.data.get("event") or record.data.get("tool_name") or ""
    return f"{record.kind} {about}".strip()


def _difference(expected: Record, got: dict[str, Any]) -> str:
    """Where two records part."""
    if expected.kind != got["kind"]:
        return f"expected {_said(expected)}, got {got['kind']} {shown(got['data'])}"
    place, before, now = next(_differences(expected.data, got["data"], ""), ("/", expected.data, got["data"]))
    return f"{_said(expected)}: at {place} expected {shown(before)}, got {shown(now)}"


def _differences(before: Any, now: Any, place: str) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(before, dict) and isinstance(now, dict):
        for key in (*before, *(key for key in now if key not in before)):
            yield from _differences(before.get(key), now.get(key), f"{place}/{key}")
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for index, pair in enumerate(zip(before, now, strict=True)):
            yield from _differences(*pair, f"{place}/{index}")
    elif before != now:
        yield place, before, now
