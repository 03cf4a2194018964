"""What would change: recorded events, fired at the hooks there are now, and the rulings compared.

The hooks of today really run; tools, models and the recorded hooks never do.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from hookline.engine import SETTLED
from hookline.errors import HookError, TapeError, UsageError
from hookline.hooks import Hooks
from hookline.masking import Masking, filled, told
from hookline.model import BASE_FIELDS, REWRITES
from hookline.tape import Record, read

ASKED = (
    *("decision", "context", "messages", "tools", "halt", "suppress_output", "clear_context", "reminders", "error"),
    *REWRITES,
)
"""The parts of a ruling that ask something of the host; the others say how it came about."""

OUTCOME = ("decision", "error")
"""Those that a change is summed up by; the rest are effects."""

GIVEN_LATER = ("id", "source", "fired_at_turn", "originating_agent_id")
"""What a session adds to a hook's reminder."""

DONE = {"deny": "denied", "ask": "asked about", "allow": "allowed", "none": "allowed"}


class Change(Struct, frozen=True):
    """A ruling that would be another today. `seq` is the recorded ruling's."""

    seq: int
    event: str
    tool: str
    before: dict[str, Any]
    after: dict[str, Any]

    @property
    def planned(self) -> bool:
        """Whether only what would run was compared."""
        return "decision" not in self.before

    @property
    def turn(self) -> tuple[str, str]:
        """What was done, and what would be done, in a word each."""
        return _done(self.before), _done(self.after)

    @property
    def effects(self) -> list[str]:
        """What is asked of the host otherwise, besides the decision: context, a rewrite, a halt."""
        if self.planned:
            return []
        before, after = wish(self.before), wish(self.after)
        return [name for name in ASKED if name not in OUTCOME and before.get(name) != after.get(name)]

    @property
    def deciders(self) -> list[str]:
        """The hooks that make the difference: those that decide now, else those that decided then."""
        if self.planned:
            return sorted({*self.before["hooks"]} ^ {*self.after["hooks"]})
        both = (self.after, self.before)
        found = [deciders(ruling) for ruling in both if ruling["decision"] in ("deny", "ask") or "error" in ruling]
        return (found or [deciders(self.after) or deciders(self.before)])[0]

    def to_dict(self) -> dict[str, Any]:
        tool = {"tool": self.tool} if self.tool else {}
        effects = {"effects": self.effects} if self.effects else {}
        by = {"decided_by": self.deciders}
        return {
            "seq": self.seq,
            "event": self.event,
            **tool,
            "before": self.before,
            "after": self.after,
            **effects,
            **by,
        }


def _done(ruling: dict[str, Any]) -> str:
    if "error" in ruling:
        return f"stopped by an error in {ruling['stopped_by']}"
    return DONE[ruling.get("decision", "none")]


def deciders(ruling: dict[str, Any]) -> list[str]:
    """The hooks whose decision the ruling is; where a failure was made one, those that failed."""
    if "stopped_by" in ruling:
        return [ruling["stopped_by"]]
    reports, decision = ruling.get("hooks", []), ruling["decision"]
    found = [report["hook"] for report in reports if report["status"] == "ran" and report.get("decision") == decision]
    if found or decision not in ("deny", "ask"):
        return found if decision != "none" else []
    return [report["hook"] for report in reports if report["status"] in ("failed", "timeout")]


def changes(path: str, hooks: Hooks, *, plan_only: bool = False) -> Iterator[Change | None]:
    """For every recorded event what would change, or None where nothing would. Secrets in it are masked."""
    masking = Masking(values=told(os.environ))
    begun: dict[int, Record] = {}
    last = 0
    for record in read(path):
        if record.kind == "event":
            begun[record.seq], last = record, record.seq
        elif record.kind == "ruling" and (event := begun.pop(record.data.get("of", last), None)) is not None:
            try:
                after = _planned(event, hooks) if plan_only else _fired(event, hooks)
            except UsageError as error:
                broken = TapeError(f"{path}: record {event.seq}: hooks of today cannot be told of it: {error}")
                broken.line = event.seq
                raise broken from None
            yield _compared(event, record, after if plan_only else masking.record("ruling", after)[0], plan_only)
        elif record.data.get("loud"):
            begun.pop(record.data.get("of", last), None)  # it had no ruling


def _compared(event: Record, ruling: Record, after: dict[str, Any], plan_only: bool) -> Change | None:
    before = ruling.said
    if plan_only:
        before = {"event": before["event"], "hooks": [r["hook"] for r in before.get("hooks", []) if _due(r)]}
        same = before == after
    else:
        after = filled(after, before) if "masked" in ruling.data else after
        same = wish(before) == filled(wish(after), wish(before))
    return None if same else Change(ruling.seq, ruling.data["event"], _tool(event), before, after)


def wish(ruling: dict[str, Any]) -> dict[str, Any]:
    """What a ruling asks of the host. No opinion and an allow come to the same, except where permission was asked."""
    asked = {key: ruling[key] for key in ASKED if key in ruling}
    if asked.get("decision") == "allow" and ruling["event"] != "PermissionAsked":
        asked["decision"] = "none"
    if "reminders" in asked:
        asked["reminders"] = [_as_given(reminder) for reminder in asked["reminders"]]
    return asked


def _as_given(reminder: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in reminder.items() if key not in GIVEN_LATER}


def _fired(event: Record, hooks: Hooks) -> dict[str, Any]:
    try:
        ruling = hooks.fire(event.data["event"], **_arguments(event))
    except HookError as error:
        facts = {"error": str(error), "stopped_by": error.hook}
        return {"event": event.data["event"], "decision": "none", "healthy": False, **facts}
    return ruling.to_dict()


def _planned(event: Record, hooks: Hooks) -> dict[str, Any]:
    plan = hooks.explain(event.data["event"], **_arguments(event))
    return {"event": plan.event, "hooks": [entry.hook.name for entry in plan.entries if entry.runs]}


def _arguments(event: Record) -> dict[str, Any]:
    """The event's fields. A working directory that is not here, as on another machine, is this one."""
    base = {name: event.data[name] for name in BASE_FIELDS}
    if not os.path.isdir(base["cwd"]):
        base["cwd"] = os.getcwd()
    arguments: dict[str, Any] = base | event.data["payload"]
    return arguments


def _due(report: dict[str, Any]) -> bool:
    """Whether a plan would have it run: what another hook settled is known only afterwards."""
    return bool(report["status"] != "skipped" or report["skipped"].startswith(SETTLED))


def _tool(event: Record) -> str:
    return str(event.data["payload"].get("tool_name", ""))


def summary(found: list[Change]) -> list[str]:
    """The changes in sentences: what was done, and what would be done now."""
    turns = Counter(("", "") if change.planned else change.turn for change in found)
    effects: dict[tuple[str, str], Counter[str]] = {}
    for change in found:
        if not change.planned:
            effects.setdefault(change.turn, Counter()).update(change.effects)
    return [_sentence(number, *turn, effects.get(turn, Counter())) for turn, number in turns.most_common()]


def _sentence(number: int, before: str, now: str, effects: Counter[str]) -> str:
    if not before:
        return f"{number} event{'' if number == 1 else 's'} would run other hooks"
    events = "1 event that was" if number == 1 else f"{number} events that were"
    if before != now:
        return f"{events} {before} would now be {now}"
    other = ", ".join(f"{name} {times}" for name, times in effects.most_common())
    return f"{events} {before} would still be {now}, but with other effects ({other})"


def by_hook(found: list[Change]) -> dict[str, int]:
    """How many of the changes each hook makes, the most first."""
    return dict(Counter(hook for change in found for hook in change.deciders).most_common())
