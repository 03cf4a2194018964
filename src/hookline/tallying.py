"""What each hook of a tape has done: runs, failures, vetoes, time, text. One pass, a record at a time."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Any

from hookline.tape import Record

ENDED = ("hook_returned", "hook_raised")
ILL = ("failed", "timeout")


class Tally:
    """The numbers of one hook."""

    def __init__(self, hook: str, dialect: str) -> None:
        self.hook, self.dialect = hook, dialect
        self.failures = self.vetoes = self.skips = self.injected = 0
        self.durations = array("d")

    def to_dict(self) -> dict[str, Any]:
        times = sorted(self.durations)
        return {
            "hook": self.hook,
            "dialect": self.dialect,
            "runs": len(times),
            "failures": self.failures,
            "vetoes": self.vetoes,
            "skips": self.skips,
            "injected": self.injected,
            "p50_ms": quantile(times, 50),
            "p95_ms": quantile(times, 95),
            "max_ms": times[-1] if times else 0.0,
            "total_ms": round(sum(times), 3),
        }


def quantile(ordered: list[float], percent: int) -> float:
    """The smallest of the ordered values that at least this share of them does not exceed."""
    return ordered[-(-len(ordered) * percent // 100) - 1] if ordered else 0.0


def tallied(records: Iterable[Record]) -> dict[str, Any]:
    """The numbers of a whole tape."""
    hooks: dict[tuple[str, str, str], Tally] = {}
    events = rulings = count = 0
    decisions = dict.fromkeys(("allow", "ask", "deny", "none"), 0)
    for record in records:
        count += 1
        data = record.data
        if record.kind == "event":
            events += 1
        elif record.kind == "ruling":
            rulings += 1
            decisions[data["decision"]] += 1
        elif record.kind in (*ENDED, "hook_vetoed", "hook_skipped"):
            key = (data["handler"], data.get("dialect", ""), data.get("source", ""))
            _counted(hooks.setdefault(key, Tally(*key[:2])), record)
    rows = [tally.to_dict() for tally in hooks.values()]
    return {"records": count, "events": events, "rulings": rulings, "decisions": decisions, "hooks": rows}


def _counted(tally: Tally, record: Record) -> None:
    data = record.data
    if record.kind == "hook_skipped":
        tally.skips += 1
    elif record.kind == "hook_vetoed":
        tally.vetoes += 1
    else:
        tally.durations.append(float(data.get("duration_ms", 0.0)))
        tally.injected += int(data.get("injected", 0))
        tally.failures += record.kind == "hook_raised" or data.get("result") in ILL
