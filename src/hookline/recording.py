"""What the engine puts on the tape of each step: for every dialect the same kinds, in the same order.

    event, hook_skipped*, then for each hook hook_call, hook_returned, its system_reminders, hook_vetoed?, then ruling

A handler that raised has a `hook_raised` in the place of `hook_returned`; a `loud` one went through to the host, and
no ruling follows, as where the host itself was `interrupted` while hooks ran. Every record of a hook names the hook,
its dialect, its source and the digest of the file it came from, and a call has all that a replay needs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Protocol

from hookline.compacting import compact
from hookline.dialects import dialect
from hookline.errors import UsageError
from hookline.events import ROWS
from hookline.model import Command, Event, Hook, Job, OnFailure, Outcome, Report, Ruling, Verdict
from hookline.wording import told

BY_DEFAULT = re.compile(r"permission (granted|denied|not decided) by session hook")
"""The reason a decision of Harn's gets that gave none."""


class Take(Protocol):
    """Where every step is written before the next one happens."""

    def append(self, kind: str, data: dict[str, Any], *, last: bool = False) -> None:
        """Write a record. After the `last` one of an event nothing more comes of it."""


class Tape(Take, Protocol):
    """Where events are written, too."""

    def take(self, event: dict[str, Any]) -> Take:
        """Write an event; where the records of its hooks go."""


def happened(tape: Tape, event: Event) -> Take:
    return tape.take(event.to_dict())


def skipped(tape: Take, hook: Hook, event: Event, reason: str) -> None:
    tape.append("hook_skipped", {**_named(hook, event), "reason": reason})


def called(tape: Take, job: Job, event: Event, on_failure: OnFailure | None) -> None:
    hook = job.hook
    insists = hook.on_failure or on_failure
    facts: dict[str, Any] = {"timeout": hook.action.timeout} if isinstance(hook.action, Command) else {}
    facts |= {"on_failure": insists} if insists and not hook.background else {}
    facts |= {"background": True} if hook.background else {}
    surface = ROWS[event.name].surface
    tape.append("hook_call", {**_named(hook, event), "surface": surface, "payload": job.payload, **facts})


def returned(tape: Take, hook: Hook, event: Event, outcome: Outcome, *, report: Report, verdict: Verdict) -> None:
    named = _named(hook, event) | ({"background": True} if hook.background else {})
    if outcome.status == "raised":
        tape.append("hook_raised", {**named, "error": outcome.error, "duration_ms": outcome.duration_ms})
    elif outcome.status == "returned" and verdict.failed and (outcome.error or not _is_json(outcome.value)):
        data = {"error": verdict.failed, "duration_ms": outcome.duration_ms, "raw": _shown(outcome.value)}
        tape.append("hook_raised", {**named, **data})
    else:
        silent = dialect(hook.dialect).SILENT if report.decision == "none" else report.decision
        result = report.status if report.status != "ran" else verdict.result or silent
        bodies = (str(reminder.get("body", "")) for reminder in verdict.reminders)
        injected = sum(len(text) for text in (*verdict.context, *verdict.messages, *bodies))
        raw = _shown(outcome.value) if hook.dialect == "harn" and outcome.value is not None else outcome.raw()
        data = {**named, "result": result, "raw": raw, "duration_ms": outcome.duration_ms}
        tape.append("hook_returned", data | ({"injected": injected} if injected else {}))
    for reminder in verdict.reminders:
        tape.append("system_reminder", {"reminder": reminder})
    if verdict.decision == "deny" or (verdict.decision != "none" and verdict.result.startswith("decision_")):
        decision = None if verdict.result == "block" else verdict.decision
        tape.append("hook_vetoed", {**named, "reason": _reason(verdict), "decision": decision})


def _reason(verdict: Verdict) -> str:
    """The reason as Harn tapes it: of a decision that gave none, the word itself."""
    made_up = verdict.result.startswith("decision_") and BY_DEFAULT.match(verdict.reason)
    return f"decision={verdict.decision}" if made_up else verdict.reason


def raised(tape: Take, hook: Hook, event: Event, outcome: Outcome, error: Exception) -> None:
    """A handler's mistake that the host gets to hear of: there is no ruling after it."""
    text = outcome.error or f"{error}"
    data = {**_named(hook, event), "error": text, "duration_ms": outcome.duration_ms, "loud": True}
    if outcome.status == "returned":
        data["raw"] = _shown(outcome.value)
    tape.append("hook_raised", data, last=True)


def interrupted(tape: Take, hooks: Sequence[Hook], event: Event, error: BaseException) -> None:
    """The host itself was interrupted while these hooks ran: there is no ruling."""
    for number, hook in enumerate(hooks, 1):
        last = number == len(hooks)
        data = {**_named(hook, event), "error": told(error), "duration_ms": 0.0, "interrupted": True}
        tape.append("hook_raised", data | ({"loud": True} if last else {}), last=last)


def ruled(tape: Take, ruling: Ruling) -> None:
    tape.append("ruling", ruling.to_dict(), last=True)


def _named(hook: Hook, event: Event) -> dict[str, Any]:
    named = {"event": event.name, "handler": hook.name, "dialect": hook.dialect, "source": str(hook.source)}
    return named | ({"digest": str(hook.digest)} if hook.digest else {})


def _is_json(value: Any) -> bool:
    """Whether a value is the same after it was on a tape."""
    return bool(_shown(value) == value)


def _shown(value: Any) -> Any:
    """A value nobody could read, as far as the tape can hold it."""
    import msgspec

    for as_text in (compact, lambda it: msgspec.json.encode(it, enc_hook=_told)):
        try:
            return msgspec.json.decode(as_text(value))
        except (UsageError, TypeError, ValueError, RecursionError):
            continue
    return _told(value)


def _told(value: Any) -> str:
    return repr(value)[:1000]
