"""The hooks there are, in the order they came, by event. What may not run stays in the list, with the reason."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator

from hookline.model import Hook


class Registry:
    """Ordered hooks. Readers never wait: every change puts new tuples in the place of the old ones."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._hooks: tuple[Hook, ...] = ()
        self._by_event: dict[str, tuple[Hook, ...]] = {}

    def add(self, hooks: Iterable[Hook]) -> None:
        with self._lock:
            self._hooks = (*self._hooks, *hooks)
            by_event: dict[str, list[Hook]] = {}
            for hook in self._hooks:
                by_event.setdefault(hook.event, []).append(hook)
            self._by_event = {event: _ordered(found) for event, found in by_event.items()}

    def of(self, event: str) -> tuple[Hook, ...]:
        return self._by_event.get(event, ())

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
