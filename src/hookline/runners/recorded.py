"""The recorded runner: outcomes that are known already, one after another. Nothing is started, nothing is called."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hookline.errors import UsageError
from hookline.model import Job, Outcome


class Recorded:
    """Answers every job with the next outcome."""

    def __init__(self, outcomes: Iterable[Outcome]) -> None:
        self._outcomes = list(outcomes)

    def run(self, jobs: Sequence[Job]) -> list[Outcome]:
        if len(jobs) > len(self._outcomes):
            raise UsageError(f"{len(jobs)} hooks are due, but only {len(self._outcomes)} outcomes are recorded")
        due, self._outcomes = self._outcomes[: len(jobs)], self._outcomes[len(jobs) :]
        return due

    async def run_async(self, jobs: Sequence[Job]) -> list[Outcome]:
        return self.run(jobs)
