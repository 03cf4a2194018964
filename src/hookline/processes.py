"""One process: how it is started, why it could not be, how all of it is ended.

Every run carries an id of its own in its environment, and a run inside a run carries both. At a
deadline the process group dies first, then whatever still carries the id: a child that left the
group (a daemon) cannot leave its environment behind.
"""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence

from hookline.errors import UsageError
from hookline.model import Command

RUN_ID = "HOOKLINE_RUN_ID"
SWEEPS = 20
"""How often /proc is searched at most: a child forking while we look needs another look."""

HAVE_PIDFD = hasattr(os, "pidfd_open") and hasattr(signal, "pidfd_send_signal")


class CannotStart(Exception):
    """The process never began; the message says why and what to do."""


def require_posix() -> None:
    if os.name != "posix":
        raise UsageError(f"hookline runs hook processes on POSIX systems only, not on {sys.platform}")


def environment(command: Command, run_id: str, cwd: str, base: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    """The environment of one run: ours, the hook's own variables, the run's id."""
    env = dict(base)
    for name, value in command.env.items():
        env[os.fsencode(name)] = os.fsencode(value)
    for name in command.cwd_variables:
        env[os.fsencode(name)] = os.fsencode(cwd)
    key = RUN_ID.encode()
    outer = env.get(key)
    env[key] = outer + b":" + run_id.encode() if outer else run_id.encode()
    return env


def start(command: Command, pipes: Sequence[int], cwd: str, env: Mapping[bytes, bytes]) -> subprocess.Popen[bytes]:
    """Start a command in a session of its own with these ends of pipes. Raises CannotStart."""
    if command.fault:
        raise CannotStart(command.fault)
    argv = command.argv
    if command.interpreter and not os.access(argv[0], os.X_OK) and os.path.isfile(argv[0]):
        argv = (*command.interpreter, *argv)
    stdin, stdout, stderr = pipes
    try:
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
            return f"cannot start {path!r}: its interpreter {_interpreter(path)} does not exist"
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


def _interpreter(path: str) -> str:
    try:
        with open(path, "rb") as script:
            first = script.read(256).split(b"\n", 1)[0]
    except OSError:
        return "(unreadable)"
    words = first.removeprefix(b"#!").split()
    return repr(os.fsdecode(words[0])) if first.startswith(b"#!") and words else "(the loader)"


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


def kill_all(pid: int, run_id: str) -> None:
    """Kill the group, then whatever carries the run's id, until a look finds nothing."""
    signal_group(pid, signal.SIGKILL)
    if not HAVE_PIDFD or not os.path.isdir("/proc/self"):
        return
    needle = run_id.encode()
    for _ in range(SWEEPS):
        killed = sum(_kill_if_marked(int(name), needle, pid) for name in os.listdir("/proc") if name.isdigit())
        if not killed:
            return


def _kill_if_marked(pid: int, needle: bytes, leader: int) -> bool:
    """Kill one process if its environment carries the id. The pidfd pins the process while we look."""
    if pid in (os.getpid(), leader):
        return False
    try:
        pidfd = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        with open(f"/proc/{pid}/environ", "rb") as environ:
            marked = any(needle in _ids(entry) for entry in environ.read().split(b"\0"))
        if marked:
            signal.pidfd_send_signal(pidfd, signal.SIGKILL)
        return marked
    except OSError:
        return False
    finally:
        os.close(pidfd)


def _ids(entry: bytes) -> list[bytes]:
    name, _, value = entry.partition(b"=")
    return value.split(b":") if name == RUN_ID.encode() else []
