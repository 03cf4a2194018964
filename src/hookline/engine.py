"""The engine: the one place that knows the order of the steps.

`fire` never waits for anything. It yields the jobs of a wave and is sent their outcomes, so that a
blocking host, an event loop and a replay can all drive the very same steps.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import suppress
from copy import deepcopy
from typing import Any, Protocol

from msgspec.structs import replace

from hookline import recording
from hookline.compacting import as_json
from hookline.dialects import dialect
from hookline.errors import HooklineError, TapeError
from hookline.events import ROWS
from hookline.merging import Same, admitted, amended, differing, fold, settles, unchanged
from hookline.model import NO_OPINION, Call, Event, Hook, Job, Notice, OnFailure, Outcome, Report, Ruling, Verdict
from hookline.planning import NO_MATCH, Entry, Plan, report_of
from hookline.reading import bearable
from hookline.recording import Take, Tape
from hookline.sequences import Reports

Steps = Generator[list[Job], list[Outcome], Ruling]
SETTLED = "settled by "
"""Begins the reason of what does not run because an earlier hook has decided."""

Keep = Callable[[dict[str, Any]], dict[str, Any]]
"""What a session does with a reminder: it is pending from now on, and this is how the tape has it."""


class Recall(Protocol):
    """What only the recording of an event knows, because secrets are masked in it."""

    def is_same(self, name: str, new: Any, before: Any) -> bool:
        """Whether a hook rewrote something to what it was."""

    def told(self, ruling: Ruling) -> Ruling:
        """The ruling with its texts as they were made of what is masked now."""


def fire(
    event: Event,
    plan: Plan,
    *,
    tape: Tape | None = None,
    on_failure: OnFailure | None = None,
    keep: Keep | None = None,
    had: Mapping[str, Any] | None = None,
    recall: Recall | None = None,
) -> Steps:
    """One event through the hooks of its plan: yields jobs, is sent outcomes, returns the ruling.

    `had` are values of the payload as the host has them, where the host has given hooks copies. A replay has `recall`.
    """
    take = recording.happened(tape, event) if tape else None
    before: Mapping[str, Any] = {**event.payload, **had} if had else event.payload
    if take:
        for entry in plan.skips:
            recording.skipped(take, entry.hook, event, entry.skipped)
    ran: dict[int, Report] = {}
    ruling, settled_by, healthy = Ruling(event.name), "", True
    for wave in plan.waves:
        due, jobs = [], []
        for entry in wave:
            why = f"{SETTLED}{settled_by}" if settled_by else _no_longer(entry, event) if entry.late else ""
            if why:
                ran[entry.index] = _skipped(entry, why, event, take)
            else:
                due.append(entry)
                jobs.append(job_of(entry.hook, event))
        if not due:
            continue
        outcomes = yield from _on_tape(jobs, event, take, on_failure) if take else _run(jobs)
        verdicts = []
        for number, entry in enumerate(due):
            hook, outcome, known = entry.hook, outcomes[number], plan.reports[entry.index]
            said = _decoded(hook, event, outcome, take)
            if said is NO_OPINION and outcome.status == "returned" and not take:  # most handlers, most of the time
                ran[entry.index] = replace(known, duration_ms=outcome.duration_ms)
                continue
            verdict, report = _judged(said, hook, event, outcome, known, tape=take, on_failure=on_failure, keep=keep)
            ran[entry.index], healthy = report, healthy and report.status == "ran"
            if verdict is not NO_OPINION:
                verdicts.append((hook, verdict))
                settled_by = settled_by or (hook.name if settles(verdict) else "")
        if verdicts:
            ruling = fold(_noted(ruling, verdicts), event, verdicts)
            event = amended(event, ruling, verdicts)
    ruling = differing(ruling, before, _same(recall, taped=take is not None))
    ruling = replace(ruling, hooks=Reports(plan.reports, ran), healthy=healthy)
    ruling = recall.told(ruling) if recall else ruling
    if take:
        recording.ruled(take, ruling)
    return ruling


def _run(jobs: list[Job]) -> Generator[list[Job], list[Outcome], list[Outcome]]:
    return (yield jobs)


def _on_tape(
    jobs: list[Job], event: Event, take: Take, on_failure: OnFailure | None
) -> Generator[list[Job], list[Outcome], list[Outcome]]:
    """The jobs of a wave: the tape has each call before they begin, and what became of them if they are interrupted."""
    for job in jobs:
        recording.called(take, job, event, on_failure)
    own = ROWS[event.name].surface == "step"  # the program's objects, which stay what they are
    try:
        return (yield jobs if own else [_apart(job) for job in jobs])
    except BaseException as error:
        if not isinstance(error, TapeError | GeneratorExit):
            with suppress(TapeError):  # what happened to the host says more
                recording.interrupted(take, [job.hook for job in jobs], event, error)
        raise


def _same(recall: Recall | None, *, taped: bool) -> Same:
    """Whether a rewrite is none; on a tape of the values as it has them."""
    is_same: Same = recall.is_same if recall else unchanged
    return (lambda name, new, before: is_same(name, as_json(new), as_json(before))) if taped else is_same


def _apart(job: Job) -> Job:
    """A handler gets what the tape says it got, whatever another one has done to its own in place."""
    if not isinstance(job.hook.action, Call):
        return job
    copy = as_json(job.payload)  # quicker than a deep copy, and the same of what is JSON
    return replace(job, payload=copy if copy == job.payload else deepcopy(job.payload))


def _no_longer(entry: Entry, event: Event) -> str:
    """Why a hook whose turn has come does not run after all: what it looks at may have been rewritten meanwhile."""
    return "" if entry.hook.matcher.test(event) else f"{NO_MATCH}{entry.hook.matcher.text}"


def fire_and_forget(
    jobs: Iterable[Job], event: Event, *, tape: Tape | None = None, tell: Callable[[Report], None]
) -> Generator[list[Job], list[Outcome], None]:
    """Background hooks, one after another: their answers are ignored, what became of each is told when it has ended."""
    for job in jobs:
        if tape:
            recording.called(tape, job, event, None)
        [outcome] = yield [job]
        said = _decoded(job.hook, event, outcome, tape)
        tell(_judged(said, job.hook, event, outcome, report_of(job.hook, "ran"), tape=tape)[1])


def job_of(hook: Hook, event: Event) -> Job:
    return Job(hook, dialect(hook.dialect).encode(hook, event), event.cwd)


def _judged(
    said: Verdict,
    hook: Hook,
    event: Event,
    outcome: Outcome,
    known: Report,
    *,
    tape: Take | None,
    on_failure: OnFailure | None = None,
    keep: Keep | None = None,
) -> tuple[Verdict, Report]:
    """What one hook's outcome means: the verdict that counts, and the report of what really happened."""
    status = "timeout" if outcome.status == "timeout" else "failed" if said.failed else "ran"
    verdict = said if said is NO_OPINION else admitted(said, event.name, dialect(hook.dialect).EFFECTS[event.name])
    if keep and verdict.reminders:
        verdict = replace(verdict, reminders=tuple(keep(reminder) for reminder in verdict.reminders))
    if said.failed and not hook.background:
        verdict = _insisted(verdict, hook, event, hook.on_failure or on_failure)
    report = replace(
        known,
        status=status,
        decision=said.literal or (said.decision if status == "ran" or said.decision != "none" else None),
        reason=said.reason,
        success=outcome.exit_code == 0 or outcome.status == "returned",
        exit_code=outcome.exit_code,
        signal=outcome.signal,
        duration_ms=outcome.duration_ms,
        stderr=outcome.stderr,
        error=said.failed,
    )
    if tape:
        recording.returned(tape, hook, event, outcome, report=report, verdict=verdict)
    return verdict, report


def _decoded(hook: Hook, event: Event, outcome: Outcome, tape: Take | None) -> Verdict:
    """What the hook said. A mistake of ours in reading it is a failure like any other: it decides nothing."""
    try:
        if outcome.error and outcome.status == "returned":  # a recording, of what nobody could read then either
            if outcome.exception:
                raise outcome.exception
            return Verdict(failed=outcome.error)
        said = dialect(hook.dialect).decode(hook, event, outcome)
        return said if said is NO_OPINION else bearable(said)
    except HooklineError as error:  # a Python handler's mistake, which its dialect wants to be loud
        if tape:
            recording.raised(tape, hook, event, outcome, error)
        raise
    except Exception as error:  # noqa: BLE001  (whatever it is, the host must not pay for it)
        return Verdict(failed=f"could not be read, by a bug in hookline: {type(error).__name__}: {error}")


def _insisted(verdict: Verdict, hook: Hook, event: Event, on_failure: OnFailure | None) -> Verdict:
    """Health is not policy: a failure changes nothing, unless the host asked that it should."""
    can = ROWS[event.name].effects
    decision = "ask" if on_failure == "ask" and "ask" in can else "deny" if on_failure and "deny" in can else "none"
    what = f"{hook.name} {verdict.failed}"
    went_on = {"none": "it goes on without its opinion", "ask": "so somebody must be asked", "deny": "so it is denied"}
    notice = f"{what}; {went_on[decision]}" + (f" (on_failure={on_failure})" if on_failure else "")
    reason = f"{what} ({hook.source})" if decision != "none" else ""
    return replace(verdict, decision=decision, reason=reason, notices=(*verdict.notices, notice))


def _noted(ruling: Ruling, verdicts: list[tuple[Hook, Verdict]]) -> Ruling:
    notices = tuple(Notice(text, hook.source) for hook, verdict in verdicts for text in verdict.notices)
    return replace(ruling, notices=ruling.notices + notices) if notices else ruling


def _skipped(entry: Entry, reason: str, event: Event, tape: Take | None) -> Report:
    if tape:
        recording.skipped(tape, entry.hook, event, reason)
    return report_of(entry.hook, "skipped", reason)
