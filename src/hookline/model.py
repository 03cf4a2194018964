"""The values that flow through the engine, and the two protocols it is built on.

    Hook + Event  --Dialect.encode-->  Job  --Runner-->  Outcome  --Dialect.decode-->  Verdict  --fold-->  Ruling

Every value is frozen. An Outcome holds facts and no meaning; a Verdict is one hook's wish;
a Ruling is what the host is asked to do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, Protocol

from msgspec import Struct, field, to_builtins

from hookline.sequences import NOTHING, UNTOUCHED

Decision = Literal["none", "allow", "ask", "deny"]
Status = Literal["ran", "failed", "timeout", "skipped", "background"]
OnFailure = Literal["ask", "deny"]
Level = Literal["project", "user", "system", "extension"]
"""Whose configuration a file is. A dialect may order its hooks by it."""

REWRITES = ("tool_input", "tool_output", "prompt", "llm_request", "llm_response", "args", "output")
"""What a verdict may put in the place of something else, in the order a ruling lists it."""


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
    """Something in the agent's life: a name from the catalogue, the base fields, its payload.

    `asides` holds, by dialect, what its later hooks see in the place of fields that stay as they are.
    """

    name: str
    payload: dict[str, Any]
    session_id: str = ""
    cwd: str = ""
    timestamp: str = ""
    transcript_path: str = ""
    asides: dict[str, dict[str, Any]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The event as the tape has it."""
        base = {name: getattr(self, name) for name in BASE_FIELDS}
        return {"event": self.name, **base, "payload": self.payload}

    def value(self, name: str) -> Any:
        """A field of the event by its canonical name; None where there is none."""
        if name in self.payload:
            return self.payload[name]
        if name == "hook_event_name":
            return self.name
        return getattr(self, name, None) if name in BASE_FIELDS else None


BASE_FIELDS = ("session_id", "cwd", "timestamp", "transcript_path")


class Matcher(Struct, frozen=True):
    """A condition on an event, compiled when its hook was loaded.

    `fits` looks at these `fields` only (see READINGS), which no hook rewrites: what it says is remembered for their
    values. `rest` may look at anything, also at what an earlier hook can rewrite: it is asked each time.
    """

    text: str
    fits: Callable[[Event], bool]
    fields: tuple[str, ...] = ()
    rest: Callable[[Event], bool] | None = None

    def test(self, event: Event) -> bool:
        return self.fits(event) and (self.rest is None or self.rest(event))


READINGS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "step.name": lambda payload: (payload.get("step") or {}).get("name"),
    "succeeded": lambda payload: "" if payload.get("tool_error") is None else None,
}
"""What a matcher may look at besides the fields of a payload themselves, by the name it has among its `fields`."""

EVERYTHING = Matcher("", lambda event: True)


class Redaction(Struct, frozen=True):
    """Secrets are kept out of a hook's environment, except the `allowed` variables, and the `blocked` ones too."""

    allowed: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()


class Command(Struct, frozen=True):
    """A process to run. `timeout` and `grace` are in seconds.

    `shell` says that the last word of `argv` is a text for a shell.
    `interpreter` is put in front where the program itself lacks the executable bit.
    `cwd_variables` name environment variables that carry the event's working directory.
    `fault` says why this can never start; such a hook fails each time it is due.
    """

    runner: ClassVar[str] = "process"

    argv: tuple[str, ...]
    timeout: float
    grace: float = 0.0
    shell: bool = False
    interpreter: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    cwd_variables: tuple[str, ...] = ()
    redaction: Redaction | None = None
    fault: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {"argv": list(self.argv), "timeout": self.timeout}


class Digest:
    """The sha256 of some bytes, in hex, worked out when somebody asks: most fires have no tape to put it on."""

    __slots__ = ("_data", "_hex")

    def __init__(self, data: bytes) -> None:
        self._data, self._hex = data, ""

    def __str__(self) -> str:
        if not self._hex:
            import hashlib

            self._hex, self._data = hashlib.sha256(self._data).hexdigest(), b""
        return self._hex


class Call(Struct, frozen=True):
    """A Python callable to call with the payload. Nothing in the answer of a `strict` one may be without a meaning."""

    runner: ClassVar[str] = "call"

    handler: Callable[[dict[str, Any]], Any]
    label: str = ""
    strict: bool = False

    def to_dict(self) -> dict[str, Any]:
        return {"handler": self.label}


class Hook(Struct, frozen=True):
    """One configured reaction.

    `barred` says why it may not run at all (switched off, not trusted). `parallel` hooks of one
    dialect form one wave. Of the hooks with the same `dedupe` only the first runs. A `fallback`
    runs only where its dialect has no other hook for the event. A `background` hook never delays
    the host and has no say. `digest` is the sha256 of the file it was read from.
    """

    name: str
    event: str
    dialect: str
    source: Source
    action: Command | Call
    matcher: Matcher = EVERYTHING
    background: bool = False
    parallel: bool = False
    priority: int = 0
    dedupe: str = ""
    fallback: bool = False
    barred: str = ""
    on_failure: OnFailure | None = None
    digest: Digest | str | None = None

    @property
    def command(self) -> Command:
        """Its action, which is known to be a process."""
        assert isinstance(self.action, Command)
        return self.action


class Job(Struct, frozen=True):
    """One hook about to run: its payload in its dialect's own shape."""

    hook: Hook
    payload: dict[str, Any]
    cwd: str


class Outcome(Struct, frozen=True, omit_defaults=True, repr_omit_defaults=True):
    """The bare facts of one execution.

    Of a process: `exited` has an exit code or a signal; `timeout` was ended by us; `unstartable` never
    began, and `error` says why; `lost` ended, but somebody else collected its exit status. Of a Python
    handler: `returned` has a value, `raised` an exception.
    """

    status: Literal["exited", "timeout", "unstartable", "lost", "returned", "raised"]
    exit_code: int | None = None
    signal: str = ""
    stdout: str = ""
    stderr: str = ""
    stdout_cut: int = 0
    stderr_cut: int = 0
    duration_ms: float | None = 0.0
    error: str = ""
    value: Any = None
    exception: Any = None

    def raw(self) -> Any:
        """What the tape keeps of it: the facts of a process, the value of a handler."""
        return self.value if self.status == "returned" else to_builtins(self)


class Tools(Struct, frozen=True):
    """Which tools a model may call: a mode (AUTO, ANY, NONE), and the names it is limited to."""

    mode: str | None = None
    allowed: tuple[str, ...] | None = None

    def to_dict(self) -> dict[str, Any]:
        mode = {"mode": self.mode} if self.mode is not None else {}
        return mode | ({"allowed": list(self.allowed)} if self.allowed is not None else {})


class Verdict(Struct, frozen=True, repr_omit_defaults=True):
    """What one hook wants.

    `rewrites` put something in the place of a thing, `patches` change some keys of it. `aside` is what
    only the later hooks of its dialect see. `literal` is the hook's own word for its decision, where it
    means something else to us; `result` is its dialect's word for the tape. `failed` says why it has no
    opinion although it should have one.
    """

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
    literal: Decision | None = None
    patches: dict[str, dict[str, Any]] = field(default_factory=dict)
    aside: dict[str, Any] = field(default_factory=dict)
    result: str = ""

    def __or__(self, other: Verdict) -> Verdict:
        """Both wishes in one: the stricter decision, everything else together, the right one over the left."""
        if not isinstance(other, Verdict):
            return NotImplemented
        stricter = max(self, other, key=lambda verdict: RANK[verdict.decision])
        same = self.decision == other.decision
        reasons = [self.reason, other.reason] if same else [stricter.reason]
        halts = [halt for halt in (self.halt, other.halt) if halt is not None]
        return Verdict(
            decision=stricter.decision,
            reason="\n".join(filter(None, reasons)),
            context=self.context + other.context,
            messages=self.messages + other.messages,
            rewrites=self.rewrites | other.rewrites,
            tools=other.tools or self.tools,
            halt="\n".join(filter(None, halts)) if halts else None,
            suppress_output=self.suppress_output or other.suppress_output,
            clear_context=self.clear_context or other.clear_context,
            reminders=self.reminders + other.reminders,
            notices=self.notices + other.notices,
            patches=self.patches | other.patches,
        )


NO_OPINION = Verdict()
RANK: dict[Decision, int] = {"none": 0, "allow": 1, "ask": 2, "deny": 3}


class Report(Struct, frozen=True, omit_defaults=True, repr_omit_defaults=True):
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


class Ruling(Struct, frozen=True, repr_omit_defaults=True):
    """What the host is asked to do: all verdicts folded into one value.

    What no hook touched is None, or an empty tuple. `to_dict()` leaves it out.
    """

    event: str
    decision: Decision = "none"
    healthy: bool = True
    reason: str = ""
    context: tuple[str, ...] = NOTHING
    messages: tuple[str, ...] = NOTHING
    rewrites: Mapping[str, Any] = UNTOUCHED
    tools: Tools | None = None
    halt: Halt | None = None
    suppress_output: bool = False
    clear_context: bool = False
    reminders: tuple[dict[str, Any], ...] = NOTHING
    notices: tuple[Notice, ...] = NOTHING
    hooks: Sequence[Report] = NOTHING

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
            done["tools"] = self.tools.to_dict()
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
    """What one configuration file came to. `disabled` names hooks of its dialect that must not run, wherever from."""

    hooks: tuple[Hook, ...]
    notices: tuple[Notice, ...]
    disabled: tuple[str, ...] = ()


class About(Struct, frozen=True):
    """What a hook says of itself, outside the file that registers it."""

    title: str = ""
    text: str = ""
    notices: tuple[Notice, ...] = ()


class Runner(Protocol):
    """Executes the jobs of one wave, together, and reports the facts in the same order; a module is one."""

    def run(self, jobs: Sequence[Job]) -> list[Outcome]: ...

    async def run_async(self, jobs: Sequence[Job]) -> list[Outcome]: ...


class BeforeTool(NamedTuple):
    """How handlers of a dialect are told that a tool is about to run, where nothing but its call is known.

    `encode` makes the payload of the tool, its input, the session's id, the working directory and the time. It is what
    the dialect's own `encode` comes to. The last two are empty unless it is `placed`.
    """

    encode: Callable[[str, dict[str, Any], str, str, str], dict[str, Any]]
    placed: bool


class Dialect(Protocol):
    """One system's language. A module is the implementation. One of Python handlers may have a `BEFORE_TOOL`, too."""

    NAME: str
    """How the dialect is called on the command line, on the tape, in every report."""

    FORMAT: Literal["json", "yaml", "toml"]
    """What its configuration files are written in."""

    SILENT: str
    """What the tape calls the answer of a hook that has no opinion."""

    EFFECTS: Mapping[str, frozenset[str]]
    """For each event of the dialect, the effects a hook may have on it."""

    def claims(self, document: Any) -> bool:
        """Whether a parsed file is plainly in this dialect."""

    def read(self, document: Any, file: str, *, root: str | None, environ: Mapping[str, str], level: Level) -> Loaded:
        """The hooks of a parsed file. What is wrong with an entry is a notice, never an exception."""

    def encode(self, hook: Hook, event: Event) -> dict[str, Any]:
        """The payload this hook gets for this event."""

    def decode(self, hook: Hook, event: Event, outcome: Outcome) -> Verdict:
        """What the facts mean."""

    def about(self, hook: Hook) -> About:
        """What the hook says of itself. May read the hook's file; never runs it."""
