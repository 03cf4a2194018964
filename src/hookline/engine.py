"""The engine: the one place that knows the order of the steps.

`fire` never waits for anything. It yields the jobs of a wave and is sent their outcomes, so that a
blocking host, an event loop and a replay can all drive the very same steps.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import Any, Protocol

from msgspec import to_builtins
from msgspec.structs import replace

from hookline.dialects import dialect
from hookline.events import ROWS
from hookline.merging import admitted, amended, fold, settles
from hookline.model import Event, Hook, Job, Notice, OnFailure, Outcome, Report, Ruling, Verdict
from hookline.planning import Entry, Plan

Steps = Generator[list[Job], list[Outcome], Ruling]


class Tape(Protocol):
    """Where every step is written before the next one happens."""

    def append(self, kind: str, data: dict[str, Any]) -> None: ...


def fire(event: Event, plan: Plan, *, tape: Tape | None = None, on_failure: OnFailure | None = None) -> Steps:
    """One event through the hooks of its plan: yields jobs, is sent outcomes, returns the ruling."""
    reports = {id(entry): _skipped(entry, entry.skipped, event, tape) for entry in plan.skips}
    reports |= {id(entry): _report(entry.hook, "background") for entry in plan.background}
    ruling, settled_by = Ruling(event.name), ""
    for wave in plan.waves:
        if settled_by:
            reports |= {id(entry): _skipped(entry, f"settled by {settled_by}", event, tape) for entry in wave}
            continue
        jobs = [_job(entry.hook, event, tape) for entry in wave]
        outcomes = yield jobs
        verdicts = []
        for entry, outcome in zip(wave, outcomes, strict=True):
            verdict, reports[id(entry)] = _judged(entry.hook, event, outcome, on_failure, tape)
            verdicts.append((entry.hook, verdict))
            settled_by = settled_by or (entry.hook.name if settles(verdict) else "")
        ruling = fold(_noted(ruling, verdicts), event, verdicts)
        event = amended(event, ruling)
    hooks = tuple(reports[id(entry)] for entry in plan.entries)
    ruling = replace(ruling, hooks=hooks, healthy=not any(r.status in ("failed", "timeout") for r in hooks))
    if tape:
        tape.append("ruling", ruling.to_dict())
    return ruling


def fire_and_forget(
    jobs: Iterable[Job], event: Event, *, tape: Tape | None = None
) -> Generator[list[Job], list[Outcome], list[Report]]:
    """Background hooks, one after another: their answers are ignored, what became of them is reported."""
    reports = []
    for job in jobs:
        _recorded_call(job, event, tape)
        [outcome] = yield [job]
        reports.append(_judged(job.hook, event, outcome, None, tape)[1])
    return reports


def job_of(hook: Hook, event: Event) -> Job:
    return Job(hook, dialect(hook.dialect).encode(hook, event), event.cwd)


def _job(hook: Hook, event: Event, tape: Tape | None) -> Job:
    job = job_of(hook, event)
    _recorded_call(job, event, tape)
    return job


def _recorded_call(job: Job, event: Event, tape: Tape | None) -> None:
    if tape:
        surface = ROWS[event.name].surface
        tape.append(
            "hook_call", {"event": event.name, "handler": job.hook.name, "surface": surface, "payload": job.payload}
        )


def _judged(
    hook: Hook, event: Event, outcome: Outcome, on_failure: OnFailure | None, tape: Tape | None
) -> tuple[Verdict, Report]:
    """What one hook's outcome means: the verdict that counts, and the report of what really happened."""
    speaks = dialect(hook.dialect)
    said = speaks.decode(hook, event, outcome)
    status = "timeout" if outcome.status == "timeout" else "failed" if said.failed else "ran"
    verdict = admitted(said, event.name, speaks.EFFECTS[event.name])
    if said.failed and not hook.background:
        verdict = _insisted(verdict, hook, event, hook.on_failure or on_failure)
    report = Report(
        hook=hook.name,
        dialect=hook.dialect,
        source=str(hook.source),
        status=status,  # type: ignore[arg-type]
        decision=None if status != "ran" else said.decision,
        reason=said.reason,
        success=outcome.status == "exited" and outcome.exit_code == 0,
        exit_code=outcome.exit_code,
        signal=outcome.signal,
        duration_ms=outcome.duration_ms,
        stderr=outcome.stderr,
        error=said.failed,
    )
    if tape:
        _recorded_return(hook, outcome, report, verdict, tape=tape, event=event.name)
    return verdict, report


def _insisted(verdict: Verdict, hook: Hook, event: Event, on_failure: OnFailure | None) -> Verdict:
    """Health is not policy: a failure changes nothing, unless the host asked that it should."""
    can = ROWS[event.name].effects
    decision = "ask" if on_failure == "ask" and "ask" in can else "deny" if on_failure and "deny" in can else "none"
    what = f"{hook.name} {verdict.failed}"
    went_on = {"none": "it goes on without its opinion", "ask": "so somebody must be asked", "deny": "so it is denied"}
    notice = f"{what}; {went_on[decision]}" + (f" (on_failure={on_failure})" if on_failure else "")
    reason = f"{what} ({hook.source})" if decision != "none" else ""
    return replace(verdict, decision=decision, reason=reason, notices=(*verdict.notices, notice))


def _recorded_return(hook: Hook, outcome: Outcome, report: Report, verdict: Verdict, *, tape: Tape, event: str) -> None:
    named = {"event": event, "handler": hook.name}
    result = report.status if report.status != "ran" else report.decision
    tape.append("hook_returned", {**named, "result": result, "raw": to_builtins(outcome)})
    if verdict.decision == "deny":
        tape.append("hook_vetoed", {**named, "reason": verdict.reason, "decision": "deny"})


def _noted(ruling: Ruling, verdicts: list[tuple[Hook, Verdict]]) -> Ruling:
    notices = tuple(Notice(text, hook.source) for hook, verdict in verdicts for text in verdict.notices)
    return replace(ruling, notices=ruling.notices + notices) if notices else ruling


def _skipped(entry: Entry, reason: str, event: Event, tape: Tape | None) -> Report:
    if tape:
        tape.append("hook_skipped", {"event": event.name, "handler": entry.hook.name, "reason": reason})
    return _report(entry.hook, "skipped", reason)


def _report(hook: Hook, status: Any, skipped: str = "") -> Report:
    return Report(hook=hook.name, dialect=hook.dialect, source=str(hook.source), status=status, skipped=skipped)
