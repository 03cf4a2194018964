"""Receipts for context maintenance: what a hook answers at once when its real work goes on in the background.

    receipt({"job_id": "context.refresh", **payload})  -->  transition(…, "running")  -->  transition(…, "succeeded")

A receipt is a plain dict without control keys, so a hook that returns one allows. Ids are made from what
the receipt says, never from a clock: the same observation gives the same receipt again in a replay.
The input may be a hook's payload as it stands; keys that are nothing to a receipt are passed over.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from typing import Any

from hookline.errors import UsageError
from hookline.wording import nearest, shown

SCHEMA = "harn.context_maintenance.job_receipt.v1"
STATUSES = ("queued", "running", "succeeded", "failed", "skipped")
MODES = ("include", "skip")
SKIPPED = "deterministic_replay_skip"

EVENT_KEYS = ("lifecycle_event", "event", "hook_event")
PATH_KEYS = ("affected_paths", "paths", "changed_paths", "path")
SOURCE_KEYS = ("source_id", "session_id", "session", "event_id")
TIMES = ("queued_at", "started_at", "completed_at")
KEPT = ("job_id", "dedupe_key", "run_id")
"""What makes a job the same job, whatever becomes of it."""


def dedupe_key(job_id: str, event: str, paths: list[str] | tuple[str, ...], source_id: str) -> str:
    """The key two observations of the same work share. The order of the paths does not matter."""
    job, happened, where = _required("job_id", job_id), _text("event", event), "\n".join(_texts("paths", paths))
    return f"context_maintenance:{_digest(job, happened, where, _text('source_id', source_id), length=32)}"


def receipt(input: Mapping[str, Any]) -> dict[str, Any]:  # noqa: A002  (so it is called everywhere)
    """A receipt, `queued` unless the input has a status."""
    given = _given(input, "receipt", "{'job_id': 'context.refresh'}")
    job_id = _required("job_id", given.get("job_id"))
    status = _choice("status", given.get("status", "queued"), STATUSES)
    event = _text(*_first(given, EVENT_KEYS))
    paths = _paths(given)
    key = _text("dedupe_key", given.get("dedupe_key")) or dedupe_key(job_id, event, paths, _source_id(given))
    return {
        "schema": SCHEMA,
        "id": _text("id", given.get("id")) or _made_id(key, status),
        "dedupe_key": key,
        "job_id": job_id,
        "run_id": _text("run_id", given.get("run_id")) or f"ctx_run_{_digest(key, length=16)}",
        "status": status,
        "lifecycle_event": event,
        **{name: _text(name, given[name]) for name in TIMES if name in given},
        "affected_paths": paths,
        "artifact_ids": _texts("artifact_ids", given.get("artifact_ids")),
        "duration_ms": _amount("duration_ms", given.get("duration_ms", 0)),
        "retry_hint": _retry_hint(given.get("retry_hint", {})),
        "replay": _replay(given.get("replay", {}), key),
        "error": _text("error", given.get("error")),
        "metadata": dict(_table("metadata", given.get("metadata", {}))),
    }


def transition(receipt: Mapping[str, Any], status: str, input: Mapping[str, Any] | None = None) -> dict[str, Any]:  # noqa: A002
    """The receipt with another status, and whatever else the input says. It stays the same job.

    An id that was made for the old status is made anew for the new one; an id somebody gave stays.
    """
    before, wanted = _a_receipt("transition", receipt), _choice("status", status, STATUSES)
    given = _given({} if input is None else input, "transition", "{'error': 'why it failed'}")
    for names in (EVENT_KEYS, PATH_KEYS):
        if any(name in given for name in names):  # one spelling of the input takes the place of the other
            before.pop(names[0], None)
    if before.get("id") == _made_id(before["dedupe_key"], before["status"]):
        del before["id"]
    return _receipt({**before, **given, **{name: receipt[name] for name in KEPT}, "status": wanted})


def replay_decision(receipt: Mapping[str, Any], input: Mapping[str, Any] | None = None) -> dict[str, Any]:  # noqa: A002
    """Whether a replay does the work again: `mode`, `should_run`, and the receipt that says so."""
    before = _a_receipt("replay_decision", receipt)
    given = _given({} if input is None else input, "replay_decision", "{'mode': 'skip'}")
    replay = _replay(before.get("replay", {}), before["dedupe_key"])
    mode = _choice("mode", given.get("mode", replay["mode"]), MODES)
    if mode == "include":
        return {"mode": mode, "should_run": True, "receipt": receipt}
    reason = _text("reason", given.get("reason")) or replay.get("reason") or SKIPPED
    skipped = transition(receipt, "skipped", {"replay": {**replay, "mode": mode, "reason": reason}, "error": reason})
    return {"mode": mode, "should_run": False, "receipt": skipped}


_receipt = receipt  # two functions have a parameter of this name


def _made_id(key: str, status: str) -> str:
    return f"ctx_job_{_digest(key, status, length=24)}"


def _digest(*lines: str, length: int) -> str:
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()[:length]


def _given(value: Any, function: str, example: str) -> dict[str, Any]:
    """The input without what is None, which is as good as absent."""
    if not isinstance(value, Mapping):
        raise UsageError(f"{function}: the input is {shown(value)}; write a dict such as {example}")
    return {name: item for name, item in value.items() if item is not None}


def _a_receipt(function: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise UsageError(f"{function}: the receipt is {shown(value)}; give it what receipt(…) returned")
    for name in (*KEPT, "status"):
        if not isinstance(value.get(name), str):
            got = f"{name} is {shown(value[name])}" if name in value else f"{name} is missing"
            raise UsageError(f"{function}: {got}, so this is no receipt; give it what receipt(…) returned")
    return dict(value)


def _first(given: Mapping[str, Any], names: tuple[str, ...]) -> tuple[str, Any]:
    """The first of these that is given, with its name; None where none is."""
    return next(((name, given[name]) for name in names if name in given), (names[0], None))


def _paths(given: Mapping[str, Any]) -> list[str]:
    name, value = _first(given, PATH_KEYS)
    return _texts(name, [value] if name == "path" else value)


def _source_id(given: Mapping[str, Any]) -> str:
    for name in SOURCE_KEYS:
        value = given.get(name)
        if name == "session":
            name, value = "session.id", value.get("id") if isinstance(value, Mapping) else None  # noqa: PLW2901
        if value is not None:
            return _text(name, value)
    return ""


def _text(name: str, value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _wrong(name, value, "text")
    return value.strip()


def _required(name: str, value: Any) -> str:
    text = _text(name, value)
    if not text:
        raise _wrong(name, value, "text that is not blank, such as 'context.refresh'")
    return text


def _texts(name: str, value: Any) -> list[str]:
    """Trimmed, without blanks and doubles, sorted."""
    if value is None:
        return []
    if not isinstance(value, list | tuple):
        raise _wrong(name, value, "a list of texts")
    return sorted({text for item in value if (text := _text(f"an item of {name}", item))})


def _choice(name: str, value: Any, known: tuple[str, ...]) -> str:
    text = value.strip() if isinstance(value, str) else value
    if text not in known:
        meant = nearest(text, known) if isinstance(text, str) else ""
        raise _wrong(name, value, f"one of {', '.join(map(repr, known))}{meant}")
    return str(text)


def _amount(name: str, value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float) or not (0 <= value < math.inf):
        raise _wrong(name, value, "a number, 0 or more")
    return value


def _table(name: str, value: Any, known: tuple[str, ...] = ()) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise _wrong(name, value, "a dict")
    for key in value if known else ():
        if key not in known:
            takes = f"it takes {', '.join(known)}{nearest(str(key), known)}"
            raise UsageError(f"receipt: {name} has no {shown(key)}; {takes}")
    return value


def _retry_hint(value: Any) -> dict[str, Any]:
    hint = _table("retry_hint", value, ("retryable", "after_ms", "max_attempts", "reason"))
    retryable = hint.get("retryable")
    if retryable is not None and not isinstance(retryable, bool):
        raise _wrong("retry_hint.retryable", retryable, "True or False")
    amounts = {name: hint[name] for name in ("after_ms", "max_attempts") if hint.get(name) is not None}
    reason = _text("retry_hint.reason", hint.get("reason"))
    return {
        "retryable": bool(retryable),
        **{name: _amount(f"retry_hint.{name}", amount) for name, amount in amounts.items()},
        **({"reason": reason} if reason else {}),
    }


def _replay(value: Any, key: str) -> dict[str, Any]:
    hint = _table("replay", value, ("mode", "determinism_key", "reason"))
    mode, reason = hint.get("mode"), _text("replay.reason", hint.get("reason"))
    return {
        "mode": "include" if mode is None else _choice("replay.mode", mode, MODES),
        "determinism_key": _text("replay.determinism_key", hint.get("determinism_key")) or key,
        **({"reason": reason} if reason else {}),
    }


def _wrong(name: str, value: Any, takes: str) -> UsageError:
    got = "is missing" if value is None else f"is {shown(value)}"
    return UsageError(f"receipt: {name} {got}; it takes {takes}")
