"""What is done to a session while something runs that a replay does not call: a tool, a model, a person, a handler.

Whatever they do to it from inside (an edit told, a reminder injected, a call made) counts later on. So the tape gets,
when such a span ends, what of the session's memory changed: a `within` record, from which a replay has it, too.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from types import TracebackType
from typing import Any

from hookline.errors import TapeError

_SPAN: ContextVar[Span | None] = ContextVar("hookline_span", default=None)
"""The span that runs, maybe inside of another. Tasks of an event loop have their own."""


Memory = Callable[[], dict[str, Any]]
"""Tells all that counts later on of one session, as JSON, with the session's id; a new value each time."""


class Span:
    """One of them. It notes, of each session that is about to be changed, what it remembered `before`."""

    def __init__(self, spans: Spans, tell: Callable[[dict[str, Any]], None]) -> None:
        self.spans, self._tell = spans, tell
        self.before: dict[Memory, dict[str, Any]] = {}
        self.told: dict[Memory, set[str]] = {}
        self.outer: Span | None = None

    def __enter__(self) -> None:
        self.outer = _SPAN.get()
        _SPAN.set(self)
        self.spans.open.append(self)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.spans.open.remove(self)
        _SPAN.set(self.outer)
        if isinstance(error, TapeError):  # there is no tape to tell it to
            return
        for memory, before in self.before.items():
            told, now = self.told.get(memory, set()), memory()
            changed = {name: value for name, value in now.items() if name in told or value != before[name]}
            if changed:
                self._tell({"session_id": now["session_id"], **changed})
                if self.outer is not None:  # whoever ends later has the last word on it
                    self.outer.told.setdefault(memory, set()).update(changed)


class Spans:
    """The spans that run in the sessions of one tape."""

    def __init__(self) -> None:
        self.open: list[Span] = []

    def called(self, memory: Memory) -> None:
        """A call of a session begins. Inside of a span a replay does not make it again."""
        self._touched(memory, _SPAN.get())

    def changing(self, memory: Memory) -> None:
        """Something is about to be added to a session, or taken from it.

        On a thread that a tool has started nothing tells which span that is: then it is one of those that are open.
        """
        if (inside := _SPAN.get()) is not None:
            self._touched(memory, inside)
        else:
            for span in [*self.open]:
                self._touched(memory, span)

    def gone(self, memory: Memory) -> None:
        """A session has ended: nothing of it counts any more."""
        for span in [*self.open]:
            span.before.pop(memory, None)

    def _touched(self, memory: Memory, span: Span | None) -> None:
        while span is not None:
            if span.spans is self and memory not in span.before:
                span.before[memory] = memory()
            span = span.outer
