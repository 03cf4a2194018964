"""Reminders: texts the model is shown with every call until they age, are replaced or are cleared.

    spec --reminder--> Reminder --inject--> pending --age, compact, clear--> pending --rendered--> text in a prompt
                                            pending --inherited--> what a child session starts with

The pending reminders of a session are a tuple in the order the model reads them; every function here
takes one and returns a new one. Turns count from 0. `fired_at_turn` is the turn whose model call is the
first to show the reminder, so a ttl of n means: shown in n model calls.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any, Literal, get_args

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from hookline.errors import UsageError
from hookline.wording import nearest, shown

Propagate = Literal["all", "session", "none"]
RoleHint = Literal["system", "developer", "user_block", "ephemeral_cache"]
Origin = Literal["hook", "in_pipeline", "stdlib_provider", "bridge", "inherited"]

KEYS = ("body", "tags", "dedupe_key", "ttl_turns", "preserve_on_compact", "propagate", "role_hint")
"""What a hook may say of a reminder; the rest is filled in for it."""


class Reminder(Struct, frozen=True):
    """One text for the model. Without `ttl_turns` it stays until it is cleared or compacted away."""

    id: str
    body: str
    tags: tuple[str, ...] = ()
    dedupe_key: str | None = None
    ttl_turns: int | None = None
    preserve_on_compact: bool = False
    propagate: Propagate = "session"
    role_hint: RoleHint = "system"
    source: Origin = "hook"
    fired_at_turn: int = 0
    originating_agent_id: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Every field, as the tape has it."""
        return {**to_builtins(self), "tags": list(self.tags)}


Pending = tuple[Reminder, ...]


class Change(Struct, frozen=True):
    """What became of the pending reminders: those there are now, and those that went."""

    pending: Pending
    removed: Pending = ()


class Compaction(Struct, frozen=True):
    """What a compaction makes of the pending reminders.

    `survivors` are what the compactor is shown, `pending` those of them that stay afterwards. The
    others are gone: `expired` had reached their ttl, `deduped` had a newer one with their key,
    `dropped` did not ask to be preserved.
    """

    survivors: Pending
    pending: Pending
    expired: Pending
    deduped: Pending
    dropped: Pending


def reminder_id(session_id: str, index: int) -> str:
    """The id of the reminder at this place of the session's tape: the same again when it is replayed."""
    return "rem_" + hashlib.sha256(f"{session_id}\n{index}".encode("utf-8", "surrogatepass")).hexdigest()[:24]


def first_turn(turn: int, *, model_called: bool) -> int:
    """The `fired_at_turn` of what is injected during this turn, before or after the turn's model call."""
    return turn + 1 if model_called else turn


def reminder(
    spec: Any,
    *,
    id: str,  # noqa: A002  (it is the field's name)
    event: str = "",
    source: Origin = "hook",
    fired_at_turn: int = 0,
) -> Reminder:
    """A reminder from what a hook, or the host, wrote. Raises UsageError, with the event's name where one is given."""
    said = _Spec(spec, f"{event} hook reminder" if event else "reminder")
    return Reminder(
        id=id,
        body=said.body(),
        tags=said.tags(),
        dedupe_key=said.dedupe_key(),
        ttl_turns=said.ttl_turns(),
        preserve_on_compact=said.preserve_on_compact(),
        propagate=said.choice("propagate", get_args(Propagate), "session"),
        role_hint=said.choice("role_hint", get_args(RoleHint), "system"),
        source=source,
        fired_at_turn=fired_at_turn,
    )


class _Spec:
    """Reads a spec key by key; None is as good as absent everywhere but for the body."""

    def __init__(self, spec: Any, where: str) -> None:
        self._where = where
        if not isinstance(spec, Mapping):
            raise UsageError(f"{where}: takes a dict such as {{'body': 'text'}}, not {shown(spec)}")
        for key in spec:
            if key not in KEYS:
                known = f"a reminder takes {', '.join(KEYS)}"
                raise UsageError(f"{where}: there is no key {shown(key)}; {known}{nearest(str(key), KEYS)}")
        self._spec = spec

    def body(self) -> str:
        if "body" not in self._spec:
            raise UsageError(f"{self._where}: body is missing; it takes text that is not blank")
        body = self._spec["body"]
        if not isinstance(body, str) or not body.strip():
            raise self._wrong("body", body, "text that is not blank")
        return body  # untrimmed: white space may be part of what the model should read

    def tags(self) -> tuple[str, ...]:
        tags = self._spec.get("tags")
        takes = "a list of texts that are not blank"
        if tags is None:
            return ()
        if not isinstance(tags, list | tuple):
            raise self._wrong("tags", tags, takes)
        for tag in tags:
            if not isinstance(tag, str) or not tag.strip():
                raise self._wrong("tags", tags, f"{takes}, which {shown(tag)} is not")
        return tuple(dict.fromkeys(tag.strip() for tag in tags))

    def dedupe_key(self) -> str | None:
        key = self._spec.get("dedupe_key")
        if key is not None and not isinstance(key, str):
            raise self._wrong("dedupe_key", key, "text, or None for no key")
        return (key or "").strip() or None

    def ttl_turns(self) -> int | None:
        turns = self._spec.get("ttl_turns")
        if turns is None:
            return None
        if isinstance(turns, bool) or not isinstance(turns, int) or turns < 1:
            raise self._wrong("ttl_turns", turns, "a whole number above 0, or None for no end")
        return turns

    def preserve_on_compact(self) -> bool:
        preserve = self._spec.get("preserve_on_compact")
        if preserve is not None and not isinstance(preserve, bool):
            raise self._wrong("preserve_on_compact", preserve, "True or False")
        return bool(preserve)

    def choice(self, key: str, known: tuple[str, ...], default: str) -> Any:
        value = self._spec.get(key)
        if value is None:
            return default
        if value not in known:
            meant = nearest(value, known) if isinstance(value, str) else ""
            raise self._wrong(key, value, f"one of {', '.join(map(repr, known))}{meant}")
        return value

    def _wrong(self, key: str, value: Any, takes: str) -> UsageError:
        return UsageError(f"{self._where}: {key} is {shown(value)}; it takes {takes}")


def inject(pending: Pending, new: Reminder) -> Change:
    """The new one at the end; every earlier one with its key is removed."""
    if new.dedupe_key is None:
        return Change((*pending, new))
    change = _without(pending, lambda r: r.dedupe_key == new.dedupe_key)
    return Change((*change.pending, new), change.removed)


def age(pending: Pending, turn: int) -> Change:
    """The pass after a completed turn: one call less to live for all the turn's model call has shown."""
    done, removed = [], []
    for one in pending:
        if one.ttl_turns is None or one.fired_at_turn > turn:
            done.append(one)
        elif one.ttl_turns <= 1:
            removed.append(one)
        else:
            done.append(replace(one, ttl_turns=one.ttl_turns - 1))
    return Change(tuple(done), tuple(removed))


def clear(
    pending: Pending,
    *,
    id: str | None = None,  # noqa: A002  (it is the field's name)
    tag: str | None = None,
    dedupe_key: str | None = None,
) -> Change:
    """Remove those that every given selector fits."""
    selectors = {"id": id, "tag": tag, "dedupe_key": dedupe_key}
    for name, value in selectors.items():
        if value is not None and (not isinstance(value, str) or not value.strip()):
            raise UsageError(f"clear reminders: {name} is {shown(value)}; it takes text that is not blank")
    wanted = {name: value.strip() for name, value in selectors.items() if value is not None}
    if not wanted:
        raise UsageError("clear reminders: say which: id='…', tag='…' or dedupe_key='…' (all that are given must fit)")
    return _without(pending, lambda r: all(_fits(r, name, value) for name, value in wanted.items()))


def _without(pending: Pending, goes: Callable[[Reminder], bool]) -> Change:
    return Change(tuple(r for r in pending if not goes(r)), tuple(r for r in pending if goes(r)))


def _fits(one: Reminder, selector: str, value: str) -> bool:
    return value in one.tags if selector == "tag" else bool(getattr(one, selector) == value)


def compact(pending: Pending, turn: int) -> Compaction:
    """What a compaction in this turn makes of them: age, collapse keys to the newest, keep what is preserved."""
    aged = age(pending, turn)
    newest = {r.dedupe_key: r for r in aged.pending}  # the last of a key wins
    survivors = tuple(r for r in aged.pending if r.dedupe_key is None or newest[r.dedupe_key] is r)
    return Compaction(
        survivors=survivors,
        pending=tuple(r for r in survivors if r.preserve_on_compact),
        expired=aged.removed,
        deduped=tuple(r for r in aged.pending if r.dedupe_key is not None and newest[r.dedupe_key] is not r),
        dropped=tuple(r for r in survivors if not r.preserve_on_compact),
    )


def inherited(pending: Pending, agent_id: str) -> Pending:
    """What a child of this agent starts with. `session` reaches children, not their children.

    A child counts its own turns, so what it inherits is due in its first.
    """
    return tuple(
        replace(r, source="inherited", originating_agent_id=r.originating_agent_id or agent_id, fired_at_turn=0)
        for r in pending
        if r.propagate == "all" or (r.propagate == "session" and r.source != "inherited")
    )


def rendered(pending: Pending, *, xml: bool = False) -> str:
    """The reminders as text for a prompt, a blank line between; `xml` for the models that prefer tags."""
    return "\n\n".join(_tagged(r.body) if xml else f"System reminder:\n{r.body}" for r in pending)


def _tagged(body: str) -> str:
    escaped = body.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return f"<system-reminder>\n{escaped}\n</system-reminder>"
