"""Tapes that stay: version 1 is read, verified and replayed for ever, and a real tape fits the schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from hookline import Divergence, Hooks
from hookline.replay import replay
from hookline.tallying import tallied
from hookline.tape import Torn, read, repair, verify
from insiders import PROGRAM, Live
from insiders import play as play_program
from studio import OPTIONS, Host, play, record

TAPES = Path(__file__).parent / "tapes"
SCHEMA = Path(__file__).parent.parent / "docs" / "schemas" / "tape-record.json"
HEAD = "8310a44dcb2483f374bc29c77592b7c810f4487452af338cb7a65954e59db77e"
HEAD_WITHIN = "bfa7eb0103ef9113395e676294c22b91e9244dccb36c534c72cf573ab5a7783a"


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    schema = json.loads(SCHEMA.read_text())
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def wrong(validator: Draft202012Validator, tape: Path) -> list[str]:
    return [
        f"{number}: {error.json_path}: {error.message}"
        for number, line in enumerate(tape.read_text().splitlines(), 1)
        for error in validator.iter_errors(json.loads(line))
    ]


def test_version_1_is_verified_for_ever() -> None:
    """The bytes of the tape are those that were recorded."""
    assert (TAPES / "v1.jsonl").read_bytes().count(b"\n") == verify(TAPES / "v1.jsonl", expect=HEAD).records


def test_version_1_is_read_for_ever() -> None:
    """Its records are what they were, with the version in the first."""
    first, *others = read(TAPES / "v1.jsonl")
    assert (first.kind, first.data["id"], first.data["version"]) == ("session", "s1", 1)
    assert {r.kind for r in others} >= {"event", "hook_call", "hook_returned", "hook_raised", "ruling", "approval"}
    assert tallied(read(TAPES / "v1.jsonl"))["decisions"]["deny"] > 0


def test_version_1_is_replayed_for_ever(tmp_path: Path) -> None:
    """Alone, to the same bytes, on any machine."""
    assert replay(TAPES / "v1.jsonl", tmp_path / "copy").divergence is None
    assert (tmp_path / "copy").read_bytes() == (TAPES / "v1.jsonl").read_bytes()


def test_version_1_drives_its_host_for_ever(tmp_path: Path) -> None:
    """The host that recorded it makes the same calls, and gets the same answers."""
    try:
        with Hooks().replay(TAPES / "v1.jsonl", tmp_path / "copy") as s:
            assert s.cwd == "/srv/agent"
            play(s, Host())
    except Divergence as divergence:  # pragma: no cover  (says which record)
        pytest.fail(str(divergence))
    assert (tmp_path / "copy").read_bytes() == (TAPES / "v1.jsonl").read_bytes()


def test_what_happened_inside_is_there_for_ever(tmp_path: Path) -> None:
    """A tape whose tools, model, person, compactor and handlers acted on the session: alone, and with its host."""
    tape, again = TAPES / "v1-within.jsonl", Live()
    assert verify(tape, expect=HEAD_WITHIN).records == sum(1 for _ in read(tape))
    assert {"within", "subagent", "approval"} <= {record.kind for record in read(tape)}
    assert replay(tape).divergence is None
    with Hooks().replay(tape, tmp_path / "copy") as s:
        play_program(s, PROGRAM, again)
    assert again.ran == 0
    assert (tmp_path / "copy").read_bytes() == tape.read_bytes()


def test_a_torn_tape_of_version_1(tmp_path: Path) -> None:
    """It is known as torn, and mended."""
    (tmp_path / "t").write_bytes((TAPES / "torn.jsonl").read_bytes())
    with pytest.raises(Torn, match="line 41"):
        verify(tmp_path / "t")
    assert repair(tmp_path / "t") == 120
    assert list(read(tmp_path / "t"))[-1].kind == "torn"
    assert replay(tmp_path / "t").divergence is None


def test_tapes_fit_the_schema(validator: Draft202012Validator, tmp_path: Path) -> None:
    """Every record of the old tapes, of a new one with everything on it, and of one that was repaired."""
    (tmp_path / "torn").write_bytes((TAPES / "torn.jsonl").read_bytes())
    repair(tmp_path / "torn")
    record(tmp_path / "w", tmp_path / "new", task="password=hunter22")
    hooks = Hooks()

    @hooks.on("PreToolUse")
    def nests(payload: dict[str, Any]) -> None:
        session.fire("Notification", message="inside")

    with hooks.session(tape=tmp_path / "nested", **OPTIONS) as session:
        session.tool("x", {}, str)
    for tape in (
        TAPES / "v1.jsonl",
        TAPES / "v1-within.jsonl",
        tmp_path / "torn",
        tmp_path / "new",
        tmp_path / "nested",
    ):
        assert wrong(validator, tape) == []


def test_the_schema_refuses_what_is_no_record(validator: Draft202012Validator) -> None:
    """Another kind, a missing field, a field that is not there, a hash that is none."""
    line = json.loads((TAPES / "v1.jsonl").read_text().splitlines()[1])
    assert list(validator.iter_errors(line)) == []
    for change in ({"kind": "evant"}, {"data": {}}, {"data": line["data"] | {"more": 1}}, {"hash": "x"}, {"seq": 0}):
        assert list(validator.iter_errors(line | change))
