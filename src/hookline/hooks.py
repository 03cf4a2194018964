"""Hooks: what a person holds in their hand. Load configurations, fire events, ask what would happen."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from hookline import engine, waiting
from hookline.background import Background
from hookline.dialects import dialect as dialect_named
from hookline.dialects import recognised
from hookline.errors import ConfigError, UsageError
from hookline.events import checked, find
from hookline.model import BASE_FIELDS, Event, Hook, Job, Notice, OnFailure, Report, Ruling, compact
from hookline.planning import Entry, Plan, plan
from hookline.reading import parse, read_bytes
from hookline.registry import Registry
from hookline.tape import Tape, iso
from hookline.wording import kind_of, shown


class Hooks:
    """An ordered set of hooks, of any dialects, that events are fired at. Safe to share between threads.

    `on_failure` says what a failing hook comes to: None lets the operation go on (and the ruling
    says so), "ask" and "deny" turn that round. `on_background` is called, on a background thread,
    with the report of every fire-and-forget hook when it has ended.
    """

    def __init__(
        self,
        *,
        on_failure: OnFailure | None = None,
        on_background: Callable[[Report], None] | None = None,
        clock: Callable[[], float] = time.time,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self.on_failure = _checked_on_failure(on_failure)
        self.on_background = on_background
        self._clock = clock
        self._environ = os.environ if environ is None else environ
        self._registry = Registry()
        self._background = Background()
        self._notices: tuple[Notice, ...] = ()

    def __iter__(self) -> Iterator[Hook]:
        return iter(self._registry)

    def __len__(self) -> int:
        return len(self._registry)

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What was noticed while loading."""
        return self._notices

    def load(
        self,
        path: str | os.PathLike[str],
        dialect: str | None = None,
        *,
        strict: bool = False,
        root: str | os.PathLike[str] | None = None,
        on_failure: OnFailure | None = None,
    ) -> list[Hook]:
        """Add the hooks of a configuration file; they are returned.

        The dialect is recognised from the content where it is not named. A bad entry is a notice and
        the rest loads; `strict` raises a ConfigError instead. `root` is the directory that relative
        paths in the file belong to, where its dialect has such a thing.
        """
        file = os.fspath(path)
        speaks = dialect_named(dialect) if dialect is not None else None
        document = parse(read_bytes(file), file, speaks.FORMAT if speaks else None)
        speaks = speaks or recognised(document, file)
        loaded = speaks.read(document, file, root=os.fspath(root) if root is not None else None, environ=self._environ)
        if strict and loaded.notices:
            raise ConfigError("\n".join(map(str, loaded.notices)))
        default = _checked_on_failure(on_failure)
        hooks = (
            [replace(h, on_failure=h.on_failure or default) for h in loaded.hooks] if default else list(loaded.hooks)
        )
        self._registry.add(hooks)
        self._notices += loaded.notices
        return hooks

    def fire(self, event: str, /, *, tape: Tape | None = None, **payload: Any) -> Ruling:
        """Fire an event; the ruling says what the hooks ask for. A hook process never makes this raise."""
        happened, planned = self._planned(event, payload, tape)
        ruling = waiting.block(engine.fire(happened, planned, tape=tape, on_failure=self.on_failure))
        return self._left_behind(ruling, happened, planned, tape)

    async def fire_async(self, event: str, /, *, tape: Tape | None = None, **payload: Any) -> Ruling:
        """The same for async hosts: the event loop goes on while hooks run."""
        happened, planned = self._planned(event, payload, tape)
        ruling = await waiting.on_loop(engine.fire(happened, planned, tape=tape, on_failure=self.on_failure))
        return self._left_behind(ruling, happened, planned, tape)

    def explain(self, event: str, /, **payload: Any) -> Plan:
        """What firing this event would do: every hook considered, in order, and why. Runs nothing."""
        return self._planned(event, payload, None)[1]

    def wait(self, session_id: str | None = None) -> None:
        """Wait for background hooks (of one session, or all); each has its own timeout."""
        self._background.wait(session_id)

    def _planned(self, name: str, payload: dict[str, Any], tape: Tape | None) -> tuple[Event, Plan]:
        row = find(name)
        base = {key: _base_field(key, payload.pop(key)) for key in BASE_FIELDS if key in payload}
        base["cwd"] = _absolute(base.get("cwd", "."))
        base.setdefault("timestamp", iso(self._clock()))
        base.setdefault("transcript_path", tape.path if tape else "")
        event = Event(row.name, checked(row, payload), **base)
        return event, plan(self._registry.of(row.name), event)

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
        for report in waiting.block(engine.fire_and_forget(jobs, event, tape=tape)):
            if self.on_background:
                self.on_background(report)


def _too_many(ruling: Ruling, entries: list[Entry]) -> Ruling:
    why = "too many background hooks are waiting"
    dropped = {str(entry.hook.source) for entry in entries}
    hooks = tuple(
        replace(report, status="skipped", skipped=why) if report.source in dropped else report
        for report in ruling.hooks
    )
    notices = tuple(Notice(f"{entry.hook.name} was not run: {why}", entry.hook.source) for entry in entries)
    return replace(ruling, hooks=hooks, notices=ruling.notices + notices)


def _absolute(path: str) -> str:
    try:
        return os.path.abspath(path)
    except OSError:  # our own directory is gone; what has to start there will say so
        return path


def _base_field(name: str, value: Any) -> str:
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if not isinstance(value, str):
        raise UsageError(f"{name} must be a string, not {kind_of(value)}: {shown(value)}")
    return value


def _checked_on_failure(value: OnFailure | None) -> OnFailure | None:
    if value not in (None, "ask", "deny"):
        raise UsageError(f'on_failure must be "ask", "deny" or None, not {shown(value)}')
    return value
