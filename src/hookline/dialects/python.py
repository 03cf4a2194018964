"""Our own language, for handlers registered with `@hooks.on`: the canonical payload in, a verdict or nothing out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from hookline import handlers
from hookline.answering import mistaken
from hookline.errors import BadAnswer, ConfigError
from hookline.events import ROWS, misfit
from hookline.model import NO_OPINION, About, BeforeTool, Event, Hook, Level, Loaded, Outcome, Verdict
from hookline.verdicts import Misbuilt
from hookline.wording import kind_of, shown

NAME = "python"
FORMAT = "json"
SILENT = "none"
VERDICTS = "allow(), deny(why), ask(why), rewrite(...), context(text), remind(text) or halt(why)"
EFFECTS: Mapping[str, frozenset[str]] = {row.name: row.effects for row in ROWS.values()}


def claims(document: Any) -> bool:
    """No file is in it."""
    return False


def read(
    document: Any, file: str, *, root: str | None = None, environ: Mapping[str, str], level: Level = "project"
) -> Loaded:
    raise ConfigError("Python handlers are registered with @hooks.on, not loaded from a file", file=file)


def encode(hook: Hook, event: Event) -> dict[str, Any]:
    return {
        "event": event.name,
        "session_id": event.session_id,
        "cwd": event.cwd,
        "timestamp": event.timestamp,
        "transcript_path": event.transcript_path,
        **event.payload,
    }


def _before_tool(tool: str, given: Any, session_id: str, cwd: str, at: str) -> dict[str, Any]:
    return {
        "event": "PreToolUse",
        "session_id": session_id,
        "cwd": cwd,
        "timestamp": at,
        "transcript_path": "",
        "tool_name": tool,
        "tool_input": given,
    }


BEFORE_TOOL = BeforeTool(_before_tool, placed=True)


def decode(hook: Hook, event: Event, outcome: Outcome) -> Verdict:
    """A raise is a failure, which decides nothing; what is no verdict, or none that can be, is a program's mistake."""
    if outcome.status == "raised":
        if isinstance(outcome.exception, Misbuilt):
            raise _bad(hook, event, str(outcome.exception)) from outcome.exception
        return Verdict(failed=outcome.error)
    answer = outcome.value
    if answer is None:
        return NO_OPINION
    if isinstance(answer, Verdict):
        for name, value in answer.rewrites.items():
            if wrong := misfit(name, value):
                raise _bad(hook, event, f"it rewrites {name}, which {wrong}")
        return _reasoned(answer, hook)
    got = f"it answered {shown(answer)}, which is {kind_of(answer)}"
    why = mistaken(answer, "dicts are for Harn's handlers (@hooks.on_tool and its like)")
    message = f"{got}; {why}" if why else got
    raise _bad(hook, event, f"{message}; it takes None, or a verdict made with {VERDICTS}")


def _bad(hook: Hook, event: Event, message: str) -> BadAnswer:
    return BadAnswer(hook.name, event.name, message, str(hook.source))


def _reasoned(verdict: Verdict, hook: Hook) -> Verdict:
    """A refusal always says why, and by whom."""
    if verdict.decision not in ("deny", "ask") or verdict.reason.strip():
        return verdict
    said = {"deny": f"denied by {hook.name}", "ask": f"{hook.name} wants a person to confirm"}
    return replace(verdict, reason=said[verdict.decision])


def about(hook: Hook) -> About:
    """A handler's docstring says what it is for."""
    return About(text=handlers.doc(getattr(hook.action, "handler", None)))
