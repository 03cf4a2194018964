"""One process: how it is started, why it could not be, how all of it is ended.

Every run carries an id of its own in its environment, and a run inside a run carries both. At a
deadline the process group dies first, then whatever still carries the id: a child that left the
group (a daemon) cannot leave its environment behind.
"""

from __future__ import annotations

import errno
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from hookline.errors import UsageError
from hookline.model import Command
from hookline.redacting import redacted

RUN_ID = "HOOKLINE_RUN_ID"
SWEEPS = 50
"""How often /proc is searched at most: a process that forks or execs while we look needs another look."""

UNKILLABLE = 2.0
"""How long a killed process may take to go before we stop waiting for it."""

INTERRUPTIONS = (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)
"""The signals whose Python handlers like to raise."""

HAVE_PIDFD = hasattr(os, "pidfd_open") and hasattr(signal, "pidfd_send_signal")


class CannotStart(Exception):
    """The process never began; the message says why and what to do."""


def require_posix() -> None:
    if os.name != "posix":
        raise UsageError(f"hookline runs hook processes on POSIX systems only, not on {sys.platform}")


def our_environment() -> dict[bytes, bytes]:
    """A copy of our own environment. `os.environb` would check every value of it anew, at each event."""
    data = getattr(os.environb, "_data", None)
    return dict(data) if isinstance(data, dict) else dict(os.environb)


def environment(command: Command, run_id: str, cwd: str, base: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    """The environment of one run: ours, the hook's own variables, the run's id. Raises CannotStart."""
    env = dict(base) if command.redaction is None else redacted(base, command.redaction)
    try:
        env |= {os.fsencode(name): os.fsencode(cwd) for name in command.cwd_variables}
        env |= {os.fsencode(name): os.fsencode(value) for name, value in command.env.items()}
    except UnicodeEncodeError as error:
        raise CannotStart(f"cannot start: a variable of its environment cannot be encoded: {error}") from None
    key = RUN_ID.encode()
    outer = env.get(key)
    env[key] = outer + b":" + run_id.encode() if outer else run_id.encode()
    return env


def start(command: Command, pipes: Sequence[int], cwd: str, env: Mapping[bytes, bytes]) -> subprocess.Popen[bytes]:
    """Start a command in a session of its own with these ends of pipes. Raises CannotStart."""
    if command.fault:
        raise CannotStart(command.fault)
    argv = command.argv
    stdin, stdout, stderr = pipes
    try:
        if command.interpreter and not os.access(argv[0], os.X_OK) and os.path.isfile(argv[0]):
            argv = (*command.interpreter, *argv)
        return subprocess.Popen(
            argv, stdin=stdin, stdout=stdout, stderr=stderr, cwd=cwd or None, env=env, start_new_session=True
        )
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise CannotStart(_why_not(error, argv, cwd)) from None


def _why_not(error: Exception, argv: tuple[str, ...], cwd: str) -> str:
    program = argv[0]
    if not isinstance(error, OSError):  # a NUL in an argument, a name the locale cannot spell
        return f"cannot start {program!r}: {error}"
    if cwd and not os.path.isdir(cwd):
        what = "is not a directory" if os.path.exists(cwd) else "does not exist"
        return f"cannot start: the working directory {cwd!r} {what}"
    if cwd and not os.access(cwd, os.X_OK):
        return f"cannot start: no permission to enter the working directory {cwd!r}"
    path = program if os.path.isabs(program) or "/" not in program else os.path.join(cwd, program)
    match error.errno:
        case errno.ENOENT if "/" not in program:
            return f"cannot start: {program!r} is not installed (nothing of that name on PATH)"
        case errno.ENOENT if os.path.exists(path):
            return f"cannot start {path!r}: {_missing_interpreter(path)}"
        case errno.ENOENT | errno.ENOTDIR:
            return f"cannot start {path!r}: there is no such file"
        case errno.EACCES if os.path.isdir(path):
            return f"cannot start {path!r}: it is a directory"
        case errno.EACCES if os.path.isfile(path) and not os.access(path, os.X_OK):
            return f"cannot start {path!r}: no permission to execute it; run `chmod +x` on it"
        case errno.EACCES:
            return f"cannot start {path!r}: permission denied"
        case errno.ENOEXEC:
            return f"cannot start {path!r}: it has no shebang; begin it with a line such as #!/bin/sh"
        case _:
            return f"cannot start {path!r}: {error.strerror or error}"


def _missing_interpreter(path: str) -> str:
    """What the kernel looked for and did not find: the program in the first line, or the loader of a binary."""
    try:
        with open(path, "rb") as script:
            first = script.read(256).split(b"\n", 1)[0]
    except OSError:
        return "its interpreter (the file is unreadable) does not exist"
    words = first.removeprefix(b"#!").strip(b" \t").replace(b"\t", b" ").split(b" ")
    if not first.startswith(b"#!") or not words[0]:
        return "its loader does not exist"
    name = os.fsdecode(words[0])
    if name.endswith("\r"):
        return f"its lines end as on Windows, so its interpreter is read as {name!r}; save it with Unix line ends"
    return f"its interpreter {name!r} does not exist"


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Ctrl-C and its like wait until the block is over: a descriptor just made must reach the list it is closed from.

    Nothing may be started inside: a child would inherit the blocked signals. A host with many threads can
    still be interrupted, by way of another thread.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTIONS)
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def write(fd: int, data: memoryview) -> int:
    """Write what fits without waiting. A host that lets SIGPIPE kill it must survive a hook that does not read."""
    if signal.getsignal(signal.SIGPIPE) != signal.SIG_DFL:
        return os.write(fd, data)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPIPE})
    try:
        return os.write(fd, data)
    except BrokenPipeError:
        if signal.SIGPIPE not in before and hasattr(signal, "sigtimedwait"):
            signal.sigtimedwait({signal.SIGPIPE}, 0)
        raise
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def signal_group(pid: int, number: signal.Signals) -> None:
    """Signal the group a process leads. Only while its leader is not collected: the number is ours till then."""
    try:
        os.killpg(pid, number)
    except (ProcessLookupError, PermissionError):
        pass


def kill_all(pid: int | None, run_id: str) -> None:
    """Kill the group, then whatever carries the run's id, until a look finds nothing.

    A pid is unknown where an interruption came between the fork and its answer; then the process is
    found by its id, and collected here because nobody else can.
    """
    if pid is not None:
        signal_group(pid, signal.SIGKILL)
    if not HAVE_PIDFD:
        return
    needle = run_id.encode()
    clear = {os.getpid(), pid}
    for _ in range(SWEEPS):
        try:
            found = {int(name) for name in os.listdir("/proc") if name.isdigit()}
        except OSError:
            return  # no /proc here, or no descriptor left to look with
        # The newest first: what forks and exits all the time is always among them.
        doubtful = {other for other in sorted(found - clear, reverse=True) if not _clear(other, needle)}
        if not doubtful:
            return
        clear |= found - doubtful


def _clear(pid: int, needle: bytes) -> bool:
    """Whether this process does not carry the id. If it does, it is killed, and its group with it.

    In doubt it does not count as clear: one that vanished under our eyes may have forked, one in the
    middle of an exec has no environment yet.
    """
    try:
        pidfd = os.pidfd_open(pid)
    except OSError as error:
        return error.errno != errno.ESRCH
    try:
        with open(f"/proc/{pid}/environ", "rb") as environ:
            entries = environ.read()
        if not entries:
            return not os.path.exists(f"/proc/{pid}/exe")  # neither a zombie nor a thread of the kernel has one
        if not any(needle in _ids(entry) for entry in entries.split(b"\0")):
            return True
        group = os.getpgid(pid)
        signal.pidfd_send_signal(pidfd, 0)  # not collected yet, so number and group are still its own
        if group != os.getpgid(0):
            # A group dies as one: a member that forks while it is killed takes its child along.
            os.killpg(group, signal.SIGKILL)
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)
        _collect(pidfd)
        return False
    except OSError as error:
        return error.errno != errno.ESRCH
    finally:
        os.close(pidfd)


def _collect(pidfd: int) -> None:
    """Take the exit status of a killed process if it is a child of ours; a grandchild is somebody else's."""
    try:
        if os.waitid(os.P_PIDFD, pidfd, os.WEXITED | os.WNOHANG) is None:
            _wait_for(pidfd)
            os.waitid(os.P_PIDFD, pidfd, os.WEXITED | os.WNOHANG)
    except ChildProcessError:
        pass


def _wait_for(pidfd: int) -> None:
    ended = select.poll()
    ended.register(pidfd, select.POLLIN)
    ended.poll(UNKILLABLE * 1000)


def _ids(entry: bytes) -> list[bytes]:
    name, _, value = entry.partition(b"=")
    return value.split(b":") if name == RUN_ID.encode() else []
