"""The chain: what somebody did to a tape is found and named; what its writer's end did is told apart and mended."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookline import Hooks, Tape, TapeError
from hookline.tape import Torn, read, repair, verify

WRITERS = Path(__file__).parent / "writers.py"
WORDS = ("one", "two", "three", "four", "five", "six")


def writer(*words: object, **options: Any) -> subprocess.Popen[bytes]:
    command = [sys.executable, str(WRITERS), *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)


def said(*words: object) -> list[str]:
    done = subprocess.run(
        [sys.executable, str(WRITERS), *map(str, words)], capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def written(path: Path, words: tuple[str, ...] = WORDS) -> list[bytes]:
    """A tape of some messages; its lines."""
    tape = Tape(path, clock=lambda: 1.0)
    for word in words:
        tape.append("message", {"role": "user", "content": word})
    tape.close()
    return path.read_bytes().splitlines(keepends=True)


def broken(path: Path, lines: list[bytes]) -> str:
    path.write_bytes(b"".join(lines))
    with pytest.raises(TapeError) as raised:
        verify(path)
    assert not isinstance(raised.value, Torn)
    return str(raised.value)


# -- what somebody did to it


def test_an_edit_names_its_line(tmp_path: Path) -> None:
    """Any field of any record: the first line that no longer fits is that one."""
    lines = written(tmp_path / "t")
    for number, old, new in [
        (1, b"one", b"six"), (3, b'"user"', b'"root"'), (4, b'"kind":"message"', b'"kind":"massage"'),
        (5, b"1970-01-01", b"1971-01-01"), (6, b"six", b"sax"),
    ]:  # fmt: skip
        edited = [line.replace(old, new) if at == number else line for at, line in enumerate(lines, 1)]
        assert edited != lines
        assert f"line {number} (seq {number}) does not fit the chain" in broken(tmp_path / "t", edited)


def test_an_edited_hash_names_its_line(tmp_path: Path) -> None:
    """Also a hash that was made to fit the edit: then the record after it does not fit."""
    import hashlib

    lines = written(tmp_path / "t")
    bare = lines[1][:-76].replace(b"two", b"six") + b"}"
    previous = lines[0][-67:-3]
    forged = bare[:-1] + b',"hash":"' + hashlib.sha256(previous + bare).hexdigest().encode() + b'"}\n'
    assert len(forged) == len(lines[1])
    assert "line 3 (seq 3) does not fit the chain" in broken(tmp_path / "t", [lines[0], forged, *lines[2:]])


@pytest.mark.parametrize(
    ("order", "words"),
    [
        ((0, 1, 3, 4, 5), "line 3 has seq 4, where 3 should be"),
        ((1, 2, 3, 4, 5), "line 1 has seq 2, where 1 should be"),
        ((0, 2, 1, 3, 4, 5), "line 2 has seq 3, where 2 should be"),
        ((0, 1, 2, 2, 3, 4, 5), "line 4 has seq 3, where 4 should be"),
        ((5, 4, 3, 2, 1, 0), "line 1 has seq 6, where 1 should be"),
    ],
    ids=["a deletion", "the first one gone", "a swap", "an insertion", "turned round"],
)
def test_lines_that_are_missing_or_moved(tmp_path: Path, order: tuple[int, ...], words: str) -> None:
    """Deletions, swaps and insertions are found at the first place where something is wrong."""
    lines = written(tmp_path / "t")
    assert words in broken(tmp_path / "t", [lines[at] for at in order])


def test_an_inserted_record_of_somebody_else(tmp_path: Path) -> None:
    """A record with the right number that was made elsewhere does not fit."""
    lines = written(tmp_path / "t")
    other = written(tmp_path / "other", ("uno", "due", "tre"))
    assert "line 3 (seq 3) does not fit" in broken(tmp_path / "t", [*lines[:2], other[2], *lines[3:]])


@pytest.mark.parametrize("garbage", [b"\n", b"{}\n", b"hello\n", b"\xff\xfe\n", b'{"seq":3}\n', b"x" * 500 + b"\n"])
def test_a_line_that_is_no_record(tmp_path: Path, garbage: bytes) -> None:
    """Whatever was put between the records is named."""
    lines = written(tmp_path / "t")
    assert "line 3 " in broken(tmp_path / "t", [*lines[:2], garbage, *lines[2:]])


def test_a_truncation_inside(tmp_path: Path) -> None:
    """A line that was cut off, with others behind it, is no torn tail."""
    lines = written(tmp_path / "t")
    assert "line 3 " in broken(tmp_path / "t", [*lines[:2], lines[2][:-1], *lines[3:]])
    for left in (0, 1, 30, len(lines[2]) - 2):
        assert "line 3 " in broken(tmp_path / "t", [*lines[:2], lines[2][:left], *lines[3:]])
        assert "line 3 " in broken(tmp_path / "t", [*lines[:2], lines[2][:left] + b"\n", *lines[3:]])


def test_an_unfinished_line_that_was_never_begun_by_a_writer(tmp_path: Path) -> None:
    """A tail without its end is torn only if it is the beginning of the next record."""
    lines = written(tmp_path / "t")
    assert "is not the begin of a record" in broken(tmp_path / "t", [*lines, b"hello"])
    assert "is not the begin of a record" in broken(tmp_path / "t", [*lines[:4], lines[5][:-1]])


def test_a_truncation_at_the_end_is_seen_by_who_kept_the_head(tmp_path: Path) -> None:
    """The chain of what is left is whole; only the hash of the last record, kept elsewhere, tells."""
    tape = Tape(tmp_path / "t")
    for word in WORDS:
        tape.append("message", {"content": word})
    head = tape.head
    tape.close()
    assert verify(tmp_path / "t", expect=head).head == verify(tmp_path / "t", expect=f" {head.upper()}\n").head == head
    lines = (tmp_path / "t").read_bytes().splitlines(keepends=True)
    (tmp_path / "t").write_bytes(b"".join(lines[:-1]))
    assert verify(tmp_path / "t").records == 5
    with pytest.raises(TapeError, match="the end was cut off"):
        verify(tmp_path / "t", expect=head)
    (tmp_path / "t").write_bytes(b"")
    with pytest.raises(TapeError, match="the end was cut off"):
        verify(tmp_path / "t", expect=head)


def test_a_tape_that_went_on(tmp_path: Path) -> None:
    """A head that is older than the tape is told as what it is."""
    tape = Tape(tmp_path / "t")
    tape.append("message", {})
    head = tape.head
    tape.append("message", {})
    tape.close()
    with pytest.raises(TapeError, match="that is record 1, and 1 came after it"):
        verify(tmp_path / "t", expect=head)


@settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.integers(0), byte=st.integers(0, 255), data=st.data())
def test_any_change_is_found(tmp_path: Path, at: int, byte: int, data: st.DataObject) -> None:
    """One byte changed, removed or added anywhere: never intact, and the line is the one that was touched."""
    path = tmp_path / "t"
    if not path.exists():
        written(path)
    whole = path.read_bytes()
    at %= len(whole)
    how = data.draw(st.sampled_from(["change", "remove", "add"]))
    left, right = whole[:at], whole[at + (how != "add") :]
    changed = left + (b"" if how == "remove" else bytes([byte])) + right
    (tmp_path / "changed").write_bytes(changed)
    if changed == whole:
        assert verify(tmp_path / "changed").records == len(WORDS)
        return
    touched = whole[:at].count(b"\n") + 1
    with pytest.raises(TapeError) as raised:
        verify(tmp_path / "changed")
    found = int(str(raised.value).split("line ")[1].split()[0].rstrip(","))
    assert found in (touched, touched + 1)


# -- what its writer's end did to it


@pytest.mark.parametrize("left", [1, 10, 60, 150, -1])
def test_a_torn_tail_is_told_apart_and_repaired(tmp_path: Path, left: int) -> None:
    """The last line without its end is torn, wherever it was cut; a record takes its place, and the chain holds."""
    lines = written(tmp_path / "t")
    tail = lines[-1][:left]
    (tmp_path / "t").write_bytes(b"".join(lines[:-1]) + tail)
    with pytest.raises(Torn, match="line 6, the last one, is torn") as raised:
        verify(tmp_path / "t")
    assert raised.value.line == 6
    with pytest.raises(Torn):
        Tape(tmp_path / "t")
    with pytest.raises(Torn):
        list(read(tmp_path / "t"))
    assert repair(tmp_path / "t") == len(tail)
    assert verify(tmp_path / "t").records == 6
    *before, mark = read(tmp_path / "t")
    assert [r.data["content"] for r in before] == list(WORDS[:5])
    assert (mark.kind, mark.data) == ("torn", {"bytes": len(tail), "text": tail.decode()[:200]})
    assert (tmp_path / "t").read_bytes().splitlines(keepends=True)[:-1] == lines[:-1]


def test_a_tail_longer_than_a_page(tmp_path: Path) -> None:
    """A torn record may be large; all of it goes. What was whole stays, and the tape can be continued."""
    lines = written(tmp_path / "t", ("small", "x" * 300_000))
    (tmp_path / "t").write_bytes(lines[0] + lines[1][:200_000])
    assert repair(tmp_path / "t") == 200_000
    assert repair(tmp_path / "t") == 0
    Tape(tmp_path / "t").append("message", {"content": "on we go"})
    assert [r.kind for r in read(tmp_path / "t")] == ["message", "torn", "message"]
    assert verify(tmp_path / "t").records == 3


def test_a_tape_torn_in_its_first_line(tmp_path: Path) -> None:
    """The record that says so has the version then."""
    (tmp_path / "t").write_bytes(b'{"seq":1,"at":"2026')
    repair(tmp_path / "t")
    [mark] = read(tmp_path / "t")
    assert (mark.kind, mark.data["version"]) == ("torn", 1)


def test_room_that_a_file_system_kept(tmp_path: Path) -> None:
    """After a loss of power the end of a file may be empty bytes; that is torn, too."""
    lines = written(tmp_path / "t")
    (tmp_path / "t").write_bytes(b"".join(lines) + b"\0" * 100)
    assert repair(tmp_path / "t") == 100
    assert verify(tmp_path / "t").records == 7


def test_a_changed_tape_is_not_repaired(tmp_path: Path) -> None:
    """Repairing mends what a crash did, never what somebody did."""
    lines = written(tmp_path / "t")
    changed = b"".join(lines[:-1]).replace(b"two", b"six") + lines[-1][:20]
    (tmp_path / "t").write_bytes(changed)
    with pytest.raises(TapeError, match="line 2"):
        repair(tmp_path / "t")
    assert (tmp_path / "t").read_bytes() == changed


def test_a_tape_in_use_is_not_repaired(tmp_path: Path) -> None:
    """Its writer may be in the middle of a record."""
    tape = Tape(tmp_path / "t")
    with pytest.raises(TapeError, match="another session is writing this tape"):
        repair(tmp_path / "t")
    tape.close()
    with pytest.raises(TapeError, match="cannot be opened"):
        repair(tmp_path / "nothing")


def test_kill_9_at_any_moment(tmp_path: Path) -> None:
    """300 times: every record that was acknowledged is there, and the chain holds, or the tail is torn and mended."""
    chance = random.Random(6)
    torn = 0
    for round_ in range(25):  # one interpreter writes for many short lives: each child is forked and killed
        path = tmp_path / f"t{round_}"
        acknowledged = [int(line) for line in said("forked", path, 12, chance.random())]
        records = list(read(path))
        torn += sum(r.kind == "torn" for r in records)
        assert verify(path).records == len(records)
        assert [r.data["n"] for r in records if r.kind == "message"][: len(acknowledged)] == acknowledged
        assert len(acknowledged) > 12
    print(f"{torn} torn tails")


def test_kill_9_of_whole_programs(tmp_path: Path) -> None:
    """The same from outside: what a program has told it wrote is on its tape."""
    chance = random.Random(9)
    programs = []
    for number in range(16):
        path = tmp_path / f"t{number}"
        programs.append((path, writer("forever", path, "fsync" if number % 4 == 0 else "flush")))
    for path, program in programs:
        assert program.stdout is not None
        first = program.stdout.readline()
        time.sleep(chance.random() * 0.02)
        program.send_signal(signal.SIGKILL)
        told = [first, *program.stdout.read().splitlines()]
        program.wait()
        acknowledged = int(told[-1] if told[-1].strip().isdigit() else told[-2])
        repair(path)
        whole = [r for r in read(path) if r.kind != "torn"]
        assert verify(path).records >= len(whole) >= acknowledged > 0
        program.stdout.close()


def test_ctrl_c_at_any_moment(tmp_path: Path) -> None:
    """An interrupted write is taken back or counted: a program that goes on goes on with a whole chain."""
    program = writer("interrupted", tmp_path / "t")
    assert program.stdout is not None
    program.stdout.readline()
    while program.poll() is None:
        program.send_signal(signal.SIGTERM)
        time.sleep(0.0005)
    rest = program.stdout.read()
    program.stdout.close()
    assert program.wait() == 0, rest
    assert verify(tmp_path / "t").records >= 400


def test_a_full_disk(tmp_path: Path) -> None:
    """The host is told; what was left of the record is taken back, so that the tape stays whole and can go on."""
    first, second, count = said("full", tmp_path / "t", 10_000)
    assert first == second == f"{tmp_path}/t: the tape cannot be written: File too large"
    assert (tmp_path / "t").stat().st_size < 10_000 + 400
    assert verify(tmp_path / "t").records == int(count) > 10
    assert list(read(tmp_path / "t"))[-1].data == {"content": "there is room again"}


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_device_that_is_full(tmp_path: Path) -> None:
    """A tape that can never be written says so at its first record."""
    try:
        tape = Tape("/dev/full")
    except TapeError:
        return  # a system that does not even let it be locked
    with pytest.raises(TapeError, match="cannot be written: No space left on device"):
        tape.append("message", {})


# -- where it cannot be


def test_a_read_only_directory(tmp_path: Path) -> None:
    """The tape is refused when it is opened, before anything happens; a session does not even begin."""
    locked = tmp_path / "locked"
    locked.mkdir()
    written(locked / "old")
    locked.chmod(0o500)
    (locked / "old").chmod(0o400)
    if os.geteuid() != 0:  # root writes everywhere
        for name in ("new", "old"):
            with pytest.raises(TapeError, match="the tape cannot be opened: Permission denied"):
                Hooks().session(tape=locked / name).__enter__()
    locked.chmod(0o700)
    assert verify(locked / "old").records == len(WORDS)


def test_a_read_only_directory_for_somebody_else(tmp_path: Path) -> None:
    """The same where the tests are run by root: as a user without rights."""
    if os.geteuid() != 0:
        pytest.skip("not root")
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o755)
    for above in (locked, *locked.parents):
        if above in (Path("/"), Path("/tmp")):
            break
        above.chmod(0o755)
    code = (
        "import fcntl, os, sys, hookline.session\nfrom hookline import Hooks, TapeError\n"
        "os.setgid(65534); os.setuid(65534)\n"
        "try: Hooks().session(tape=sys.argv[1]).__enter__()\nexcept TapeError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(locked / "t")], capture_output=True, text=True, check=False, cwd="/"
    )
    assert done.stdout == f"{locked}/t: the tape cannot be opened: Permission denied\n", done.stderr


def test_a_directory(tmp_path: Path) -> None:
    """A directory is no tape: not for writing, reading, verifying or repairing."""
    for use in (
        lambda: Hooks().session(tape=tmp_path).__enter__(),
        lambda: list(read(tmp_path)),
        lambda: verify(tmp_path),
        lambda: repair(tmp_path),
    ):
        with pytest.raises(TapeError, match=r"Is a directory"):
            use()


def test_two_sessions_with_the_same_tape(tmp_path: Path) -> None:
    """The second is refused, in this process and in another; once the first has ended it goes on where that ended."""
    first = Hooks().session(id="a", tape=tmp_path / "t")
    words = ["fire", "Stop", "--tape", str(tmp_path / "t")]
    with first:
        with pytest.raises(TapeError, match="another session is writing this tape"):
            Hooks().session(id="b", tape=tmp_path / "t").__enter__()
        done = subprocess.run(
            [sys.executable, "-m", "hookline", *words], capture_output=True, text=True, check=False, cwd=tmp_path
        )
        assert (done.returncode, "another session is writing this tape" in done.stderr) == (65, True)
    with Hooks().session(id="b", tape=tmp_path / "t"):
        pass
    assert [r.data["id"] for r in read(tmp_path / "t") if r.kind == "session"] == ["a", "b"]
    assert verify(tmp_path / "t").records == 10


def test_memory_stays_flat(tmp_path: Path) -> None:
    """A tape of 200,000 records is read, verified and summed up in the memory that one of 2,000 takes."""
    tops = {}
    for count in (2_000, 200_000):
        path = tmp_path / f"t{count}"
        said("many", path, count)
        for verb in ("verify", "read", "stats"):
            [line] = said("peak", verb, path)
            found, kilobytes = map(int, line.split())
            assert found == count
            tops[verb, count] = kilobytes
        path.unlink()
    for verb in ("verify", "read", "stats"):
        assert tops[verb, 200_000] < tops[verb, 2_000] + 4_096
