"""The stage of a session: what it knows and remembers, and the few things every call of it needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct, convert, to_builtins

from hookline import reminders as reminding
from hookline.conducting import Do, Fire, Step, Steps, Wait, done, done_async, each, fired
from hookline.errors import UsageError
from hookline.model import Ruling
from hookline.permissions import Grants, Policy
from hookline.remembering import Reminders
from hookline.reminders import Pending
from hookline.results import ToolUse
from hookline.tape import Tape
from hookline.within import Span, Spans
from hookline.wording import told

if TYPE_CHECKING:
    from hookline.hooks import Hooks
    from hookline.replay import HostPlayer

SLOTS = {"SessionStart": "session_start_hook", "UserPromptSubmit": "hook_prompt_submit"}
"""The context slots, in the order the model reads them."""

PLACED = frozenset({*SLOTS, "PreToolUse", "PostToolUse"})
"""Events whose context and messages have a place of their own: a slot, or the output of the tool."""

_INVISIBLE = dict.fromkeys(range(0xE0000, 0xE0080))
"""Unicode's tag characters: a model reads them, a person does not see them."""


class Role(Struct, frozen=True):
    """Who is on stage: a persona, and the step it takes."""

    persona: str = ""
    step: dict[str, Any] | None = None


NOBODY = Role()
_CAST: ContextVar[Mapping[Any, Role]] = ContextVar("hookline_cast")
"""Who is on stage, by session. Tasks of an event loop have their own, so that they can run beside each other."""


class Stage:
    """The state of one session. What the host may read has a plain name."""

    def __init__(
        self,
        hooks: Hooks,
        *,
        id: str,  # noqa: A002  (it is what everybody calls it)
        cwd: str,
        tape: Callable[[], Tape] | None,
        approve: Callable[..., Any] | None,
        policy: Policy,
        opening: Mapping[str, Any],
        player: HostPlayer | None = None,
    ) -> None:
        self.id = id
        self.cwd = cwd
        self.turn = 0
        self.slots: dict[str, str] = {}
        self.halted: str | None = None
        self._hooks, self._approve, self._policy = hooks, approve, policy
        self._opens_tape, self._player = tape, player
        self._live: Tape | None = None
        self._tape: Tape | HostPlayer | None = player
        self._opening = opening
        self._grants = Grants()
        self._model_called = False
        self.reminders = Reminders(
            id, due=self._due, record=self._record, changing=self._changing, recorded=self._recorded_reminder
        )
        self._edits: list[dict[str, Any]] = []
        self._at_turn_start = True
        self._allowed_tools: frozenset[str] | None = None
        self._calls: list[ToolUse] = []
        self._tools_used: dict[str, dict[str, None]] = {"ok": {}, "denied": {}}
        self._asides: list[tuple[int, str]] = []
        self._spans = Spans()
        self._state = "new"
        if player is not None:
            player.cast[id] = self._recall

    # -- what answers the steps of a call

    def entered(self) -> None:
        self._spans.called(self._memory)

    def perform(self, step: Step) -> Any:
        self._check_open()
        if self._player is not None and not _is_own(step):
            return self._played(step, self._player)
        if isinstance(step, Fire):
            with self._as(NOBODY), self._spanning():
                ruling = self._hooks.fire(
                    step.event, tape=self._live, keep=self.reminders.keep, had=step.had, **self._base(step.payload)
                )
            return self._heard(step, ruling)
        if isinstance(step, Wait):
            return self._hooks.wait(step.session_id)
        with nullcontext() if _is_own(step) else self._spanning():
            return done(step)

    async def perform_async(self, step: Step) -> Any:
        self._check_open()
        if self._player is not None and not _is_own(step):
            return self._played(step, self._player)
        if isinstance(step, Fire):
            with self._as(NOBODY), self._spanning():
                ruling = await self._hooks.fire_async(
                    step.event, tape=self._live, keep=self.reminders.keep, had=step.had, **self._base(step.payload)
                )
            return self._heard(step, ruling)
        if isinstance(step, Wait):
            import asyncio

            return await asyncio.to_thread(self._hooks.wait, step.session_id)
        with nullcontext() if _is_own(step) else self._spanning():
            return await done_async(step)

    def _played(self, step: Step, player: HostPlayer) -> Any:
        """The step as it was recorded; a replay has nothing to wait for."""
        if isinstance(step, Fire):
            return self._heard(step, player.fired_by_host(step, self.reminders.keep))
        return player.answer(step) if isinstance(step, Do) else None

    def _spanning(self) -> AbstractContextManager[None]:
        """While something runs that a replay will not call."""
        return nullcontext() if self._live is None else Span(self._spans, partial(self._tell, since=self._front()))

    def _tell(self, changed: dict[str, Any], *, since: int | None) -> None:
        if not self.closed:
            self._record("within", changed, since=since)

    @property
    def _role(self) -> Role:
        return _CAST.get({}).get(self, NOBODY)

    @contextmanager
    def _as(self, role: Role) -> Iterator[None]:
        """This role is on stage meanwhile."""
        before = _CAST.get({})
        _CAST.set({**before, self: role})
        try:
            yield
        finally:
            _CAST.set(before)

    def _heard(self, step: Fire, ruling: Ruling) -> Ruling:
        """What hooks add on an event without a place for it is read by the model with its next call."""
        if ruling.halt and not step.bare:
            self.halted = ruling.halt.reason
        if (ruling.context or ruling.messages) and not step.bare and ruling.event not in PLACED:
            self._asides.append((self._due(), _texts(ruling)))
        return ruling

    def _base(self, payload: dict[str, Any]) -> dict[str, Any]:
        return {"session_id": self.id, "cwd": self.cwd, **payload}

    @property
    def closed(self) -> bool:
        """Whether it has ended."""
        return self._state == "closed"

    def _check_open(self) -> None:
        if self._state == "new":
            raise UsageError("the session has not begun; enter it: `with hooks.session(...) as s:`")
        if self.closed:
            raise UsageError("the session is closed; nothing more can happen in it")

    def _record(self, kind: str, data: dict[str, Any], *, since: int | None = None) -> None:
        if self._tape is not None:
            self._tape.append(kind, data, since=since)

    def _front(self) -> int | None:
        """After which record something of the host's begins: its answer says so where others come in between."""
        return None if self._live is None else self._live.front

    def _changing(self) -> None:
        """The host, or somebody inside of one of its calls, is about to change something."""
        self._check_open()
        self._spans.changing(self._memory)

    def _recorded_reminder(self) -> dict[str, Any]:
        return {} if self._player is None else self._player.reminder()

    # -- what a replay must be told of, where it cannot see it happen

    def _memory(self) -> dict[str, Any]:
        return {
            "session_id": self.id,
            "turn": self.turn,
            "slots": dict(self.slots),
            "asides": [list(aside) for aside in self._asides],
            "reminders": self.reminders.to_list(),
            "edits": list(self._edits),
            "calls": [to_builtins(call) for call in self._calls],
            "tools_used": {status: list(tools) for status, tools in self._tools_used.items()},
            "allowed_tools": None if self._allowed_tools is None else sorted(self._allowed_tools),
            "grants": self._grants.to_list(),
            "halted": self.halted,
            "model_called": self._model_called,
            "at_turn_start": self._at_turn_start,
        }

    def _recall(self, changed: dict[str, Any]) -> None:
        """What changed in a span that is not replayed."""
        now = self._memory() | changed
        self.turn, self.slots, self.halted = now["turn"], now["slots"], now["halted"]
        self._asides = [(due, text) for due, text in now["asides"]]
        self._edits, self._calls = now["edits"], convert(now["calls"], list[ToolUse])
        self._tools_used = {status: dict.fromkeys(tools) for status, tools in now["tools_used"].items()}
        self._allowed_tools = None if now["allowed_tools"] is None else frozenset(now["allowed_tools"])
        self._model_called, self._at_turn_start = now["model_called"], now["at_turn_start"]
        if "reminders" in changed:
            self.reminders.settle(convert(changed["reminders"], Pending))
        if "grants" in changed:
            self._grants.recall(changed["grants"])

    def _used(self, tool: str, status: Literal["ok", "denied", "failed", "halted"], output: str) -> None:
        """A tool was called in this turn."""
        self._calls.append(ToolUse(tool, status, output))
        if status in self._tools_used:
            self._tools_used[status][tool] = None

    # -- edits wait for the next turn

    def _turn_begins(self) -> Steps[None]:
        """Before the first model or tool call of a turn."""
        if self._at_turn_start:
            self._at_turn_start = False
            yield from self._drained()

    def _drained(self) -> Steps[None]:
        """Every queued edit, the oldest first, one event each."""
        edits, self._edits = self._edits, []
        yield from each(*(fired("FileEdited", edit) for edit in edits))

    # -- what the model must see

    def system(self, base: str = "") -> str:
        """The system prompt: base, context slots, what other events added, pending reminders; a blank line between."""
        parts = [base, *(self.slots[slot] for slot in SLOTS.values() if slot in self.slots)]
        parts += [text for _, text in self._asides]
        return "\n\n".join(part for part in (*parts, self.reminders.text()) if part)

    def _due(self) -> int:
        """The turn whose model call is the first to show what is injected now."""
        return reminding.first_turn(self.turn, model_called=self._model_called)

    def _inject(self, event: str, ruling: Ruling) -> None:
        """A context slot is replaced, or emptied, by each event of its name."""
        self.slots.pop(SLOTS[event], None)
        if text := _texts(ruling):
            self.slots[SLOTS[event]] = text

    def _recalled(self) -> None:
        """The turn's model call failed: it is made again, with all that hooks have left since."""
        self._model_called = False
        self.reminders.bring_forward(self.turn)
        self._asides = [(min(due, self.turn), text) for due, text in self._asides]

    def _aged(self) -> None:
        """A turn is over: what its model call has shown has one call less to live."""
        self.reminders.age(self.turn)
        self._asides = [(due, text) for due, text in self._asides if due > self.turn]


def _is_own(step: Step) -> bool:
    """Whether it is the host's own flow, which runs in a replay, too."""
    return isinstance(step, Do) and step.kind == "own"


def _texts(ruling: Ruling) -> str:
    """What hooks want the model to read, a line or more for each."""
    texts = [*ruling.context, *(f"[System] {message}" for message in ruling.messages)]
    return "\n".join(texts).translate(_INVISIBLE)


def failure(error: BaseException) -> dict[str, Any]:
    """An error as the tape has it. What is no Exception is an interruption: of the host, not of the tool alone."""
    return {"error": described(error)} | ({} if isinstance(error, Exception) else {"interrupted": True})


def described(error: BaseException | str) -> str:
    """An error in one line."""
    return error if isinstance(error, str) else told(error)
