"""Folding: from what each hook wants to what the host is asked to do. Pure functions.

deny > ask > allow > none, whatever the order. A deny drops every rewrite. Rewrites chain from wave
to wave; inside one wave the later in plan order wins, and a notice says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from msgspec.structs import replace

from hookline.events import ROWS
from hookline.matching import same
from hookline.model import RANK, Event, Halt, Hook, Notice, Ruling, Tools, Verdict

MODES = ("NONE", "ANY", "AUTO")
_T = TypeVar("_T")


def effects_of(verdict: Verdict) -> list[str]:
    """The effects a verdict asks for, in the words of the catalogue. An allow changes nothing, so it is none."""
    asked: list[str] = [verdict.decision] if verdict.decision in ("deny", "ask") else []
    asked += {**verdict.rewrites, **verdict.patches}
    asked += [name for name in ("context", "messages", "tools", "reminders") if getattr(verdict, name)]
    asked += [name for name in ("suppress_output", "clear_context") if getattr(verdict, name)]
    return asked + (["halt"] if verdict.halt is not None else [])


def admitted(verdict: Verdict, event: str, honoured: frozenset[str]) -> Verdict:
    """The verdict without the effects its dialect cannot have on this event; each one dropped is a notice."""
    dropped = [name for name in effects_of(verdict) if name not in honoured]
    if not dropped:
        return verdict
    changes: dict[str, object] = {
        "rewrites": {name: value for name, value in verdict.rewrites.items() if name in honoured},
        "patches": {name: value for name, value in verdict.patches.items() if name in honoured},
    }
    for name in dropped:
        if name in ("deny", "ask"):
            changes |= {"decision": "none", "reason": ""}
        elif name in ("halt", "tools"):
            changes[name] = None
        elif name in ("suppress_output", "clear_context"):
            changes[name] = False
        elif name in ("context", "messages", "reminders"):
            changes[name] = ()
    texts = tuple(f"{event} takes no {name} from it: ignored{_why(verdict, name)}" for name in dropped)
    return replace(verdict, notices=(*verdict.notices, *texts), **changes)


def _why(verdict: Verdict, name: str) -> str:
    return f" ({verdict.reason})" if name in ("deny", "ask") and verdict.reason else ""


def fold(ruling: Ruling, event: Event, wave: Sequence[tuple[Hook, Verdict]]) -> Ruling:
    """The ruling with the verdicts of one more wave."""
    verdicts = [verdict for _, verdict in wave]
    decision = max([ruling.decision, *[v.decision for v in verdicts]], key=RANK.__getitem__)
    reasons = [ruling.reason if ruling.decision == decision else ""]
    reasons += [v.reason for v in verdicts if v.decision == decision]
    halts = [ruling.halt.reason] if ruling.halt else []
    halts += [v.halt for v in verdicts if v.halt is not None]
    rewrites, notices = _rewrites(ruling, event, wave, denied=decision == "deny")
    return replace(
        ruling,
        decision=decision,
        reason=_lines(reasons),
        context=ruling.context + _all([v.context for v in verdicts]),
        messages=ruling.messages + _all([v.messages for v in verdicts]),
        rewrites=rewrites,
        tools=_tools([ruling.tools, *[v.tools for v in verdicts]]),
        halt=Halt(_lines(halts)) if halts else None,
        suppress_output=any([ruling.suppress_output, *[v.suppress_output for v in verdicts]]),
        clear_context=any([ruling.clear_context, *[v.clear_context for v in verdicts]]),
        reminders=ruling.reminders + _all([v.reminders for v in verdicts]),
        notices=ruling.notices + notices,
    )


def _rewrites(
    ruling: Ruling, event: Event, wave: Sequence[tuple[Hook, Verdict]], *, denied: bool
) -> tuple[dict[str, object], tuple[Notice, ...]]:
    done = dict(ruling.rewrites)
    writers: dict[tuple[str, str], Hook] = {}
    notices = []

    def writes(hook: Hook, name: str, key: str = "") -> None:
        if (name, key) in writers:
            what = f"{name}.{key}" if key else name
            notices.append(Notice(f"rewrites {what} over {writers[name, key].name}, which ran beside it", hook.source))
        writers[name, key] = hook

    for hook, verdict in wave:
        for name, value in verdict.rewrites.items():
            writes(hook, name)
            done[name] = value
        for name, patch in verdict.patches.items():
            for key in patch:
                writes(hook, name, key)
            done[name] = (done[name] if name in done else event.payload.get(name) or {}) | patch
    if denied:  # what would have been done is not; an answer given in its place stays
        own = ROWS[event.name].fields
        done = {name: value for name, value in done.items() if name not in (*own, "args")}
    return done, tuple(notices)


def _tools(asked: Sequence[Tools | None]) -> Tools | None:
    """The strictest mode; the union of the names, sorted; no names at all under NONE."""
    given = [tools for tools in asked if tools is not None]
    if not given:
        return None
    mode = next((mode for mode in MODES if any(tools.mode == mode for tools in given)), "AUTO")
    lists = [tools.allowed for tools in given if tools.allowed is not None]
    allowed = tuple(sorted(set(_all(lists)))) if lists else None
    return Tools(mode, () if mode == "NONE" else allowed)


def settles(verdict: Verdict) -> bool:
    """Whether nothing after this can change what happens: later waves need not run."""
    return verdict.decision == "deny" or verdict.halt is not None


Same = Callable[[str, Any, Any], bool]
"""Whether a rewrite of this name comes to what was there before."""


def unchanged(name: str, new: Any, before: Any) -> bool:
    try:
        return new is before or same(new, {} if name == "tool_input" and before is None else before)
    except Exception:  # noqa: BLE001  (a step's own objects may not let themselves be compared)
        return False


def differing(ruling: Ruling, payload: Mapping[str, Any], is_same: Same) -> Ruling:
    """The ruling without what hooks rewrote to what the event's payload had in the first place."""
    if not ruling.rewrites:
        return ruling
    step = payload.get("step")
    had = {**payload, **({"args": step.get("args")} if isinstance(step, dict) else {})}
    kept = {name: new for name, new in ruling.rewrites.items() if name not in had or not is_same(name, new, had[name])}
    return ruling if len(kept) == len(ruling.rewrites) else replace(ruling, rewrites=kept)


def amended(event: Event, ruling: Ruling, wave: Sequence[tuple[Hook, Verdict]] = ()) -> Event:
    """The event as the next wave sees it."""
    own = {name: value for name, value in ruling.rewrites.items() if name in event.payload}
    if "args" in ruling.rewrites and isinstance(event.payload.get("step"), dict):
        own["step"] = event.payload["step"] | {"args": ruling.rewrites["args"]}
    asides = dict(event.asides)
    for hook, verdict in wave:
        if verdict.aside:
            asides[hook.dialect] = asides.get(hook.dialect, {}) | verdict.aside
    return replace(event, payload=event.payload | own, asides=asides) if own or asides else event


def _all(parts: Iterable[Sequence[_T]]) -> tuple[_T, ...]:
    return tuple([item for part in parts for item in part])


def _lines(parts: Iterable[str]) -> str:
    return "\n".join(part for part in parts if part)
