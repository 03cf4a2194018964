"""A tiny agent: a scripted model, three real tools in a scratch directory, and hooks of two systems and our own.

Run it from the root of the repository:

    python examples/agent.py            a person is played by the program, and says yes
    python examples/agent.py --no       the same, and says no

The model plays four turns. A hook of The Harness blocks the first command, a hook of Goose looks at all of them
and logs them in the background, and a handler of our own wants a person to confirm what is written.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import hookline
from hookline import ask, remind
from hookline.loop import Agent, ScriptedModel, scratch_tools

HERE = Path(__file__).parent

PLAY: list[dict[str, Any]] = [
    {"text": "I clean up first.", "tool_calls": [{"name": "Bash", "args": {"command": "rm -rf /"}}]},
    {"text": "Then I only look.", "tool_calls": [{"name": "Bash", "args": {"command": "ls"}}]},
    {"text": "I take notes.", "tool_calls": [{"name": "write", "args": {"path": "notes.txt", "content": "all well"}}]},
    {"text": "Done."},
]


def guarded() -> hookline.Hooks:
    """The hooks of two configuration files, and two handlers."""
    hooks = hookline.Hooks()
    hooks.load(HERE / "harness" / "settings.json")
    hooks.load(HERE / "goose" / "config.yaml")

    @hooks.on("PreToolUse", match="write")
    def confirm(payload: dict[str, Any]) -> hookline.Verdict:
        return ask(f"May the agent write {payload['tool_input']['path']}?")

    @hooks.on("PostTurn")
    def be_brief(payload: dict[str, Any]) -> hookline.Verdict | None:
        return remind("Be brief.", ttl_turns=1) if payload["iteration"] == 0 else None

    return hooks


def main(arguments: list[str]) -> None:
    def person(question: hookline.Ask) -> bool:
        answer = "--no" not in arguments
        print(f"  ? {question.reason} {'yes' if answer else 'no'}")
        return answer

    with tempfile.TemporaryDirectory() as scratch:
        os.environ.setdefault("GOOSE_AUDIT_LOG", str(Path(scratch, "audit.jsonl")))  # what the hooks keep goes
        os.environ.setdefault("HARNESS_SESSIONS", str(Path(scratch, "sessions")))  # into the scratch directory too
        tools = scratch_tools(scratch)
        tools["Bash"] = tools.pop("shell")  # the name under which the example hooks look at commands
        tape = Path(scratch, "tape.jsonl")
        agent = Agent(ScriptedModel(PLAY), tools, guarded(), approve=person, show=show, tape=tape)
        with agent:
            print("answer:", agent.run("take notes"))
        reminded = ["Be brief." in str(request) for request in agent.model.requests]
        print("reminded in call:", [number for number, was in enumerate(reminded, 1) if was])
        print("the tape is whole:", hookline.tape.verify(tape).records, "records")


def show(text: str) -> None:
    for line in text.splitlines():
        print("  |", line)


if __name__ == "__main__":
    main(sys.argv[1:])
