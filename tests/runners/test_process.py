"""The process runner against the zoo: real scripts, real processes, no mocks.

The fixture `token` (conftest.py) watches every test: no process, no zombie and no descriptor stays.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import threading
import tracemalloc
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import zoo
from hookline.compacting import compact
from hookline.hooks import Hooks
from hookline.model import Outcome
from hookline.runners import process
from zoo import Animal, Drive

EVERYONE = pytest.mark.parametrize("animal", zoo.ZOO, ids=lambda animal: animal.name)
ENDLESS = tuple(animal for animal in zoo.ZOO if animal.endless)
EVERY_WAY = pytest.mark.parametrize("drive", zoo.DRIVERS.values(), ids=zoo.DRIVERS.keys())
BOTH = pytest.mark.parametrize("dialect", ["harness", "goose"])


def failing(animal: Animal, dialect: str) -> bool:
    return not getattr(animal, dialect).startswith("ran/")


# -- the zoo itself


def test_every_script_is_used() -> None:
    """Every file of tests/hooks is a row of the zoo, or has a test of its own."""
    here = {path.name for path in zoo.HOOKS.iterdir() if path.name != "__pycache__"}
    assert here | {"no_such_file"} == {animal.script for animal in zoo.ZOO} | zoo.ELSEWHERE


@pytest.mark.parametrize("script", sorted(path.name for path in zoo.HOOKS.iterdir() if path.is_file()))
def test_every_script_says_what_it_does(script: str) -> None:
    """Every script has a comment of one sentence in its first two lines."""
    lines = (zoo.HOOKS / script).read_text().splitlines()
    said = next(line for line in lines[:2] if not line.startswith("#!"))
    assert said.startswith("# ")
    assert said.endswith(".")


# -- the facts


@EVERY_WAY
@EVERYONE
def test_facts(animal: Animal, drive: Drive, tmp_path: Path, token: str) -> None:
    """A run reports exactly what happened, in time, whichever way the wave is driven."""

    def start(timeout: float) -> Outcome:
        with zoo.no_hang(timeout + zoo.HANG):
            return drive([zoo.job_of(animal, cwd=tmp_path, timeout=timeout)])[0]

    outcome = zoo.patient(start, zoo.said_something) if animal.endless else start(zoo.AMPLE)
    assert zoo.misfits(animal, outcome) == []
    assert len(zoo.living(token)[1]) == animal.keeps


@EVERY_WAY
def test_whole_payload_arrives(drive: Drive, tmp_path: Path) -> None:
    """A hook that reads slowly gets every byte of 2 MiB, and then the end."""
    job = zoo.job("reads_slowly.py", cwd=tmp_path, size=zoo.BIG)
    [outcome] = drive([job])
    assert outcome.stdout == f"{len(compact(job.payload))}\n"


def test_payload_is_compact_json_on_one_line(tmp_path: Path) -> None:
    """The payload is JSON without a space or a newline outside its strings, in UTF-8 (hazard 1)."""
    job = zoo.job("echoes_stdin.sh", cwd=tmp_path)
    job.payload["tool_input"] = {"command": "grüße 🪝", "list": [1, 2]}
    [outcome] = process.run([job])
    assert outcome.stdout == json.dumps(job.payload, separators=(",", ":"), ensure_ascii=False)


def test_flood_does_not_grow_memory(tmp_path: Path) -> None:
    """A flood of 200 MB costs the host a few MiB, and every byte of it is counted."""
    tracemalloc.start()
    try:
        [outcome] = process.run([zoo.job("/bin/sh", "-c", "head -c 200000000 /dev/zero", cwd=tmp_path)])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (outcome.exit_code, outcome.stdout_cut) == (0, 200_000_000 - zoo.MIB)
    assert peak < 16 * zoo.MIB


def test_output_in_the_pipe_at_the_end_is_read(tmp_path: Path) -> None:
    """What a hook wrote before it ended is never lost, however often one looks."""
    jobs = [zoo.job("prints_bytes.py", "1", "65536", cwd=tmp_path) for _ in range(20)]
    assert {len(outcome.stdout) for outcome in process.run(jobs)} == {65536}


# -- children


@EVERY_WAY
def test_background_child_lives_on(drive: Drive, tmp_path: Path, token: str) -> None:
    """A child that holds the pipes of a hook that ended neither delays the host nor dies (hazard 2)."""
    with zoo.no_hang():
        [outcome] = drive([zoo.job("leaves_child.sh", cwd=tmp_path)])
    escaped, kept = zoo.living(token)
    assert (outcome.status, outcome.exit_code, outcome.stdout) == ("exited", 0, "done\n")
    assert (escaped, len(kept)) == ([], 1)


def test_late_output_of_a_child_is_nobodys(tmp_path: Path, token: str) -> None:
    """What a background child prints after the hook ended is not the hook's output; the child goes on."""
    [outcome] = process.run([zoo.job("leaves_late_writer.sh", cwd=tmp_path)])
    assert len(zoo.living(token)[1]) == 1
    (tmp_path / "go").touch()
    assert zoo.eventually((tmp_path / "wrote").exists)
    assert outcome.stdout == "now\n"


@EVERY_WAY
def test_daemon_dies_at_the_deadline(drive: Drive, tmp_path: Path, token: str) -> None:
    """A child that left the process group and the session still dies with a hook that timed out (hazard 3)."""
    job = zoo.job("daemonises_quietly.py", cwd=tmp_path)

    def start(timeout: float) -> Outcome:
        (tmp_path / "inner").unlink(missing_ok=True)
        return drive([zoo.job(job.hook.name, cwd=tmp_path, timeout=timeout)])[0]

    outcome = zoo.patient(start, lambda _: (tmp_path / "inner").exists())
    assert outcome.status == "timeout"
    assert zoo.eventually(lambda: zoo.living(token) == ([], []))


def test_runaway_dies_at_the_deadline(tmp_path: Path) -> None:
    """A daemon that forks and exits all the time is caught too: its beat stops when the hook times out.

    The beat is the witness: a look at /proc misses such a process just as the engine may.
    """
    beat = tmp_path / "beat"

    def start(timeout: float) -> Outcome:
        return process.run([zoo.job("runs_away.py", cwd=tmp_path, timeout=timeout)])[0]

    assert zoo.patient(start, zoo.said_something).status == "timeout"
    after = beat.stat().st_size
    beats_on = zoo.eventually(lambda: beat.stat().st_size > after + 10, 1.0)
    if beats_on:  # it ends by itself after 4 s; no other test shall meet it
        sizes = [-1, 0]
        zoo.eventually(lambda: sizes.append(beat.stat().st_size) or (sizes[-1] == sizes[-30:][0] and len(sizes) > 40))
    assert not beats_on


@pytest.mark.parametrize("grace", [0.0, 0.3])
def test_hookline_inside_a_hook_dies_wholly(grace: float, tmp_path: Path, token: str) -> None:
    """A hook that runs hookline, whose own hook daemonised, leaves nothing behind when it times out."""
    inner = tmp_path / "inner.json"
    entry = {"path": str(zoo.HOOKS / "daemonises_quietly.py"), "timeout": 300_000}
    inner.write_text(json.dumps({"hooks": {"PreToolUse": [entry]}}))

    def start(timeout: float) -> Outcome:
        (tmp_path / "inner").unlink(missing_ok=True)
        return process.run([zoo.job("nests.sh", str(inner), cwd=tmp_path, timeout=timeout * 5, grace=grace)])[0]

    outcome = zoo.patient(start, lambda _: (tmp_path / "inner").exists())
    assert outcome.status == "timeout"
    assert zoo.eventually(lambda: zoo.living(token) == ([], []))


# -- the deadline and the grace


@EVERY_WAY
@pytest.mark.parametrize(
    ("script", "signal_name", "stdout"),
    [
        ("sleeps.sh", "SIGTERM", "ready\n"),
        ("ignores_term.sh", "SIGKILL", "ready\n"),
        ("traps_term.sh", "", "ready\n" + zoo.ALLOW),
        ("stops_itself.sh", "SIGKILL", "ready\n"),
        ("daemonises.py", "SIGTERM", "ready\n"),
    ],
)
def test_grace(script: str, signal_name: str, stdout: str, drive: Drive, tmp_path: Path) -> None:
    """With a grace SIGTERM comes first; who still lives after it is killed; all of it is a timeout, never an exit."""

    def start(timeout: float) -> Outcome:
        with zoo.no_hang(timeout + zoo.HANG):
            return drive([zoo.job(script, cwd=tmp_path, timeout=timeout, grace=0.3)])[0]

    outcome = zoo.patient(start, zoo.said_something)
    assert (outcome.status, outcome.exit_code, outcome.signal) == ("timeout", None, signal_name)
    assert outcome.stdout == stdout


def test_last_word_after_term_is_no_allow(tmp_path: Path) -> None:
    """A hook that allows and exits with 0 only because it was told to end has no opinion."""
    animal = zoo.animal("traps_term.sh")
    ruling = zoo.fire(zoo.hooks_of("harness", [animal], tmp_path), tmp_path)
    assert (ruling.decision, ruling.healthy, ruling.hooks[0].status) == ("none", False, "timeout")


def test_deadline_of_one_spares_the_others(tmp_path: Path) -> None:
    """When one hook of a wave is killed, the hook beside it goes on and ends by itself."""
    jobs = [
        zoo.job("daemonises.py", cwd=tmp_path, timeout=zoo.SHORT),
        zoo.job("meets.sh", "mine", "go", cwd=tmp_path),
    ]
    with process.Wave(jobs) as wave:
        while not wave.outcomes:
            wave.step(wave.patience())
        (tmp_path / "go").touch()
        while wave.running:
            wave.step(wave.patience())
    first, second = wave.outcomes
    assert (first.status, second.status, second.exit_code, second.stdout) == ("timeout", "exited", 0, "met\n")


# -- waves


@EVERY_WAY
def test_hooks_of_a_wave_run_together(drive: Drive, tmp_path: Path) -> None:
    """Two hooks that wait for each other both end: they ran at the same time."""
    jobs = [zoo.job("meets.sh", "a", "b", cwd=tmp_path), zoo.job("meets.sh", "b", "a", cwd=tmp_path)]
    assert [outcome.stdout for outcome in drive(jobs)] == ["met\n", "met\n"]


@EVERY_WAY
def test_results_in_plan_order(drive: Drive, tmp_path: Path) -> None:
    """Outcomes come in the order of the jobs, though the last one ends first and one never starts."""
    jobs = [
        zoo.job("meets.sh", "a", "b", "c", cwd=tmp_path),
        zoo.job("no_such_file", cwd=tmp_path),
        zoo.job("meets.sh", "b", "c", cwd=tmp_path),
        zoo.job("prints_bytes.py", "1", "3", cwd=tmp_path),
        zoo.job("meets.sh", "c", cwd=tmp_path),
    ]
    assert [outcome.stdout or outcome.status for outcome in drive(jobs)] == [
        "met\n",
        "unstartable",
        "met\n",
        "xxx",
        "met\n",
    ]


def test_more_jobs_than_run_at_once(tmp_path: Path) -> None:
    """A wave larger than what runs at once is run to its end, in order."""
    count = process.AT_ONCE + 6
    jobs = [zoo.job("/bin/echo", str(number), cwd=tmp_path) for number in range(count)]
    assert [outcome.stdout for outcome in process.run(jobs)] == [f"{number}\n" for number in range(count)]


def test_no_jobs() -> None:
    """No jobs, no outcomes."""
    assert process.run([]) == []


# -- what the dialects make of it


@BOTH
@EVERYONE
def test_ruling(animal: Animal, dialect: str, tmp_path: Path, token: str) -> None:
    """Each dialect makes of a run what its own rules say; a failure decides nothing and is reported."""
    hooks = zoo.hooks_of(dialect, [animal], tmp_path)
    with zoo.no_hang(zoo.SHORT + zoo.HANG):
        ruling = zoo.fire(hooks, tmp_path, size=animal.payload)
    [report] = ruling.hooks
    decision = getattr(animal, dialect).partition("/")[2]
    assert f"{report.status}/{ruling.decision}" == getattr(animal, dialect)
    assert report.decision == (None if failing(animal, dialect) else decision)
    assert ruling.healthy is not failing(animal, dialect)
    assert report.success is (animal.exit_code == 0 or getattr(animal, dialect) == "ran/allow")
    assert bool(report.error) is failing(animal, dialect)
    assert bool(ruling.reason) is (decision == "deny")
    if failing(animal, dialect):
        assert any(report.hook in notice.text for notice in ruling.notices)
    assert len(zoo.living(token)[1]) == animal.keeps


@BOTH
def test_failures_deny_where_the_host_asks_for_it(dialect: str, tmp_path: Path) -> None:
    """With on_failure="deny" every kind of failure denies, names the hook, and the health says so."""
    seen = []
    for animal in zoo.ZOO:
        if failing(animal, dialect) and (not animal.endless or animal.script == "sleeps.sh"):
            ruling = zoo.fire(zoo.hooks_of(dialect, [animal], tmp_path, on_failure="deny"), tmp_path)
            assert (ruling.decision, ruling.healthy) == ("deny", False)
            assert animal.script in ruling.reason
            seen.append(ruling.hooks[0].status)
    assert {"failed", "timeout"} == set(seen)


@BOTH
def test_one_bad_animal_does_not_silence_the_next(dialect: str, tmp_path: Path) -> None:
    """After hooks that fail in every way, the last one is still heard."""
    bad = [animal for animal in zoo.ZOO if failing(animal, dialect) and not animal.endless]
    last = zoo.animal("blocks_its_command.sh")
    ruling = zoo.fire(zoo.hooks_of(dialect, [*bad, last], tmp_path), tmp_path)
    assert [report.status for report in ruling.hooks] == ["failed"] * len(bad) + ["ran"]
    assert (ruling.decision, ruling.reason) == ("deny", "ls")


@pytest.mark.parametrize(
    "script",
    ["exits_2_like_jq.sh", "exits_2_missing_script.sh", "exits_2_syntax_error.sh", "exits_2_argparse.py"],
)
def test_accidental_2_shows_hook_and_stderr(script: str, tmp_path: Path) -> None:
    """An exit 2 nobody meant blocks in The Harness, and the report shows which hook and its stderr (hazard 7)."""
    animal = zoo.animal(script)
    ruling = zoo.fire(zoo.hooks_of("harness", [animal], tmp_path), tmp_path)
    [report] = ruling.hooks
    assert (report.hook, report.exit_code, report.decision) == (animal.path, 2, "deny")
    assert zoo.fits(animal.stderr, report.stderr)
    assert ruling.reason == report.stderr.strip()


@BOTH
def test_cannot_start_for_distinct_reasons(dialect: str, tmp_path: Path) -> None:
    """Every way not to start has a reason of its own, and none of them decides anything (hazard 8)."""
    animals = [
        zoo.animal(name)
        for name in (
            "env_cannot_find.sh",
            "missing_interpreter.sh",
            "no_exec_bit",
            "no_shebang",
            "a_directory",
            "no_such_file",
        )
    ]
    ruling = zoo.fire(zoo.hooks_of(dialect, animals, tmp_path), tmp_path)
    errors = [report.error.replace(animal.path, "") for report, animal in zip(ruling.hooks, animals, strict=True)]
    assert ruling.decision == "none"
    assert len(set(errors)) == len(animals)


def test_tilde_in_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Goose command that begins with ~/ is found in the home directory (hazard 9)."""
    monkeypatch.setenv("HOME", str(tmp_path))
    shutil.copy(zoo.HOOKS / "allows.sh", tmp_path / "allows.sh")
    config = tmp_path / "config.yaml"
    config.write_text('hooks: {pre_tool_use: [{command: "~/allows.sh"}]}')
    hooks = Hooks()
    hooks.load(config)
    assert zoo.fire(hooks, tmp_path).decision == "allow"


def test_bad_entry_beside_a_good_one(tmp_path: Path) -> None:
    """One entry that cannot be read costs itself, not the others (hazard 10)."""
    good = {"path": str(zoo.HOOKS / "denies.sh")}
    settings = tmp_path / "settings.json"
    settings.write_text(json.dumps({"hooks": {"PreToolUse": [{"path": 7}, "nonsense", good]}}))
    hooks = Hooks()
    hooks.load(settings)
    assert (len(hooks), len(hooks.notices), zoo.fire(hooks, tmp_path).decision) == (1, 2, "deny")


# -- why it could not start


@EVERY_WAY
@pytest.mark.parametrize(
    ("cwd", "error"),
    [("missing", "does not exist"), ("file", "is not a directory"), ("nul\0", "null")],
)
def test_bad_cwd(cwd: str, error: str, drive: Drive, tmp_path: Path) -> None:
    """A working directory that cannot be entered is the reason given, not the program."""
    (tmp_path / "file").touch()
    [outcome] = drive([zoo.job("allows.sh", cwd=tmp_path / cwd)])
    assert outcome.status == "unstartable"
    assert error in outcome.error


@pytest.mark.parametrize(
    ("args", "command"),
    [
        pytest.param(("a\0b",), {}, id="NUL in an argument"),
        pytest.param(("\ud800",), {}, id="surrogate in an argument"),
        pytest.param(("x" * 4_000_000,), {}, id="too long an argument"),
        pytest.param((), {"env": {"A": "b\0c"}}, id="NUL in a variable"),
        pytest.param((), {"env": {"A=B": "c"}}, id="= in the name of a variable"),
        pytest.param((), {"env": {"A": "\ud800"}}, id="surrogate in a variable"),
    ],
)
def test_what_no_process_can_be_given(args: tuple[str, ...], command: dict[str, Any], tmp_path: Path) -> None:
    """Arguments and variables that no process can have are a reason not to start; they never raise."""
    [outcome] = process.run([zoo.job("allows.sh", *args, cwd=tmp_path, **command)])
    assert outcome.status == "unstartable"
    assert outcome.error.startswith("cannot start")


@BOTH
def test_nul_in_a_program_name(dialect: str, tmp_path: Path) -> None:
    r"""A program name with a NUL, which JSON and YAML can spell as \u0000, is a failed hook; it never raises."""
    if dialect == "harness":
        file = tmp_path / "settings.json"
        file.write_text(json.dumps({"hooks": {"PreToolUse": [{"path": "a\0b.sh"}]}}))
    else:
        file = tmp_path / "config.yaml"
        file.write_text(json.dumps({"hooks": {"pre_tool_use": [{"command": "./a\0b.sh"}]}}))
    hooks = Hooks()
    hooks.load(file, dialect)
    ruling = zoo.fire(hooks, tmp_path)
    assert (ruling.decision, [report.status for report in ruling.hooks]) == ("none", ["failed"])


def test_windows_line_ends(tmp_path: Path) -> None:
    """A script with Windows line ends is told apart: nobody is told that /bin/bash does not exist."""
    [outcome] = process.run([zoo.job("crlf.sh", cwd=tmp_path)])
    assert outcome.status == "unstartable"
    assert "interpreter '/bin/bash' does not exist" not in outcome.error


def test_program_of_that_name_nowhere(tmp_path: Path) -> None:
    """A bare name that is nowhere on PATH is called not installed."""
    config = tmp_path / "config.yaml"
    config.write_text("hooks: {pre_tool_use: [{command: no-such-program-anywhere --now}]}")
    hooks = Hooks()
    hooks.load(config)
    [report] = zoo.fire(hooks, tmp_path).hooks
    assert report.error == "cannot start: 'no-such-program-anywhere' is not installed (nothing of that name on PATH)"


# -- the environment


def test_environment_is_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables that are not UTF-8 reach a hook byte for byte, the host's and the hook's own."""
    monkeypatch.setitem(os.environb, b"ZOO_BYTES", b"\xff\xfe=\x01")
    jobs = [
        zoo.job("prints_environment.sh", "ZOO_BYTES", cwd=tmp_path),
        zoo.job("prints_environment.sh", "ZOO_OWN", cwd=tmp_path, env={"ZOO_OWN": "\udcff\u00fc"}),
    ]
    assert [outcome.stdout for outcome in process.run(jobs)] == ["fffe3d01", "ffc3bc"]


def test_every_run_has_an_id_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each run carries its own id, after the id of the run it is inside of."""
    monkeypatch.setenv("HOOKLINE_RUN_ID", "outer")
    jobs = [zoo.job("prints_environment.sh", "HOOKLINE_RUN_ID", cwd=tmp_path) for _ in range(3)]
    ids = [bytes.fromhex(outcome.stdout).decode() for outcome in process.run(jobs)]
    assert len(set(ids)) == 3
    assert {name.partition(":")[0] for name in ids} == {"outer"}


def test_no_terminal_and_no_descriptor_of_the_host(tmp_path: Path) -> None:
    """A hook gets its three pipes, leads its own session, and inherits nothing else that the host has open."""
    with (tmp_path / "secret").open("w") as secret:
        os.set_inheritable(secret.fileno(), True)
        script = "ls /proc/self/fd | tr '\\n' ' '; [ \"$(cut -d' ' -f6 /proc/$$/stat)\" = $$ ] && echo leads"
        [outcome] = process.run([zoo.job("/bin/bash", "-c", script, cwd=tmp_path)])
    assert outcome.stdout == "0 1 2 3 leads\n"  # 3 is the directory that ls reads


# -- hosts with habits


def test_interrupted_host_leaves_nothing(tmp_path: Path, token: str) -> None:
    """Ctrl-C in the middle of a wave ends every process of it, the daemon too."""
    answer = tmp_path / "answer"
    host = subprocess.Popen(
        zoo.host_argv("interrupted", answer), cwd=tmp_path, env=zoo.host_environment(), stdin=subprocess.DEVNULL
    )
    try:
        assert zoo.eventually(lambda: (tmp_path / "first").exists() and (tmp_path / "inner").exists(), 30)
        host.send_signal(signal.SIGINT)
        assert host.wait(zoo.HANG) == 0
    finally:
        host.kill()
        host.wait()
    assert json.loads(answer.read_text()) == "interrupted"
    assert zoo.eventually(lambda: zoo.living(token) == ([], []))


def test_host_interrupted_while_it_starts_a_hook(tmp_path: Path) -> None:
    """Ctrl-C at any moment of a start leaves no process, no zombie and no descriptor, tried 200 times."""
    assert zoo.host("interrupted_early", tmp_path, "200") == {"processes": 0, "zombies": 0, "descriptors": 0}


def test_host_that_sigpipe_kills(tmp_path: Path) -> None:
    """A host that lets SIGPIPE kill it survives hooks that do not read, and its signal mask is as it was."""
    found = zoo.host("sigpipe_kills", tmp_path)
    assert [outcome["exit_code"] for outcome in found["outcomes"]] == [0, 0]
    assert found["blocked"] is False


@pytest.mark.parametrize("script", ["ignores_stdin.sh", "denies.sh", "fails_after_allow.sh"])
def test_lost_status_is_no_success(script: str, tmp_path: Path) -> None:
    """Where the kernel threw the exit status away, the hook failed: neither allow nor deny, whatever it printed."""
    found = zoo.host("ignores_children", tmp_path, script)
    assert [(outcome["status"], outcome["exit_code"]) for outcome in found["outcomes"]] == [("lost", None)] * 3
    assert all("collected its exit status" in outcome["error"] for outcome in found["outcomes"])
    assert (found["lenient"]["decision"], found["lenient"]["healthy"]) == ("none", False)
    assert (found["strict"]["decision"], found["strict"]["healthy"]) == ("deny", False)


def test_host_that_reaps_everything(tmp_path: Path) -> None:
    """A host that collects all children itself may take a status from us: then it is lost, and never made up."""
    for allows, fails in zoo.host("reaps_everything", tmp_path):
        assert (allows["status"], allows["exit_code"]) in [("exited", 0), ("lost", None)]
        assert (fails["status"], fails["exit_code"]) in [("exited", 1), ("lost", None)]


@pytest.mark.parametrize("numbers", ["".join(chosen) for size in (1, 2, 3) for chosen in combinations("012", size)])
def test_host_with_closed_descriptors(numbers: str, tmp_path: Path) -> None:
    """A host that has closed any of its descriptors 0, 1 and 2 runs hooks as any other."""
    found = zoo.host("closed", tmp_path, numbers)
    assert (found["status"], found["exit_code"], found["stderr"]) == ("exited", 0, "heard\n")
    assert json.loads(found["stdout"]) == zoo.payload()


@pytest.mark.parametrize("left", range(11))
def test_host_without_descriptors(left: int, tmp_path: Path) -> None:
    """With too few descriptors left a hook runs, or fails and says why; firing never raises and loses none."""
    found = zoo.host("starved", tmp_path, str(left))
    ruling = found["ruling"]
    assert isinstance(ruling, dict), ruling
    [error] = ruling["errors"]
    assert (ruling["decision"], ruling["healthy"]) == (("none", False) if error else ("allow", True))
    assert not error or "Too many open files" in error
    assert found["lost"] == 0


def test_host_without_descriptors_at_the_deadline(tmp_path: Path) -> None:
    """A host that used up its descriptors while a hook ran still gets the timeout as an outcome, not an exception."""
    found = zoo.host("starved_at_the_deadline", tmp_path)
    assert isinstance(found, dict), found
    assert found["status"] == "timeout"


def test_host_that_forks(tmp_path: Path) -> None:
    """A forked host has runs of its own: a timeout in the child does not touch the hooks of the parent."""
    found = zoo.host("forks", tmp_path)
    assert found["child"] == 0
    assert (found["parent"]["status"], found["parent"]["stdout"]) == ("exited", "met\n")


def test_host_whose_directory_a_hook_deletes(tmp_path: Path) -> None:
    """A hook that deletes the host's own directory does not make the next event raise."""
    found = zoo.host("homeless", tmp_path)
    assert found["first"]["healthy"] is True
    assert isinstance(found["second"], dict), found["second"]


def test_host_that_changes_its_environment(tmp_path: Path) -> None:
    """Variables that come and go in another thread disturb no run."""
    found = zoo.host("changes_its_environment", tmp_path)
    assert found == [{"decision": "allow", "healthy": True, "errors": [""]}] * 20


def test_host_ends_before_its_background_hook(tmp_path: Path, token: str) -> None:
    """A program whose text is over waits for its fire-and-forget hooks: the hook ends, and is not killed."""
    assert zoo.host("exits_in_background", tmp_path) == ["background"]
    assert zoo.living(token) == ([], [])


# -- event loops and threads


def test_event_loop_goes_on(tmp_path: Path) -> None:
    """While a hook runs the loop does other things: the hook waits for a file that only the loop makes."""
    hooks = zoo.hooks_of("harness", [Animal("meets.sh", ("mine", "go"))], tmp_path)

    async def tick() -> int:
        ticks = 0
        while not (tmp_path / "mine").exists() or ticks < 20:
            ticks += 1
            await asyncio.sleep(0.001)
        (tmp_path / "go").touch()
        return ticks

    async def both() -> tuple[Any, int]:
        fired = hooks.fire_async("PreToolUse", tool_name="Bash", tool_input={}, cwd=str(tmp_path))
        return await asyncio.gather(fired, tick())

    ruling, ticks = asyncio.run(both())
    assert (ruling.context, ruling.healthy) == (("met",), True)
    assert ticks >= 20


@pytest.mark.parametrize("script", ["floods_forever.sh", "leaves_flooder.sh"])
def test_event_loop_goes_on_in_a_flood(script: str, tmp_path: Path) -> None:
    """A hook that floods us does not keep the loop from other things."""
    hooks = zoo.hooks_of("harness", [zoo.animal(script)], tmp_path)

    async def both() -> int:
        fired = asyncio.ensure_future(hooks.fire_async("PreToolUse", tool_name="Bash", tool_input={}))
        ticks = 0
        while not fired.done():
            ticks += 1
            await asyncio.sleep(0)
        await fired
        return ticks

    assert asyncio.run(both()) > 10


def test_cancelled_task_kills_its_hook(tmp_path: Path, token: str) -> None:
    """Cancelling the task that fires ends the hook and its daemon before the task is done."""
    hooks = zoo.hooks_of("harness", [Animal("daemonises_quietly.py")], tmp_path)

    async def cancelled() -> None:
        fired = hooks.fire_async("PreToolUse", tool_name="Bash", tool_input={}, cwd=str(tmp_path))
        task = asyncio.ensure_future(fired)
        while not (tmp_path / "inner").exists():
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with zoo.no_hang():
        asyncio.run(cancelled())
    assert zoo.eventually(lambda: zoo.living(token) == ([], []))


def test_twenty_at_once_on_one_loop(tmp_path: Path) -> None:
    """Twenty events on one loop really run at once: each hook waits for all the others."""
    everyone = [f"hook{number}" for number in range(20)]
    meetings = [zoo.hooks_of("harness", [Animal("meets.sh", (mine, *everyone))], tmp_path) for mine in everyone]

    async def fire(hooks: Hooks) -> Any:
        return await hooks.fire_async("PreToolUse", tool_name="Bash", tool_input={}, cwd=str(tmp_path))

    async def together() -> list[Any]:
        return await asyncio.gather(*map(fire, meetings))

    assert [ruling.context for ruling in asyncio.run(together())] == [("met",)] * 20


def test_many_threads(tmp_path: Path) -> None:
    """Eight threads with twenty events each get their own answers, and nobody else's."""
    hooks = zoo.hooks_of("goose", [zoo.animal("blocks_its_command.sh")], tmp_path)
    wrong: list[str] = []

    def work(thread: int) -> None:
        for number in range(20):
            mine = f"command-{thread}-{number}"
            ruling = hooks.fire("PreToolUse", tool_name="Bash", tool_input={"command": mine}, cwd=str(tmp_path))
            if (ruling.decision, ruling.reason) != ("deny", mine):
                wrong.append(f"{mine}: {ruling}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_threads_time_out_apart(tmp_path: Path) -> None:
    """A timeout in one thread kills nothing of another thread's."""
    sleeper = zoo.hooks_of("harness", [zoo.animal("daemonises.py")], tmp_path)
    meeting = zoo.hooks_of("harness", [Animal("meets.sh", ("mine", "go"))], tmp_path)
    found: list[Any] = []
    beside = threading.Thread(target=lambda: found.append(zoo.fire(meeting, tmp_path)))
    beside.start()
    try:
        assert zoo.eventually((tmp_path / "mine").exists)
        assert zoo.fire(sleeper, tmp_path).hooks[0].status == "timeout"
    finally:
        (tmp_path / "go").touch()
        beside.join()
    assert (found[0].context, found[0].healthy) == (("met",), True)
