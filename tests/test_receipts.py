"""Receipts for context maintenance."""

from __future__ import annotations

import hashlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.errors import UsageError
from hookline.receipts import STATUSES, dedupe_key, receipt, replay_decision, transition


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


JOB = {"job_id": "context.refresh"}
KEY = "context_maintenance:" + sha("context.refresh\n\n\n")[:32]


def test_a_receipt_has_its_defaults() -> None:
    """A job id is enough; every id is made from what the receipt says."""
    assert receipt(JOB) == {
        "schema": "harn.context_maintenance.job_receipt.v1",
        "id": "ctx_job_" + sha(f"{KEY}\nqueued")[:24],
        "dedupe_key": KEY,
        "job_id": "context.refresh",
        "run_id": "ctx_run_" + sha(KEY)[:16],
        "status": "queued",
        "lifecycle_event": "",
        "affected_paths": [],
        "artifact_ids": [],
        "duration_ms": 0,
        "retry_hint": {"retryable": False},
        "replay": {"mode": "include", "determinism_key": KEY},
        "error": "",
        "metadata": {},
    }


def test_a_payload_is_an_input() -> None:
    """What a hook was called with can be given as it stands; the rest of it is passed over."""
    payload = {"event": "FileEdited", "session": {"id": "s1"}, "path": "a.py", "metadata": None, "bytes": 3}
    done = receipt({"job_id": "context.refresh", **payload})
    assert done["dedupe_key"] == "context_maintenance:" + sha("context.refresh\nFileEdited\na.py\ns1")[:32]
    assert (done["lifecycle_event"], done["affected_paths"], done["metadata"]) == ("FileEdited", ["a.py"], {})
    assert "bytes" not in done


@pytest.mark.parametrize(
    ("field", "given_", "value"),
    [
        *(("status", {"status": status}, status) for status in STATUSES),
        ("job_id", {"job_id": " j "}, "j"),
        ("lifecycle_event", {"lifecycle_event": "A", "event": "B", "hook_event": "C"}, "A"),
        ("lifecycle_event", {"event": "B", "hook_event": "C"}, "B"),
        ("lifecycle_event", {"lifecycle_event": None, "hook_event": " C "}, "C"),
        ("affected_paths", {"affected_paths": ["a"], "paths": ["b"], "changed_paths": ["c"], "path": "d"}, ["a"]),
        ("affected_paths", {"paths": ["b"], "changed_paths": ["c"], "path": "d"}, ["b"]),
        ("affected_paths", {"changed_paths": ["c"], "path": "d"}, ["c"]),
        ("affected_paths", {"path": "d"}, ["d"]),
        ("affected_paths", {"affected_paths": [], "path": "d"}, []),
        ("affected_paths", {"paths": [" b", "a", "", "b ", None, "B"]}, ["B", "a", "b"]),
        ("affected_paths", {"paths": ("b", "a")}, ["a", "b"]),
        ("artifact_ids", {"artifact_ids": ["z ", " ", "y", "z"]}, ["y", "z"]),
        ("dedupe_key", {"dedupe_key": "mine"}, "mine"),
        ("dedupe_key", {"dedupe_key": " "}, KEY),
        ("run_id", {"run_id": "mine"}, "mine"),
        ("run_id", {"dedupe_key": "mine"}, "ctx_run_" + sha("mine")[:16]),
        ("id", {"id": "mine"}, "mine"),
        ("id", {"dedupe_key": "mine", "status": "failed"}, "ctx_job_" + sha("mine\nfailed")[:24]),
        ("duration_ms", {"duration_ms": 12}, 12),
        ("duration_ms", {"duration_ms": 1.5}, 1.5),
        ("retry_hint", {"retry_hint": {"retryable": True}}, {"retryable": True}),
        (
            "retry_hint",
            {"retry_hint": {"reason": "busy", "max_attempts": 3, "after_ms": 1000}},
            {"retryable": False, "after_ms": 1000, "max_attempts": 3, "reason": "busy"},
        ),
        ("retry_hint", {"retry_hint": {"retryable": None, "reason": None}}, {"retryable": False}),
        ("replay", {"replay": {"mode": "skip"}}, {"mode": "skip", "determinism_key": KEY}),
        ("replay", {"dedupe_key": "mine"}, {"mode": "include", "determinism_key": "mine"}),
        (
            "replay",
            {"replay": {"determinism_key": "d", "reason": "r"}},
            {"mode": "include", "determinism_key": "d", "reason": "r"},
        ),
        ("error", {"error": "why"}, "why"),
        ("metadata", {"metadata": {"a": [1]}}, {"a": [1]}),
        ("started_at", {"started_at": "2026-01-01T00:00:00Z"}, "2026-01-01T00:00:00Z"),
    ],
)
def test_each_field(field: str, given_: dict, value) -> None:
    """Where each field comes from, and how it is put in order."""
    assert receipt(JOB | given_)[field] == value


@pytest.mark.parametrize(
    ("given_", "source"),
    [
        ({"source_id": "a", "session_id": "b", "session": {"id": "c"}, "event_id": "d"}, "a"),
        ({"session_id": "b", "session": {"id": "c"}, "event_id": "d"}, "b"),
        ({"session": {"id": "c"}, "event_id": "d"}, "c"),
        ({"session": {}, "event_id": "d"}, "d"),
        ({"session": "s", "event_id": "d"}, "d"),
        ({}, ""),
    ],
)
def test_where_the_source_id_comes_from(given_: dict, source: str) -> None:
    """The first that is there becomes part of the key."""
    assert receipt(JOB | given_)["dedupe_key"] == dedupe_key("context.refresh", "", [], source)


def test_the_dedupe_key() -> None:
    """Job, event, paths one a line, source; trimmed, unique, sorted."""
    wanted = "context_maintenance:" + sha("job\nPostTurn\na\nb\ns1")[:32]
    assert dedupe_key("job", "PostTurn", ["a", "b"], "s1") == wanted
    assert dedupe_key(" job ", " PostTurn", ["b", " a", "b", ""], "s1 ") == wanted
    assert dedupe_key("job", "", [], "") == "context_maintenance:" + sha("job\n\n\n")[:32]


@given(st.lists(st.text(max_size=4), max_size=6), st.randoms())
def test_the_order_of_the_paths_does_not_matter(paths, random) -> None:
    """The same paths in any order, and any number of times, are the same work."""
    shuffled = [*paths, *paths]
    random.shuffle(shuffled)
    assert dedupe_key("j", "e", paths, "s") == dedupe_key("j", "e", shuffled, "s")


@pytest.mark.parametrize(
    ("input_", "message"),
    [
        (None, "receipt: the input is None; write a dict such as {'job_id': 'context.refresh'}"),
        ("job", "receipt: the input is 'job'; write a dict such as {'job_id': 'context.refresh'}"),
        ({}, "job_id is missing; it takes text that is not blank, such as 'context.refresh'"),
        ({"job_id": " "}, "job_id is ' '; it takes text that is not blank, such as 'context.refresh'"),
        ({"job_id": 7}, "job_id is 7; it takes text"),
        (
            JOB | {"status": "runing"},
            f"status is 'runing'; it takes one of {', '.join(map(repr, STATUSES))}; did you mean 'running'?",
        ),
        (JOB | {"status": 1}, "status is 1; it takes one of 'queued', "),
        (JOB | {"event": 1}, "event is 1; it takes text"),
        (JOB | {"paths": "a.py"}, "paths is 'a.py'; it takes a list of texts"),
        (JOB | {"affected_paths": {"a": 1}}, "affected_paths is {'a': 1}; it takes a list of texts"),
        (JOB | {"paths": ["a", 1]}, "an item of paths is 1; it takes text"),
        (JOB | {"artifact_ids": "x"}, "artifact_ids is 'x'; it takes a list of texts"),
        (JOB | {"duration_ms": "1"}, "duration_ms is '1'; it takes a number, 0 or more"),
        (JOB | {"duration_ms": -1}, "duration_ms is -1; it takes a number, 0 or more"),
        (JOB | {"duration_ms": True}, "duration_ms is True; it takes a number, 0 or more"),
        (JOB | {"duration_ms": float("nan")}, "duration_ms is nan; it takes a number, 0 or more"),
        (JOB | {"retry_hint": True}, "retry_hint is True; it takes a dict"),
        (JOB | {"retry_hint": {"retryable": 1}}, "retry_hint.retryable is 1; it takes True or False"),
        (JOB | {"retry_hint": {"after_ms": "1"}}, "retry_hint.after_ms is '1'; it takes a number, 0 or more"),
        (
            JOB | {"retry_hint": {"retriable": True}},
            "no 'retriable'; it takes retryable, after_ms, max_attempts, reason; did you mean 'retryable'?",
        ),
        (JOB | {"replay": "skip"}, "replay is 'skip'; it takes a dict"),
        (JOB | {"replay": {"mode": "sometimes"}}, "replay.mode is 'sometimes'; it takes one of 'include', 'skip'"),
        (JOB | {"replay": {"mod": 1}}, "replay has no 'mod'; it takes mode, determinism_key, reason"),
        (JOB | {"error": ValueError()}, "error is ValueError(); it takes text"),
        (JOB | {"metadata": []}, "metadata is []; it takes a dict"),
    ],
)
def test_bad_input(input_, message: str) -> None:
    """The message says what, the value, and what to write."""
    with pytest.raises(UsageError, match=re.escape(message)):
        receipt(input_)


# -- transitions


@given(st.sampled_from(STATUSES), st.sampled_from(STATUSES), st.lists(st.text(max_size=3), max_size=3))
def test_a_transition_keeps_what_the_job_is(before: str, after: str, paths) -> None:
    """Job, run and key stay; the id is that of the new status; the old receipt is left alone."""
    old = receipt({"job_id": "j", "status": before, "paths": paths, "session_id": "s"})
    copy = dict(old)
    new = transition(old, after)
    assert old == copy
    assert new == old | {"status": after, "id": "ctx_job_" + sha(f"{old['dedupe_key']}\n{after}")[:24]}
    assert transition(old, before) == old


def test_a_transition_takes_more() -> None:
    """The input adds to the receipt, in any spelling; what it leaves out, or says None to, stays."""
    old = receipt(JOB | {"event": "PostTurn", "paths": ["a"], "metadata": {"n": 1}})
    new = transition(old, "failed", {"duration_ms": 9, "error": "boom", "artifact_ids": ["x"], "metadata": None})
    assert new == old | {
        "status": "failed",
        "id": new["id"],
        "duration_ms": 9,
        "error": "boom",
        "artifact_ids": ["x"],
    }
    assert transition(old, "running", {"changed_paths": ["c", "b"]})["affected_paths"] == ["b", "c"]
    assert transition(old, "running", {"hook_event": "PreCompact"})["lifecycle_event"] == "PreCompact"


def test_a_transition_cannot_make_it_another_job() -> None:
    """Key, run and job of the receipt win over those of the input."""
    old = receipt(JOB)
    new = transition(old, "running", {"dedupe_key": "other", "run_id": "other", "job_id": "other", "status": "failed"})
    assert new == transition(old, "running")


def test_a_given_id_stays() -> None:
    """Only an id that was made from the status follows the status."""
    assert transition(receipt(JOB | {"id": "mine"}), "running")["id"] == "mine"
    assert transition(receipt(JOB), "running", {"id": "mine"})["id"] == "mine"


@pytest.mark.parametrize(
    ("old", "status", "input_", "message"),
    [
        ("x", "running", None, "transition: the receipt is 'x'; give it what receipt(…) returned"),
        ({}, "running", None, "transition: job_id is missing, so this is no receipt; give it what receipt(…) returned"),
        (receipt(JOB) | {"run_id": 1}, "running", None, "transition: run_id is 1, so this is no receipt"),
        (receipt(JOB), "done", None, "status is 'done'; it takes one of"),
        (receipt(JOB), None, None, "status is missing; it takes one of"),
        (receipt(JOB), "failed", "boom", "transition: the input is 'boom'; write a dict such as {'error': "),
        (receipt(JOB), "failed", {"paths": 1}, "paths is 1; it takes a list of texts"),
    ],
)
def test_bad_transitions(old, status, input_, message: str) -> None:
    """The message says what, the value, and what to write."""
    with pytest.raises(UsageError, match=re.escape(message)):
        transition(old, status, input_)


# -- replay


@pytest.mark.parametrize("input_", [None, {}, {"mode": None}, {"mode": "include"}])
def test_a_replay_runs_the_job_again(input_) -> None:
    """Without another word the job is included, with the receipt it has."""
    old = receipt(JOB)
    assert replay_decision(old, input_) == {"mode": "include", "should_run": True, "receipt": old}


@pytest.mark.parametrize(
    ("replay", "input_", "reason"),
    [
        ({}, {"mode": "skip"}, "deterministic_replay_skip"),
        ({}, {"mode": "skip", "reason": "no network"}, "no network"),
        ({"mode": "skip"}, None, "deterministic_replay_skip"),
        ({"mode": "skip", "reason": "slow"}, None, "slow"),
        ({"mode": "skip", "reason": "slow"}, {"reason": "no network"}, "no network"),
        ({"reason": "slow"}, {"mode": "skip"}, "slow"),
    ],
)
def test_a_replay_skips_the_job(replay, input_, reason: str) -> None:
    """The skipped receipt is that of the same run, and its error is the reason."""
    old = receipt(JOB | {"replay": replay})
    hint = {"mode": "skip", "determinism_key": KEY, "reason": reason}
    skipped = transition(old, "skipped", {"error": reason, "replay": hint})
    assert replay_decision(old, input_) == {"mode": "skip", "should_run": False, "receipt": skipped}
    assert (skipped["run_id"], skipped["dedupe_key"]) == (old["run_id"], old["dedupe_key"])


def test_the_callers_mode_wins() -> None:
    """A receipt that would be skipped is run where the replay says so."""
    old = receipt(JOB | {"replay": {"mode": "skip"}})
    assert replay_decision(old, {"mode": "include"})["should_run"] is True


@pytest.mark.parametrize(
    ("old", "input_", "message"),
    [
        (None, None, "replay_decision: the receipt is None; give it what receipt(…) returned"),
        (receipt(JOB), {"mode": "skp"}, "mode is 'skp'; it takes one of 'include', 'skip'; did you mean 'skip'?"),
        (receipt(JOB), "skip", "replay_decision: the input is 'skip'; write a dict such as {'mode': 'skip'}"),
        (receipt(JOB), {"mode": "skip", "reason": 1}, "reason is 1; it takes text"),
    ],
)
def test_bad_replay_decisions(old, input_, message: str) -> None:
    """The message says what, the value, and what to write."""
    with pytest.raises(UsageError, match=re.escape(message)):
        replay_decision(old, input_)
