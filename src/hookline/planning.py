"""The plan: which hooks an event concerns, in which waves they run, and why the others do not. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hookline.model import READINGS, Call, Event, Hook, Report
from hookline.registry import Listeners


class Entry(Struct, frozen=True):
    """One hook considered: the wave it runs in (from 0), or the background, or why it is skipped.

    A `late` hook looks at what an earlier one may rewrite, so it is looked at once more when its turn
    comes. With a wave *and* a reason it is skipped, unless a rewrite makes it match.
    """

    hook: Hook
    index: int
    wave: int = -1
    background: bool = False
    skipped: str = ""
    late: bool = False

    @property
    def runs(self) -> bool:
        return not self.skipped

    def to_dict(self) -> dict[str, Any]:
        hook = self.hook
        return {
            "hook": hook.name,
            "dialect": hook.dialect,
            "source": str(hook.source),
            "runs": self.runs,
            **({"wave": self.wave} if self.wave >= 0 and self.runs else {}),
            **({"background": True} if self.background else {}),
            **({"skipped": self.skipped} if self.skipped else {}),
            **({"matcher": hook.matcher.text} if hook.matcher.text else {}),
            **hook.action.to_dict(),
        }


class Plan(Struct, frozen=True):
    """What an event would set in motion. `entries` holds every hook considered, in plan order.

    `reports` has, for each of them, the report that is known before anything runs: of a hook that is to run,
    that of one that has nothing to say. `calls` are those that run, where they are all Python handlers, one after
    another, and nothing else is to be done; else None.
    """

    event: str
    entries: tuple[Entry, ...] = ()
    waves: tuple[tuple[Entry, ...], ...] = ()
    background: tuple[Entry, ...] = ()
    skips: tuple[Entry, ...] = ()
    reports: tuple[Report, ...] = ()
    calls: tuple[Entry, ...] | None = ()

    def to_dict(self) -> dict[str, Any]:
        return {"event": self.event, "hooks": [entry.to_dict() for entry in self.entries]}


MISSING: Any = object()
"""A field that is not there: None is a value."""


def planned(listeners: Listeners, event: Event) -> Plan:
    """The plan of an event. It is remembered for the values of the fields that its hooks look at, and for what those
    of them say that look at more.
    """
    if not listeners:
        return Plan(event.name)
    values = _values(listeners.fields, event.payload)
    try:
        known: Any = listeners.known.get(values)
    except TypeError:  # a list, say
        return plan(listeners, event)
    if isinstance(known, Plan):
        return known
    if known is None:
        if not all(value is None or value is MISSING or value.__class__ is str for value in values):
            return plan(listeners, event)
        asking = _asking(listeners, event)
        known = _kept(listeners.known, values, asking or _plan(listeners, event, {}), listeners.many)
        if isinstance(known, Plan):
            return known
    held = tuple([rest(event) for _, rest in known])
    found: Plan | None = listeners.held.get((values, held))
    if found is None:
        holds = {index: answer for (index, _), answer in zip(known, held, strict=True)}
        found = _kept(listeners.held, (values, held), _plan(listeners, event, holds), listeners.many)
    return found


def _values(fields: tuple[str, ...], payload: dict[str, Any]) -> tuple[Any, ...]:
    """What there is of these fields."""
    return tuple([payload[name] if name in payload else _read(name, payload) for name in fields])


def _read(name: str, payload: dict[str, Any]) -> Any:
    reading = READINGS.get(name)
    return MISSING if reading is None else reading(payload)


def _kept(memo: dict[Any, Any], key: Any, value: Any, many: int) -> Any:
    if len(memo) >= many:
        memo.clear()
    memo[key] = value
    return value


def _asking(hooks: Sequence[Hook], event: Event) -> tuple[tuple[int, Callable[[Event], bool]], ...]:
    """The hooks that fit the values of the event, and look at more; by their place."""
    return tuple(
        (index, hook.matcher.rest)
        for index, hook in enumerate(hooks)
        if hook.matcher.rest is not None and not hook.barred and hook.matcher.fits(event)
    )


def plan(hooks: Sequence[Hook], event: Event) -> Plan:
    """Who runs, together with whom, and who does not, and why."""
    return _plan(hooks, event, {index: rest(event) for index, rest in _asking(hooks, event)})


def _plan(hooks: Sequence[Hook], event: Event, holds: Mapping[int, bool]) -> Plan:
    """The same; `holds` says of the hooks that look at more whether that was so."""
    chosen: list[tuple[Hook, str]] = []
    seen: dict[tuple[str, str], Hook] = {}
    for index, hook in enumerate(hooks):
        reason = _why_not(hook, hooks, event, seen, holds.get(index))
        if not reason and hook.dedupe:
            seen[hook.dialect, hook.dedupe] = hook
        chosen.append((hook, reason))
    together = _together([hook for hook, reason in chosen if not reason])
    entries: list[Entry] = []
    wave, before = -1, None
    for index, (hook, reason) in enumerate(chosen):
        late = index in holds and before is not None
        if hook.background and not reason:
            entries.append(Entry(hook, index, background=True))
        elif reason and not (late and reason.startswith(NO_MATCH)):
            entries.append(Entry(hook, index, skipped=reason))
        else:
            joins = before is not None and hook.dialect in together and before.dialect == hook.dialect
            wave, before = (wave if joins else wave + 1), hook
            entries.append(Entry(hook, index, wave=wave, late=late, skipped=reason))
    return assembled(event.name, entries)


def assembled(event: str, entries: Sequence[Entry]) -> Plan:
    """The plan of these entries, which are in plan order."""
    grouped = groupby((entry for entry in entries if entry.wave >= 0), key=lambda entry: entry.wave)
    waves = tuple(tuple(group) for _, group in grouped)
    background = tuple(entry for entry in entries if entry.background)
    return Plan(
        event=event,
        entries=tuple(entries),
        waves=waves,
        background=background,
        skips=tuple(entry for entry in entries if entry.wave < 0 and entry.skipped),
        reports=tuple(_known(entry) for entry in entries),
        calls=None if background else _calls(waves),
    )


def _calls(waves: Sequence[tuple[Entry, ...]]) -> tuple[Entry, ...] | None:
    """The entries of these waves, if each is one Python handler that is sure to run."""
    if all(len(wave) == 1 and not wave[0].late and isinstance(wave[0].hook.action, Call) for wave in waves):
        return tuple(wave[0] for wave in waves)
    return None


NO_MATCH = "no match: "


def _why_not(
    hook: Hook, hooks: Sequence[Hook], event: Event, seen: dict[tuple[str, str], Hook], holds: bool | None
) -> str:
    if hook.barred:
        return hook.barred
    if hook.fallback and any(o.dialect == hook.dialect and not o.fallback and not o.barred for o in hooks):
        return f"only used where {hook.dialect} has no other {event.name} hook"
    if not (hook.matcher.fits(event) if holds is None else holds):
        return f"{NO_MATCH}{hook.matcher.text}"
    first = seen.get((hook.dialect, hook.dedupe)) if hook.dedupe else None
    return f"duplicate of {first.name} ({first.source})" if first else ""


def _together(hooks: Sequence[Hook]) -> frozenset[str]:
    """The dialects whose hooks run side by side: one hook that wants to run alone makes all of them wait."""
    alone = {hook.dialect for hook in hooks if not hook.parallel}
    return frozenset(hook.dialect for hook in hooks) - alone


def _known(entry: Entry) -> Report:
    if entry.background:
        return report_of(entry.hook, "background")
    if entry.wave < 0:
        return report_of(entry.hook, "skipped", entry.skipped)
    return replace(report_of(entry.hook, "ran"), decision="none", success=True)


def report_of(hook: Hook, status: Any, skipped: str = "") -> Report:
    return Report(hook=hook.name, dialect=hook.dialect, source=str(hook.source), status=status, skipped=skipped)
