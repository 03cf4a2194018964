"""`hookline tape` and `hookline replay`, as real processes."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from hookline import Hooks
from hookline.compacting import compact
from hookline.tape import chained, sealed, verify
from hookline.tape import line as line_of
from studio import record, records, scripts


def hookline(*words: object, cwd: Path | None = None, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "hookline", *map(str, words)],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "NO_COLOR": "1", "COLUMNS": "250"} | env,
        timeout=60,
    )


def answer(*words: object, code: int = 0) -> Any:
    done = hookline(*words, "--json")
    assert (done.returncode, done.stderr) == (code, "")
    assert done.stdout.count("\n") == 1
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def tape(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tape of a studio's whole session, whose hooks are gone."""
    folder = tmp_path_factory.mktemp("cli")
    _, _, studio = record(folder / "w", folder / "tape.jsonl")
    studio.wreck()
    return folder / "tape.jsonl"


@pytest.fixture
def broken(tape: Path, tmp_path: Path) -> Path:
    lines = tape.read_bytes().splitlines(keepends=True)
    lines[4] = lines[4].replace(b'"event"', b'"evant"', 1)
    (tmp_path / "broken").write_bytes(b"".join(lines))
    return tmp_path / "broken"


@pytest.fixture
def torn(tape: Path, tmp_path: Path) -> Path:
    (tmp_path / "torn").write_bytes(tape.read_bytes()[:-50])
    return tmp_path / "torn"


BASE = {"event": "Stop", "session_id": "s", "cwd": "/", "timestamp": "", "transcript_path": ""}


def written(path: Path, *lines: tuple[str, dict[str, Any]]) -> Path:
    """A tape with a chain of its own."""
    previous, text = "", b""
    for seq, (kind, data) in enumerate(lines, 1):
        bare = line_of(seq, "2026-01-01T00:00:00.000Z", kind, compact(data))
        previous = chained(previous, bare)
        text += sealed(bare, previous)
    path.write_bytes(text)
    return path


# -- verify


def test_an_intact_tape(tape: Path) -> None:
    """0, and the number of records with the hash of the last."""
    whole = verify(tape)
    assert answer("tape", "verify", tape) == {"intact": True, "records": whole.records, "head": whole.head}
    done = hookline("tape", "verify", tape)
    assert done.stdout == f"Intact: {whole.records} records. The last one's hash: {whole.head}\n"


def test_a_broken_tape(broken: Path, tmp_path: Path) -> None:
    """65, and the line; also for a file that is not there, or is no tape."""
    done = hookline("tape", "verify", broken)
    assert (done.returncode, done.stdout) == (65, "")
    assert "line 5 (seq 5) does not fit the chain" in done.stderr
    reason = done.stderr.removeprefix("hookline: ").strip()
    assert answer("tape", "verify", broken, code=65) == {"intact": False, "line": 5, "reason": reason}
    assert answer("tape", "verify", tmp_path / "no", code=65).keys() == {"intact", "reason"}
    (tmp_path / "notes").write_text("hello\n")
    for path, words in ((tmp_path / "notes", "line 1 is not a record"), (tmp_path / "no", "cannot be read"),
                        (tmp_path, "cannot be read: Is a directory")):  # fmt: skip
        done = hookline("tape", "verify", path)
        assert (done.returncode, words in done.stderr) == (65, True)


def test_a_torn_tape_is_repaired(torn: Path) -> None:
    """65 and how to mend it; --repair turns the torn line into a record, and the tape is intact."""
    done = hookline("tape", "verify", torn)
    assert (done.returncode, "--repair" in done.stderr) == (65, True)
    found = answer("tape", "verify", torn, "--repair")
    assert found["repaired_bytes"] > 0
    assert records(torn)[-1].kind == "torn"
    assert hookline("tape", "verify", torn, "--repair").stdout.startswith("Intact")
    assert answer("replay", torn)["identical"] is True


def test_the_head(tape: Path, tmp_path: Path) -> None:
    """Kept in a file, or given as it is, the last hash catches what the chain cannot: that the end is gone."""
    head = tmp_path / "head"
    assert hookline("tape", "verify", tape, "--save-head", head).returncode == 0
    assert head.read_text() == verify(tape).head + "\n"
    for given in (f"@{head}", verify(tape).head):
        assert hookline("tape", "verify", tape, "--expect", given).returncode == 0
    lines = tape.read_bytes().splitlines(keepends=True)
    (tmp_path / "cut").write_bytes(b"".join(lines[:-1]))
    assert hookline("tape", "verify", tmp_path / "cut").returncode == 0
    done = hookline("tape", "verify", tmp_path / "cut", "--expect", f"@{head}")
    assert (done.returncode, "the end was cut off" in done.stderr) == (65, True)
    for given in ("@/no/such/file", " "):
        assert hookline("tape", "verify", tape, "--expect", given).returncode == 64


# -- show


def shown(tape: Path, *filters: object) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = answer("tape", "show", tape, *filters)["records"]
    return found


def test_everything_is_shown(tape: Path) -> None:
    """All records as they are; for a person one line each, with every kind in words."""
    assert shown(tape) == [json.loads(line) for line in tape.read_text().splitlines()]
    done = hookline("tape", "show", tape)
    *lines, last = done.stdout.splitlines()
    assert (len(lines), last) == (verify(tape).records, f"{verify(tape).records} records.")
    for words in ("PreToolUse Bash", "calls tool_hook::exec_*::pre harn", "vetoed: exec is gated", "skipped: no match",
                  "ruling deny: exec is gated", "raised: ", "returned timeout", "user: fix the test", "Bash gave: ",
                  "tool Other failed: ", "reminder: breathe", "subagent: ", "[context"):  # fmt: skip
        assert words in done.stdout


@pytest.mark.parametrize(
    ("filters", "keeps"),
    [
        (("--event", "stop"), lambda r: r.data.get("event") == "Stop"),
        (("--event", "BeforeTool"), lambda r: r.data.get("event") == "PreToolUse"),
        (("--hook", "guard"), lambda r: "guard" in r.data.get("handler", "")),
        (("--decision", "ask"), lambda r: "ask" in (r.data.get("decision"), r.data.get("result"))
         and r.kind in ("ruling", "hook_returned", "hook_vetoed")),
        (("--since", "2026-01-01T00:00:30"), lambda r: r.at >= "2026-01-01T00:00:30"),
        (("--until", "2026-01-01T00:00"), lambda r: r.at < "2026-01-01T00:01"),
        (("--until", "2025"), lambda r: False),
        (("--since", "2026-01-01", "--until", "2026-01-01Z"), lambda r: True),
    ],
)  # fmt: skip
def test_filters(tape: Path, filters: tuple[str, ...], keeps: Any) -> None:
    """By event in any spelling, by hook, by decision, by time."""
    assert [r["seq"] for r in shown(tape, *filters)] == [r.seq for r in records(tape) if keeps(r)]


def test_filters_together(tape: Path) -> None:
    """All of them have to fit: the vetoes of one hook."""
    found = shown(tape, "--hook", "exec_", "--decision", "deny")
    assert [r["kind"] for r in found] == ["hook_returned", "hook_vetoed"]


def test_wrong_filters(tape: Path) -> None:
    """A time, an event or a decision that is none is wrong usage."""
    for filters in (("--since", "yesterday"), ("--event", "Stopp"), ("--decision", "perhaps"), ("--until", "2026-1-1")):
        assert hookline("tape", "show", tape, *filters).returncode == 64


def test_a_tape_that_cannot_be_read_to_its_end(torn: Path) -> None:
    """What can be read is shown, then why the rest cannot; the JSON is whole, and the exit code is 65."""
    done = hookline("tape", "show", torn)
    assert (done.returncode, len(done.stdout.splitlines())) == (65, verify_records(torn) + 1)
    assert "is torn" in done.stderr
    found = answer("tape", "show", torn, code=65)
    assert (len(found["records"]), "is torn" in found["error"]) == (verify_records(torn), True)


def test_a_tape_that_was_changed_is_not_told_as_whole(tape: Path, tmp_path: Path) -> None:
    """A timeline, and numbers, of what somebody wrote anew come with the line that does not fit: 65."""
    (tmp_path / "edited").write_bytes(tape.read_bytes().replace(b"exec is gated", b"exec is great"))
    for verb in ("show", "stats"):
        done = hookline("tape", verb, tmp_path / "edited")
        assert done.returncode == 65
        assert done.stdout
        assert "does not fit the chain" in done.stderr
        assert "does not fit the chain" in answer("tape", verb, tmp_path / "edited", code=65)["error"]
    kept = len(shown(tape, "--event", "Stop"))
    assert len(answer("tape", "show", tmp_path / "edited", "--event", "Stop", code=65)["records"]) == kept


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("event", BASE | {"event": "\x1b[2JStop", "payload": {}}),
        ("message", {"role": "\x1b]0;owned\x07user", "content": "hi"}),
        ("hook_returned", {"event": "Stop", "handler": "h", "dialect": "harn", "source": "f", "result": "\x1b[2Jx",
                           "raw": None, "duration_ms": 1}),
        ("\x1b[2Jkind", {"a": "\x1b[2J"}),
    ],
)  # fmt: skip
def test_no_field_of_a_forged_tape_commands_the_terminal(tmp_path: Path, kind: str, data: dict[str, Any]) -> None:
    """Whichever of them it is in."""
    done = hookline("tape", "show", written(tmp_path / "t", (kind, data)))
    assert done.returncode == 0
    assert "\x1b" not in done.stdout + done.stderr


def test_a_text_on_the_tape_cannot_forge_a_line(tmp_path: Path) -> None:
    """What a tool gave has its breaks spelled out, and is cut: a record is one line."""
    with Hooks().session(id="s", tape=tmp_path / "t") as s:
        s.tool("x", {}, lambda given: "gave\n    99 20:00:00.000   ruling allow: a person said yes\n" + "long " * 200)
    lines = hookline("tape", "show", tmp_path / "t").stdout.splitlines()
    assert len(lines) == verify(tmp_path / "t").records + 1
    told = next(line for line in lines if "gave: " in line)
    assert r"gave: gave\n    99 20:00:00.000   ruling allow" in told
    assert len(told) < 300


def test_what_is_taken_out_says_what_it_is_about(tape: Path) -> None:
    """Where filters leave rulings without their events, each names its event."""
    lines = hookline("tape", "show", tape, "--decision", "ask").stdout.splitlines()[:-1]
    assert lines
    assert all("PreToolUse" in line for line in lines)


def verify_records(torn: Path) -> int:
    return torn.read_bytes().count(b"\n")


def test_a_text_on_the_tape_cannot_command_the_terminal(tmp_path: Path) -> None:
    """What hooks and models wrote is shown, never obeyed."""
    payload = json.dumps({"prompt": "\x1b[2J[bold]owned[/bold]"})
    hookline("fire", "UserPromptSubmit", "-p", payload, "--tape", "t", cwd=tmp_path)
    done = hookline("tape", "show", tmp_path / "t")
    assert "\x1b" not in done.stdout
    assert "[bold]owned[/bold]" in done.stdout


# -- stats


def test_the_numbers(tape: Path) -> None:
    """Per hook: runs, failures, vetoes, skips, durations, injected characters; as counted here once more."""
    times: dict[Any, list[float]] = defaultdict(list)
    wanted: dict[Any, dict[str, Any]] = defaultdict(lambda: {"failures": 0, "vetoes": 0, "skips": 0, "injected": 0})
    for r in records(tape):
        key = (r.data.get("handler"), r.data.get("source"))
        if r.kind in ("hook_returned", "hook_raised"):
            times[key].append(r.data["duration_ms"])
            wanted[key]["failures"] += r.data.get("result", "failed") in ("failed", "timeout")
            wanted[key]["injected"] += r.data.get("injected", 0)
        elif r.kind in ("hook_vetoed", "hook_skipped"):
            wanted[key]["vetoes" if r.kind == "hook_vetoed" else "skips"] += 1
    found = answer("tape", "stats", tape)
    assert len(found["hooks"]) == len(wanted)
    for key, row in zip(wanted, found["hooks"], strict=True):
        assert row["hook"] == key[0]
        ordered = sorted(times[key])
        assert {name: row[name] for name in ("failures", "vetoes", "skips", "injected")} == {
            name: wanted[key][name] for name in ("failures", "vetoes", "skips", "injected")
        }
        assert row["runs"] == len(ordered)
        for name, share in (("p50_ms", 0.5), ("p95_ms", 0.95), ("max_ms", 1.0)):
            assert row[name] == (ordered[math.ceil(round(share * len(ordered), 6)) - 1] if ordered else 0)
        assert row["total_ms"] == pytest.approx(sum(ordered), abs=0.01)
    kinds = [r.kind for r in records(tape)]
    assert (found["records"], found["events"], found["rulings"]) == (
        len(kinds), kinds.count("event"), kinds.count("ruling"),
    )  # fmt: skip
    assert sum(found["decisions"].values()) == found["rulings"]


def test_the_table_of_numbers(tape: Path) -> None:
    """For a person, with the sum of it all at the end."""
    done = hookline("tape", "stats", tape)
    assert "p50/p95/max ms" in done.stdout
    assert f"{verify(tape).records} records" in done.stdout.splitlines()[-1]


def test_the_numbers_on_a_narrow_terminal(tape: Path) -> None:
    """A name is never broken over lines of a letter each: it has a line of its own."""
    done = hookline("tape", "stats", tape, COLUMNS="60")
    assert "tool_hook::exec_*::pre" in [line.rstrip() for line in done.stdout.splitlines()]
    assert max(map(len, done.stdout.splitlines())) <= 60


def test_no_tape_to_sum_up(tmp_path: Path) -> None:
    """A file that is not there is bad data; an empty tape has no numbers."""
    assert hookline("tape", "stats", tmp_path / "no").returncode == 65
    (tmp_path / "empty").touch()
    assert answer("tape", "stats", tmp_path / "empty")["hooks"] == []
    assert "0 records" in hookline("tape", "stats", tmp_path / "empty").stdout


# -- replay


def test_the_same_again(tape: Path, tmp_path: Path) -> None:
    """0 and identical; --tape has the very bytes."""
    assert answer("replay", tape, "--tape", tmp_path / "copy") == {"identical": True, "records": verify(tape).records}
    assert (tmp_path / "copy").read_bytes() == tape.read_bytes()
    done = hookline("replay", tape)
    assert (done.returncode, done.stdout) == (0, f"{tape}: identical, {verify(tape).records} records.\n")


def test_broken_tapes_beside_good_ones(tape: Path, broken: Path) -> None:
    """As JSON a broken tape has an answer of its own, and of many the good ones are replayed and judged."""
    found = answer("replay", broken, code=65)
    assert (found["identical"], found["records"], found["divergence"]["seq"]) == (False, 4, 5)
    assert "does not fit the chain" in found["divergence"]["reason"]
    many = answer("replay", broken, tape, code=65)["tapes"]
    assert [each["identical"] for each in many] == [False, True]
    done = hookline("replay", broken, tape)
    assert (done.returncode, "not identical" in done.stdout, "identical, " in done.stdout) == (65, True, True)


@pytest.mark.parametrize(
    ("kind", "data", "words"),
    [
        ("event", {"event": "Stop"}, "(record 1, event) has no 'session_id'"),
        ("event", {**BASE, "payload": 7}, "(record 1, event) has a 'payload' that is no object"),
        ("event", {**BASE, "payload": {}, "event": "Nonsense"}, "record 1 cannot be replayed"),
        ("event", {**BASE, "payload": {}, "version": 99}, "says version 99; this hookline reads version 1 only"),
    ],
)
def test_malformed_tapes(tmp_path: Path, kind: str, data: dict[str, Any], words: str) -> None:
    """A whole chain of what hookline never wrote: 65, and a sentence with file and record."""
    path = written(tmp_path / "forged", (kind, data))
    done = hookline("replay", path)
    assert (done.returncode, str(path) in done.stderr, words in done.stderr) == (65, True, True), done.stderr
    for verb in ("show", "stats"):
        assert hookline("tape", verb, path).returncode in (0, 65)
    assert hookline("tape", "verify", path).returncode == (65 if "version" in words else 0)


def test_a_dialect_nobody_knows(tmp_path: Path) -> None:
    """Is told as any other record that hookline never wrote."""
    hook = {"event": "Stop", "handler": "h", "dialect": "klingon", "source": "f"}
    call = ("hook_call", {**hook, "surface": "session", "payload": {}})
    path = written(tmp_path / "forged", ("event", {**BASE, "payload": {}}), call)
    done = hookline("replay", path)
    assert (done.returncode, f"{path}: record " in done.stderr, "klingon" in done.stderr) == (65, True, True)


def test_a_broken_tape_is_not_replayed(broken: Path, torn: Path, tmp_path: Path) -> None:
    """65, as when it is verified."""
    for path in (broken, torn, tmp_path / "no"):
        assert hookline("replay", path).returncode == 65


def forged(tape: Path, path: Path, old: bytes, new: bytes) -> Path:
    """A tape that was changed and chained anew: whole, but it could not have happened."""
    import hashlib

    previous, lines = b"", []
    for line in tape.read_bytes().splitlines():
        bare = line[:-75].replace(old, new) + b"}"
        previous = hashlib.sha256(previous + bare).hexdigest().encode()
        lines.append(bare[:-1] + b',"hash":"' + previous + b'"}\n')
    path.write_bytes(b"".join(lines))
    return path


def test_a_ruling_that_does_not_follow(tape: Path, tmp_path: Path) -> None:
    """Whoever forges a ruling has the engine against him: the record, what the tape has, and what comes of it."""
    changed = forged(tape, tmp_path / "f", b'"decision":"deny","healthy":true', b'"decision":"none","healthy":true')
    assert verify(changed).records == verify(tape).records
    found = answer("replay", changed, code=65)
    assert found["identical"] is False
    first = next(
        r.seq for r in records(tape) if r.kind == "ruling" and r.data["decision"] == "deny" and r.data["healthy"]
    )
    assert found["divergence"]["seq"] == first
    assert "at /decision expected 'none', got 'deny'" in found["divergence"]["reason"]
    assert "not identical. record " in hookline("replay", changed).stdout


@pytest.fixture
def judged(tmp_path: Path) -> tuple[Path, Path]:
    """A tape of five commands under a guard, and the guard of today, which lets rm pass and stops cat."""
    guard = """case "$(cat)" in *'"command":"{0}'*) echo "no {0}" >&2; exit 2;; esac"""
    then = scripts(tmp_path, then=guard.format("rm"))
    tape = tmp_path / "t"
    for command in ("ls", "rm a", "rm b", "rm c", "cat x"):
        payload = json.dumps({"tool_name": "Bash", "tool_input": {"command": command}})
        hookline("fire", "PreToolUse", "-c", then, "-p", payload, "--tape", tape)
    (tmp_path / "now").mkdir()
    return tape, scripts(tmp_path / "now", today=guard.format("cat") + f"\necho ran >> {tmp_path}/ran")


def test_against_the_hooks_of_today(judged: tuple[Path, Path]) -> None:
    """65, and what would change in sentences; with event, tool, both rulings, and the hook that decides."""
    tape, config = judged
    done = hookline("replay", tape, "--against", config)
    assert done.returncode == 65
    assert "3 events that were denied would now be allowed." in done.stdout
    assert "1 event that was allowed would now be denied." in done.stdout
    assert "4 of 5 events would be ruled otherwise." in done.stdout
    assert "  then.sh: 3\n  today.sh: 1\n" in done.stdout
    row = next(line for line in done.stdout.splitlines() if "no cat" in line)
    for words in ("PreToolUse", "Bash", "allowed", "denied: no cat", "today.sh"):
        assert words in row
    assert (tape.parent / "ran").read_text() == "ran\n" * 4  # the one it denies ends before


def test_against_as_json(judged: tuple[Path, Path]) -> None:
    """`changed` has the record of each ruling, the event, and both rulings as JSON."""
    tape, config = judged
    found = answer("replay", tape, "--against", f"harness={config}", code=65)
    assert (found["identical"], len(found["changed"]), found["by_hook"]) == (True, 4, {"then.sh": 3, "today.sh": 1})
    last = found["changed"][-1]
    assert (last["event"], last["tool"], last["decided_by"]) == ("PreToolUse", "Bash", ["today.sh"])
    assert last["before"] == records(tape)[last["seq"] - 1].said
    assert (last["before"]["decision"], last["after"]["decision"]) == ("none", "deny")


def test_nothing_would_change(judged: tuple[Path, Path]) -> None:
    """0 where today's hooks ask the same."""
    tape, _ = judged
    config = tape.parent / "settings.json"
    assert answer("replay", tape, "--against", config) == {
        "identical": True, "records": 23, "changed": [], "by_hook": {},
    }  # fmt: skip
    assert "0 of 5 events would be ruled otherwise." in hookline("replay", tape, "--against", config).stdout


def test_what_else_would_be_asked_of_the_host(tmp_path: Path) -> None:
    """Where the decision stays, what differs is named: in the row, in the sum, as JSON."""
    then = scripts(tmp_path, then="echo look out")
    payload = json.dumps({"tool_name": "Bash", "tool_input": {}})
    hookline("fire", "PreToolUse", "-c", then, "-p", payload, "--tape", tmp_path / "t")
    (tmp_path / "now").mkdir()
    now = scripts(tmp_path / "now", today="true")
    done = hookline("replay", tmp_path / "t", "--against", now)
    assert "allowed: other context" in done.stdout
    assert "1 event that was allowed would still be allowed, but with other effects (context 1)." in done.stdout
    [change] = answer("replay", tmp_path / "t", "--against", now, code=65)["changed"]
    assert change["effects"] == ["context"]


def test_only_the_plan(judged: tuple[Path, Path]) -> None:
    """--plan-only starts nothing, and compares what would run."""
    tape, config = judged
    done = hookline("replay", tape, "--against", config, "--plan-only")
    assert (done.returncode, "5 events would run other hooks." in done.stdout) == (65, True)
    assert not (tape.parent / "ran").exists()
    assert answer("replay", tape, "--against", tape.parent / "settings.json", "--plan-only")["changed"] == []


def test_many_tapes(judged: tuple[Path, Path]) -> None:
    """Each is told, all are summed up, and a change says which tape it is in."""
    tape, config = judged
    (tape.parent / "u").write_bytes(tape.read_bytes())
    found = answer("replay", tape, tape.parent / "u", "--against", config, code=65)
    assert (found["identical"], found["records"], found["by_hook"]) == (True, 46, {"then.sh": 6, "today.sh": 2})
    assert [each["tape"] for each in found["tapes"]] == [str(tape), str(tape.parent / "u")]
    assert {change["tape"] for change in found["changed"]} == {str(tape), str(tape.parent / "u")}
    done = hookline("replay", tape, tape.parent / "u", "--against", config)
    assert "6 events that were denied would now be allowed." in done.stdout


def test_wrong_usage(tape: Path, tmp_path: Path) -> None:
    """Options that go together, and a configuration that cannot be read, which is 78 and runs nothing."""
    assert hookline("replay", tape, "--plan-only").returncode == 64
    assert hookline("replay", tape, tape, "--tape", tmp_path / "x").returncode == 64
    assert hookline("replay", tape, "--against", tmp_path / "no").returncode == 78
    assert hookline("tape", "sing", tape).returncode == 64
    assert hookline("replay").returncode == 64
