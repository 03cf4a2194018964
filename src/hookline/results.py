"""What the calls of a session give back: small frozen values, read by attribute. What is not there is None."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from hookline.model import Ruling


class Ask(Struct, frozen=True):
    """What an approver is asked: may this tool run with this input? `reason` says who wants to know, and why."""

    tool: str
    input: Any
    reason: str


class Submission(Struct, frozen=True):
    """What became of a prompt. A blocked one is not stored and reaches no model."""

    status: Literal["accepted", "blocked"]
    prompt: str
    session_id: str
    ruling: Ruling
    context: list[str] = []
    reason: str | None = None
    transcript: str = ""

    @property
    def stop_reason(self) -> str | None:
        return "user_prompt_submit_blocked" if self.status == "blocked" else None

    @property
    def error(self) -> dict[str, str] | None:
        if self.status != "blocked":
            return None
        return {"category": "hook_denied", "event": "UserPromptSubmit", "reason": self.reason or ""}

    def to_dict(self) -> dict[str, Any]:
        """The result a host hands on, in Harn's shape."""
        done: dict[str, Any] = {"status": self.status, "session_id": self.session_id, "task": self.prompt}
        if self.status == "accepted":
            return done | {"context": list(self.context)}
        return done | {
            "final_status": "blocked",
            "stop_reason": self.stop_reason,
            "error": self.error,
            "text": "",
            "visible_text": "",
            "llm": {"iterations": 0},
            "tools": {"calls": []},
            "tokens_used": 0,
            "cost_usd": 0,
            "transcript": self.transcript,
        }


class Reported(Struct, frozen=True, kw_only=True):
    """What the events of one call came to beside its result: was every hook healthy, and what should a person know?"""

    healthy: bool = True
    notices: list[str] = []


class ModelResult(Reported, frozen=True):
    """What became of a call of the model. `response` is what the agent goes on with, also where nobody was called."""

    status: Literal["ok", "denied", "halted"]
    response: Any
    reason: str | None = None
    halt: str | None = None
    suppress_output: bool = False


class ToolResult(Reported, frozen=True):
    """What became of a call of a tool. `output` is the text for the model, denied or not."""

    status: Literal["ok", "denied", "halted"]
    tool: str
    input: Any
    output: str
    error: str | None = None
    reason: str | None = None
    halt: str | None = None
    suppress_output: bool = False


class ToolUse(Struct, frozen=True):
    """One use of a tool in a turn, as PostTurn tells of it. `halted` never ran; `failed` raised."""

    tool_name: str
    status: Literal["ok", "denied", "failed", "halted"]
    output: str


class CompactionResult(Reported, frozen=True):
    """What became of a compaction."""

    status: Literal["done", "blocked"]
    reason: str | None = None
    archived_messages: int = 0
    remaining_messages: int = 0
    summary: str = ""
