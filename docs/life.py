"""One life of an agent in which every event fires: the reference loop with a scripted model, heard by one handler.

`lived()` lives it, in a scratch directory, and gives back every event with the calls it came from.
docs/lifecycle.md is written from that, and tests/test_lifecycle.py checks it.
"""

from __future__ import annotations

import sys
import tempfile
from types import FrameType
from typing import Any, NamedTuple

from hookline import Hooks
from hookline.conducting import both
from hookline.events import CATALOGUE
from hookline.loop import Agent, ScriptedModel, scratch_tools
from hookline.session import Session

PLAY: list[dict[str, Any]] = [
    {"text": "I look around first.", "tool_calls": [{"name": "shell", "args": {"command": "ls"}}]},
    {
        "text": "I write it down, and let a helper read it.",
        "tool_calls": [
            {"name": "write", "args": {"path": "notes.txt", "content": "all is well"}},
            {"name": "delegate", "args": {"agent": "reader", "prompt": "is it well written?"}},
        ],
    },
    {"text": "It is well written."},  # the helper's only turn
    {"text": "Done."},
    {"text": "I would have to look again.", "tool_calls": [{"name": "read", "args": {"path": "notes.txt"}}]},
]
PROMPTS = ("take notes", "and again, in one turn")


class Moment(NamedTuple):
    """An event, where it came from, and how deep inside of other calls."""

    event: str
    call: str
    place: str
    depth: int
    session: str


def lived(tape: str | None = None) -> list[Moment]:
    """The whole life. The second prompt runs out of turns, so that the session ends with work left, and badly."""
    ids = iter(["main", "reader"])
    hooks = Hooks(clock=lambda: 0.0, new_id=lambda: next(ids))
    moments: list[Moment] = []
    for row in CATALOGUE:
        hooks.on(row.name)(lambda payload: moments.append(_moment(payload)))
    with tempfile.TemporaryDirectory() as scratch:
        agent = Agent(
            ScriptedModel(PLAY),
            {},
            hooks,
            persona="scribe",
            approve=lambda ask: True,
            deny=["shell"],
            compact_above=5,
            cwd=scratch,
            tape=tape,
        )
        agent.tools |= scratch_tools(scratch, agent.session.file_edited)
        with agent:
            agent.serve(PROMPTS[:1])
            agent.max_turns = 1
            agent.run(PROMPTS[1])
    return moments


def _moment(payload: dict[str, Any]) -> Moment:
    calls: list[str] = []
    place = ""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001
    while frame is not None:
        name = frame.f_code.co_name
        if frame.f_code.co_filename == Agent.run.__code__.co_filename and name not in ("<lambda>", "turn"):
            place = place or name
        if name == "blocking" and frame.f_code.co_filename == both.__code__.co_filename:
            calls.append(frame.f_locals["call"].__name__.lstrip("_"))
        elif frame.f_code is Session.__enter__.__code__:
            calls.append("__enter__")
        frame = frame.f_back
    return Moment(payload["event"], calls[0], place, len(calls) - 1, payload["session_id"])
