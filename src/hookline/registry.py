"""The hooks there are, in the order they came, by event. What may not run stays in the list, with the reason."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Self

from msgspec.structs import replace

from hookline.model import Hook, Notice

REMEMBERED = 1000
"""Plans kept for the values of some fields: the names of an agent's tools are few, those of its files are not."""

REPORTS, FEWEST = 200_000, 16
"""Plans of many hooks are large: so many reports are kept in all, but so many plans at the least."""


class Listeners(tuple[Hook, ...]):
    """The hooks of one event, in order.

    `fields` are those that their matchers look at. `known` has the plan for their values, or, where some of the hooks
    that fit them ask for more, these; `held` has the plans for what they say. `shortcuts` has, by tool, the short way
    through its plan, or None (see shortcuts.py). The hooks never change, only the whole tuple does. So `many` are kept.
    """

    fields: tuple[str, ...]
    many: int
    known: dict[Any, Any]
    held: dict[Any, Any]
    shortcuts: dict[str, Any]

    def __new__(cls, hooks: Iterable[Hook] = ()) -> Self:
        made = super().__new__(cls, hooks)
        made.fields = tuple(sorted({field for hook in made for field in hook.matcher.fields}))
        made.many = max(FEWEST, min(REMEMBERED, REPORTS // max(1, len(made))))
        made.known, made.held, made.shortcuts = {}, {}, {}
        return made


NOBODY = Listeners()


class Registry:
    """Ordered hooks. Readers never wait: every change puts new tuples in the place of the old ones."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.notices: tuple[Notice, ...] = ()
        self._hooks: tuple[Hook, ...] = ()
        self._by_event: dict[str, Listeners] = {}
        self._disabled: dict[tuple[str, str], str] = {}
        self.shortcuts = NOBODY.shortcuts

    def add(
        self,
        hooks: Iterable[Hook],
        disabled: Mapping[tuple[str, str], str] | None = None,
        notices: tuple[Notice, ...] = (),
    ) -> None:
        """Add hooks, and what was noticed while they were read.

        `disabled` says, by dialect and name, which hooks must not run, wherever they are from, and why.
        """
        with self._lock:
            self.notices += notices
            if disabled:
                self._disabled |= disabled
                self._hooks = tuple([self._allowed(hook) for hook in self._hooks])
            new = tuple([self._allowed(hook) for hook in hooks])
            events = {hook.event for hook in (self._hooks if disabled else ())} | {hook.event for hook in new}
            self._put((*self._hooks, *new), events)

    def remove(self, goes: Callable[[Hook], bool]) -> int:
        """Remove hooks; how many went. An event that is being fired goes on with those it had."""
        with self._lock:
            gone = [hook for hook in self._hooks if goes(hook)]
            if gone:
                kept = tuple([hook for hook in self._hooks if not goes(hook)])
                self._put(kept, {hook.event for hook in gone})
            return len(gone)

    def _put(self, hooks: tuple[Hook, ...], changed: set[str]) -> None:
        """The hooks there are from now on; `changed` names the events that are not as they were."""
        self._hooks = hooks
        found = {event: Listeners(_ordered([hook for hook in hooks if hook.event == event])) for event in changed}
        self._by_event = {event: some for event, some in (self._by_event | found).items() if some}
        self.shortcuts = self.of("PreToolUse").shortcuts

    def _allowed(self, hook: Hook) -> Hook:
        why = self._disabled.get((hook.dialect, hook.name), "")
        return replace(hook, barred=why) if why and not hook.barred else hook

    def of(self, event: str) -> Listeners:
        return self._by_event.get(event, NOBODY)

    def __iter__(self) -> Iterator[Hook]:
        return iter(self._hooks)

    def __len__(self) -> int:
        return len(self._hooks)


def _ordered(hooks: list[Hook]) -> tuple[Hook, ...]:
    """In the order they came; a dialect with priorities sorts its own hooks among the places they hold."""
    sorted_by_dialect = {
        name: iter(sorted((h for h in hooks if h.dialect == name), key=lambda h: h.priority))
        for name in {h.dialect for h in hooks}
    }
    return tuple(next(sorted_by_dialect[hook.dialect]) for hook in hooks)
