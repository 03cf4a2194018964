"""The plan: which hooks an event concerns, in which waves they run, and why the others do not. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from msgspec import Struct

from hookline.model import Event, Hook


class Entry(Struct, frozen=True):
    """One hook considered: the wave it runs in (from 0), or the background, or why it is skipped."""

    hook: Hook
    wave: int = -1
    background: bool = False
    skipped: str = ""

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
            **({"wave": self.wave} if self.wave >= 0 else {}),
            **({"background": True} if self.background else {}),
            **({"skipped": self.skipped} if self.skipped else {}),
            **({"matcher": hook.matcher.text} if hook.matcher.text else {}),
            "argv": list(hook.action.argv),
            "timeout": hook.action.timeout,
        }


class Plan(Struct, frozen=True):
    """What an event would set in motion. `entries` holds every hook considered, in plan order."""

    event: str
    entries: tuple[Entry, ...] = ()

    @property
    def waves(self) -> list[list[Entry]]:
        running = [entry for entry in self.entries if entry.wave >= 0]
        return [list(wave) for _, wave in groupby(running, key=lambda entry: entry.wave)]

    @property
    def background(self) -> list[Entry]:
        return [entry for entry in self.entries if entry.background]

    @property
    def skips(self) -> list[Entry]:
        return [entry for entry in self.entries if entry.skipped]

    def to_dict(self) -> dict[str, Any]:
        return {"event": self.event, "hooks": [entry.to_dict() for entry in self.entries]}


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
    for hook, reason in chosen:
        if reason:
            entries.append(Entry(hook, skipped=reason))
        elif hook.background:
            entries.append(Entry(hook, background=True))
        else:
            joins = before is not None and hook.dialect in together and before.dialect == hook.dialect
            wave, before = (wave if joins else wave + 1), hook
            entries.append(Entry(hook, wave=wave))
    return Plan(event.name, tuple(entries))


def _why_not(hook: Hook, hooks: Sequence[Hook], event: Event, seen: dict[tuple[str, str], Hook]) -> str:
    if hook.barred:
        return hook.barred
    if hook.fallback and any(other.dialect == hook.dialect and not other.fallback for other in hooks):
        return f"only used where {hook.dialect} has no other {event.name} hook"
    if not hook.matcher.test(event):
        return f"no match: {hook.matcher.text}"
    first = seen.get((hook.dialect, hook.dedupe)) if hook.dedupe else None
    return f"duplicate of {first.name} ({first.source})" if first else ""


def _together(hooks: Sequence[Hook]) -> frozenset[str]:
    """The dialects whose hooks run side by side: one hook that wants to run alone makes all of them wait."""
    alone = {hook.dialect for hook in hooks if not hook.parallel}
    return frozenset(hook.dialect for hook in hooks) - alone
