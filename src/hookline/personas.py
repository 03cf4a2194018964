"""Personas and their steps: who is on stage, what they do and what they report."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Self

from hookline.conducting import Do, Fire, Steps, both, fired
from hookline.errors import HookDenied
from hookline.model import Ruling
from hookline.stage import Role, Stage


class PersonaCalls(Stage):
    """The part of a session that personas act in. While hooks run none is on stage: a handler's steps are its own."""

    @contextmanager
    def persona(self, name: str) -> Iterator[Self]:
        """Steps and reports inside belong to this persona."""
        self._check_open()
        with self._as(Role(name)):
            yield self

    def _step(self, name: str, run: Callable[..., Any], *args: Any) -> Steps[Any]:
        """A step of the persona: PreStep, `run(*args)`, PostStep; the output. Denied: HookDenied."""
        persona = self._role.persona
        step = {"name": name, "function": getattr(run, "__name__", name), "args": list(args)}
        ruling = yield Fire("PreStep", {"persona": persona, "step": step})
        if ruling.decision == "deny":
            raise HookDenied("PreStep", ruling.reason, step=name)
        if ruling.args is not None:
            step = step | {"args": list(ruling.args)}
        with self._as(Role(persona, step)):
            output = yield Do("own", run, tuple(step["args"]))
        ruling = yield Fire("PostStep", {"persona": persona, "step": step, "output": output})
        return ruling.output if "output" in ruling.rewrites else output

    def _budget(self, /, pct: float, **details: Any) -> Steps[Ruling]:
        """The persona reports how much of its budget is spent, in percent: OnBudgetThreshold."""
        return fired("OnBudgetThreshold", {"pct": pct} | self._report("", details))

    def _approval_requested(self, /, reason: str = "", **details: Any) -> Steps[Ruling]:
        """The persona asks for approval: OnApprovalRequested."""
        return fired("OnApprovalRequested", self._report(reason, details))

    def _handoff(self, /, reason: str = "", **details: Any) -> Steps[Ruling]:
        """The persona hands work over: OnHandoffEmitted."""
        return fired("OnHandoffEmitted", self._report(reason, details))

    def _pause(self, /, reason: str = "", **details: Any) -> Steps[Ruling]:
        """The persona pauses: OnPersonaPaused."""
        return fired("OnPersonaPaused", self._report(reason, details))

    def _resume(self, /, reason: str = "", **details: Any) -> Steps[Ruling]:
        """The persona goes on: OnPersonaResumed."""
        return fired("OnPersonaResumed", self._report(reason, details))

    def _report(self, reason: str, details: dict[str, Any]) -> dict[str, Any]:
        payload: dict[str, Any] = {"persona": self._role.persona}
        payload |= {"step": self._role.step} if self._role.step else {}
        payload |= {"reason": reason} if reason else {}
        return payload | ({"details": details} if details else {})

    step, step_async = both(_step)
    budget, budget_async = both(_budget)
    approval_requested, approval_requested_async = both(_approval_requested)
    handoff, handoff_async = both(_handoff)
    pause, pause_async = both(_pause)
    resume, resume_async = both(_resume)
