"""The results, for people and for programs."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bench.building import Programs
from bench.comparisons import Comparison
from bench.measuring import Series, ratio, spread

UNITS = {"ms": 1e6, "us": 1e3}
VERDICTS = {True: "reached", False: "not reached", None: "needs C floor"}


@dataclass(frozen=True)
class Result:
    """One comparison, measured. The first series is the one the others are measured by."""

    name: str
    comparison: Comparison
    series: tuple[Series, ...]
    programs: Programs

    @property
    def by(self) -> Series:
        return self.series[0]

    @property
    def aimed(self) -> Series:
        return next(series for series in self.series if series.name == self.comparison.aim)

    @property
    def reached(self) -> bool | None:
        """None where there is no goal, or it cannot be judged here."""
        if self.comparison.limit is None:
            return None
        if self.comparison.against_c and not self.programs.floor:
            return None
        return ratio(self.aimed, self.by) <= self.comparison.limit


def as_text(results: Sequence[Result], programs: Programs) -> Iterator[str]:
    yield f"Python {platform.python_version()}, {os.cpu_count()} cores; the floor is {programs.described}"
    for result in results:
        unit = result.comparison.unit
        words = f"{'median ' + unit:>10}{'p95 ' + unit:>9}{'ratio':>8}   middle half of blocks"
        yield f"\n{result.comparison.goal:<34}{words}"
        for series in result.series:
            row = f"  {series.name:<32}{series.median / UNITS[unit]:>10.3f}{series.p95 / UNITS[unit]:>9.3f}"
            low, high = spread(series, result.by)
            beside = f"{ratio(series, result.by):>8.2f}   {low:.2f} to {high:.2f}" if series is not result.by else ""
            rate = f"   {1e9 / series.median:,.0f} {result.comparison.rate} a second" if result.comparison.rate else ""
            yield row + (f"{beside:<30}" if rate else beside) + rate
    yield f"\n{'goal':<34}{'at most':>10}{'is':>9}   {'':<14}what it is measured by"
    for result in results:
        limit, got = result.comparison.limit, ratio(result.aimed, result.by)
        if limit is None:
            yield f"{result.comparison.goal:<34}{'-':>10}{got:>9.2f}   {'no goal':<14}{result.by.name}"
            continue
        word = VERDICTS[result.reached]
        yield f"{result.comparison.goal:<34}{limit:>10.2f}{got:>9.2f}   {word:<14}{result.by.name}"


def as_json(results: Sequence[Result], programs: Programs) -> dict[str, Any]:
    return {
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "floor": programs.described,
        "comparisons": [_result(result) for result in results],
    }


def _result(result: Result) -> dict[str, Any]:
    return {
        "name": result.name,
        "goal": result.comparison.goal,
        "at_most": result.comparison.limit,
        "ratio": round(ratio(result.aimed, result.by), 4),
        "reached": result.reached,
        "contender": result.aimed.name,
        "measured_by": result.by.name,
        "contenders": [_series(series, result.by) for series in result.series],
    }


def _series(series: Series, by: Series) -> dict[str, Any]:
    return {
        "name": series.name,
        "rounds": len(series.times),
        "median_us": round(series.median / 1e3, 3),
        "p95_us": round(series.p95 / 1e3, 3),
        "ratio": round(ratio(series, by), 4),
        "ratio_middle_half": [round(edge, 4) for edge in spread(series, by)],
    }
