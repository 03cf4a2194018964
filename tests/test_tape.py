"""The tape: records, the chain, one writer."""

from __future__ import annotations

import hashlib
import json
import threading
from pathlib import Path

import pytest

from hookline import Hooks, Tape, TapeError
from hookline.tape import iso, read, verify


def scripts(folder: Path, **bodies: str) -> Path:
    """A settings.json whose PreToolUse hooks have these bodies, in order."""
    for name, body in bodies.items():
        (folder / f"{name}.sh").write_text(f"#!/bin/sh\n{body}\n")
        (folder / f"{name}.sh").chmod(0o755)
    config = folder / "settings.json"
    config.write_text(json.dumps({"hooks": {"PreToolUse": [{"path": f"{name}.sh"} for name in bodies]}}))
    return config


def test_a_record_is_a_compact_line_chained_to_the_last(tmp_path: Path) -> None:
    """The hash is sha256 over the previous hash and the line without its hash; seq counts from 1."""
    tape = Tape(str(tmp_path / "t.jsonl"), clock=lambda: 0.0625)
    tape.append("message", {"role": "user", "content": "é"})
    tape.append("message", {"b": [1, None]})
    tape.close()
    first, second = (tmp_path / "t.jsonl").read_text().splitlines()
    bare = '{"seq":1,"at":"1970-01-01T00:00:00.062Z","kind":"message","data":{"role":"user","content":"é"}}'
    digest = hashlib.sha256(bare.encode()).hexdigest()
    assert first == bare[:-1] + f',"hash":"{digest}"' + "}"
    bare = '{"seq":2,"at":"1970-01-01T00:00:00.062Z","kind":"message","data":{"b":[1,null]}}'
    assert json.loads(second)["hash"] == hashlib.sha256((digest + bare).encode()).hexdigest()
    assert verify(str(tmp_path / "t.jsonl")) == 2


def test_an_existing_tape_is_continued(tmp_path: Path) -> None:
    """Opening a tape again goes on where it ended, however long its last line is."""
    path = str(tmp_path / "t.jsonl")
    for size in (10, 300_000, 10):
        tape = Tape(path)
        tape.append("message", {"content": "x" * size})
        tape.close()
    assert [record.seq for record in read(path)] == [1, 2, 3]
    assert verify(path) == 3


def test_two_writers_are_refused(tmp_path: Path) -> None:
    """A tape has one writer at a time; the second is told."""
    tape = Tape(str(tmp_path / "t"))
    with pytest.raises(TapeError, match="another session is writing this tape"):
        Tape(str(tmp_path / "t"))
    tape.close()
    Tape(str(tmp_path / "t")).close()


@pytest.mark.parametrize("where", [".", "no/such/dir/t"])
def test_a_tape_that_cannot_be_opened(tmp_path: Path, where: str) -> None:
    """A directory, a missing directory: a TapeError that names the path."""
    with pytest.raises(TapeError, match="the tape cannot be opened"):
        Tape(str(tmp_path / where))


def test_a_file_that_is_no_tape_is_not_continued(tmp_path: Path) -> None:
    """Somebody's notes, or a torn last line, are not written on."""
    (tmp_path / "notes").write_text("hello\n")
    with pytest.raises(TapeError, match="not a record"):
        Tape(str(tmp_path / "notes"))
    (tmp_path / "torn").write_text('{"seq":1')
    with pytest.raises(TapeError, match="torn"):
        Tape(str(tmp_path / "torn"))
    assert (tmp_path / "notes").read_text() == "hello\n"


def test_an_edit_breaks_the_chain(tmp_path: Path) -> None:
    """A changed, a removed and a swapped line are each found, and the line is named."""
    path = tmp_path / "t"
    tape = Tape(str(path))
    for word in ("one", "two", "three"):
        tape.append("message", {"content": word})
    tape.close()
    lines = path.read_text().splitlines(keepends=True)
    for changed, words in [
        ([lines[0], lines[1].replace("two", "six"), lines[2]], "line 2"),
        ([lines[0], lines[2]], "line 2 has seq 3"),
        ([lines[1], lines[0], lines[2]], "line 1 has seq 2"),
    ]:
        path.write_text("".join(changed))
        with pytest.raises(TapeError, match=words):
            verify(str(path))


def test_every_step_of_an_event_is_on_the_tape(tmp_path: Path) -> None:
    """Calls, answers, vetoes, skips and the ruling, in their order, and the call before its hook starts."""
    config = scripts(
        tmp_path,
        ok=f'test "$(wc -l < {tmp_path}/t)" -eq 1 && echo seen',
        no="echo not this >&2; exit 2",
        never="exit 0",
    )
    hooks = Hooks()
    hooks.load(config)
    tape = Tape(str(tmp_path / "t"))
    ruling = hooks.fire("PreToolUse", tool_name="Bash", tool_input={}, tape=tape)
    tape.close()
    records = list(read(str(tmp_path / "t")))
    assert [(r.kind, r.data.get("handler"), r.data.get("result") or r.data.get("reason")) for r in records] == [
        ("hook_call", "ok.sh", None),
        ("hook_returned", "ok.sh", "none"),
        ("hook_call", "no.sh", None),
        ("hook_returned", "no.sh", "deny"),
        ("hook_vetoed", "no.sh", "not this"),
        ("hook_skipped", "never.sh", "settled by no.sh"),
        ("ruling", None, "not this"),
    ]
    assert ruling.context == ("seen",)
    assert records[0].data["payload"]["transcript_path"] == str(tmp_path / "t")
    assert records[0].data["surface"] == "tool"
    assert records[-1].data == ruling.to_dict()
    assert verify(str(tmp_path / "t")) == 7


def test_many_threads_share_a_tape(tmp_path: Path) -> None:
    """Records of several threads never mix inside a line, and the chain holds."""
    tape = Tape(str(tmp_path / "t"))

    def write(name: str) -> None:
        for number in range(200):
            tape.append("message", {"who": name, "n": number})

    threads = [threading.Thread(target=write, args=(str(n),)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tape.close()
    assert verify(str(tmp_path / "t")) == 800


def test_times_are_utc_with_milliseconds() -> None:
    """The form every payload and record uses."""
    assert iso(1735689600.0) == "2025-01-01T00:00:00.000Z"
    assert iso(1735689600.9999) == "2025-01-01T00:00:00.999Z"
