"""What handlers answer and what the ways to register them take, as types. Only type checkers and editors read it.

A handler may be sync or async, and may take its event's payload (payloads.py, harn_payloads.py) or a plain dict.
"""

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, Literal, Protocol, TypeAlias, TypedDict, TypeVar, overload

from hookline.harn_payloads import OnBudgetThreshold, PostStep, PostToolUse, PreStep, PreToolUse
from hookline.model import OnFailure, Verdict
from hookline.reminders import Propagate, RoleHint

Plain: TypeAlias = dict[str, Any]
"""A payload, or an answer, that no type checker looks into."""

P = TypeVar("P")
A = TypeVar("A")

Later: TypeAlias = Coroutine[Any, Any, A]
"""What an async function gives."""


class Registers(Protocol[P, A]):
    """What a decorator is: it takes a handler of this payload with this answer, registers it and gives it back."""

    @overload  # an answer is never a coroutine, which mypy cannot know
    def __call__(self, handler: Callable[[P], A], /) -> Callable[[P], A]: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, handler: Callable[[P], Later[A]], /) -> Callable[[P], Later[A]]: ...
    @overload
    def __call__(self, handler: Callable[[Plain], A], /) -> Callable[[Plain], A]: ...
    @overload
    def __call__(self, handler: Callable[[Plain], Later[A]], /) -> Callable[[Plain], Later[A]]: ...


# -- our own

Answer: TypeAlias = Verdict | None
"""What a handler of `@hooks.on` answers: nothing, or what `hookline.deny("why")` and its siblings make."""

Handler: TypeAlias = Callable[[P], Answer | Awaitable[Answer]]
"""A handler of `@hooks.on`: `Handler[PreToolUse]`."""

On: TypeAlias = Registers[P, Answer]


class How(TypedDict, total=False):
    """What `hooks.on` takes beside the event."""

    match: str | None
    on_failure: OnFailure | None


class Changes(TypedDict, total=False):
    """What `hookline.rewrite` puts in the place of what there is."""

    tool_input: dict[str, Any]
    tool_output: Any
    prompt: str
    llm_request: dict[str, Any]
    llm_response: dict[str, Any]
    args: list[Any]
    output: Any


# -- Harn's answers


class ReminderOptions(TypedDict, total=False):
    """How a text is shown: what `hookline.remind` takes beside it."""

    tags: list[str] | None
    dedupe_key: str | None
    ttl_turns: int | None
    preserve_on_compact: bool | None
    propagate: Propagate | None
    role_hint: RoleHint | None


class ReminderSpec(ReminderOptions):
    """A text the model is shown with its next calls."""

    body: str


class Effect(TypedDict):
    """A reminder, as one of several."""

    reminder: ReminderSpec


class _Reminding(TypedDict, total=False):
    """What may come along with every answer."""

    reminder: ReminderSpec


class PreToolDict(_Reminding, total=False):
    """Refuse the call, or give it other arguments."""

    deny: str
    args: dict[str, Any]
    then: "PreToolAnswer"


class PostToolDict(_Reminding, total=False):
    """Something else in the place of what the tool said."""

    result: Any
    then: "PostToolAnswer"


class PreStepDict(_Reminding, total=False):
    """Refuse the step, or give it other arguments."""

    deny: str
    action: Literal["deny", "Deny"]
    reason: str
    args: list[Any]
    then: "PreStepAnswer"


class PostStepDict(_Reminding, total=False):
    """Something else in the place of what the step returned."""

    output: Any
    then: "PostStepAnswer"


class SessionDict(_Reminding, total=False):
    """Block what is about to happen, or (on PermissionAsked) decide it."""

    block: bool
    decision: Literal["allow", "deny", "ask"]
    reason: str
    effects: Sequence[Effect | ReminderSpec]
    then: "SessionAnswer"


PreToolAnswer: TypeAlias = PreToolDict | ReminderSpec | None
PostToolAnswer: TypeAlias = PostToolDict | ReminderSpec | str | None
PreStepAnswer: TypeAlias = PreStepDict | ReminderSpec | Literal["Allow"] | None
PostStepAnswer: TypeAlias = PostStepDict | ReminderSpec | Literal["Pass"] | None
NoticeAnswer: TypeAlias = Effect | ReminderSpec | None
SessionAnswer: TypeAlias = SessionDict | ReminderSpec | bool | Sequence[Effect | ReminderSpec] | None

# -- Harn's handlers

HarnHandler: TypeAlias = Callable[[P], A | Plain | Awaitable[A | Plain]]
"""A handler of this payload with this answer: `HarnHandler[PreStep, PreStepAnswer]`."""

Takes: TypeAlias = HarnHandler[P, A] | HarnHandler[Plain, A]
"""What the ways to register take."""

NoticeTakes: TypeAlias = Takes[P, NoticeAnswer]
SessionTakes: TypeAlias = Takes[P, SessionAnswer | Sequence[Plain]]

StepTakes: TypeAlias = Takes[OnBudgetThreshold, NoticeAnswer] | HarnHandler[Plain, PreStepAnswer | PostStepAnswer]
"""The handler of an event only known at run time, or of `OnBudgetThreshold(80)`, whatever the number."""

BeforeTool: TypeAlias = Registers[PreToolUse, PreToolAnswer | Plain]
AfterTool: TypeAlias = Registers[PostToolUse, PostToolAnswer | Plain]
BeforeStep: TypeAlias = Registers[PreStep, PreStepAnswer | Plain]
AfterStep: TypeAlias = Registers[PostStep, PostStepAnswer | Plain]
OnNotice: TypeAlias = Registers[P, NoticeAnswer | Plain]
OnSession: TypeAlias = Registers[P, SessionAnswer | Plain | Sequence[Plain]]


class ToolHook(TypedDict, total=False):
    """What `register_tool_hook` takes, as one dict."""

    pattern: str
    deny: Any
    max_output: int | None
    pre: Takes[PreToolUse, PreToolAnswer] | None
    post: Takes[PostToolUse, PostToolAnswer] | None
