"""Hooks: what a person holds in their hand. Load configurations, fire events, ask what would happen."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from hookline import engine, waiting
from hookline.background import Background, complain
from hookline.dialects import dialect as dialect_named
from hookline.dialects import recognised
from hookline.engine import Keep
from hookline.errors import ConfigError, UsageError
from hookline.events import Row, check, find
from hookline.handlers import Later
from hookline.model import (
    BASE_FIELDS,
    Call,
    Digest,
    Event,
    Hook,
    Job,
    Level,
    Loaded,
    Notice,
    OnFailure,
    Report,
    Ruling,
    compact,
)
from hookline.parsing import parse, read_bytes
from hookline.planning import Entry, Plan, planned
from hookline.registering import Registering
from hookline.registry import Registry
from hookline.tape import Durability, Tape, iso
from hookline.wording import kind_of, shown

if TYPE_CHECKING:
    from hookline.session import Session


class Hooks(Registering):
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
        new_id: Callable[[], str] | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self.on_failure = _checked_on_failure(on_failure)
        self.on_background = on_background
        self._clock = clock
        self._new_id = new_id
        self._environ = os.environ if environ is None else environ
        self._registry = Registry()
        self._background = Background()

    def __iter__(self) -> Iterator[Hook]:
        return iter(self._registry)

    def __len__(self) -> int:
        return len(self._registry)

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What was noticed while loading."""
        return self._registry.notices

    def load(
        self,
        path: str | os.PathLike[str],
        dialect: str | None = None,
        *,
        strict: bool = False,
        root: str | os.PathLike[str] | None = None,
        on_failure: OnFailure | None = None,
        level: Level = "project",
    ) -> list[Hook]:
        """Add the hooks of a configuration file; they are returned.

        The dialect is recognised from the content where it is not named. A bad entry is a notice and
        the rest loads; `strict` raises a ConfigError instead. `root` is the directory that relative
        paths in the file belong to, where its dialect has such a thing; `level` says whose file it is,
        where its dialect orders hooks by that.
        """
        file = os.fspath(path)
        speaks = dialect_named(dialect) if dialect is not None else None
        data = read_bytes(file)
        document = parse(data, file, speaks.FORMAT if speaks else None)
        speaks = speaks or recognised(document, file)
        base = os.fspath(root) if root is not None else None
        loaded = speaks.read(document, file, root=base, environ=self._environ, level=level)
        if strict and loaded.notices:
            raise ConfigError("\n".join(map(str, loaded.notices)))
        for hook in loaded.hooks:  # whoever names a file trusts it: its handlers are imported, and missed, now
            if isinstance(hook.action, Call) and isinstance(hook.action.handler, Later) and not hook.barred:
                hook.action.handler.load()
        return self._add(loaded, speaks.NAME, file, data, _checked_on_failure(on_failure))

    def discover(self, cwd: str | os.PathLike[str] = ".") -> list[Hook]:
        """Add the hooks this project and this user have; they are returned.

        A project's own hooks that nobody trusted yet are among them, barred. A file that cannot be read
        is a notice, and the rest loads.
        """
        from hookline.discovery import discovered  # most hosts name their files

        discovery = discovered(os.fspath(cwd), self._environ)
        self._registry.add((), notices=discovery.notices)
        return [
            hook
            for found in discovery.findings
            if found.loaded
            for hook in self._add(found.loaded, found.place.dialect, found.path, found.data)
        ]

    def _add(
        self, loaded: Loaded, dialect: str, file: str, data: bytes, on_failure: OnFailure | None = None
    ) -> list[Hook]:
        digest = Digest(data)
        hooks = [replace(hook, digest=digest, on_failure=hook.on_failure or on_failure) for hook in loaded.hooks]
        disabled = {(dialect, name): f"disabled by {file}" for name in loaded.disabled}
        self._registry.add(hooks, disabled, loaded.notices)
        return hooks

    def fire(self, event: str, /, *, tape: Tape | None = None, keep: Keep | None = None, **payload: Any) -> Ruling:
        """Fire an event; the ruling says what the hooks ask for. A hook process never makes this raise.

        `keep` is how a session takes over each reminder.
        """
        row, base = _understood(event, payload)
        if tape is None and not self._registry.of(row.name):
            return Ruling(row.name)  # nobody listens: nothing is built
        happened, planned = self._planned(row.name, payload, base, tape)
        ruling = waiting.block(engine.fire(happened, planned, tape=tape, on_failure=self.on_failure, keep=keep))
        return self._left_behind(ruling, happened, planned, tape)

    async def fire_async(
        self, event: str, /, *, tape: Tape | None = None, keep: Keep | None = None, **payload: Any
    ) -> Ruling:
        """The same for async hosts: the event loop goes on while hooks run."""
        row, base = _understood(event, payload)
        if tape is None and not self._registry.of(row.name):
            return Ruling(row.name)
        happened, planned = self._planned(row.name, payload, base, tape)
        steps = engine.fire(happened, planned, tape=tape, on_failure=self.on_failure, keep=keep)
        ruling = await waiting.on_loop(steps)
        return self._left_behind(ruling, happened, planned, tape)

    def session(
        self,
        id: str | None = None,  # noqa: A002  (it is what everybody calls it)
        cwd: str | os.PathLike[str] = ".",
        tape: str | os.PathLike[str] | None = None,
        approve: Callable[..., Any] | None = None,
        *,
        allow: Iterable[str] | None = None,
        deny: Iterable[str] = (),
        source: str = "startup",
        task: str = "",
        system: str = "",
        replay: str | os.PathLike[str] | None = None,
        durability: Durability = "flush",
        mask: bool | Iterable[str] = True,
    ) -> Session:
        """One run of an agent: `with hooks.session(tape="s1.jsonl", approve=ask_a_person) as s:`.

        `approve(ask)` is asked where a hook or the policy wants a person; `allow` and `deny` are globs on the
        names of tools. An existing tape is continued. `mask` and `durability` are those of `Tape`.

        With `replay` the calls are answered from that tape: no hook, tool, model or approver is called, all
        other options are the recorded ones, and `tape` gets a copy.
        """
        from hookline.permissions import Policy
        from hookline.session import Session

        if replay is not None:
            from hookline.replay import Player

            return Player(replay, tape).session(self, id)
        return Session(
            self,
            id=id if id is not None else self.new_id(),
            cwd=_absolute(os.fspath(cwd)),
            tape=None if tape is None else partial(self._tape, os.path.abspath(tape), durability, mask),
            approve=approve,
            policy=Policy(allow, deny),
            opening={"source": source, "task": task, "system": system},
        )

    def replay(
        self,
        tape: str | os.PathLike[str],
        copy: str | os.PathLike[str] | None = None,
        *,
        id: str | None = None,  # noqa: A002
    ) -> Session:
        """A recorded session once more, for a host that makes the same calls: `session(replay=tape, tape=copy)`."""
        return self.session(id, tape=copy, replay=tape)

    def _tape(self, path: str | os.PathLike[str], durability: Durability, mask: bool | Iterable[str]) -> Tape:
        return Tape(path, clock=self._clock, durability=durability, mask=mask, environ=self._environ)

    def new_id(self) -> str:
        """A made-up session id."""
        if self._new_id is not None:
            return self._new_id()
        from uuid import uuid4

        return str(uuid4())

    def explain(self, event: str, /, **payload: Any) -> Plan:
        """What firing this event would do: every hook considered, in order, and why. Runs nothing."""
        row, base = _understood(event, payload)
        return self._planned(row.name, payload, base, None)[1]

    def wait(self, session_id: str | None = None) -> None:
        """Wait for background hooks (of one session, or all); each has its own timeout."""
        self._background.wait(session_id)

    def after(self, session_ids: Sequence[str], work: Callable[[], None]) -> None:
        """Do this once the background hooks of these sessions have ended: now, or later on their thread."""
        self._background.after(session_ids, work)

    def _planned(
        self, name: str, payload: dict[str, Any], base: dict[str, str], tape: Tape | None
    ) -> tuple[Event, Plan]:
        event = Event(
            name,
            payload,
            session_id=base.get("session_id", ""),
            cwd=_absolute(base.get("cwd", "")),
            timestamp=base["timestamp"] if "timestamp" in base else iso(self._clock()),
            transcript_path=base.get("transcript_path", tape.path if tape else ""),
        )
        return event, planned(self._registry.of(name), event)

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


def discover(
    cwd: str | os.PathLike[str] = ".",
    *,
    on_failure: OnFailure | None = None,
    on_background: Callable[[Report], None] | None = None,
    clock: Callable[[], float] = time.time,
    environ: Mapping[str, str] | None = None,
) -> Hooks:
    """The hooks this project and this user have, with trust applied. `environ` says where the user's files are."""
    hooks = Hooks(on_failure=on_failure, on_background=on_background, clock=clock, environ=environ)
    hooks.discover(cwd)
    return hooks


def _too_many(ruling: Ruling, entries: Sequence[Entry]) -> Ruling:
    why = "too many background hooks are waiting"
    hooks = tuple(
        replace(report, status="skipped", skipped=why) if report.status == "background" else report
        for report in ruling.hooks
    )
    notices = tuple(Notice(f"{entry.hook.name} was not run: {why}", entry.hook.source) for entry in entries)
    return replace(ruling, hooks=hooks, notices=ruling.notices + notices)


def _understood(name: str, payload: dict[str, Any]) -> tuple[Row, dict[str, str]]:
    """Which event is meant, and its base fields, which leave the payload. A mistake of the caller raises here."""
    row, base = find(name), {}
    for key in BASE_FIELDS:
        if key in payload:
            value = payload.pop(key)
            base[key] = value if value.__class__ is str else _base_field(key, value)
    check(row, payload)
    return row, base


@lru_cache(maxsize=64)  # an agent works in the same few directories all the time
def _normal(path: str) -> str:
    return os.path.normpath(path)


def _absolute(path: str) -> str:
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


def _checked_on_failure(value: OnFailure | None) -> OnFailure | None:
    if value not in (None, "ask", "deny"):
        raise UsageError(f'on_failure must be "ask", "deny" or None, not {shown(value)}')
    return value
