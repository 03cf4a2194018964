"""The tape: records, the chain, one writer."""

from __future__ import annotations

import hashlib
import json
import threading
from pathlib import Path

import pytest

from hookline import Hooks, Tape, TapeError, UsageError
from hookline.tape import Record, iso, read, verify
from studio import scripts


def test_a_record_is_a_compact_line_chained_to_the_last(tmp_path: Path) -> None:
    """The hash is sha256 over the previous hash and the line without its hash; seq counts from 1."""
    tape = Tape(str(tmp_path / "t.jsonl"), clock=lambda: 0.0625)
    tape.append("message", {"role": "user", "content": "é"})
    tape.append("message", {"b": [1, None]})
    tape.close()
    first, second = (tmp_path / "t.jsonl").read_text().splitlines()
    said = '{"role":"user","content":"é","version":1}'
    bare = '{"seq":1,"at":"1970-01-01T00:00:00.062Z","kind":"message","data":' + said + "}"
    digest = hashlib.sha256(bare.encode()).hexdigest()
    assert first == bare[:-1] + f',"hash":"{digest}"' + "}"
    bare = '{"seq":2,"at":"1970-01-01T00:00:00.062Z","kind":"message","data":{"b":[1,null]}}'
    assert json.loads(second)["hash"] == hashlib.sha256((digest + bare).encode()).hexdigest()
    assert verify(tmp_path / "t.jsonl").records == 2


def test_an_existing_tape_is_continued(tmp_path: Path) -> None:
    """Opening a tape again goes on where it ended, however long its last line is."""
    path = str(tmp_path / "t.jsonl")
    for size in (10, 300_000, 10):
        tape = Tape(path)
        tape.append("message", {"content": "x" * size})
        tape.close()
    assert [record.seq for record in read(path)] == [1, 2, 3]
    assert verify(path).records == 3


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
    (tmp_path / "blank").write_text("\n")
    with pytest.raises(TapeError, match="not a record"):
        Tape(str(tmp_path / "blank"))
    (tmp_path / "torn").write_text('{"seq":1')
    with pytest.raises(TapeError, match="torn"):
        Tape(str(tmp_path / "torn"))
    assert (tmp_path / "notes").read_text() == "hello\n"


def test_every_step_of_an_event_is_on_the_tape(tmp_path: Path) -> None:
    """Calls, answers, vetoes, skips and the ruling, in their order, and the call before its hook starts."""
    config = scripts(
        tmp_path,
        ok=f'test "$(wc -l < {tmp_path}/t)" -eq 2 && echo seen',
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
        ("event", None, None),
        ("hook_call", "ok.sh", None),
        ("hook_returned", "ok.sh", "none"),
        ("hook_call", "no.sh", None),
        ("hook_returned", "no.sh", "deny"),
        ("hook_vetoed", "no.sh", "not this"),
        ("hook_skipped", "never.sh", "settled by no.sh"),
        ("ruling", None, "not this"),
    ]
    assert ruling.context == ("seen",)
    assert records[0].data["version"] == 1
    assert records[1].data["payload"]["transcript_path"] == str(tmp_path / "t")
    assert records[1].data["surface"] == "tool"
    assert records[-1].data == ruling.to_dict()
    assert verify(tmp_path / "t").records == 8


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
    assert verify(tmp_path / "t").records == 800


def test_times_are_utc_with_milliseconds() -> None:
    """The form every payload and record uses."""
    assert iso(1735689600.0) == "2025-01-01T00:00:00.000Z"
    assert iso(1735689600.9999) == "2025-01-01T00:00:00.999Z"


def test_reading_gives_typed_records(tmp_path: Path) -> None:
    """`read` yields one Record a line; `said` is its data without what the tape adds."""
    tape = Tape(tmp_path / "t", clock=lambda: 0.0)
    tape.append("message", {"role": "user", "content": "token=abcdefgh"})
    tape.close()
    [record] = read(tmp_path / "t")
    assert record == Record(1, "1970-01-01T00:00:00.000Z", "message", record.data, tape.head)
    assert record.data == {"role": "user", "content": "token=[masked]", "masked": ["/content"], "version": 1}
    assert record.said == {"role": "user", "content": "token=[masked]"}


def test_the_head_is_the_last_hash(tmp_path: Path) -> None:
    """It is empty for a new tape, and known at once for one that is continued."""
    tape = Tape(tmp_path / "t")
    assert tape.head == ""
    tape.append("message", {})
    head = tape.head
    tape.close()
    assert (Tape(tmp_path / "t").head, verify(tmp_path / "t").head) == (head, head)


@pytest.mark.parametrize("durability", ["flush", "fsync"])
def test_durability_is_a_choice(tmp_path: Path, durability: str) -> None:
    """Both write the same bytes; another word is a mistake."""
    tape = Tape(tmp_path / "t", clock=lambda: 0.0, durability=durability)  # type: ignore[arg-type]
    tape.append("message", {})
    assert verify(tmp_path / "t").records == 1
    with Hooks().session(tape=tmp_path / "s", durability=durability):  # type: ignore[arg-type]
        assert verify(tmp_path / "s").records == 3
    with pytest.raises(UsageError, match=r'durability is "flush" or "fsync", not .always.'):
        Tape(tmp_path / "u", durability="always")  # type: ignore[arg-type]
    assert not (tmp_path / "u").exists()


def test_a_record_is_one_write_and_fsync_is_one_more_call(tmp_path: Path) -> None:
    """As the system sees it: one write for each record, and an fsync after it only where it was chosen."""
    import shutil
    import subprocess
    import sys

    if shutil.which("strace") is None:
        pytest.skip("needs strace")
    for durability, calls in (("flush", ["write"] * 3), ("fsync", ["write", "fsync"] * 3)):
        code = (
            "import sys; from hookline import Tape; t = Tape(sys.argv[1], durability=sys.argv[2]);"
            "[t.append('message', {'content': 'x' * 9000}) for _ in range(3)]"
        )
        path = tmp_path / durability
        log = tmp_path / "log"
        words = ["strace", "-y", "-e", "trace=write,fsync", "-o", str(log), sys.executable, "-c", code, str(path)]
        if subprocess.run([*words, durability], capture_output=True, check=False).returncode:
            pytest.skip("strace may not trace here")
        assert [line.split("(")[0] for line in log.read_text().splitlines() if f"<{path}>" in line] == calls


def test_what_is_no_json_never_reaches_the_tape(tmp_path: Path) -> None:
    """A value that cannot be written is a mistake of the program's; nothing of it is left."""
    tape = Tape(tmp_path / "t")
    with pytest.raises(UsageError, match="JSON values"):
        tape.append("message", {"content": object()})
    tape.append("message", {"content": "\udcff", "n": 10**30})
    assert [r.data["content"] for r in read(tmp_path / "t")] == ["\ufffd"]
    tape.close()
    with pytest.raises(TapeError, match="the tape is closed"):
        tape.append("message", {})
