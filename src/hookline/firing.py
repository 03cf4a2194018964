"""Firing: the part of `Hooks` that takes an event to its hooks and gives back the ruling."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from hookline import engine, shortcuts, waiting
from hookline.background import Background, complain
from hookline.compacting import compact
from hookline.engine import Keep
from hookline.errors import UsageError
from hookline.events import ROWS, Row, check, find
from hookline.model import BASE_FIELDS, Event, Job, Notice, OnFailure, Report, Ruling
from hookline.planning import Entry, Plan, planned
from hookline.registry import Listeners, Registry
from hookline.runners.call import Begun
from hookline.shortcuts import EVENT, Shortcut, asked, asked_async
from hookline.tape import Tape, iso
from hookline.wording import kind_of, shown

ABSENT: Any = object()
"""A field that was not given: None is a value."""

BASE = frozenset(BASE_FIELDS)
SILENCE = {name: Ruling(name) for name in ROWS}
"""What an event comes to that nobody listens to."""


class Moment(NamedTuple):
    """What all handlers that are told of the place and the time are told within a millisecond."""

    given: str | None
    """The working directory as the host gave it; None where it means another one by and by."""
    cwd: str
    since: float
    until: float
    timestamp: str


class Firing:
    """Fires events at the hooks of a registry."""

    def __init__(
        self,
        clock: Callable[[], float],
        on_failure: OnFailure | None,
        on_background: Callable[[Report], None] | None,
    ) -> None:
        self.on_failure = on_failure
        self.on_background = on_background
        self._clock = clock
        self._registry = Registry()
        self._background = Background()
        self._lately = Moment(None, "", 0.0, 0.0, "")

    def fire(
        self,
        event: str,
        /,
        *,
        tool_name: str = ABSENT,
        tool_input: Any = ABSENT,
        session_id: str = "",
        cwd: str | os.PathLike[str] = "",
        **more: Any,
    ) -> Ruling:
        """Fire an event; the ruling says what the hooks ask for. A hook process never makes this raise.

        `more` are the other fields of the event, `timestamp` and `transcript_path` among them. `keep` is how a session
        takes over each reminder, `had` what it has given hooks copies of.
        """
        # This is on the path of every tool call, and most handlers have nothing to say: so much is heard here, and
        # everything else is the engine's. One more function, or **payload for all fields, would cost as much again.
        short: Shortcut | None = None
        if event == EVENT and not more:
            try:
                short = self._registry.shortcuts[tool_name]
            except (KeyError, TypeError):  # a tool that was not heard of yet, or none at all
                pass
        if short is not None and tool_input.__class__ is dict and session_id.__class__ is str and cwd.__class__ is str:
            if short.placed:
                given, here, since, until, at = self._lately
                if cwd is not given or not since <= self._clock() < until:
                    here, at = self._here_and_now(cwd)
            else:
                here = at = ""
            try:
                for number, handler, encode in short.steps:
                    answer = handler(encode(tool_name, tool_input, session_id, here, at))
                    if answer is not None:
                        begun = Begun([None] * (number + 1), answer)
                        break
                else:
                    return short.ruling
            except (Exception, SystemExit) as error:  # noqa: BLE001  (its dialect says what a raise means)
                begun = Begun([None] * (number + 1), None, error)
            base = {"session_id": session_id, "cwd": here or cwd} | ({"timestamp": at} if at else {})
            return self._taken_over(short.plan, begun, {"tool_name": tool_name, "tool_input": tool_input}, base)
        tape = more.pop("tape") if "tape" in more else None
        keep = more.pop("keep") if "keep" in more else None
        had = more.pop("had") if "had" in more else None
        payload = more if tool_name is tool_input is ABSENT else _with_tool(tool_name, tool_input, more)
        row, base = _understood(event, payload, {"session_id": session_id, "cwd": cwd})
        listeners = self._registry.of(row.name)
        if tape is None and not listeners:
            return _unheard(listeners, row, payload)
        happened, plan = self._planned(listeners, row, payload, base, tape)
        said = asked(plan, happened) if tape is None else None
        if isinstance(said, Ruling):
            return said
        steps = engine.fire(happened, plan, tape=tape, on_failure=self.on_failure, keep=keep, had=had)
        return self._left_behind(waiting.block(steps, said), happened, plan, tape)

    async def fire_async(
        self,
        event: str,
        /,
        *,
        tape: Tape | None = None,
        keep: Keep | None = None,
        had: Mapping[str, Any] | None = None,
        **payload: Any,
    ) -> Ruling:
        """The same for async hosts: the event loop goes on while hooks run."""
        row, base = _understood(event, payload, {})
        listeners = self._registry.of(row.name)
        if tape is None and not listeners:
            return _unheard(listeners, row, payload)
        happened, plan = self._planned(listeners, row, payload, base, tape)
        said = await asked_async(plan, happened) if tape is None else None
        if isinstance(said, Ruling):
            return said
        steps = engine.fire(happened, plan, tape=tape, on_failure=self.on_failure, keep=keep, had=had)
        return self._left_behind(await waiting.on_loop(steps, said), happened, plan, tape)

    def explain(self, event: str, /, **payload: Any) -> Plan:
        """What firing this event would do: every hook considered, in order, and why. Runs nothing."""
        row, base = _understood(event, payload, {})
        return self._planned(self._registry.of(row.name), row, payload, base, None)[1]

    def wait(self, session_id: str | None = None) -> None:
        """Wait for background hooks (of one session, or all); each has its own timeout."""
        self._background.wait(session_id)

    def after(self, session_ids: Sequence[str], work: Callable[[], None]) -> None:
        """Do this once the background hooks of these sessions have ended: now, or later on their thread."""
        self._background.after(session_ids, work)

    # -- the short way

    def _here_and_now(self, cwd: str) -> tuple[str, str]:
        """A working directory as events have it, and the time, as text; for the next fire within the millisecond."""
        now = self._clock()
        number, here, at = int(now * 1000), absolute(cwd), iso(now)
        given = cwd if cwd.startswith("/") else None
        self._lately = Moment(given, here, number / 1000, (number + 1) / 1000, at)
        return here, at

    def _taken_over(self, plan: Plan, begun: Begun, payload: dict[str, Any], base: dict[str, str]) -> Ruling:
        """One of the handlers has something to say: the engine goes on from there."""
        event = self._event(EVENT, payload, base, None)
        return waiting.block(engine.fire(event, plan, on_failure=self.on_failure), begun)

    # -- the long way

    def _planned(
        self, listeners: Listeners, row: Row, payload: dict[str, Any], base: dict[str, str], tape: Tape | None
    ) -> tuple[Event, Plan]:
        if tape is not None and not isinstance(tape, Tape):
            given = f"{kind_of(tape)}: {shown(tape)}"
            raise UsageError(f"tape takes a hookline.Tape, not {given}; write tape=hookline.Tape(FILE)")
        event = self._event(row.name, payload, base, tape)
        found = planned(listeners, event)
        if row.name == EVENT:
            shortcuts.remember(listeners, payload["tool_name"], found)
        return event, found

    def _event(self, name: str, payload: dict[str, Any], base: dict[str, str], tape: Tape | None) -> Event:
        cwd = absolute(base.get("cwd", ""))
        timestamp = base["timestamp"] if "timestamp" in base else iso(self._clock())
        transcript_path = base.get("transcript_path", tape.path if tape else "")
        return Event(name, payload, base.get("session_id", ""), cwd, timestamp, transcript_path)

    def _left_behind(self, ruling: Ruling, event: Event, planned: Plan, tape: Tape | None) -> Ruling:
        """Hand the background hooks over. Their payloads are made now: the host may change its values meanwhile."""
        entries = planned.background
        if not entries:
            return ruling
        jobs = [engine.job_of(entry.hook, event) for entry in entries]
        jobs = [replace(job, payload=msgspec.json.decode(compact(job.payload))) for job in jobs]
        if self._background.submit(event.session_id, lambda: self._forgotten(jobs, event, tape)):
            return ruling
        return _too_many(ruling, entries)

    def _forgotten(self, jobs: list[Job], event: Event, tape: Tape | None) -> None:
        waiting.block(engine.fire_and_forget(jobs, event, tape=tape, tell=self._tell))

    def _tell(self, report: Report) -> None:
        if self.on_background:
            try:
                self.on_background(report)
            except Exception:  # noqa: BLE001  (the hooks behind it must still run)
                complain()


def _unheard(listeners: Listeners, row: Row, payload: dict[str, Any]) -> Ruling:
    """Nobody listens: nothing is built."""
    if row.name == EVENT:
        shortcuts.remember(listeners, payload["tool_name"], Plan(EVENT))
    return SILENCE[row.name]


def _too_many(ruling: Ruling, entries: Sequence[Entry]) -> Ruling:
    why = "too many background hooks are waiting"
    hooks = tuple(
        replace(report, status="skipped", skipped=why) if report.status == "background" else report
        for report in ruling.hooks
    )
    notices = tuple(Notice(f"{entry.hook.name} was not run: {why}", entry.hook.source) for entry in entries)
    return replace(ruling, hooks=hooks, notices=ruling.notices + notices)


def _with_tool(tool: Any, given: Any, more: dict[str, Any]) -> dict[str, Any]:
    """All fields that were given, those of the tool first."""
    payload = {"tool_name": tool, "tool_input": given, **more}
    for name in ("tool_name", "tool_input"):
        if payload[name] is ABSENT:
            del payload[name]
    return payload


def _understood(name: str, payload: dict[str, Any], base: dict[str, Any]) -> tuple[Row, dict[str, str]]:
    """Which event is meant, and its base fields, which leave the payload. A mistake of the caller raises here."""
    row = find(name)
    if not BASE.isdisjoint(payload):
        for key in payload.keys() & BASE:
            base[key] = payload.pop(key)
    for key, value in base.items():
        if value.__class__ is not str:
            base[key] = _base_field(key, value)
    check(row, payload)
    return row, base


@lru_cache(maxsize=64)  # an agent works in the same few directories all the time
def _normal(path: str) -> str:
    return os.path.normpath(path)


def absolute(path: str) -> str:
    if path.startswith("/"):
        return _normal(path)
    try:
        return os.path.abspath(path) if path else os.getcwd()
    except OSError:  # our own directory is gone; what has to start there will say so
        return path or "."


def _base_field(name: str, value: Any) -> str:
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if not isinstance(value, str):
        raise UsageError(f"{name} must be a string, not {kind_of(value)}: {shown(value)}")
    return value
