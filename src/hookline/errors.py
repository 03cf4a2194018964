"""Everything hookline raises on purpose.

    HooklineError
    ├── UsageError      the calling program, or the command line, made a mistake
    ├── ConfigError     a configuration file that cannot be loaded
    ├── HookDenied      a hook refused something that has no other way to say so
    ├── HookError       a Python handler raised
    │   └── BadAnswer   it answered with a shape its protocol does not know (a UsageError too)
    ├── RecordedError   what a tool or a model raised when the session being replayed was recorded
    │                   (RecordedInterrupt, a KeyboardInterrupt, where it was no Exception;
    │                   asyncio's CancelledError, where a task was cancelled)
    └── TapeError       a tape that cannot be read, written or trusted
        └── Divergence  a replay that did not fit its recording

A hook process never raises into the host: what it does wrong is in the ruling.
"""

from __future__ import annotations

from typing import Any


class HooklineError(Exception):
    """The root of everything hookline raises on purpose."""


class UsageError(HooklineError):
    """The caller asked for something that cannot be; the message says what to write instead."""


class ConfigError(HooklineError):
    """A configuration that cannot be loaded: `file`, `pointer` inside it, and what to do."""

    def __init__(self, message: str, *, file: str = "", pointer: str = "") -> None:
        where = f"{file}#{pointer}" if pointer else file
        super().__init__(f"{where}: {message}" if where else message)
        self.file = file
        self.pointer = pointer


class HookDenied(HooklineError):
    """A hook refused an operation whose only way to refuse is to raise."""

    category = "hook_denied"

    def __init__(self, event: str, reason: str, step: str | None = None) -> None:
        super().__init__(reason)
        self.event = event
        self.reason = reason
        self.step = step


class HookError(HooklineError):
    """A Python handler raised; the cause is chained. `source` says where it was written."""

    def __init__(self, hook: str, event: str, message: str, source: str = "") -> None:
        super().__init__(f"{hook} on {event}: {message}{f' ({source})' if source else ''}")
        self.hook, self.event, self.message, self.source = hook, event, message, source


class BadAnswer(HookError, UsageError):
    """A Python handler answered with a shape its protocol does not know; the message has it, and the known ones."""


class RecordedError(HooklineError):
    """What a tool or a model raised when the session was recorded; the message has the exception in one line."""

    @property
    def recorded_as(self) -> str:
        return str(self)


class RecordedInterrupt(KeyboardInterrupt):
    """What interrupted the host itself while something of it ran, when the session was recorded: a Ctrl-C, say."""

    @property
    def recorded_as(self) -> str:
        return str(self)


def interrupt(text: str) -> BaseException:
    """What interrupted the host, to be raised once more: a mistake of its own, a cancelled task, or a Ctrl-C."""
    name, _, message = text.partition(": ")
    if name not in ("UsageError", "CancelledError"):
        return RecordedInterrupt(text)
    again: Any = UsageError(message)
    if name == "CancelledError":
        import asyncio  # who was cancelled then has a loop now, too

        again = asyncio.CancelledError(text)
    again.recorded_as = text
    return again  # type: ignore[no-any-return]


class TapeError(HooklineError):
    """A tape that cannot be read, written or trusted; `line` is the first bad one, where there is one."""

    line: int | None = None


class Divergence(TapeError):
    """A replay that did not fit its recording; `seq` is the recorded line that did not match."""

    def __init__(self, seq: int, message: str) -> None:
        super().__init__(f"record {seq}: {message}")
        self.seq = seq
