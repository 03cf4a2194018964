"""What the records of one event say: the plan it had, and the outcomes of its hooks. Enough to let it happen again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from hookline.errors import BadAnswer, RecordedError, interrupt
from hookline.masking import MASK, filled
from hookline.merging import unchanged
from hookline.model import BASE_FIELDS, Call, Command, Event, Hook, Matcher, Notice, Outcome, Ruling, Source, Verdict
from hookline.planning import NO_MATCH, Entry, assembled
from hookline.sequences import Items, Reports
from hookline.tape import Record


class Recording:
    """The plan and the outcomes that the records of one event speak of."""

    def __init__(self, event: Event, records: Sequence[Record]) -> None:
        self._event = event
        self.masked = any("masked" in record.data for record in records if record.kind in SAID)
        self.outcomes = [_outcome(record) for record in records if record.kind in SAID]
        entries = [self._entry(record, at, records) for at, record in enumerate(records) if record.kind in HOOKS]
        self._ruling = records[-1].data if records and records[-1].kind == "ruling" else {}
        self.plan = assembled(event.name, _ordered(entries, self._ruling.get("hooks"), event))

    def is_same(self, name: str, new: Any, before: Any) -> bool:
        """Whether a hook rewrote something to what it was. Of secrets that are masked now only the ruling can tell."""
        if MASK not in f"{new}":
            return unchanged(name, new, before)
        return name not in self._ruling and unchanged(name, new, filled(before, new))

    def told(self, ruling: Ruling) -> Ruling:
        """The ruling with its texts as they were recorded, where a secret in what its hooks said is masked.

        They may have been cut, and where depends on how long they were. What is decided is made anew all the same.
        """
        was = self._ruling
        if not self.masked or not was:
            return ruling
        halt = was.get("halt")
        reports = [
            replace(report, **{name: told.get(name, "") for name in ("reason", "error")})
            for report, told in zip(ruling.hooks, was.get("hooks", []), strict=False)
        ]
        return replace(
            ruling,
            reason=was.get("reason", ""),
            context=Items(was.get("context", ())),
            messages=Items(was.get("messages", ())),
            notices=tuple(_notice(notice) for notice in was.get("notices", ())),
            halt=ruling.halt and halt and replace(ruling.halt, reason=halt["reason"]),
            hooks=Reports(reports) if len(reports) == len(ruling.hooks) else ruling.hooks,
        )

    def _entry(self, record: Record, at: int, records: Sequence[Record]) -> Entry:
        """A call is in the wave of the calls beside it; what was skipped after the first call had its turn too."""
        began = next((index for index, other in enumerate(records) if other.kind == "hook_call"), len(records))
        if record.kind == "hook_skipped" and at < began:
            return Entry(_hook(record.data, self._event), -1, skipped=record.data["reason"])
        wave = at
        if record.kind == "hook_call":
            while records[wave - 1].kind == "hook_call":
                wave -= 1
            return Entry(_hook(record.data, self._event), -1, wave)
        late = record.data["reason"].startswith(NO_MATCH)
        return Entry(_hook(record.data, self._event), -1, wave, skipped=record.data["reason"], late=late)


HOOKS = ("hook_call", "hook_skipped")
SAID = ("hook_returned", "hook_raised")


def _notice(told: dict[str, str]) -> Notice:
    file, sign, pointer = told.get("source", "").partition("#")
    return Notice(told["text"], Source(file, pointer) if file or sign else None)


def _ordered(entries: list[Entry], reports: list[dict[str, Any]] | None, event: Event) -> list[Entry]:
    """The entries in plan order, which the ruling has; background hooks are in the ruling alone."""
    if reports is None:
        return [replace(entry, index=index) for index, entry in enumerate(entries)]
    waiting_for = list(entries)
    done: list[Entry] = []
    for index, report in enumerate(reports):
        if report["status"] == "background":
            hook = _hook(report | {"handler": report["hook"]}, event)
            done.append(Entry(hook, index, background=True))
            continue
        found = next(entry for entry in waiting_for if _is_of(entry, report))
        waiting_for.remove(found)
        done.append(replace(found, index=index))
    return done


def _is_of(entry: Entry, report: dict[str, Any]) -> bool:
    same = (entry.hook.name, str(entry.hook.source)) == (report["hook"], report["source"])
    return same and entry.skipped == report.get("skipped", "")


def _hook(data: dict[str, Any], event: Event) -> Hook:
    """A hook as far as a record tells of it: enough to speak to it, and to read its answer."""
    file, _, pointer = data["source"].partition("#")
    reason = data.get("reason", "") if "payload" not in data else ""
    text = reason.removeprefix(NO_MATCH) if reason.startswith(NO_MATCH) else ""
    return Hook(
        name=data["handler"],
        event=event.name,
        dialect=data["dialect"],
        source=Source(file, pointer),
        action=Command((), data["timeout"]) if "timeout" in data else Call(_never, "recorded"),
        matcher=Matcher(text, lambda event: False),
        on_failure=data.get("on_failure"),
        digest=data.get("digest"),
    )


def _never(payload: dict[str, Any]) -> Any:
    raise AssertionError("BUG: a replay called a hook")


def _outcome(record: Record) -> Outcome:
    """The facts of a recorded run."""
    data = record.data
    took = data.get("duration_ms", 0.0)
    if record.kind == "hook_raised":
        if data.get("interrupted"):
            return Outcome("raised", error=data["error"], exception=interrupt(data["error"]), duration_ms=took)
        error: Exception | None = RecordedError(data["error"])
        if "raw" in data:  # it returned, and nobody could read it
            error = _bad_answer(data) if data.get("loud") else None
            return Outcome("returned", value=data["raw"], error=data["error"], exception=error, duration_ms=took)
        return Outcome("raised", error=data["error"], exception=error, duration_ms=took)
    if data["dialect"] == "python":
        raw = data["raw"]
        value = msgspec.convert(raw, Verdict) if raw is not None else None
        return Outcome("returned", value=value, duration_ms=took)
    if data["dialect"] == "harn":
        return Outcome("returned", value=data["raw"], duration_ms=took)
    return msgspec.convert(data["raw"], Outcome)


def _bad_answer(data: dict[str, Any]) -> BadAnswer:
    name, event = data["handler"], data["event"]
    return BadAnswer(name, event, data["error"].removeprefix(f"{name} on {event}: "))


def event_of(data: dict[str, Any]) -> Event:
    return Event(data["event"], data["payload"], **{name: data[name] for name in BASE_FIELDS})
