"""The end of a pipeline: the five kinds of work that may be left when it finishes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hookline.errors import UsageError
from hookline.wording import kind_of, nearest, shown

UNSETTLED = (
    "suspended_subagents",
    "queued_triggers",
    "partial_handoffs",
    "in_flight_llm_calls",
    "pool_pending_tasks",
)


def snapshot(unsettled: Mapping[str, Any] | None) -> dict[str, list[Any]]:
    """All five lists, copied once: every event of one finish sees the same."""
    given = unsettled or {}
    if not isinstance(given, Mapping):
        raise UsageError(f"unsettled takes a dict of lists, not {kind_of(given)} {shown(given)}")
    for name, items in given.items():
        if name not in UNSETTLED:
            known = ", ".join(UNSETTLED)
            raise UsageError(f"unsettled has {known}, not {shown(name)}{nearest(str(name), UNSETTLED)}")
        if not isinstance(items, list | tuple):
            raise UsageError(f"unsettled: {name} must be a list, not {kind_of(items)} {shown(items)}")
    return {name: list(given.get(name, ())) for name in UNSETTLED}


def is_settled(lists: Mapping[str, list[Any]]) -> bool:
    return not any(lists.values())
