"""The values that flow through the engine, and the two protocols it is built on.

    Hook + Event  --Dialect.encode-->  Job  --Runner-->  Outcome  --Dialect.decode-->  Verdict  --fold-->  Ruling

Every value is frozen. An Outcome holds facts and no meaning; a Verdict is one hook's wish;
a Ruling is what the host is asked to do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, Protocol

import msgspec
from msgspec import Struct, field, to_builtins

from hookline.errors import UsageError

Decision = Literal["none", "allow", "ask", "deny"]
Status = Literal["ran", "failed", "timeout", "skipped", "background"]
OnFailure = Literal["ask", "deny"]

REWRITES = ("tool_input", "tool_output", "prompt", "llm_request", "llm_response", "args", "output")
"""What a verdict may put in the place of something else, in the order a ruling lists it."""


def compact(value: Any) -> bytes:
    """A value as compact JSON on one line, the way every hook and every tape gets it."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return msgspec.json.encode(_without_surrogates(value))
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"a payload must be made of JSON values: {error}") from None


def _without_surrogates(value: Any) -> Any:
    """Half a UTF-16 pair has no place in UTF-8; it becomes U+FFFD, as every decoder would make it."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_surrogates(item) for item in value]
    return value


class Source(Struct, frozen=True):
    """Where something was written: a file, and a JSON pointer into it."""

    file: str
    pointer: str = ""

    def __str__(self) -> str:
        return f"{self.file}#{self.pointer}" if self.pointer else self.file


class Notice(Struct, frozen=True):
    """Something a person should know, tied to the place it comes from."""

    text: str
    source: Source | None = None

    def __str__(self) -> str:
        return f"{self.source}: {self.text}" if self.source else self.text

    def to_dict(self) -> dict[str, str]:
        return {"text": self.text} | ({"source": str(self.source)} if self.source else {})


class Event(Struct, frozen=True):
    """Something in the agent's life: a name from the catalogue, the base fields, its payload."""

    name: str
    payload: dict[str, Any]
    session_id: str = ""
    cwd: str = ""
    timestamp: str = ""
    transcript_path: str = ""

    def value(self, name: str) -> Any:
        """A field of the event by its canonical name; None where there is none."""
        if name in self.payload:
            return self.payload[name]
        if name == "hook_event_name":
            return self.name
        return getattr(self, name, None) if name in BASE_FIELDS else None


BASE_FIELDS = ("session_id", "cwd", "timestamp", "transcript_path")


class Matcher(Struct, frozen=True):
    """A condition on an event, compiled when its hook was loaded."""

    text: str
    test: Callable[[Event], bool]


EVERYTHING = Matcher("", lambda event: True)


class Command(Struct, frozen=True):
    """A process to run. `timeout` and `grace` are in seconds.

    `interpreter` is put in front where the program itself lacks the executable bit.
    `cwd_variables` name environment variables that carry the event's working directory.
    `fault` says why this can never start; such a hook fails each time it is due.
    """

    runner: ClassVar[str] = "process"

    argv: tuple[str, ...]
    timeout: float
    grace: float = 0.0
    interpreter: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    cwd_variables: tuple[str, ...] = ()
    fault: str = ""


class Hook(Struct, frozen=True):
    """One configured reaction.

    `barred` says why it may not run at all (switched off, not trusted). `parallel` hooks of one
    dialect form one wave. Of the hooks with the same `dedupe` only the first runs. A `fallback`
    runs only where its dialect has no other hook for the event. A `background` hook never delays
    the host and has no say.
    """

    name: str
    event: str
    dialect: str
    source: Source
    action: Command
    matcher: Matcher = EVERYTHING
    background: bool = False
    parallel: bool = False
    priority: int = 0
    dedupe: str = ""
    fallback: bool = False
    barred: str = ""
    on_failure: OnFailure | None = None


class Job(Struct, frozen=True):
    """One hook about to run: its payload in its dialect's own shape."""

    hook: Hook
    payload: dict[str, Any]
    cwd: str


class Outcome(Struct, frozen=True, omit_defaults=True):
    """The bare facts of one execution.

    `exited` has an exit code or a signal; `timeout` was ended by us; `unstartable` never began, and
    `error` says why; `lost` ended, but somebody else collected its exit status.
    """

    status: Literal["exited", "timeout", "unstartable", "lost"]
    exit_code: int | None = None
    signal: str = ""
    stdout: str = ""
    stderr: str = ""
    stdout_cut: int = 0
    stderr_cut: int = 0
    duration_ms: float = 0.0
    error: str = ""


class Tools(Struct, frozen=True, omit_defaults=True):
    """Which tools a model may call: a mode (AUTO, ANY, NONE), and the names it is limited to."""

    mode: str | None = None
    allowed: tuple[str, ...] | None = None


class Verdict(Struct, frozen=True):
    """What one hook wants. `failed` says why it has no opinion although it should have one."""

    decision: Decision = "none"
    reason: str = ""
    context: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    rewrites: dict[str, Any] = field(default_factory=dict)
    tools: Tools | None = None
    halt: str | None = None
    suppress_output: bool = False
    clear_context: bool = False
    reminders: tuple[dict[str, Any], ...] = ()
    notices: tuple[str, ...] = ()
    failed: str = ""


class Report(Struct, frozen=True, omit_defaults=True):
    """What became of one hook, in a ruling."""

    hook: str
    dialect: str
    source: str
    status: Status
    decision: Decision | None = None
    reason: str = ""
    success: bool | None = None
    exit_code: int | None = None
    signal: str = ""
    duration_ms: float | None = None
    stderr: str = ""
    error: str = ""
    skipped: str = ""

    def to_dict(self) -> dict[str, Any]:
        done: dict[str, Any] = to_builtins(self)
        return done


class Halt(Struct, frozen=True):
    """The agent's loop must end."""

    reason: str


class Ruling(Struct, frozen=True):
    """What the host is asked to do: all verdicts folded into one value.

    What no hook touched is None, or an empty tuple. `to_dict()` leaves it out.
    """

    event: str
    decision: Decision = "none"
    healthy: bool = True
    reason: str = ""
    context: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    rewrites: dict[str, Any] = field(default_factory=dict)
    tools: Tools | None = None
    halt: Halt | None = None
    suppress_output: bool = False
    clear_context: bool = False
    reminders: tuple[dict[str, Any], ...] = ()
    notices: tuple[Notice, ...] = ()
    hooks: tuple[Report, ...] = ()

    @property
    def tool_input(self) -> Any:
        return self.rewrites.get("tool_input")

    @property
    def tool_output(self) -> Any:
        return self.rewrites.get("tool_output")

    @property
    def prompt(self) -> Any:
        return self.rewrites.get("prompt")

    @property
    def llm_request(self) -> Any:
        return self.rewrites.get("llm_request")

    @property
    def llm_response(self) -> Any:
        return self.rewrites.get("llm_response")

    @property
    def args(self) -> Any:
        return self.rewrites.get("args")

    @property
    def output(self) -> Any:
        return self.rewrites.get("output")

    def to_dict(self) -> dict[str, Any]:
        """The ruling as JSON: absent means untouched."""
        done: dict[str, Any] = {"event": self.event, "decision": self.decision, "healthy": self.healthy}
        for name in ("reason", "context", "messages"):
            if value := getattr(self, name):
                done[name] = list(value) if isinstance(value, tuple) else value
        done.update((name, self.rewrites[name]) for name in REWRITES if name in self.rewrites)
        if self.tools:
            done["tools"] = to_builtins(self.tools)
        if self.halt:
            done["halt"] = {"reason": self.halt.reason}
        for name in ("suppress_output", "clear_context"):
            if getattr(self, name):
                done[name] = True
        if self.reminders:
            done["reminders"] = list(self.reminders)
        if self.notices:
            done["notices"] = [notice.to_dict() for notice in self.notices]
        if self.hooks:
            done["hooks"] = [report.to_dict() for report in self.hooks]
        return done


class Loaded(Struct, frozen=True):
    """What one configuration file came to."""

    hooks: tuple[Hook, ...]
    notices: tuple[Notice, ...]


class About(Struct, frozen=True):
    """What a hook says of itself, outside the file that registers it."""

    title: str = ""
    text: str = ""
    notices: tuple[Notice, ...] = ()


class Runner(Protocol):
    """Executes the jobs of one wave, together, and reports the facts in the same order."""

    def run(self, jobs: Sequence[Job]) -> list[Outcome]: ...


class Dialect(Protocol):
    """One system's language. A module is the implementation."""

    NAME: str
    """How the dialect is called on the command line, on the tape, in every report."""

    FORMAT: Literal["json", "yaml"]
    """What its configuration files are written in."""

    EFFECTS: Mapping[str, frozenset[str]]
    """For each event of the dialect, the effects a hook may have on it."""

    def claims(self, document: Any) -> bool:
        """Whether a parsed file is plainly in this dialect."""

    def read(self, document: Any, file: str, *, root: str | None, environ: Mapping[str, str]) -> Loaded:
        """The hooks of a parsed file. What is wrong with an entry is a notice, never an exception."""

    def encode(self, hook: Hook, event: Event) -> dict[str, Any]:
        """The payload this hook gets for this event."""

    def decode(self, hook: Hook, event: Event, outcome: Outcome) -> Verdict:
        """What the facts mean."""

    def about(self, hook: Hook) -> About:
        """What the hook says of itself. May read the hook's file; never runs it."""
