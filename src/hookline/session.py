"""The session: one run of an agent, as its host drives it.

Every call names a moment of that run: it fires the events of that moment in their order, does the one thing
the host handed in, and returns a small value that says what to do next. Each is written once, as a generator
(see conducting.py), and stands here twice: blocking, and with `_async`.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Literal, Self

from msgspec import to_builtins
from msgspec.structs import replace

from hookline import finish as finishing
from hookline.compacting import compact
from hookline.conducting import Do, Fire, Steps, both, drive, drive_async, each, fired, reporting, waited
from hookline.errors import Divergence, HookDenied, HooklineError, TapeError, UsageError
from hookline.model import Notice, Ruling
from hookline.modelling import ModelCalls
from hookline.personas import PersonaCalls
from hookline.results import CompactionResult, Submission
from hookline.stage import described, failure
from hookline.tooling import ToolCalls
from hookline.wording import kind_of, shown

ILL = frozenset({"error", "failed", "provider_error", "verify_exhausted", "stuck"})
"""Statuses with which a session ends badly, also where no exception says so."""

MOST_STOPS = 8
"""How often in a row hooks may deny that the agent stops, where the host does not set `most_stops`."""


class Session(ModelCalls, ToolCalls, PersonaCalls):
    """One run of an agent. Enter it with `with` or `async with`; see docs/session.md."""

    def __init__(self, *args: Any, parent: Session | None = None, agent: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.started: Ruling | None = None
        self.agent = agent
        self._parent = parent
        self._closer = threading.Lock()  # whoever takes it closes the session; it is never given back
        self._prompt = ""
        self._stops_denied = 0
        self.most_stops: int = parent.most_stops if parent else MOST_STOPS
        self._children: list[str] = []
        self._on_finish: Callable[[Session, Any], Any] | None = None

    # -- opening and closing

    def _open(self) -> Steps[Session]:
        """Begin: SessionStart. What began also ends, where a hook of SessionStart raises."""
        if self._state != "new":
            raise UsageError("this session was entered before; make a new one with hooks.session()")
        if self._opens_tape is not None:
            self._tape = self._live = self._opens_tape()
        self._state = "open"
        try:
            self._record("session", self._facts())
            self.started = yield Fire("SessionStart", {key: value for key, value in self._opening.items() if value})
        except BaseException as error:
            if not isinstance(error, GeneratorExit):
                yield from self._failed(error)
            raise
        self._inject("SessionStart", self.started)
        return self

    def _close(
        self, status: str = "done", *, reason: str = "exit", error: BaseException | str | None = None
    ) -> Steps[None]:
        """End: the edits that are left, SessionError if something went wrong, SessionEnd, the background hooks."""
        if not self._closer.acquire(blocking=False):
            return
        if self._state != "open" or isinstance(error, Divergence):  # a replay that went astray has no end to play
            self._ended()
            return
        final = {"final_status": status, "stop_reason": reason if status == "done" else status}
        ends: list[Steps[Any]] = [self._drained()]
        if self._parent is None:
            if error is not None or status in ILL:
                ends.append(fired("SessionError", final | {"error": None if error is None else described(error)}))
            ends.append(fired("SessionEnd", final | {"reason": reason, "iterations": self.turn}))
            ends += [waited(session) for session in (self.id, *self._children)]
        try:
            yield from each(*ends)
        finally:
            self._ended()

    def _failed(self, error: BaseException) -> Steps[None]:
        """Close because of this error, which is the one the host gets; what fails meanwhile is a note to it."""
        try:
            yield from self._close("error", error=error)
        except Divergence:
            raise
        except HooklineError as other:
            if not isinstance(error, TapeError):  # of a broken tape the first error says enough
                error.add_note(f"closing the session failed, too: {other}")

    def _ended(self) -> None:
        """No call is possible any more; background hooks that nobody could wait for still find their tape open."""
        self._state = "closed"
        if self._tape is not None and self._parent is None:
            self._hooks.after((self.id, *self._children), self._tape.close)

    @property
    def closed(self) -> bool:
        """Whether it has ended; a child ends with its parent at the latest."""
        return self._state == "closed" or (self._parent is not None and self._parent.closed)

    def _facts(self) -> dict[str, Any]:
        """What a replay has to know of a session before its first event."""
        policy = {"allow": self._policy.allow, "deny": self._policy.deny, "approver": self._approve is not None}
        return {"id": self.id, "cwd": self.cwd, **self._opening, **policy}

    def _memory(self) -> dict[str, Any]:
        return super()._memory() | {"prompt": self._prompt, "stops_denied": self._stops_denied}

    def _recall(self, changed: dict[str, Any]) -> None:
        super()._recall(changed)
        self._prompt = changed.get("prompt", self._prompt)
        self._stops_denied = changed.get("stops_denied", self._stops_denied)

    def __enter__(self) -> Self:
        drive(self, self._open())
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        drive(self, self._close() if value is None else self._failed(value))

    async def __aenter__(self) -> Self:
        await drive_async(self, self._open())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None
    ) -> None:
        await drive_async(self, self._close() if value is None else self._failed(value))

    # -- prompts and turns

    def _submit(self, prompt: str, *, system: str | None = None) -> Steps[Submission]:
        """A prompt of the user: UserPromptSubmit. A blocked one is not stored; the session goes on."""
        self.halted = None
        ruling = yield Fire("UserPromptSubmit", {"prompt": prompt} | ({"system": system} if system else {}))
        if ruling.decision == "deny" or ruling.halt:
            reason = ruling.reason if ruling.decision == "deny" else ruling.halt.reason
            return self._submission("blocked", prompt, ruling, reason)
        self._record("message", {"role": "user", "content": prompt})
        self._inject("UserPromptSubmit", ruling)
        self._prompt, self._stops_denied = prompt, 0
        return self._submission("accepted", prompt, ruling)

    def _submission(
        self, status: Literal["accepted", "blocked"], prompt: str, ruling: Ruling, reason: str | None = None
    ) -> Submission:
        transcript = "" if self._tape is None else self._tape.path
        return Submission(status, prompt, self.id, ruling, list(ruling.context), reason, transcript)

    def _turn_done(self, text: str = "", *, tool_names: Sequence[str] | None = ()) -> Steps[Ruling]:
        """A turn of model and tools is over: PostTurn, one call less for every reminder to live, the queued edits.

        The tools are those that ran through `tool`, unless `tool_names` says otherwise.
        """
        calls, self._calls = self._calls, []
        names = [call.tool_name for call in calls] if tool_names in (None, ()) else list(tool_names or ())
        self._model_called = True  # whatever is injected from here on is first seen by the next turn's call
        facts = {
            "iteration": self.turn,
            "text": text,
            "visible_text": text,
            "has_tool_calls": bool(names),
            "tool_results": [to_builtins(call) for call in calls],
            "tool_count": len(names),
            "tool_names": names,
            "successful_tool_names": [call.tool_name for call in calls if call.status == "ok"],
            "rejected_tool_names": [call.tool_name for call in calls if call.status == "denied"],
            "session_successful_tools": list(self._tools_used["ok"]),
            "session_rejected_tools": list(self._tools_used["denied"]),
        }
        try:
            try:
                ruling: Ruling = yield Fire("PostTurn", facts)
            finally:
                self._aged()
            yield from self._drained()
        finally:
            self.turn += 1
            self._model_called, self._at_turn_start = False, True
        return ruling

    def _idle(self, *, wake_interval_ms: float = 0) -> Steps[Ruling]:
        """A waiting agent goes to sleep: SessionIdle."""
        return fired("SessionIdle", {"iteration": self.turn, "wake_interval_ms": wake_interval_ms})

    def _notify(
        self, message: str, *, notification_type: str = "ToolPermission", details: Mapping[str, Any] | None = None
    ) -> Steps[Ruling]:
        """The agent wants a person's attention: Notification."""
        given = {"message": message, "notification_type": notification_type, "details": dict(details or {})}
        return fired("Notification", given)

    def _stop(self, response: str = "") -> Steps[Ruling]:
        """The agent wants to stop: Stop, in a subagent SubagentStop. Denied, it carries on with the reason."""
        active = {"stop_hook_active": self._stops_denied > 0}
        if self._parent is not None:
            ruling: Ruling = yield Fire("SubagentStop", {"agent": self.agent, "output": response} | active)
        else:
            ruling = yield Fire("Stop", {"prompt": self._prompt, "response": response} | active)
        if ruling.decision != "deny":
            return ruling
        if ruling.halt:  # whoever wants the agent to end outweighs whoever wants it to carry on
            return replace(ruling, decision="none")
        self._stops_denied += 1
        if self._stops_denied <= self.most_stops:
            return ruling
        denied = f"the stop was denied {self.most_stops} times in a row"
        notice = Notice(f"{denied}, so the agent stops now: {ruling.reason}")
        return replace(ruling, decision="none", reason="", notices=(*ruling.notices, notice))

    def _compact(
        self,
        run: Callable[..., Any],
        *,
        trigger: str = "auto",
        strategy: str = "truncate",
        message_count: int = 0,
        keep_last: int = 0,
    ) -> Steps[CompactionResult]:
        """The transcript is compacted: PreCompact, `run(reminders)`, PostCompact if something was archived."""
        facts: dict[str, Any] = {"trigger": trigger, "strategy": strategy, "engine_strategy": strategy}
        facts |= {"message_count": message_count, "keep_last": keep_last}
        ruling = yield Fire("PreCompact", facts)
        if ruling.decision == "deny":
            return CompactionResult("blocked", ruling.reason)
        passed, front = self.reminders.compaction(self.turn), self._front()
        try:
            result = _compacted((yield Do("compaction", run, (list(passed.survivors),))))
        except Divergence:
            raise
        except BaseException as error:
            self._record("compaction_failed", failure(error), since=front)
            raise
        self._record("compaction", result, since=front)
        self.reminders.compacted(passed)
        if result["archived_messages"] > 0:
            yield Fire("PostCompact", facts | result | {"new_summary_len": len(result["summary"])})
        return CompactionResult("done", None, **result)

    # -- edits

    def file_edited(self, path: str | os.PathLike[str], metadata: Any = None) -> None:
        """The agent changed a file. FileEdited fires later: at the next turn's first call, or when this one ends."""
        edit = {"path": os.fspath(path), "metadata": metadata}
        compact(edit)  # what no hook could be told is refused here, where somebody can see why
        self._changing()
        self._edits.append(edit)

    # -- children

    @contextmanager
    def subagent(self, agent: str, *, id: str | None = None) -> Iterator[Session]:  # noqa: A002
        """A child session: own id and reminders; the same hooks, policy, approver and tape."""
        self._changing()
        child = Session(
            self._hooks,
            id=self._child_id(id),
            cwd=self.cwd,
            tape=None,
            player=self._player,
            approve=self._approve,
            policy=self._policy,
            opening={},
            parent=self,
            agent=agent,
        )
        self._record("subagent", {"agent": agent, "id": child.id, "parent": self.id})
        self._children.append(child.id)
        child._grants, child._live, child._tape, child._spans = self._grants, self._live, self._tape, self._spans
        child._children = self._children  # of all generations: the first session waits for their background hooks
        child.reminders.settle(self.reminders.inherited())
        child._state = "open"
        try:
            yield child
        finally:  # its background hooks delay nobody: they are waited for when the first session closes
            child._state = "closed"
            self._spans.gone(child._memory)
            self._spans.changing(self._memory)
            self._edits += child._edits

    def _child_id(self, given: str | None) -> str:
        recorded = self._player.known("subagent", "id") if self._player is not None else None
        return given or recorded or self._hooks.new_id()

    # -- finishing

    def on_finish(self, fn: Callable[[Session, Any], Any]) -> Callable[[Session, Any], Any]:
        """`fn(session, value)` makes the final value of the next finish. One slot: the last one wins."""
        self._check_open()
        if not callable(fn):
            raise UsageError(f"on_finish takes a function of session and value, not {shown(fn)}")
        self._on_finish = fn
        return fn

    def _finish(self, value: Any, *, unsettled: Mapping[str, Any] | None = None) -> Steps[Any]:
        """A pipeline finishes: PreFinish, OnUnsettledDetected if work is left, `on_finish`, PostFinish; the value."""
        left = finishing.snapshot(unsettled)
        callback, self._on_finish = self._on_finish, None
        facts = {"return_value": value, "unsettled": left}
        ruling = yield Fire("PreFinish", facts | {"has_on_finish": callback is not None})
        if ruling.decision == "deny":
            raise HookDenied("PreFinish", ruling.reason)
        if not finishing.is_settled(left):
            yield Fire("OnUnsettledDetected", {"unsettled": left})
        if callback is not None:
            value = yield Do("own", callback, (self, value))
        yield Fire("PostFinish", {"return_value": value, "unsettled": left})
        return value

    # -- any event

    def _fire(self, /, event: str, **payload: Any) -> Steps[Ruling]:
        """Any event of the catalogue, base fields filled in. Its ruling is handed over; only reminders are kept."""
        return fired(event, payload, bare=True)

    submit, submit_async = both(_submit)
    turn_done, turn_done_async = both(_turn_done)
    idle, idle_async = both(_idle)
    notify, notify_async = both(_notify)
    stop, stop_async = both(_stop)
    compact, compact_async = both(reporting(_compact))
    finish, finish_async = both(_finish)
    fire, fire_async = both(_fire)
    close, close_async = both(_close)


def _compacted(result: Any) -> dict[str, Any]:
    """What a compactor returned, checked."""
    if not isinstance(result, Mapping):
        raise UsageError(
            "a compactor returns {'archived_messages': n, 'remaining_messages': n, 'summary': text}, "
            f"not {kind_of(result)} {shown(result)}"
        )
    counts = {name: result.get(name) or 0 for name in ("archived_messages", "remaining_messages")}
    for name, count in counts.items():
        if not isinstance(count, int) or count < 0:
            raise UsageError(f"a compactor's {name} is a number of messages, not {kind_of(count)} {shown(count)}")
    summary = result.get("summary") or ""
    if not isinstance(summary, str):
        raise UsageError(f"a compactor's summary is text, not {kind_of(summary)} {shown(summary)}")
    return {**counts, "summary": summary}
