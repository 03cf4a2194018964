"""Registering Harn's handlers, each with the payload its event has. The overloads are for type checkers and editors."""

# The name of an event is a str, too: what a name takes that is only known as a str overlaps with each of the others.
# mypy: disable-error-code="overload-overlap"

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from hookline.errors import UsageError
from hookline.matching import misread
from hookline.model import Hook, Notice
from hookline.registry import Registry
from hookline.wording import kind_of, nearest, shown

if TYPE_CHECKING:
    from typing import Unpack

    from hookline import harn_payloads as harns
    from hookline import names
    from hookline.signatures import (
        AfterStep,
        AfterTool,
        BeforeStep,
        BeforeTool,
        NoticeTakes,
        OnNotice,
        OnSession,
        Plain,
        PostStepAnswer,
        PreStepAnswer,
        SessionTakes,
        StepTakes,
        Takes,
        ToolHook,
    )

F = TypeVar("F", bound=Callable[..., Any])


class Registration:
    """What a registration gives back: the hooks it came to, and a way to take them back."""

    def __init__(self, registry: Registry, hooks: Iterable[Hook], notices: tuple[Notice, ...] = ()) -> None:
        self.hooks = tuple(hooks)
        self._registry = registry
        registry.add(self.hooks, notices=notices)

    def __repr__(self) -> str:
        return f"<Registration of {', '.join(hook.name for hook in self.hooks) or 'no hook'}>"

    def remove(self) -> int:
        """Take the hooks back; how many were still there. An event under way goes on with those it had."""
        mine = {id(hook.action) for hook in self.hooks}  # the registry may hold a hook that it barred meanwhile
        return self._registry.remove(lambda hook: id(hook.action) in mine)


class RegisteringHarn:
    """The ways to register a handler of Harn."""

    _registry: Registry
    _strict: bool

    def _registered(self, *hooks: Hook, pattern: Any = None) -> Registration:
        from hookline.handlers import strictly

        names_a_tool = "=" not in str(pattern) and any("tool_name" in hook.matcher.fields for hook in hooks)
        why = misread(str(pattern)) if names_a_tool else ""
        if not why:
            return Registration(self._registry, map(strictly, hooks) if self._strict else hooks)
        text = f"the pattern {shown(pattern)} fits no tool: {why}"
        if self._strict:
            raise UsageError(text)
        # Harn takes any pattern; that the hook will never run is still worth a word.
        return Registration(self._registry, hooks, (Notice(text, hooks[0].source),))

    # -- tools

    if TYPE_CHECKING:

        @overload
        def register_tool_hook(self, config: ToolHook | None = None, /) -> Registration: ...
        @overload
        def register_tool_hook(self, config: Plain, /) -> Registration: ...
        @overload
        def register_tool_hook(self, /, **options: Unpack[ToolHook]) -> Registration: ...

    def register_tool_hook(self, config: Any = None, /, **options: Any) -> Registration:
        """Hooks around a tool: `pattern`, `deny`, `max_output`, `pre`, `post`, as keywords or as one dict."""
        if config is not None and not isinstance(config, dict):
            raise UsageError(f"register_tool_hook takes keywords, or one dict, not {kind_of(config)} {shown(config)}")
        given = {**(config or {}), **options}
        for name in given:
            if name not in TOOL_KEYS:
                known = ", ".join(TOOL_KEYS)
                raise UsageError(f"register_tool_hook takes {known}, not {shown(name)}{nearest(str(name), TOOL_KEYS)}")
        from hookline.dialects import harn

        return self._registered(*harn.tool_hooks(**given), pattern=given.get("pattern"))

    if TYPE_CHECKING:

        @overload
        def on_tool(self, pattern: str = "*", *, when: Literal["pre"] = "pre") -> BeforeTool: ...
        @overload
        def on_tool(self, pattern: str = "*", *, when: Literal["post"]) -> AfterTool: ...

    def on_tool(self, pattern: str = "*", *, when: Literal["pre", "post"] = "pre") -> Any:
        """`@hooks.on_tool("fetch_*")`: before a tool runs, or after it."""
        with_parentheses("on_tool", pattern)
        if when not in ("pre", "post"):
            raise UsageError(f'when is "pre" or "post", not {shown(when)}')
        if when == "pre":
            return registers(lambda handler: self.register_tool_hook(pattern=pattern, pre=handler))
        return registers(lambda handler: self.register_tool_hook(pattern=pattern, post=handler))

    # -- the session

    if TYPE_CHECKING:

        @overload
        def register_session_hook(
            self, event: names.SessionStart, handler: SessionTakes[harns.SessionStart], pattern: str = "*"
        ) -> Registration: ...
        @overload
        def register_session_hook(
            self, event: names.UserPromptSubmit, handler: SessionTakes[harns.UserPromptSubmit], pattern: str = "*"
        ) -> Registration: ...
        @overload
        def register_session_hook(
            self, event: names.PermissionAsked, handler: SessionTakes[harns.PermissionAsked], pattern: str = "*"
        ) -> Registration: ...
        @overload
        def register_session_hook(
            self, event: names.PermissionReplied, handler: SessionTakes[harns.PermissionReplied], pattern: str = "*"
        ) -> Registration: ...
        @overload
        def register_session_hook(
            self, event: names.FileEdited, handler: SessionTakes[harns.FileEdited], pattern: str = "*"
        ) -> Registration: ...
        @overload
        def register_session_hook(
            self, event: names.PostTurn, handler: SessionTakes[harns.PostTurn], pattern: str = "*"
        ) -> Registration: ...
        @overload
        def register_session_hook(
            self, event: names.PreCompact, handler: SessionTakes[harns.PreCompact], pattern: str = "*"
        ) -> Registration: ...
        @overload
        def register_session_hook(
            self, event: names.PostCompact, handler: SessionTakes[harns.PostCompact], pattern: str = "*"
        ) -> Registration: ...
        @overload
        def register_session_hook(
            self, event: names.SessionIdle, handler: SessionTakes[harns.SessionIdle], pattern: str = "*"
        ) -> Registration: ...
        @overload
        def register_session_hook(
            self, event: names.SessionError, handler: SessionTakes[harns.SessionError], pattern: str = "*"
        ) -> Registration: ...
        @overload
        def register_session_hook(
            self, event: names.SessionEnd, handler: SessionTakes[harns.SessionEnd], pattern: str = "*"
        ) -> Registration: ...
        @overload
        def register_session_hook(
            self, event: names.PreFinish, handler: SessionTakes[harns.PreFinish], pattern: str = "*"
        ) -> Registration: ...
        @overload
        def register_session_hook(
            self, event: names.OnUnsettledDetected, handler: SessionTakes[harns.OnUnsettledDetected], pattern: str = "*"
        ) -> Registration: ...
        @overload
        def register_session_hook(
            self, event: names.PostFinish, handler: SessionTakes[harns.PostFinish], pattern: str = "*"
        ) -> Registration: ...
        @overload
        def register_session_hook(
            self, event: str, handler: SessionTakes[Plain], pattern: str = "*"
        ) -> Registration: ...

    def register_session_hook(self, event: str, handler: Any, pattern: str = "*") -> Registration:
        """A hook of one of Harn's fourteen session events, in either spelling."""
        from hookline.dialects import harn

        return self._registered(harn.session_hook(event, handler, pattern), pattern=pattern)

    if TYPE_CHECKING:

        @overload
        def on_session(self, event: names.SessionStart, pattern: str = "*") -> OnSession[harns.SessionStart]: ...
        @overload
        def on_session(
            self, event: names.UserPromptSubmit, pattern: str = "*"
        ) -> OnSession[harns.UserPromptSubmit]: ...
        @overload
        def on_session(self, event: names.PermissionAsked, pattern: str = "*") -> OnSession[harns.PermissionAsked]: ...
        @overload
        def on_session(
            self, event: names.PermissionReplied, pattern: str = "*"
        ) -> OnSession[harns.PermissionReplied]: ...
        @overload
        def on_session(self, event: names.FileEdited, pattern: str = "*") -> OnSession[harns.FileEdited]: ...
        @overload
        def on_session(self, event: names.PostTurn, pattern: str = "*") -> OnSession[harns.PostTurn]: ...
        @overload
        def on_session(self, event: names.PreCompact, pattern: str = "*") -> OnSession[harns.PreCompact]: ...
        @overload
        def on_session(self, event: names.PostCompact, pattern: str = "*") -> OnSession[harns.PostCompact]: ...
        @overload
        def on_session(self, event: names.SessionIdle, pattern: str = "*") -> OnSession[harns.SessionIdle]: ...
        @overload
        def on_session(self, event: names.SessionError, pattern: str = "*") -> OnSession[harns.SessionError]: ...
        @overload
        def on_session(self, event: names.SessionEnd, pattern: str = "*") -> OnSession[harns.SessionEnd]: ...
        @overload
        def on_session(self, event: names.PreFinish, pattern: str = "*") -> OnSession[harns.PreFinish]: ...
        @overload
        def on_session(
            self, event: names.OnUnsettledDetected, pattern: str = "*"
        ) -> OnSession[harns.OnUnsettledDetected]: ...
        @overload
        def on_session(self, event: names.PostFinish, pattern: str = "*") -> OnSession[harns.PostFinish]: ...
        @overload
        def on_session(self, event: str, pattern: str = "*") -> OnSession[Any]: ...

    def on_session(self, event: str | None = None, pattern: str = "*") -> Any:
        """`@hooks.on_session("user_prompt_submit")`."""
        with_parentheses("on_session", event)
        if event is None:
            raise UsageError("@hooks.on_session needs an event: " + FORMS["on_session"])
        return registers(lambda handler: self.register_session_hook(event, handler, pattern))

    # -- personas and their steps

    if TYPE_CHECKING:

        @overload
        def register_persona_hook(
            self, persona_pattern: str, event: names.PreStep, handler: Takes[harns.PreStep, PreStepAnswer]
        ) -> Registration: ...
        @overload
        def register_persona_hook(
            self, persona_pattern: str, event: names.PostStep, handler: Takes[harns.PostStep, PostStepAnswer]
        ) -> Registration: ...
        @overload
        def register_persona_hook(
            self,
            persona_pattern: str,
            event: names.OnApprovalRequested,
            handler: NoticeTakes[harns.OnApprovalRequested],
        ) -> Registration: ...
        @overload
        def register_persona_hook(
            self, persona_pattern: str, event: names.OnHandoffEmitted, handler: NoticeTakes[harns.OnHandoffEmitted]
        ) -> Registration: ...
        @overload
        def register_persona_hook(
            self, persona_pattern: str, event: names.OnPersonaPaused, handler: NoticeTakes[harns.OnPersonaPaused]
        ) -> Registration: ...
        @overload
        def register_persona_hook(
            self, persona_pattern: str, event: names.OnPersonaResumed, handler: NoticeTakes[harns.OnPersonaResumed]
        ) -> Registration: ...
        @overload
        def register_persona_hook(
            self,
            persona_pattern: str,
            event: names.OnBudgetThreshold,
            handler: NoticeTakes[harns.OnBudgetThreshold],
            *,
            once: bool = False,
        ) -> Registration: ...
        @overload
        def register_persona_hook(
            self, persona_pattern: str, event: str, handler: StepTakes, *, once: bool = False
        ) -> Registration: ...

    def register_persona_hook(
        self, persona_pattern: str, event: str, handler: Any, *, once: bool = False
    ) -> Registration:
        """A hook of the steps and notices of every persona that fits: PreStep, OnBudgetThreshold(80), …

        `once` is for thresholds: however often a persona reports, the handler is called once in a session.
        """
        from hookline.dialects import harn

        return self._registered(harn.persona_hook(persona_pattern, event, handler, once=once))

    if TYPE_CHECKING:

        @overload
        def on_persona(self, persona_pattern: str, event: names.PreStep) -> BeforeStep: ...
        @overload
        def on_persona(self, persona_pattern: str, event: names.PostStep) -> AfterStep: ...
        @overload
        def on_persona(
            self, persona_pattern: str, event: names.OnApprovalRequested
        ) -> OnNotice[harns.OnApprovalRequested]: ...
        @overload
        def on_persona(
            self, persona_pattern: str, event: names.OnHandoffEmitted
        ) -> OnNotice[harns.OnHandoffEmitted]: ...
        @overload
        def on_persona(self, persona_pattern: str, event: names.OnPersonaPaused) -> OnNotice[harns.OnPersonaPaused]: ...
        @overload
        def on_persona(
            self, persona_pattern: str, event: names.OnPersonaResumed
        ) -> OnNotice[harns.OnPersonaResumed]: ...
        @overload
        def on_persona(
            self, persona_pattern: str, event: names.OnBudgetThreshold, *, once: bool = False
        ) -> OnNotice[harns.OnBudgetThreshold]: ...
        @overload
        def on_persona(
            self, persona_pattern: str, event: str, *, once: bool = False
        ) -> OnNotice[harns.OnBudgetThreshold]: ...

    def on_persona(self, persona_pattern: str | None = None, event: str | None = None, *, once: bool = False) -> Any:
        """`@hooks.on_persona("merge_*", "OnBudgetThreshold(80)")`."""
        with_parentheses("on_persona", persona_pattern)
        if persona_pattern is None or event is None:
            raise UsageError("@hooks.on_persona needs a persona and an event: " + FORMS["on_persona"])
        return registers(lambda handler: self.register_persona_hook(persona_pattern, event, handler, once=once))

    if TYPE_CHECKING:

        @overload
        def register_step_hook(
            self,
            persona_pattern: str,
            step_name: str,
            event: names.PreStep,
            handler: Takes[harns.PreStep, PreStepAnswer],
        ) -> Registration: ...
        @overload
        def register_step_hook(
            self,
            persona_pattern: str,
            step_name: str,
            event: names.PostStep,
            handler: Takes[harns.PostStep, PostStepAnswer],
        ) -> Registration: ...
        @overload
        def register_step_hook(
            self,
            persona_pattern: str,
            step_name: str,
            event: names.OnApprovalRequested,
            handler: NoticeTakes[harns.OnApprovalRequested],
        ) -> Registration: ...
        @overload
        def register_step_hook(
            self,
            persona_pattern: str,
            step_name: str,
            event: names.OnHandoffEmitted,
            handler: NoticeTakes[harns.OnHandoffEmitted],
        ) -> Registration: ...
        @overload
        def register_step_hook(
            self,
            persona_pattern: str,
            step_name: str,
            event: names.OnPersonaPaused,
            handler: NoticeTakes[harns.OnPersonaPaused],
        ) -> Registration: ...
        @overload
        def register_step_hook(
            self,
            persona_pattern: str,
            step_name: str,
            event: names.OnPersonaResumed,
            handler: NoticeTakes[harns.OnPersonaResumed],
        ) -> Registration: ...
        @overload
        def register_step_hook(
            self,
            persona_pattern: str,
            step_name: str,
            event: names.OnBudgetThreshold,
            handler: NoticeTakes[harns.OnBudgetThreshold],
            *,
            once: bool = False,
        ) -> Registration: ...
        @overload
        def register_step_hook(
            self, persona_pattern: str, step_name: str, event: str, handler: StepTakes, *, once: bool = False
        ) -> Registration: ...

    def register_step_hook(
        self, persona_pattern: str, step_name: str, event: str, handler: Any, *, once: bool = False
    ) -> Registration:
        """The same for the step of this name only."""
        from hookline.dialects import harn

        return self._registered(harn.step_hook(persona_pattern, step_name, event, handler, once=once))

    if TYPE_CHECKING:

        @overload
        def on_step(self, persona_pattern: str, step_name: str, event: names.PreStep) -> BeforeStep: ...
        @overload
        def on_step(self, persona_pattern: str, step_name: str, event: names.PostStep) -> AfterStep: ...
        @overload
        def on_step(
            self, persona_pattern: str, step_name: str, event: names.OnApprovalRequested
        ) -> OnNotice[harns.OnApprovalRequested]: ...
        @overload
        def on_step(
            self, persona_pattern: str, step_name: str, event: names.OnHandoffEmitted
        ) -> OnNotice[harns.OnHandoffEmitted]: ...
        @overload
        def on_step(
            self, persona_pattern: str, step_name: str, event: names.OnPersonaPaused
        ) -> OnNotice[harns.OnPersonaPaused]: ...
        @overload
        def on_step(
            self, persona_pattern: str, step_name: str, event: names.OnPersonaResumed
        ) -> OnNotice[harns.OnPersonaResumed]: ...
        @overload
        def on_step(
            self, persona_pattern: str, step_name: str, event: names.OnBudgetThreshold, *, once: bool = False
        ) -> OnNotice[harns.OnBudgetThreshold]: ...
        @overload
        def on_step(
            self, persona_pattern: str, step_name: str, event: str, *, once: bool = False
        ) -> OnNotice[harns.OnBudgetThreshold]: ...

    def on_step(
        self,
        persona_pattern: str | None = None,
        step_name: str | None = None,
        event: str | None = None,
        *,
        once: bool = False,
    ) -> Any:
        """`@hooks.on_step("merge_*", "audit", "PreStep")`."""
        with_parentheses("on_step", persona_pattern)
        if persona_pattern is None or step_name is None or event is None:
            raise UsageError("@hooks.on_step needs a persona, a step and an event: " + FORMS["on_step"])
        return registers(lambda handler: self.register_step_hook(persona_pattern, step_name, event, handler, once=once))


TOOL_KEYS = ("pattern", "deny", "max_output", "pre", "post")


FORMS = {
    "on": "@hooks.on(event)",
    "on_tool": "@hooks.on_tool()",
    "on_session": "@hooks.on_session(event)",
    "on_persona": '@hooks.on_persona("merge_*", event)',
    "on_step": '@hooks.on_step("merge_*", "audit", event)',
}


def with_parentheses(name: str, first: Any) -> None:
    """A bare `@hooks.on_tool` would take the function for a pattern, and register nothing."""
    if callable(first):
        from hookline import handlers

        raise UsageError(f"@hooks.{name} was given a function: write {FORMS[name]} above {handlers.label(first)}")


def registers(register: Callable[[F], Registration]) -> Callable[[F], F]:
    """A decorator that registers the handler and leaves it as it is."""

    def decorate(handler: F) -> F:
        register(handler)
        return handler

    return decorate
