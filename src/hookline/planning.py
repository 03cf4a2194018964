"""The plan: which hooks an event concerns, in which waves they run, and why the others do not. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hookline.model import Call, Event, Hook, Report
from hookline.registry import Listeners

REMEMBERED = 1000
"""Plans kept for the values of one field: the names of an agent's tools are few, its prompts are not."""


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


def planned(listeners: Listeners, event: Event) -> Plan:
    """The plan of an event, remembered where it depends on one field only."""
    if not listeners:
        return Plan(event.name)
    if listeners.field is None:
        return plan(listeners, event)
    value = event.payload.get(listeners.field)
    if value is not None and value.__class__ is not str:
        return plan(listeners, event)
    found = listeners.memo.get(value)
    if found is None:
        if len(listeners.memo) >= REMEMBERED:
            listeners.memo.clear()
        found = listeners.memo[value] = plan(listeners, event)
    return found


def plan(hooks: Sequence[Hook], event: Event) -> Plan:
    """Who runs, together with whom, and who does not, and why."""
    chosen: list[tuple[Hook, str]] = []
    seen: dict[tuple[str, str], Hook] = {}
    for hook in hooks:
        reason = _why_not(hook, hooks, event, seen)
        if not reason and hook.dedupe:
            seen[hook.dialect, hook.dedupe] = hook
        chosen.append((hook, reason))
    together = _together([hook for hook, reason in chosen if not reason])
    entries: list[Entry] = []
    wave, before = -1, None
    for index, (hook, reason) in enumerate(chosen):
        late = hook.matcher.field is None and before is not None
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


def _why_not(hook: Hook, hooks: Sequence[Hook], event: Event, seen: dict[tuple[str, str], Hook]) -> str:
    if hook.barred:
        return hook.barred
    if hook.fallback and any(o.dialect == hook.dialect and not o.fallback and not o.barred for o in hooks):
        return f"only used where {hook.dialect} has no other {event.name} hook"
    if not hook.matcher.test(event):
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
