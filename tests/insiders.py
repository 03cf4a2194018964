"""Hooks, tools, a model, a person and a compactor that act on the session themselves, as a program tells them to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from hookline import Hooks, ask, context, deny, halt, remind
from hookline.session import Session
from studio import request

Program = list[Any]
HOW = {"id": "s", "cwd": "/", "deny": ["guarded*"]}


def compacted(archived: int = 1) -> dict[str, Any]:
    return {"archived_messages": archived, "remaining_messages": 0, "summary": "much was said"}


class Live:
    """Hooks, tools, a model, a person and a compactor which do to the session what a program tells them to."""

    def __init__(self, **options: Any) -> None:
        self.hooks = Hooks(**options)
        self.ran = 0
        self.sessions: list[Session] = []
        for event in ("Notification", "PreToolUse", "PreCompact"):
            self.hooks.on(event)(self.handles)
        self.hooks.register_session_hook("post_turn", lambda payload: {"body": "breathe", "ttl_turns": 2})

    def handles(self, payload: dict[str, Any]) -> Any:
        """A handler does things itself, and has things done for it."""
        given = payload.get("details") or payload.get("tool_input") or {}
        if "inside" in given:
            self.inside(given["inside"])
        answers = {"remind": remind("mind"), "context": context("see"), "ask": ask("sure?"), "halt": halt("enough")}
        return answers.get(given.get("answer", ""), deny("no") if given.get("answer") == "deny" else None)

    def inside(self, program: Program) -> None:
        self.ran += 1
        play(self.sessions[-1], program, self)

    def runs(self, program: Program) -> Callable[[Any], str]:
        def run(given: Any) -> str:
            self.inside(program)
            return f"ran {len(program)}"

        return run

    def calls(self, program: Program) -> Callable[[Any], dict[str, Any]]:
        def call(given: Any) -> dict[str, Any]:
            self.inside(program)
            return {"text": f"said {len(program)}"}

        return call

    def compacts(self, program: Program) -> Callable[[Any], dict[str, Any]]:
        def compact(reminders: Any) -> dict[str, Any]:
            self.inside(program)
            return compacted(len(program))

        return compact

    def approves(self, question: Any) -> Any:
        self.inside(question.input.get("approver", []))
        return question.input.get("says", True)


def play(s: Session, program: Program, live: Live) -> list[Any]:
    """A host that follows a program; what it got to see."""
    live.sessions.append(s)
    try:
        return list(_played(s, program, live))
    finally:
        live.sessions.pop()


def _played(s: Session, program: Program, live: Live) -> Iterator[Any]:
    for what, *how in program:
        seen: list[Any] = []
        match what:
            case "edit":
                s.file_edited(how[0])
            case "inject":
                seen.append(s.reminders.inject(how[0], tags=["own"], dedupe_key=how[1], ttl_turns=how[2]))
            case "clear":
                seen.append(s.reminders.clear(tag="own"))
            case "notify":
                seen.append(s.notify("look", details={"answer": how[0], "inside": how[1]}).to_dict())
            case "tool":
                name, given, program = how
                seen.append(s.tool(name, given, live.runs(program)))
            case "model":
                seen.append(s.model(request(s.system("base")), live.calls(how[0])))
            case "compact":
                seen.append(s.compact(live.compacts(how[0])))
            case "turn":
                seen.append(s.turn_done("so far").to_dict())
            case "submit":
                seen.append(s.submit(how[0]).to_dict())
            case "stop":
                seen.append(s.stop("done").to_dict())
            case "step":
                seen += s.step("work", lambda how=how: [*play(s, how[0], live)])
            case "subagent":
                with s.subagent("helper") as child:
                    seen += [child.id, *play(child, how[0], live)]
        yield from (*seen, (s.turn, s.halted, [*s.reminders], s.system()))


PROGRAM: Program = [
    ("submit", "go"),
    ("model", [("edit", "by_model.py"), ("notify", "remind", [("inject", "inside of an event", "k", None)])]),
    ("tool", "Bash", {"inside": [("edit", "by_handler.py")], "answer": "ask", "approver": [("notify", "", [])]}, []),
    ("tool", "Task", {}, [("subagent", [("tool", "guarded", {"says": "session"}, []), ("edit", "by_helper.py")])]),
    ("tool", "guarded", {"says": "session"}, [("inject", "again", None, 2), ("clear",)]),
    ("turn",),
    ("compact", [("compact", [("inject", "kept?", None, None)])]),
    ("step", [("stop",), ("tool", "Bash", {}, [("turn",), ("submit", "inside")])]),
    ("turn",),
]
"""All sorts of things inside of each other."""
