"""The zoo: what each script of tests/hooks does to an engine, and the keeper's tools.

A script that means to leave a child behind marks that child with ZOO_KEEPS in its environment.
Everything else that carries a test's ZOO_TOKEN when the test is over has escaped.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hookline import waiting
from hookline.hooks import Hooks
from hookline.model import Command, Hook, Job, OnFailure, Outcome, Ruling, Source
from hookline.runners import process

HOOKS = Path(__file__).parent / "hooks"
HOSTS = Path(__file__).parent / "runners" / "hosts.py"

TOKEN = "ZOO_TOKEN"
KEEPS = "ZOO_KEEPS"

AMPLE = 30.0
"""A timeout that no healthy script comes near, on however slow a machine."""

SHORT = 0.3
"""A timeout for scripts that never end."""

HANG = 10.0
"""What takes longer than this has hung: the sleepers of the zoo sleep for 300 s."""

BIG = 2 * 1024 * 1024
MIB = 1024 * 1024

Text = str | re.Pattern[str]
ANY = re.compile(r"(?s).*")


@dataclass(frozen=True)
class Animal:
    """One script, the facts of running it, and what each dialect makes of them (status/decision)."""

    script: str
    args: tuple[str, ...] = ()
    status: str = "exited"
    exit_code: int | None = 0
    signal: str = ""
    stdout: Text = ""
    stderr: Text = ""
    error: Text = ""
    stdout_cut: int | None = 0
    stderr_cut: int = 0
    payload: int = 0
    keeps: int = 0
    harness: str = "ran/none"
    goose: str = "ran/none"

    @property
    def name(self) -> str:
        return " ".join((self.script, *self.args))

    @property
    def path(self) -> str:
        return str(HOOKS / self.script)

    @property
    def endless(self) -> bool:
        return self.status == "timeout"


def _endless(script: str, *, stdout: Text = "ready\n", payload: int = 0, stdout_cut: int | None = 0) -> Animal:
    return Animal(
        script,
        status="timeout",
        exit_code=None,
        signal="SIGKILL",
        stdout=stdout,
        stdout_cut=stdout_cut,
        payload=payload,
        harness="timeout/none",
        goose="timeout/none",
    )


def _unstartable(script: str, error: str, *, harness: str = "failed/none") -> Animal:
    return Animal(
        script,
        status="unstartable",
        exit_code=None,
        error=re.compile(error),
        harness=harness,
        goose="failed/none",
    )


def _accident(script: str, stderr: str) -> Animal:
    """Exit 2 blocks in The Harness, whatever was meant; in Goose it is a failure like any other."""
    return Animal(script, exit_code=2, stderr=re.compile(stderr), harness="ran/deny", goose="failed/none")


def _cut(count: int) -> str:
    return f"\n[hookline: {count} bytes cut]\n"


ALLOW = '{"continue":true}\n'
ZOO = (
    # stdin
    Animal("ignores_stdin.sh", stdout=ALLOW, payload=BIG, harness="ran/allow"),
    Animal("closes_stdin.sh", stdout="closed\n", payload=BIG),
    Animal("waits_for_eof.sh", stdout="eof\n", payload=BIG),
    Animal("echoes_stdin.sh", stdout=re.compile(r'\{.*"tool_name":"Bash".*\}'), stderr="heard\n"),
    Animal("reads_slowly.py", stdout=re.compile(r"\d{7}\n"), payload=BIG),
    _endless("never_reads.sh", payload=BIG),
    Animal("gives_up_on_stdin.sh", stdout=re.compile(r".*in time.*\n"), harness="ran/deny", goose="ran/deny"),
    Animal("greps_compact_json.sh", stdout=re.compile(r"Bash\n?")),
    Animal(
        "blocks_its_command.sh",
        stdout='{"decision":"block","message":"ls","reason":"ls"}\n',
        harness="ran/deny",
        goose="ran/deny",
    ),
    # output
    _endless("floods_forever.sh", stdout=re.compile(r"(y\n){524288}\n\[hookline: \d+ bytes cut\]\n"), stdout_cut=None),
    Animal(
        "floods_and_exits.py",
        stdout="HEAD" + "x" * (MIB - 4) + _cut(5_000_000 - MIB),
        stdout_cut=5_000_000 - MIB,
    ),
    Animal(
        "floods_stderr.py",
        stderr="HEAD" + "x" * (32 * 1024 - 4) + _cut(5_000_000 - 64 * 1024) + "x" * (32 * 1024 - 4) + "TAIL",
        stderr_cut=5_000_000 - 64 * 1024,
    ),
    Animal("prints_bytes.py", ("1", str(64 * 1024 + 1)), stdout="x" * (64 * 1024 + 1)),
    Animal("prints_bytes.py", ("1", str(MIB)), stdout="x" * MIB),
    Animal("prints_bytes.py", ("1", str(MIB + 1)), stdout="x" * MIB + _cut(1), stdout_cut=1),
    Animal("prints_bytes.py", ("2", str(64 * 1024)), stderr="x" * 64 * 1024),
    Animal(
        "prints_bytes.py",
        ("2", str(64 * 1024 + 1)),
        stderr="x" * 32 * 1024 + _cut(1) + "x" * 32 * 1024,
        stderr_cut=1,
    ),
    Animal("closes_stdout.sh", stdout="early\n", stderr="later\n"),
    Animal("prints_bad_utf8.sh", stdout="a\N{REPLACEMENT CHARACTER}b\n"),
    Animal("prints_nuls.sh", stdout='\0{"decision":"block"}\0'),
    Animal(
        "prints_bom.sh",
        stdout='\N{ZERO WIDTH NO-BREAK SPACE}{"decision":"block","message":"bom","reason":"bom"}\n',
        harness="ran/deny",
        goose="ran/deny",
    ),
    Animal("prints_half_json.sh", stdout='{"decision":"blo'),
    Animal("prints_deep_json.py", stdout="[" * 100_000 + "\n"),
    Animal(
        "prints_deep_object.py",
        stdout=re.compile(r'\{"decision":"block","a":(\{"a":){100000}1\}{100001}\n'),
        harness="failed/none",
        goose="failed/none",
    ),
    Animal(
        "prints_huge_int.py",
        stdout=re.compile(r'\{"continue":true,"n":9{5000}\}\n'),
        harness="failed/none",
        goose="failed/none",
    ),
    Animal("prints_nan.sh", stdout='{"continue":true,"n":NaN}\n'),
    Animal("prints_ansi.sh", stdout='\x1b[31m{"decision":"block"}\x1b[0m\x1b]0;title\x07\n'),
    # children
    Animal("leaves_child.sh", stdout="done\n", keeps=1),
    Animal("leaves_late_writer.sh", stdout="now\n", keeps=1),
    Animal("leaves_flooder.sh", stdout=ANY, stdout_cut=None, stderr="left\n"),
    _endless("daemonises.py"),
    _endless("forks_a_chain.sh"),
    _endless("forks_groups.sh"),
    Animal("leaves_zombie.py", stdout="zombie\n"),
    # time and signals
    _endless("sleeps.sh"),
    _endless("ignores_term.sh"),
    _endless("traps_term.sh"),
    Animal(
        "kills_itself.sh",
        exit_code=None,
        signal="SIGKILL",
        stdout="before\n",
        harness="failed/none",
        goose="failed/none",
    ),
    Animal(
        "segfaults.sh",
        exit_code=None,
        signal="SIGSEGV",
        stdout=ALLOW,
        harness="failed/none",
        goose="failed/none",
    ),
    _endless("stops_itself.sh"),
    # exit codes
    Animal("allows.sh", stdout='{"decision":"allow"}\n', goose="ran/allow"),
    Animal(
        "denies.sh",
        exit_code=2,
        stdout='{"decision":"block","message":"no","reason":"no"}\n',
        harness="ran/deny",
        goose="failed/none",
    ),
    Animal("fails_after_block.sh", exit_code=1, stdout=ANY, harness="failed/none", goose="failed/none"),
    Animal("fails_after_allow.sh", exit_code=1, stdout=ANY, harness="failed/none", goose="failed/none"),
    _accident("exits_2_like_jq.sh", r"jq: error: .*\n"),
    _accident("exits_2_missing_script.sh", r"(?s).*no_such_script\.py.*"),
    _accident("exits_2_syntax_error.sh", r"(?s).*syntax error.*"),
    _accident("exits_2_argparse.py", r"(?s)usage: hook .*--no-such-option\n"),
    Animal(
        "env_cannot_find.sh",
        exit_code=127,
        stderr=re.compile(r"(?s).*no-such-interpreter.*"),
        harness="failed/none",
        goose="failed/none",
    ),
    _unstartable("missing_interpreter.sh", r".*its interpreter '/no/such/interpreter' does not exist"),
    _unstartable("crlf.sh", r".*"),
    _unstartable("no_exec_bit", r".*no permission to execute it; run `chmod \+x` on it"),
    _unstartable("no_exec_bit.sh", r".*no permission to execute it; run `chmod \+x` on it", harness="ran/allow"),
    _unstartable("no_shebang", r".*it has no shebang.*"),
    _unstartable("a_directory", r".*it is a directory"),
    _unstartable("no_such_file", r".*there is no such file"),
    # places
    Animal("deletes_its_cwd.sh", stdout=ALLOW, harness="ran/allow"),
)

ELSEWHERE = frozenset(
    {
        "daemonises_quietly.py",
        "deletes_the_cwd.sh",
        "meets.sh",
        "nests.sh",
        "prints_environment.sh",
        "runs_away.py",
    }
)
"""Scripts that need a stage of their own, set by one test."""


def animal(name: str) -> Animal:
    return next(animal for animal in ZOO if animal.name == name)


# -- jobs and configurations


def payload(size: int = 0) -> dict[str, Any]:
    """The payload of a tool call, padded to more than this many bytes."""
    command = {"command": "ls"} | ({"padding": "p" * size} if size else {})
    return {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": command}


def job(script: str, *args: str, cwd: Path | str, timeout: float = AMPLE, size: int = 0, **command: Any) -> Job:
    """A job for a script of the zoo, or for any program given by its path."""
    argv = (str(HOOKS / script), *args)  # an absolute path stays what it is
    hook = Hook(script, "PreToolUse", "harness", Source("zoo"), Command(argv, timeout, **command))
    return Job(hook, payload(size), str(cwd))


def job_of(animal: Animal, *, cwd: Path | str, timeout: float | None = None, **command: Any) -> Job:
    seconds = timeout if timeout is not None else SHORT if animal.endless else AMPLE
    return job(animal.script, *animal.args, cwd=cwd, timeout=seconds, size=animal.payload, **command)


def hooks_of(dialect: str, animals: Sequence[Animal], directory: Path, *, on_failure: OnFailure | None = None) -> Hooks:
    """Hooks loaded from a real configuration file of this dialect, one entry for each animal."""
    seconds = [SHORT if animal.endless else AMPLE for animal in animals]
    if dialect == "harness":
        file = directory / "settings.json"
        entries: list[dict[str, Any]] = [
            {"path": animal.path, "args": list(animal.args), "timeout": timeout * 1000}
            for animal, timeout in zip(animals, seconds, strict=True)
        ]
        file.write_text(json.dumps({"hooks": {"PreToolUse": entries}}))
    else:
        file = directory / "config.yaml"
        entries = [
            {"command": shlex.join((animal.path, *animal.args)), "timeout": timeout}
            for animal, timeout in zip(animals, seconds, strict=True)
        ]
        file.write_text(json.dumps({"hooks": {"pre_tool_use": entries}}))  # JSON is YAML
    hooks = Hooks(on_failure=on_failure)
    hooks.load(file, dialect, strict=True)
    return hooks


def fire(hooks: Hooks, cwd: Path | str, *, size: int = 0) -> Ruling:
    tool = payload(size)
    return hooks.fire("PreToolUse", tool_name=tool["tool_name"], tool_input=tool["tool_input"], cwd=str(cwd))


# -- three ways to drive a wave

Drive = Callable[[Sequence[Job]], list[Outcome]]


def with_pidfd(jobs: Sequence[Job]) -> list[Outcome]:
    return process.run(jobs)


def without_pidfd(jobs: Sequence[Job]) -> list[Outcome]:
    with process.Wave(jobs, pidfd=False) as wave:
        while wave.running:
            wave.step(wave.patience())
    return wave.outcomes


def on_loop(jobs: Sequence[Job]) -> list[Outcome]:
    return asyncio.run(waiting.on_loop(_one_wave(list(jobs))))


def _one_wave(jobs: list[Job]) -> Generator[list[Job], list[Outcome], list[Outcome]]:
    return (yield jobs)


DRIVERS: dict[str, Drive] = {"pidfd": with_pidfd, "polling": without_pidfd, "event loop": on_loop}


def patient(start: Callable[[float], Outcome], ready: Callable[[Outcome], bool]) -> Outcome:
    """The outcome of a script that was ready before its deadline; a slow machine gets a later deadline."""
    for timeout in (SHORT, 2.0, 10.0):
        outcome = start(timeout)
        if ready(outcome):
            return outcome
    raise AssertionError(f"never ready: {outcome}")


def said_something(outcome: Outcome) -> bool:
    return outcome.stdout_cut > 0 or outcome.stdout.startswith("ready")


def fits(expected: Text, actual: str) -> bool:
    return actual == expected if isinstance(expected, str) else expected.fullmatch(actual) is not None


def misfits(animal: Animal, outcome: Outcome) -> list[str]:
    """Where an outcome is not what the zoo says; empty where all is well."""
    same = [(name, getattr(animal, name), getattr(outcome, name)) for name in ("status", "exit_code", "signal")]
    same += [(name, getattr(animal, name), getattr(outcome, name)) for name in ("stdout_cut", "stderr_cut")]
    wrong = [f"{name}: {expected!r} != {actual!r}" for name, expected, actual in same if expected not in (None, actual)]
    if animal.exit_code is None and outcome.exit_code is not None:
        wrong.append(f"exit_code: {outcome.exit_code} where there is none")
    for name in ("stdout", "stderr", "error"):
        expected, actual = getattr(animal, name), getattr(outcome, name)
        if not fits(expected, actual):
            wrong.append(f"{name}: {str(expected)[:200]!r} != {actual[:200]!r}")
    return wrong


# -- processes and descriptors


def environments() -> Iterator[tuple[int, list[bytes]]]:
    """The environment of every process we may look into."""
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            try:
                yield int(name), Path("/proc", name, "environ").read_bytes().split(b"\0")
            except OSError:
                pass  # gone, or not ours


def living(token: str) -> tuple[list[int], list[int]]:
    """The processes that carry a test's token: those that escaped, and those left alive on purpose."""
    escaped: list[int] = []
    kept: list[int] = []
    for pid, environ in environments():
        if f"{TOKEN}={token}".encode() in environ:
            (kept if f"{KEEPS}=1".encode() in environ else escaped).append(pid)
    return escaped, kept


def names(pids: Sequence[int]) -> list[str]:
    """What these processes are, for a person."""
    found = []
    for pid in pids:
        try:
            found.append(f"{pid} {Path(f'/proc/{pid}/cmdline').read_bytes().replace(bytes(1), b' ').decode()}")
        except OSError:
            found.append(f"{pid} (gone)")
    return found


def kill(pids: Sequence[int]) -> None:
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def eventually(condition: Callable[[], bool], seconds: float = HANG) -> bool:
    """Whether something comes true. A dying process, and a file that is being made, take a moment."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def zombies() -> list[int]:
    """Children of this process that ended and that nobody waited for."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                state, parent = Path("/proc", name, "stat").read_text().rpartition(")")[2].split()[:2]
            except OSError:
                continue
            if state == "Z" and int(parent) == os.getpid():
                found.append(int(name))
    return found


def descriptors() -> dict[int, str]:
    """The open descriptors of this process, and what they lead to."""
    found = {}
    for name in os.listdir("/proc/self/fd"):
        try:
            found[int(name)] = os.readlink(f"/proc/self/fd/{name}")
        except OSError:
            pass  # the descriptor of the listing itself
    return found


@contextmanager
def no_hang(seconds: float = HANG) -> Iterator[None]:
    """What happens inside ends long before the sleepers of the zoo do."""
    began = time.monotonic()
    yield
    took = time.monotonic() - began
    assert took < seconds, f"took {took:.1f} s"


# -- hosts


def host_argv(name: str, answer: Path, *args: str) -> list[str]:
    """One of the hosts of tests/runners/hosts.py: a program with habits of its own, in its own process."""
    return [sys.executable, "-W", "error", str(HOSTS), name, str(answer), *args]


def host_environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(Path(__file__).parent)}


def host(name: str, cwd: Path, *args: str) -> Any:
    """Run a host to its end in this directory; the JSON value it answers with."""
    answer = cwd / f"{name}.answer"
    done = subprocess.run(
        host_argv(name, answer, *args),
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        cwd=cwd,
        env=host_environment(),
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, f"{name} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
    return json.loads(answer.read_text())
