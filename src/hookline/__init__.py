"""hookline: the lifecycle-hook engine for AI agents.

import hookline
hooks = hookline.Hooks()
hooks.load("settings.json")
ruling = hooks.fire("PreToolUse", tool_name="Bash", tool_input={"command": "ls"})
if ruling.decision == "deny":
    print(ruling.reason)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hookline.errors import (
        BadAnswer,
        ConfigError,
        Divergence,
        HookDenied,
        HookError,
        HooklineError,
        RecordedError,
        RecordedInterrupt,
        TapeError,
        UsageError,
    )
    from hookline.hooks import Hooks, discover
    from hookline.model import Event, Hook, Notice, Outcome, Report, Ruling, Source, Verdict
    from hookline.planning import Plan
    from hookline.registering import Registration
    from hookline.reminders import Reminder
    from hookline.results import Ask, CompactionResult, ModelResult, Submission, ToolResult
    from hookline.session import Session
    from hookline.tape import Tape
    from hookline.verdicts import allow, ask, context, deny, halt, remind, rewrite

_HOMES = {
    "hookline.errors": (
        "BadAnswer",
        "ConfigError",
        "Divergence",
        "HookDenied",
        "HookError",
        "HooklineError",
        "RecordedError",
        "RecordedInterrupt",
        "TapeError",
        "UsageError",
    ),
    "hookline.hooks": ("Hooks", "discover"),
    "hookline.model": ("Event", "Hook", "Notice", "Outcome", "Report", "Ruling", "Source", "Verdict"),
    "hookline.planning": ("Plan",),
    "hookline.registering": ("Registration",),
    "hookline.reminders": ("Reminder",),
    "hookline.results": ("Ask", "CompactionResult", "ModelResult", "Submission", "ToolResult"),
    "hookline.session": ("Session",),
    "hookline.tape": ("Tape",),
    "hookline.verdicts": ("allow", "ask", "context", "deny", "halt", "remind", "rewrite"),
}
_MODULES = frozenset({"llm", "loop", "receipts", "reminders", "tape", "translators"})
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "Ask",
    "BadAnswer",
    "CompactionResult",
    "ConfigError",
    "Divergence",
    "Event",
    "Hook",
    "HookDenied",
    "HookError",
    "HooklineError",
    "Hooks",
    "ModelResult",
    "Notice",
    "Outcome",
    "Plan",
    "RecordedError",
    "RecordedInterrupt",
    "Registration",
    "Reminder",
    "Report",
    "Ruling",
    "Session",
    "Source",
    "Submission",
    "Tape",
    "TapeError",
    "ToolResult",
    "UsageError",
    "Verdict",
    "allow",
    "ask",
    "context",
    "deny",
    "discover",
    "halt",
    "remind",
    "rewrite",
]


def __getattr__(name: str) -> Any:
    """Names are imported when they are first used: the start of a hook is on the path of every tool call."""
    from importlib import import_module

    if name == "__version__":
        from importlib.metadata import version

        return version("hookline")
    if name in _MODULES:
        return import_module(f"hookline.{name}")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'hookline' has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
