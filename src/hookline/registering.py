"""Registering Python handlers: the part of `Hooks` that takes functions instead of files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from hookline import handlers
from hookline.errors import UsageError
from hookline.events import ROWS, find
from hookline.matching import glob, misread
from hookline.model import EVERYTHING, Call, Hook, OnFailure
from hookline.registering_harn import RegisteringHarn, Registration, registers, with_parentheses
from hookline.wording import kind_of, nearest, shown

if TYPE_CHECKING:
    from typing import Unpack

    from hookline import names
    from hookline import payloads as ours
    from hookline.signatures import How, On

__all__ = ["Registering", "Registration"]


class Registering(RegisteringHarn):
    """The ways to register a handler. Its hooks come after those that are there; they count from the next fire on."""

    if TYPE_CHECKING:

        @overload
        def on(self, event: names.SessionStart, **how: Unpack[How]) -> On[ours.SessionStart]: ...
        @overload
        def on(self, event: names.UserPromptSubmit, **how: Unpack[How]) -> On[ours.UserPromptSubmit]: ...
        @overload
        def on(self, event: names.BeforeToolSelection, **how: Unpack[How]) -> On[ours.BeforeToolSelection]: ...
        @overload
        def on(self, event: names.BeforeModel, **how: Unpack[How]) -> On[ours.BeforeModel]: ...
        @overload
        def on(self, event: names.AfterModel, **how: Unpack[How]) -> On[ours.AfterModel]: ...
        @overload
        def on(self, event: names.PermissionAsked, **how: Unpack[How]) -> On[ours.PermissionAsked]: ...
        @overload
        def on(self, event: names.PermissionReplied, **how: Unpack[How]) -> On[ours.PermissionReplied]: ...
        @overload
        def on(self, event: names.PreToolUse, **how: Unpack[How]) -> On[ours.PreToolUse]: ...
        @overload
        def on(self, event: names.PostToolUse, **how: Unpack[How]) -> On[ours.PostToolUse]: ...
        @overload
        def on(self, event: names.FileEdited, **how: Unpack[How]) -> On[ours.FileEdited]: ...
        @overload
        def on(self, event: names.PostTurn, **how: Unpack[How]) -> On[ours.PostTurn]: ...
        @overload
        def on(self, event: names.PreCompact, **how: Unpack[How]) -> On[ours.PreCompact]: ...
        @overload
        def on(self, event: names.PostCompact, **how: Unpack[How]) -> On[ours.PostCompact]: ...
        @overload
        def on(self, event: names.Notification, **how: Unpack[How]) -> On[ours.Notification]: ...
        @overload
        def on(self, event: names.SubagentStop, **how: Unpack[How]) -> On[ours.SubagentStop]: ...
        @overload
        def on(self, event: names.Stop, **how: Unpack[How]) -> On[ours.Stop]: ...
        @overload
        def on(self, event: names.SessionIdle, **how: Unpack[How]) -> On[ours.SessionIdle]: ...
        @overload
        def on(self, event: names.SessionError, **how: Unpack[How]) -> On[ours.SessionError]: ...
        @overload
        def on(self, event: names.SessionEnd, **how: Unpack[How]) -> On[ours.SessionEnd]: ...
        @overload
        def on(self, event: names.PreStep, **how: Unpack[How]) -> On[ours.PreStep]: ...
        @overload
        def on(self, event: names.PostStep, **how: Unpack[How]) -> On[ours.PostStep]: ...
        @overload
        def on(self, event: names.OnApprovalRequested, **how: Unpack[How]) -> On[ours.OnApprovalRequested]: ...
        @overload
        def on(self, event: names.OnHandoffEmitted, **how: Unpack[How]) -> On[ours.OnHandoffEmitted]: ...
        @overload
        def on(self, event: names.OnPersonaPaused, **how: Unpack[How]) -> On[ours.OnPersonaPaused]: ...
        @overload
        def on(self, event: names.OnPersonaResumed, **how: Unpack[How]) -> On[ours.OnPersonaResumed]: ...
        @overload
        def on(self, event: names.OnBudgetThreshold, **how: Unpack[How]) -> On[ours.OnBudgetThreshold]: ...
        @overload
        def on(self, event: names.PreFinish, **how: Unpack[How]) -> On[ours.PreFinish]: ...
        @overload
        def on(self, event: names.OnUnsettledDetected, **how: Unpack[How]) -> On[ours.OnUnsettledDetected]: ...
        @overload
        def on(self, event: names.PostFinish, **how: Unpack[How]) -> On[ours.PostFinish]: ...
        @overload
        def on(self, event: str, **how: Unpack[How]) -> On[Any]: ...

    def on(
        self,
        event: str | None = None,
        *more: Any,
        match: str | None = None,
        on_failure: OnFailure | None = None,
        **others: Any,
    ) -> Any:
        """`@hooks.on("PreToolUse", match="Bash")`: any event of the catalogue, its payload as we have it.

        The handler answers with None or with a verdict: `deny("why")`, `context("…")`, `allow() | remind("…")`.
        `match` is a glob on the field the event is matched by.
        """
        with_parentheses("on", event)
        if event is None:
            raise UsageError('@hooks.on needs the event: @hooks.on("PreToolUse")')
        if more or others:
            name = next(iter(others), "")
            given = f"{name}=" if name else shown(more[0])
            hint = nearest(name, ("match", "on_failure"))
            how = '@hooks.on("PreToolUse", match="fetch_*")'
            raise UsageError(f"@hooks.on takes the event, match= and on_failure=, not {given}: write {how}{hint}")
        row = find(event)
        if on_failure not in (None, "ask", "deny"):
            raise UsageError(f'on_failure must be "ask", "deny" or None, not {shown(on_failure)}')
        if match is not None and not isinstance(match, str):
            raise UsageError(f"match is a glob, not {kind_of(match)}: {shown(match)}")
        if match is not None and not row.matches:
            raise UsageError(f"{row.name} has no field that match= could look at; look at the payload in the handler")
        if match is not None and row.matches == "tool_name" and (why := misread(match)):
            raise UsageError(f"match={shown(match)} fits no tool: {why}")
        matcher = glob(row.matches, match) if match is not None else EVERYTHING

        def register(handler: Any) -> Registration:
            name = handlers.label(handlers.checked(handler, f"the handler of {row.name}"))
            hook = Hook(
                name=name,
                event=row.name,
                dialect="python",
                source=handlers.source(handler),
                action=Call(handler, name),
                matcher=matcher,
                on_failure=on_failure,
            )
            return Registration(self._registry, [hook])

        return registers(register)

    def remove(self, handler: handlers.Handler) -> int:
        """Remove every hook that calls this handler; how many went."""
        return self._registry.remove(lambda hook: isinstance(hook.action, Call) and hook.action.handler == handler)

    def clear_tool_hooks(self) -> int:
        """Remove every Harn hook around tools, also those of a manifest; how many went."""
        return self._clear("tool")

    def clear_persona_hooks(self) -> int:
        """Remove every Harn hook of personas and steps; how many went."""
        return self._clear("step")

    def clear_session_hooks(self) -> int:
        """Remove every Harn hook of session events; how many went."""
        return self._clear("session")

    def _clear(self, surface: str) -> int:
        def goes(hook: Hook) -> bool:
            return hook.dialect == "harn" and hook.event in ROWS and ROWS[hook.event].surface == surface

        return self._registry.remove(goes)
