"""What holds a record together: the words and names in it that hookline itself wrote, and a replay needs. Pure.

What a hook, a tool or a host has said is never among them, whatever its key: the answer of a handler of Harn may have a
`status`, and a session's `source` is the host's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from hookline.spotting import shaped

Place = tuple[str | int, ...]
Fits = Callable[[str], object]

_DECISIONS = ("none", "allow", "ask", "deny")


def _words(*words: str) -> Fits:
    return frozenset(words).__contains__


def _name(text: str) -> object:
    """A name from the catalogue, or from the registry."""
    return re.fullmatch(r"[\w:.*]{1,80}", text) and not shaped(text)


_decision = _words(*_DECISIONS)
_dialect = _words("harness", "goose", "llxprt", "harn", "python")
_HOOK: dict[str, Fits] = {
    "event": _name,
    "handler": _name,
    "dialect": _dialect,
    "source": _name,
    "surface": _words("tool", "step", "session"),
    "on_failure": _decision,
    "result": _words(*_DECISIONS, "failed", "timeout", "block", *(f"decision_{word}" for word in _DECISIONS)),
    "decision": _decision,
}
_TOP: dict[str, dict[str, Fits]] = {
    "event": {"event": _name},
    "ruling": {"event": _name, "decision": _decision},
    "message": {"role": _words("user", "assistant", "model")},
    "approval": {"answer": _words("session")},
}
_REPORT = {
    "hook": _name,
    "dialect": _dialect,
    "source": _name,
    "status": _words("ran", "failed", "timeout", "skipped", "background"),
    "decision": _decision,
}
_REMINDER = {
    "source": _words("hook", "in_pipeline", "stdlib_provider", "bridge", "inherited"),
    "role_hint": _words("system", "developer", "user_block", "ephemeral_cache"),
    "propagate": _words("all", "session", "none"),
}
_PROCESS = {"status": _words("exited", "timeout", "unstartable", "lost")}
_VERDICT = {"decision": _decision, "literal": _decision}


def held(kind: str, data: dict[str, Any]) -> Iterator[Place]:
    """Where a record of this kind has words of hookline's own, or the names of its event and its hooks."""
    yield from _fitting((), data, _HOOK if kind.startswith("hook_") else _TOP.get(kind, {}))
    if kind == "hook_returned" and data.get("dialect") != "harn":
        yield from _fitting(("raw",), data.get("raw"), _VERDICT if data.get("dialect") == "python" else _PROCESS)
    if kind == "system_reminder":
        yield from _fitting(("reminder",), data.get("reminder"), _REMINDER)
    if kind == "ruling":
        yield from _each("hooks", data, _REPORT)
    if kind in ("ruling", "within"):
        yield from _each("reminders", data, _REMINDER)


def _each(key: str, data: dict[str, Any], fields: dict[str, Fits]) -> Iterator[Place]:
    below = data.get(key)
    for index, value in enumerate(below if isinstance(below, list) else ()):
        yield from _fitting((key, index), value, fields)


def _fitting(place: Place, value: Any, fields: dict[str, Fits]) -> Iterator[Place]:
    for key, fits in fields.items() if isinstance(value, dict) else ():
        word = value.get(key)
        if isinstance(word, str) and fits(word):
            yield *place, key
