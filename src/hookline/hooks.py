"""Hooks: what a person holds in their hand. Load configurations, register handlers, fire events, open sessions."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from hookline.dialects import dialect as dialect_named
from hookline.dialects import recognised, taken_for_another
from hookline.errors import ConfigError, UsageError
from hookline.firing import Firing, absolute
from hookline.handlers import Later, strictly
from hookline.model import Call, Digest, Hook, Level, Loaded, Notice, OnFailure, Report, Source
from hookline.parsing import parse, read_bytes
from hookline.registering import Registering
from hookline.tape import Durability, Tape
from hookline.wording import kind_of, shown

if TYPE_CHECKING:
    from hookline.results import Ask
    from hookline.session import Session


class Hooks(Registering, Firing):
    """An ordered set of hooks, of any dialects, that events are fired at. Safe to share between threads.

    `on_failure` says what a failing hook comes to: None lets the operation go on (and the ruling
    says so), "ask" and "deny" turn that round. `on_background` is called, on a background thread,
    with the report of every fire-and-forget hook when it has ended. `strict` takes nothing that would be
    passed over: what is odd in a file raises, and so does what means nothing in the answer of a Harn handler.
    """

    def __init__(
        self,
        *,
        on_failure: OnFailure | None = None,
        strict: bool = False,
        on_background: Callable[[Report], None] | None = None,
        clock: Callable[[], float] = time.time,
        new_id: Callable[[], str] | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(clock, _checked_on_failure(on_failure), on_background)
        self._strict, self._new_id = strict, new_id
        self._environ = os.environ if environ is None else environ

    def __iter__(self) -> Iterator[Hook]:
        return iter(self._registry)

    def __len__(self) -> int:
        return len(self._registry)

    def __repr__(self) -> str:
        count = Counter(hook.dialect for hook in self)
        kinds = ", ".join(f"{number} of {name}" for name, number in count.items())
        return f"<Hooks: {len(self)}{f' ({kinds})' if kinds else ''}>"

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What was noticed while loading."""
        return self._registry.notices

    def load(
        self,
        path: str | os.PathLike[str],
        dialect: str | None = None,
        *,
        strict: bool | None = None,
        root: str | os.PathLike[str] | None = None,
        on_failure: OnFailure | None = None,
        level: Level = "project",
    ) -> list[Hook]:
        """Add the hooks of a configuration file; they are returned.

        The dialect is recognised from the content where it is not named. A bad entry is a notice and
        the rest loads; `strict` (by default that of `Hooks`) raises a ConfigError instead. `root` is the
        directory that relative paths in the file belong to, where its dialect has such a thing; `level`
        says whose file it is, where its dialect orders hooks by that.
        """
        file = os.fspath(path)
        speaks = dialect_named(dialect) if dialect is not None else None
        data = read_bytes(file)
        try:
            document = parse(data, file, speaks.FORMAT if speaks else None)
        except ConfigError as error:
            if speaks and (hint := taken_for_another(data, file, speaks)):
                raise ConfigError(f"{str(error).removeprefix(f'{file}: ')}; {hint}", file=file) from None
            raise
        hint = taken_for_another(data, file, speaks) if speaks and not speaks.claims(document) else ""
        speaks = speaks or recognised(document, file)
        base = os.fspath(root) if root is not None else None
        loaded = speaks.read(document, file, root=base, environ=self._environ, level=level)
        if hint:
            loaded = replace(loaded, notices=(*loaded.notices, Notice(hint, Source(file))))
        if loaded.notices and (self._strict if strict is None else strict):
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
        hooks = list(map(strictly, hooks)) if self._strict else hooks
        disabled = {(dialect, name): f"disabled by {file}" for name in loaded.disabled}
        self._registry.add(hooks, disabled, loaded.notices)
        return hooks

    def session(
        self,
        id: str | None = None,  # noqa: A002  (it is what everybody calls it)
        cwd: str | os.PathLike[str] = ".",
        tape: str | os.PathLike[str] | None = None,
        approve: Callable[[Ask], Any] | None = None,
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

        _check_path("tape", tape)
        _check_path("replay", replay)
        if approve is not None and not callable(approve):
            given = f"{kind_of(approve)} {shown(approve)}"
            raise UsageError(f"approve is a function that gets the question, as in lambda ask: True, not {given}")
        if replay is not None:
            from hookline.replay import HostPlayer

            return HostPlayer(replay, tape).session(self, id)
        return Session(
            self,
            id=id if id is not None else self.new_id(),
            cwd=absolute(os.fspath(cwd)),
            tape=None if tape is None else partial(self._tape, os.path.abspath(tape), durability, mask),
            approve=approve,
            policy=Policy(allow, deny).checked(),
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


def _check_path(name: str, given: object) -> None:
    if given is not None and not isinstance(given, str | os.PathLike):
        if isinstance(given, Tape):
            raise UsageError(f"{name} is the path of a file, which the session opens itself: close this, name its path")
        raise UsageError(f"{name} is the path of a file, not {kind_of(given)} {shown(given)}")


def _checked_on_failure(value: OnFailure | None) -> OnFailure | None:
    if value not in (None, "ask", "deny"):
        raise UsageError(f'on_failure must be "ask", "deny" or None, not {shown(value)}')
    return value
