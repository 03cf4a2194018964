"""What a handler registered with `@hooks.on` answers. Wishes are joined with `|`: `allow() | context("…")`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hookline.errors import UsageError
from hookline.model import REWRITES, Verdict
from hookline.reminders import KEYS, reminder
from hookline.wording import kind_of, nearest, shown

if TYPE_CHECKING:
    from typing import Unpack

    from hookline.signatures import Changes, ReminderOptions


class Misbuilt(UsageError):
    """A verdict that cannot be: a mistake in the program, which must not pass for a handler that failed."""


def allow(reason: str = "") -> Verdict:
    """It may go on; another hook may still object."""
    return Verdict(decision="allow", reason=_text(reason, "allow"))


def deny(reason: str) -> Verdict:
    """It must not happen."""
    return Verdict(decision="deny", reason=_text(reason, "deny"))


def ask(reason: str) -> Verdict:
    """A person has to be asked."""
    return Verdict(decision="ask", reason=_text(reason, "ask"))


def rewrite(**changes: Unpack[Changes]) -> Verdict:
    """Something else in the place of what there is: `rewrite(tool_input={...})`."""
    for name in changes:
        if name not in REWRITES:
            raise Misbuilt(f"rewrite() takes {', '.join(REWRITES)}, not {name!r}{nearest(name, REWRITES)}")
    if not changes:
        raise Misbuilt(f"rewrite() needs something to rewrite: one of {', '.join(REWRITES)}")
    return Verdict(rewrites={**changes})


def context(text: str) -> Verdict:
    """A text for the model's context."""
    return Verdict(context=(_text(text, "context"),))


def remind(body: str, **options: Unpack[ReminderOptions]) -> Verdict:
    """A reminder that the model is shown with its next calls; options as in `{"body": ..., "ttl_turns": 2}`."""
    try:
        made = reminder({"body": body, **options}, id="").to_dict()
    except UsageError as error:
        raise Misbuilt(str(error)) from None
    return Verdict(reminders=({key: made[key] for key in KEYS},))


def halt(reason: str) -> Verdict:
    """The agent's loop must end."""
    return Verdict(halt=_text(reason, "halt"))


def _text(value: Any, who: str) -> str:
    if not isinstance(value, str):
        raise Misbuilt(f"{who}() takes a text, not {kind_of(value)}: {shown(value)}")
    return value
