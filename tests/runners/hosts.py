"""Hosts with habits of their own, each in its own process: `hosts.py NAME ANSWER ARGUMENTS`.

What a host found out it writes as one JSON value to the file ANSWER. It works in its own directory.
"""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import zoo
from hookline.hooks import Hooks
from hookline.model import Outcome, Ruling
from hookline.runners import process

HERE = Path.cwd()


def plain(outcome: Outcome) -> dict[str, Any]:
    return {name: getattr(outcome, name) for name in Outcome.__struct_fields__ if name != "duration_ms"}


def gist(ruling: Ruling) -> dict[str, Any]:
    return {"decision": ruling.decision, "healthy": ruling.healthy, "errors": [report.error for report in ruling.hooks]}


def taken(left: int) -> list[int]:
    """Open descriptors until only so many are left."""
    held: list[int] = []
    try:
        while True:
            held.append(os.open(os.devnull, os.O_RDONLY))
    except OSError:
        for _ in range(left):
            os.close(held.pop())
    return held


def few_descriptors() -> None:
    process.run([zoo.job("allows.sh", cwd=HERE)])  # whatever is imported late is imported now
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))


def attempt(work: Callable[[], Any]) -> Any:
    """What came of it, or what was raised."""
    try:
        return work()
    except Exception as error:
        return f"raised {type(error).__name__}: {error}"


# -- the hosts


def interrupted() -> Any:
    """Runs a wave that never ends, and is interrupted."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job of a shell ignores it
    jobs = [
        zoo.job("meets.sh", "first", "never", cwd=HERE, timeout=300),
        zoo.job("daemonises_quietly.py", cwd=HERE, timeout=300),
        zoo.job("ignores_term.sh", cwd=HERE, timeout=300),
    ]
    try:
        return [plain(outcome) for outcome in process.run(jobs)]
    except KeyboardInterrupt:
        return "interrupted"


def interrupted_early(attempts: str) -> Any:
    """Is interrupted again and again, at any moment of the first milliseconds of a run."""
    where: list[str] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        where.append(frame.f_code.co_filename if frame else "")
        raise KeyboardInterrupt

    process.run([zoo.job("allows.sh", cwd=HERE)])
    signal.signal(signal.SIGALRM, interrupt)
    chance = random.Random(20250101)
    lost = 0
    for _ in range(int(attempts)):
        before = len(zoo.descriptors())
        try:
            signal.setitimer(signal.ITIMER_REAL, chance.uniform(0.0002, 0.004))
            process.run([zoo.job("/bin/sleep", "300", cwd=HERE, timeout=300, env={"ZOO_EARLY": "1"})])
        except KeyboardInterrupt:
            # An interruption between two lines of Popen itself may cost the pipe it makes there: not ours to close.
            lost += 0 if where[-1] == subprocess.__file__ else len(zoo.descriptors()) - before
    early = [pid for pid, environ in zoo.environments() if b"ZOO_EARLY=1" in environ and _ours(environ)]
    zoo.kill(early)
    return {"processes": len(early), "zombies": len(zoo.zombies()), "descriptors": lost}


def _ours(environ: list[bytes]) -> bool:
    return f"{zoo.TOKEN}={os.environ[zoo.TOKEN]}".encode() in environ


def sigpipe_kills() -> Any:
    """Lets SIGPIPE kill it, as command-line filters do."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    jobs = [zoo.job_of(zoo.animal(name), cwd=HERE) for name in ("closes_stdin.sh", "ignores_stdin.sh")]
    outcomes = [plain(outcome) for outcome in process.run(jobs)]
    return {"outcomes": outcomes, "blocked": signal.SIGPIPE in signal.pthread_sigmask(signal.SIG_BLOCK, [])}


def ignores_children(script: str) -> Any:
    """Ignores SIGCHLD, so the kernel throws every exit status away."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    animal = zoo.animal(script)
    outcomes = [driver([zoo.job_of(animal, cwd=HERE)])[0] for driver in zoo.DRIVERS.values()]
    lenient = zoo.fire(zoo.hooks_of("harness", [animal], HERE), HERE)
    strict = zoo.fire(zoo.hooks_of("harness", [animal], HERE, on_failure="deny"), HERE)
    return {"outcomes": [plain(outcome) for outcome in outcomes], "lenient": gist(lenient), "strict": gist(strict)}


def reaps_everything() -> Any:
    """Collects every child itself, in a handler of SIGCHLD, as old servers do."""

    def reap(number: int, frame: FrameType | None) -> None:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass

    signal.signal(signal.SIGCHLD, reap)
    jobs = [zoo.job_of(zoo.animal(name), cwd=HERE) for name in ("ignores_stdin.sh", "fails_after_allow.sh")]
    return [[plain(outcome) for outcome in process.run(jobs)] for _ in range(10)]


def closed(numbers: str) -> Any:
    """Has closed some of its standard descriptors."""
    for number in numbers:
        os.close(int(number))
    return plain(process.run([zoo.job("echoes_stdin.sh", cwd=HERE)])[0])


def starved(left: str) -> Any:
    """Has only so many descriptors left."""
    few_descriptors()
    hooks = zoo.hooks_of("goose", [zoo.animal("allows.sh")], HERE)
    held = taken(int(left))
    before = len(held)
    done = attempt(lambda: gist(zoo.fire(hooks, HERE)))
    spare = taken(0)
    for fd in (*held, *spare):
        os.close(fd)
    return {"ruling": done, "lost": int(left) - len(spare), "held": before > 0}


def starved_at_the_deadline() -> Any:
    """Has no descriptor left when a hook's time is over."""
    few_descriptors()
    held: list[int] = []

    def wave() -> Any:
        with process.Wave([zoo.job("sleeps.sh", cwd=HERE, timeout=zoo.SHORT)]) as running:
            held.extend(taken(0))
            while running.running:
                running.step(running.patience())
        return plain(running.outcomes[0])

    done = attempt(wave)
    for fd in held:
        os.close(fd)
    return done


def forks() -> Any:
    """Forks without exec: parent and child run hooks of their own, and the child's time out."""
    with process.Wave([zoo.job("meets.sh", "parent", "go", cwd=HERE)]) as wave:
        zoo.eventually((HERE / "parent").exists)
        child = os.fork()
        if child == 0:
            [outcome] = process.run([zoo.job("sleeps.sh", cwd=HERE, timeout=zoo.SHORT)])
            os._exit(0 if outcome.status == "timeout" else 1)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        (HERE / "go").touch()
        while wave.running:
            wave.step(wave.patience())
    return {"child": code, "parent": plain(wave.outcomes[0])}


def homeless() -> Any:
    """Stands in a directory that a hook deletes."""
    settings = HERE / "settings.json"
    settings.write_text(json.dumps({"hooks": {"SessionStart": [{"path": str(zoo.HOOKS / "deletes_the_cwd.sh")}]}}))
    doomed = HERE / "doomed"
    doomed.mkdir()
    os.chdir(doomed)
    hooks = Hooks()
    hooks.load(settings)
    first = gist(hooks.fire("SessionStart"))
    return {"first": first, "second": attempt(lambda: gist(hooks.fire("SessionStart")))}


def changes_its_environment() -> Any:
    """Sets and removes variables in one thread while another fires."""
    hooks = zoo.hooks_of("goose", [zoo.animal("allows.sh")], HERE)
    over = threading.Event()

    def churn() -> None:
        while not over.is_set():
            os.environ["ZOO_CHURN"] = "1"
            os.environ.pop("ZOO_CHURN")

    thread = threading.Thread(target=churn)
    thread.start()
    try:
        return [attempt(lambda: gist(zoo.fire(hooks, HERE))) for _ in range(20)]
    finally:
        over.set()
        thread.join()


def exits_in_background() -> Any:
    """Has a fire-and-forget hook still running when its own program text is over."""
    config = HERE / "config.yaml"
    command = f"{zoo.HOOKS / 'meets.sh'} started go"
    config.write_text(json.dumps({"hooks": {"post_tool_use": [{"command": command, "timeout": 60}]}}))
    hooks = Hooks()
    hooks.load(config)
    ruling = hooks.fire("PostToolUse", tool_name="Bash", tool_input={}, cwd=str(HERE))
    subprocess.Popen(["bash", "-c", "until [ -e started ]; do sleep 0.02; done; : >go"]).wait()
    return [report.status for report in ruling.hooks]


if __name__ == "__main__":
    name, answer, *arguments = sys.argv[1:]
    known: dict[str, Callable[..., Any]] = {
        host.__name__: host
        for host in (
            interrupted,
            interrupted_early,
            sigpipe_kills,
            ignores_children,
            reaps_everything,
            closed,
            starved,
            starved_at_the_deadline,
            forks,
            homeless,
            changes_its_environment,
            exits_in_background,
        )
    }
    found = known[name](*arguments)
    Path(answer).write_text(json.dumps(found))
