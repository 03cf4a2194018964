"""The recorded runner: outcomes that are known already, one after another. Nothing is started, nothing is called."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hookline.errors import RecordedError, TapeError
from hookline.model import Job, Outcome


class Unrecorded(TapeError):
    """There is no outcome any more: whoever recorded them was ended while these hooks ran."""


class Recorded:
    """Answers every job with the next outcome."""

    def __init__(self, outcomes: Iterable[Outcome]) -> None:
        self._outcomes = list(outcomes)

    def run(self, jobs: Sequence[Job]) -> list[Outcome]:
        if len(jobs) > len(self._outcomes):
            raise Unrecorded(f"{len(jobs)} hooks are due, but only {len(self._outcomes)} outcomes are recorded")
        due, self._outcomes = self._outcomes[: len(jobs)], self._outcomes[len(jobs) :]
        for outcome in due:
            if outcome.status == "raised" and not isinstance(outcome.exception, RecordedError):
                raise outcome.exception  # it interrupted the host
        return due

    async def run_async(self, jobs: Sequence[Job]) -> list[Outcome]:
        return self.run(jobs)
