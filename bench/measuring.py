"""Contenders measured in turns, and what is said of a series of times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median, quantiles

Rounds = Callable[[int], list[int]]
"""Does the work so many times, one after another; the nanoseconds each took."""


@dataclass(frozen=True)
class Contender:
    """One way of doing a work."""

    name: str
    rounds: Rounds


@dataclass(frozen=True)
class Series:
    """The times of one contender in nanoseconds, block by block in the order they were measured."""

    name: str
    blocks: tuple[tuple[int, ...], ...]

    @property
    def times(self) -> list[int]:
        return [time for block in self.blocks for time in block]

    @property
    def median(self) -> float:
        return median(self.times)

    @property
    def p95(self) -> float:
        return quantiles(self.times, n=20, method="inclusive")[-1]


def interleaved(contenders: Sequence[Contender], *, blocks: int, rounds: int) -> list[Series]:
    """Every contender `rounds` times in a row, `blocks` times over, after one block that is not counted.

    Each block begins with another contender, so that none of them always follows the same one.
    """
    taken: dict[str, list[tuple[int, ...]]] = {contender.name: [] for contender in contenders}
    for number in range(blocks + 1):
        first = number % len(contenders)
        for contender in (*contenders[first:], *contenders[:first]):
            times = tuple(contender.rounds(rounds))
            if number:
                taken[contender.name].append(times)
    return [Series(name, tuple(listed)) for name, listed in taken.items()]


def repeated(once: Callable[[], int]) -> Rounds:
    """The rounds of a work that can be done once."""
    return lambda count: [once() for _ in range(count)]


def ratio(of: Series, to: Series) -> float:
    """How many times the median of one is the median of the other."""
    return of.median / to.median


def spread(of: Series, to: Series) -> tuple[float, float]:
    """The middle half of the ratios of single blocks: what this machine's noise leaves open."""
    each = [median(ours) / median(theirs) for ours, theirs in zip(of.blocks, to.blocks, strict=True)]
    low, _, high = quantiles(each, n=4, method="inclusive")
    return low, high
