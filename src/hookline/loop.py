"""The reference agent loop: small enough to read in ten minutes, and the executable statement of the order of events.

    with Agent(model=ScriptedModel("play.jsonl"), tools=scratch_tools("."), hooks=hooks) as agent:
        print(agent.run("fix the failing test"))

A model is a function from a request in the stable LLM format to a response in it. What it wants done stands in
`tool_calls`, a list of {"name": ..., "args": {...}}, beside the stable fields.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from types import TracebackType
from typing import Any, Self

import msgspec

from hookline.errors import HookDenied, HooklineError, RecordedError, UsageError
from hookline.hooks import Hooks
from hookline.modelling import said
from hookline.results import Ask
from hookline.session import Session
from hookline.stage import described
from hookline.wording import shown

Tool = Callable[[dict[str, Any]], Any]


class Agent:
    """An agent of model, tools and hooks. Further options go to `hooks.session`: `tape=`, `allow=`, `source=`, …

    With a `persona` every turn is one of its steps, it reports how much of its turns it has used, and it pauses
    while a person is asked. The tool `delegate` hands a prompt over to a subagent. `show` is given what a person
    should see: replies and outputs of tools, unless a hook suppressed them.
    """

    def __init__(
        self,
        model: Callable[[dict[str, Any]], dict[str, Any]],
        tools: Mapping[str, Tool],
        hooks: Hooks,
        *,
        system: str = "You are an agent.",
        name: str = "scripted",
        persona: str | None = None,
        approve: Callable[[Ask], Any] | None = None,
        show: Callable[[str], None] | None = None,
        max_turns: int = 50,
        compact_above: int = 40,
        **session: Any,
    ) -> None:
        self.model, self.tools, self.system, self.name, self.persona = model, dict(tools), system, name, persona
        self.max_turns, self.compact_above = max_turns, compact_above
        self.messages: list[dict[str, str]] = []
        self.answer = ""
        self.unsettled: dict[str, list[str]] = {}
        self._approve, self._show = approve, show or (lambda text: None)
        self.session: Session = hooks.session(system=system, approve=self._asked if approve else None, **session)

    # -- a life: SessionStart, prompts, PreFinish, OnUnsettledDetected?, PostFinish, SessionError?, SessionEnd

    def __enter__(self) -> Self:
        self.session.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        try:
            if value is None:
                self.answer = self.session.finish(self.answer, unsettled=self.unsettled)
        except BaseException as error:
            self.session.__exit__(type(error), error, error.__traceback__)
            raise
        if value is None:
            self.session.close("stuck" if self.unsettled else "done")
        else:
            self.session.__exit__(kind, value, tb)

    def serve(self, prompts: Iterable[str]) -> list[str]:
        """A waiting agent: every prompt in its turn, and after each SessionIdle."""
        answers = []
        for prompt in prompts:
            answers.append(self.run(prompt))
            self.session.idle()
        return answers

    def run(self, prompt: str) -> str:
        """One prompt: UserPromptSubmit, then turns until the agent may stop; its answer."""
        submitted = self.session.submit(prompt)
        if submitted.status == "blocked":
            self.answer = f"blocked: {submitted.reason}"
            return self.answer
        with self.session.persona(self.persona) if self.persona else nullcontext():
            try:
                self.answer = self._conversation(self.session, self.messages, prompt)
            except OutOfTurns as error:
                self.unsettled.setdefault("queued_triggers", []).append(prompt)
                self.answer = str(error)
        return self.answer

    # -- a prompt: turns, each followed by OnBudgetThreshold; Stop, in a subagent SubagentStop

    def _conversation(self, session: Session, messages: list[dict[str, str]], prompt: str) -> str:
        """Turns until the model has nothing more to do, and no hook wants it to carry on. Raises OutOfTurns."""
        messages.append({"role": "user", "content": prompt})
        for turn in range(self.max_turns):
            try:
                text = self._step(session, messages)
            except Halted as halted:
                return f"halted: {halted}"
            except HookDenied as denied:
                return f"denied: {denied.reason}"
            if self.persona:
                session.budget(100 * (turn + 1) / self.max_turns, turns=turn + 1)
            if text is None:
                continue
            ruling = session.stop(text)
            if ruling.clear_context:
                messages.clear()
            if ruling.halt:
                return f"halted: {ruling.halt.reason}"
            if ruling.decision != "deny":
                return text
            messages.append({"role": "user", "content": ruling.reason})
        raise OutOfTurns(f"stopped after {self.max_turns} turns")

    # -- a turn: PreCompact?, the model, the tools, PostTurn; of a persona between PreStep and PostStep

    def _step(self, session: Session, messages: list[dict[str, str]]) -> str | None:
        if not self.persona:
            return self._turn(session, messages)

        def turn() -> str | None:
            return self._turn(session, messages)

        text: str | None = session.step("turn", turn)
        return text

    def _turn(self, session: Session, messages: list[dict[str, str]]) -> str | None:
        """One turn of model and tools; the answer, if no tool was called. Raises Halted."""
        if len(messages) > self.compact_above:
            keep = self.compact_above // 2
            done = session.compact(lambda _: _halved(messages, keep), message_count=len(messages), keep_last=keep)
            del messages[: done.archived_messages]
        system = {"role": "system", "content": session.system(self.system)}
        result = session.model({"model": self.name, "messages": [system, *messages]}, self.model)
        if result.halt is not None:
            raise Halted(result.halt)
        text = said(result.response) or (result.reason or "")
        messages.append({"role": "model", "content": text})
        if not result.suppress_output:
            self._show(text)
        calls = result.response.get("tool_calls") or [] if result.status == "ok" else []
        for call in calls:
            self._tool(session, messages, call["name"], call.get("args") or {})
        session.turn_done(text)
        return None if calls else text

    def _tool(self, session: Session, messages: list[dict[str, str]], name: str, args: dict[str, Any]) -> None:
        """One tool call; its output, or why there is none, goes to the model. Raises Halted."""
        tools = self.tools | {"delegate": lambda args: self._delegated(session, args)}
        try:
            result = session.tool(name, args, tools.get(name, _missing(name, tools)))
        except Exception as error:  # a tool that fails is for the model to deal with
            if isinstance(error, Halted | HooklineError) and not isinstance(error, RecordedError):
                raise  # not the tool's: a hook's handler that failed loudly, a mistake in the program
            why = described(error)  # in a replay this is all that is left of it
            messages.append({"role": "user", "content": f"The tool {name} failed: {why}"})
            if name == "delegate" and why.startswith(OutOfTurns.__name__):
                self.unsettled.setdefault("suspended_subagents", []).append(args["prompt"])
            if session.halted is not None:  # there is no result to say so
                raise Halted(session.halted) from None
            return
        messages.append({"role": "user", "content": result.output})
        if not result.suppress_output:
            self._show(result.output)
        if result.halt is not None:
            raise Halted(result.halt)

    # -- other people: OnHandoffEmitted; Notification, OnApprovalRequested, OnPersonaPaused, OnPersonaResumed

    def _delegated(self, session: Session, args: dict[str, Any]) -> str:
        """Hand a prompt over to a subagent: the same model, tools and hooks, a conversation of its own."""
        session.handoff(f"to {args['agent']}", prompt=args["prompt"])
        with session.subagent(args["agent"]) as child:
            return self._conversation(child, [], args["prompt"])

    def _asked(self, ask: Ask) -> Any:
        """A person is asked; meanwhile the persona pauses."""
        assert self._approve is not None
        self.session.notify(f"Tool {ask.tool} requires confirmation", details={"reason": ask.reason})
        if not self.persona:
            return self._approve(ask)
        self.session.approval_requested(ask.reason, tool=ask.tool)
        self.session.pause("waiting for approval")
        answer = self._approve(ask)
        self.session.resume("answered")
        return answer


class Halted(Exception):
    """A hook ended the agent's loop."""


class OutOfTurns(Exception):
    """The agent has used all its turns, and its work is not done."""


def _halved(messages: list[dict[str, str]], keep: int) -> dict[str, Any]:
    """The crudest compactor: the older messages are to go."""
    archived = len(messages) - keep
    return {"archived_messages": archived, "remaining_messages": keep, "summary": f"{archived} messages archived"}


def _missing(name: str, tools: Mapping[str, Tool]) -> Tool:
    def missing(args: dict[str, Any]) -> str:
        raise LookupError(f"there is no tool {name!r}; there are {', '.join(sorted(tools))}")

    return missing


class ScriptedModel:
    """Plays responses one after another: from a list, or from a file with one JSON object a line."""

    def __init__(self, script: str | os.PathLike[str] | Iterable[Mapping[str, Any]]) -> None:
        if isinstance(script, str | os.PathLike):
            with open(script, "rb") as lines:
                responses = [msgspec.json.decode(line) for line in lines if line.strip()]
        else:
            responses = [dict(response) for response in script]
        for number, response in enumerate(responses, 1):
            if not isinstance(response, dict):
                raise UsageError(f"response {number} of the script must be an object, not {shown(response)}")
        self.responses: list[dict[str, Any]] = responses
        self.requests: list[dict[str, Any]] = []

    def __call__(self, request: dict[str, Any]) -> dict[str, Any]:
        self.requests.append(request)
        if len(self.requests) > len(self.responses):
            raise UsageError(f"the script has only {len(self.responses)} responses, and the agent asked for one more")
        return self.responses[len(self.requests) - 1]


def scratch_tools(directory: str | os.PathLike[str], on_edit: Callable[[str], None] | None = None) -> dict[str, Tool]:
    """Three real tools that work in one directory: `shell`, `read`, `write`. `on_edit` hears of every file written."""
    root = os.path.realpath(directory)

    def inside(path: str) -> str:
        full = os.path.realpath(os.path.join(root, path))
        if os.path.commonpath([root, full]) != root:
            raise PermissionError(f"{path!r} is outside of {root!r}")
        return full

    def shell(args: dict[str, Any]) -> str:
        done = subprocess.run(
            ["bash", "-c", args["command"]], cwd=root, capture_output=True, text=True, timeout=60, check=False
        )
        return done.stdout + done.stderr + (f"[exit {done.returncode}]" if done.returncode else "")

    def read(args: dict[str, Any]) -> str:
        with open(inside(args["path"]), encoding="utf-8", errors="replace") as file:
            return file.read()

    def write(args: dict[str, Any]) -> str:
        with open(inside(args["path"]), "w", encoding="utf-8") as file:
            file.write(args["content"])
        if on_edit:
            on_edit(args["path"])
        return f"wrote {args['path']}"

    return {"shell": shell, "read": read, "write": write}
