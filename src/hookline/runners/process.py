"""The process runner: all hooks of one wave in one loop, with no threads.

One `select` waits for everything that can happen to a run: room in its stdin, output, its end (a
pidfd), its deadline. A run is over when its *process* is, not when its pipes close: a background
child that holds them gets a short drain and is left alone. At the deadline everything is killed,
and what was read so far is kept.

    running --exit--> draining --pipes closed, or 50 ms--> done
    running --deadline--> terminating (only with a grace) --> killed --exit--> draining --> done
"""

from __future__ import annotations

import itertools
import os
import selectors
import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Literal, Self

from hookline import processes
from hookline.compacting import compact
from hookline.model import Job, Outcome

STDOUT_KEPT = 1024 * 1024
STDERR_KEPT = 64 * 1024
CHUNK = 64 * 1024
PIPES = ("stdin", "stdout", "stderr")
DRAIN = 0.05
AT_ONCE = 64
"""Processes of one wave alive at the same time; each has four descriptors."""

POLL = 0.005
"""How often an end is looked for where there are no pidfds."""

LONGEST_WAIT = 1.0
"""Python sees a Ctrl-C that comes just before a wait only after it, so no wait is long."""

_numbers = itertools.count(1)
_BOOT = f"{time.time_ns():x}"


def run(jobs: Sequence[Job]) -> list[Outcome]:
    """Run all jobs together; their outcomes in the same order."""
    with Wave(jobs, selectors.PollSelector) as wave:
        while wave.running:
            wave.step(wave.patience())
    return wave.outcomes


async def run_async(jobs: Sequence[Job]) -> list[Outcome]:
    """The same on an event loop, which watches one descriptor. Cancelling the task ends every process of the wave."""
    import asyncio

    loop = asyncio.get_running_loop()
    with Wave(jobs) as wave:
        while wave.running:
            woken = loop.create_future()

            def wake(woken: asyncio.Future[None] = woken) -> None:
                if not woken.done():
                    woken.set_result(None)

            loop.add_reader(wave.fileno(), wake)
            timer = loop.call_later(wave.patience(), wake)
            try:
                await woken
            finally:
                timer.cancel()
                loop.remove_reader(wave.fileno())
            wave.step(0)
    return wave.outcomes


class Wave:
    """The processes of one wave. Leaving it, for whatever reason, leaves none of them alive."""

    def __init__(
        self,
        jobs: Sequence[Job],
        selector: Callable[[], selectors.BaseSelector] = selectors.DefaultSelector,
        *,
        pidfd: bool = processes.HAVE_PIDFD,
    ) -> None:
        processes.require_posix()
        self.pidfd = pidfd
        self.base = processes.our_environment()
        self._alive: list[_Run] = []
        self._results: list[Outcome | None] = [None] * len(jobs)
        self._waiting = deque(enumerate(jobs))
        try:
            self.selector: selectors.BaseSelector = selector()
        except OSError as error:  # no descriptor left, so none for any hook either
            self.selector = selectors.SelectSelector()
            self._waiting.clear()
            self._results = [Outcome("unstartable", error=f"cannot start: {error.strerror}") for _ in jobs]

    def __enter__(self) -> Self:
        try:
            self._fill()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    @property
    def running(self) -> bool:
        return bool(self._alive or self._waiting)

    @property
    def outcomes(self) -> list[Outcome]:
        return [outcome for outcome in self._results if outcome is not None]

    def fileno(self) -> int:
        """A descriptor that is readable when `step` has something to do."""
        return self.selector.fileno()  # type: ignore[attr-defined,no-any-return]

    def patience(self) -> float:
        """Seconds until something must be done even if nothing is heard."""
        now = time.monotonic()
        return max(0.0, min([run.patience(now) for run in self._alive], default=0.0))

    def step(self, timeout: float) -> None:
        """Wait so long at most, then deal with everything that has happened."""
        for key, _ in self.selector.select(timeout):
            key.data()
        now = time.monotonic()
        for run in self._alive:
            run.advance(now)
        done = [run for run in self._alive if run.stage == "done"]
        if done:
            for run in done:
                self._results[run.index] = run.outcome()
            self._alive = [run for run in self._alive if run.stage != "done"]
            self._fill()

    def close(self) -> None:
        for run in self._alive:
            run.abandon()
        self._alive = []
        self.selector.close()

    def _fill(self) -> None:
        while self._waiting and len(self._alive) < AT_ONCE:
            index, job = self._waiting.popleft()
            run = _Run(index, job, self)
            self._alive.append(run)  # from here on an interruption cleans it up
            try:
                run.start()
            except processes.CannotStart as reason:
                self._alive.pop()
                self._results[index] = Outcome("unstartable", error=str(reason))


class _Capture:
    """What is kept of a stream: all of it, or its head and its tail."""

    def __init__(self, head: int, tail: int) -> None:
        self.head, self.tail = head, tail
        self.first = bytearray()
        self.last = bytearray()
        self.cut = 0

    def add(self, data: bytes) -> None:
        room = self.head - len(self.first)
        self.first += data[:room]
        if len(data) > room:
            self.last += data[max(room, 0) :]
            over = len(self.last) - self.tail
            if over > 0:
                del self.last[:over]
                self.cut += over

    def text(self) -> str:
        """Decoded once and whole; what is not UTF-8 becomes U+FFFD."""
        if not self.cut and not self.last:
            return self.first.decode("utf-8", "replace")
        mark = f"\n[hookline: {self.cut} bytes cut]\n".encode() if self.cut else b""
        return (self.first + mark + self.last).decode("utf-8", "replace")


class _Run:
    """One process from its start to its end."""

    def __init__(self, index: int, job: Job, wave: Wave) -> None:
        self.index = index
        self.command = job.hook.command
        self.job = job
        self.wave = wave
        self.run_id = f"{_BOOT}.{os.getpid():x}.{next(_numbers):x}"  # a forked host counts on its own
        self.stage: Literal["new", "running", "terminating", "killed", "draining", "done"] = "new"
        self.popen: subprocess.Popen[bytes] | None = None
        self.fds: dict[str, int] = {}
        self.captures = {"stdout": _Capture(STDOUT_KEPT, 0), "stderr": _Capture(STDERR_KEPT // 2, STDERR_KEPT // 2)}
        self.payload = memoryview(b"")
        self.deadline = 0.0
        self.began = self.ended = 0.0
        self.timed_out = False
        self.exit_code: int | None = None
        self.signal = ""
        self.lost = False

    # -- starting

    def start(self) -> None:
        """Start, and hand over the payload before anything else is done: some hooks do not wait for it."""
        self.payload = memoryview(compact(self.job.payload))
        self.began = time.monotonic()
        self.deadline = self.began + self.command.timeout
        try:
            if self.command.fault:
                raise processes.CannotStart(self.command.fault)
            with processes.uninterrupted():
                self._open_pipes()
            env = processes.environment(self.command, self.run_id, self.job.cwd, self.wave.base)
            theirs = [self.fds[f"their {name}"] for name in PIPES]
            self.popen = processes.start(self.command, theirs, self.job.cwd, env)
        except processes.CannotStart:
            self._close_fds()
            raise
        except BaseException:  # interrupted: it may run already, and nobody was told its pid
            processes.kill_all(None, self.run_id)
            raise
        self.stage = "running"
        with processes.uninterrupted():
            self._watch(self.popen.pid)

    def _watch(self, pid: int) -> None:
        for name in PIPES:
            os.close(self.fds.pop(f"their {name}"))
            os.set_blocking(self.fds[name], False)
        self._write()
        register = self.wave.selector.register
        register(self.fds["stdout"], selectors.EVENT_READ, lambda: self._read("stdout"))
        register(self.fds["stderr"], selectors.EVENT_READ, lambda: self._read("stderr"))
        if "stdin" in self.fds:
            register(self.fds["stdin"], selectors.EVENT_WRITE, self._write)
        if self.wave.pidfd:
            try:
                self.fds["pidfd"] = os.pidfd_open(pid)
                register(self.fds["pidfd"], selectors.EVENT_READ, self._exited)
            except OSError:
                pass  # no descriptor left for it: the end is looked for instead

    def _open_pipes(self) -> None:
        """Three pipes; our ends have plain names, theirs are called theirs."""
        try:
            for name in PIPES:
                read, write = os.pipe()
                ours, theirs = (write, read) if name == "stdin" else (read, write)
                self.fds |= {name: ours, f"their {name}": theirs}
        except OSError as error:
            raise processes.CannotStart(f"cannot start: no pipe for its {name}: {error.strerror}") from None

    # -- what the selector calls

    def _write(self) -> None:
        if "stdin" not in self.fds:
            return  # closed by something else that happened in the same moment
        try:
            while self.payload:
                self.payload = self.payload[processes.write(self.fds["stdin"], self.payload) :]
        except BlockingIOError:
            return
        except OSError:
            pass  # it does not read: its right
        self._close("stdin")

    def _read(self, stream: str) -> None:
        if stream not in self.fds:
            return
        try:
            data = os.read(self.fds[stream], CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self.captures[stream].add(data)
        else:
            self._close(stream)

    def _exited(self) -> None:
        """The process is gone. What it left in the pipes is read; a child that holds them gets a moment."""
        assert self.popen is not None
        if self.timed_out:
            processes.kill_all(self.popen.pid, self.run_id)
        self._collect()
        self.ended = time.monotonic()
        self._close("pidfd")
        self._close("stdin")
        self.stage = "draining"
        self.deadline = self.ended + DRAIN
        for stream in ("stdout", "stderr"):
            if stream in self.fds:
                self._read(stream)  # mostly all there is: the end of the pipe is usually one read away
        self._settle()

    # -- what time does

    def patience(self, now: float) -> float:
        wait = min(self.deadline - now, LONGEST_WAIT)
        return wait if "pidfd" in self.fds or self.stage == "draining" else min(wait, POLL)

    def advance(self, now: float) -> None:
        if self.stage == "draining":
            self._settle()
        elif self.stage != "done" and "pidfd" not in self.fds and self._looks_gone():
            self._exited()
        if now < self.deadline or self.stage == "done":
            return
        assert self.popen is not None
        match self.stage:
            case "running" if self.command.grace > 0:
                self.timed_out = True
                processes.signal_group(self.popen.pid, signal.SIGTERM)
                self.stage, self.deadline = "terminating", now + self.command.grace
            case "running" | "terminating":
                self.timed_out = True
                processes.kill_all(self.popen.pid, self.run_id)
                self.stage, self.deadline = "killed", now + processes.UNKILLABLE
            case _:  # drained long enough, or the kernel itself cannot end it
                self.ended = self.ended or now
                self._close_fds()
                self.stage = "done"

    def _settle(self) -> None:
        if not self.fds:
            self.stage = "done"

    def _looks_gone(self) -> bool:
        assert self.popen is not None
        try:
            return os.waitid(os.P_PID, self.popen.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:
            return True

    # -- ending

    def _collect(self) -> None:
        """Take the exit status. Somebody else may have taken it: then it is lost, and never read as 0."""
        assert self.popen is not None
        try:
            status = os.waitid(os.P_PID, self.popen.pid, os.WEXITED)
        except ChildProcessError:
            status = None
        if status is None:
            self.lost = True
            self.popen.returncode = 0  # only tells Popen that there is nothing left to wait for
        elif status.si_code == os.CLD_EXITED:
            self.exit_code = self.popen.returncode = status.si_status
        else:
            self.signal = _signal_name(status.si_status)
            self.popen.returncode = -status.si_status

    def abandon(self) -> None:
        """The host gives up (Ctrl-C, a cancelled task): nothing of this run may stay."""
        if self.popen is not None and self.popen.returncode is None:
            processes.kill_all(self.popen.pid, self.run_id)
            give_up = time.monotonic() + processes.UNKILLABLE
            while not self._looks_gone() and time.monotonic() < give_up:
                time.sleep(POLL)
            if self._looks_gone():
                self._collect()
        self._close_fds()
        self.stage = "done"

    def _close(self, name: str) -> None:
        if name not in self.fds:
            return
        try:
            self.wave.selector.unregister(self.fds[name])
        except (KeyError, ValueError):
            pass  # closed before it was ever watched
        os.close(self.fds.pop(name))

    def _close_fds(self) -> None:
        for name in list(self.fds):
            self._close(name)

    def outcome(self) -> Outcome:
        stdout, stderr = self.captures["stdout"], self.captures["stderr"]
        return Outcome(
            status="timeout" if self.timed_out else "lost" if self.lost else "exited",
            exit_code=None if self.timed_out else self.exit_code,
            signal=self.signal,
            stdout=stdout.text(),
            stderr=stderr.text(),
            stdout_cut=stdout.cut,
            stderr_cut=stderr.cut,
            duration_ms=round((self.ended - self.began) * 1000, 3),
            error="ended, but another part of the host program collected its exit status" if self.lost else "",
        )


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
