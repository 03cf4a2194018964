"""Replay: the same engine on a tape. No hook is registered, no process started, and the tape it writes is the same.

tape alone     every recorded event goes through the engine again, its hooks answered from the tape
with a host    the host makes the same calls; hooks, tools, models, compactors and approvals are answered
               from the tape, and a call that does not fit it raises Divergence
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from msgspec import Struct

from hookline import engine
from hookline.compacting import compact
from hookline.conducting import Do, Fire
from hookline.errors import Divergence, HooklineError, RecordedError, TapeError, interrupt
from hookline.events import checked, find
from hookline.model import BASE_FIELDS, Event, Ruling
from hookline.playing import Player, said
from hookline.runners.recorded import Unrecorded
from hookline.tape import Record, read
from hookline.wording import shown

if TYPE_CHECKING:
    from hookline.hooks import Hooks
    from hookline.session import Session

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


class HostPlayer(Player):
    """The same for a host that makes its calls again.

    What was done to a session of the `cast` where the host cannot do it again, inside of a tool say, is done for it.
    """

    def __init__(self, path: str | os.PathLike[str], copy: str | os.PathLike[str] | None = None) -> None:
        super().__init__(path, copy)
        self.cast: dict[str, Callable[[dict[str, Any]], None]] = {}
        self._length_is_of_a_mask = False

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
        compact({"payload": checked(row, payload)})  # what was refused then is refused now, before anything is compared
        if record is None or record.kind != "event" or record.data["event"] != row.name:
            what = "the end of the session" if row.name == "SessionEnd" else f"the event {row.name} {shown(payload)}"
            self._unexpected(record, what)
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
        seq, what = (self.seq + 1, "the end") if record is None else (record.seq, said(record))
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


def _nobody(ask: Any) -> Any:
    raise AssertionError("BUG: a replay called an approver")
