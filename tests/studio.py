"""A studio: hooks of all four dialects and of Python, and a host that drives a session through everything there is.

`Studio(folder).hooks()` makes the files and loads them; `wreck()` deletes them all. `play` is the host: it notes down
whatever it got to see, so that two runs of it can be compared.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hookline import HookDenied, HookError, Hooks, ask, context, deny, halt, remind, rewrite
from hookline.errors import RecordedError
from hookline.session import Session
from hookline.tape import Record, read

START = 1_767_225_600.0
"""The clock of the studio begins with the year 2026."""

HARNESS = {
    "start.sh": 'echo "branch main"',
    "guard.sh": """input=$(cat); case "$input" in *'"command":"rm'*) echo "no rm" >&2; exit 2;; esac; echo noted >&2""",
    "crash.sh": 'echo "half an answer"; echo "it broke" >&2; exit 7',
    "killed.sh": "kill -KILL $$",
    "slow.sh": "echo begun; exec sleep 60",
    "carry_on.sh": 'echo \'{"decision":"block","message":"the tests are red"}\'',
}
GOOSE = {
    "context.sh": 'echo \'{"context_injection": "goose says hello"}\'',
    "confirm.sh": """grep -q '"command":"git push' || exit 0; echo '{"decision":"require_approval","reason":"Push?"}'""",  # noqa: E501
    "log.sh": "cat > /dev/null; echo logged >&2",
    "bad_log.sh": "cat > /dev/null; echo nobody hears this >&2; exit 3",
}
LLXPRT = {
    "rewrite.sh": """grep -q '"command":"ls' || exit 0
echo '{"hookSpecificOutput":{"tool_input":{"command":"ls -la"}}}'""",
    "note.sh": """echo '{"systemMessage":"looked at"}'""",
    "model.sh": """grep -q forbidden || exit 0; echo '{"decision":"deny","reason":"not this model"}'""",
    "reply.sh": """grep -q 'the end' || exit 0; echo '{"continue":false,"stopReason":"that is enough"}'""",
}
HANDLERS = """
def edited(payload):
    return {"reminder": {"body": "run the tests", "ttl_turns": 2}}

def prompts(payload):
    if "secret plan" in payload["prompt"]:
        return {"block": True, "reason": "not that one"}
"""


def _llxprt(*names: str) -> list[dict[str, Any]]:
    return [{"hooks": [{"type": "command", "name": name, "command": f"sh llxprt/{name}"} for name in names]}]


class Clock:
    """Every look at it is a quarter of a second later."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> float:
        self.now += 0.25
        return self.now


class Studio:
    """The files of all dialects below one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.calls: list[str] = []

    def write(self) -> None:
        for where, scripts in (("harness", HARNESS), ("goose", GOOSE), ("llxprt", LLXPRT)):
            (self.folder / where).mkdir(parents=True, exist_ok=True)
            for name, body in scripts.items():
                path = self.folder / where / name
                path.write_text(f"#!/bin/sh\n{body}\n")
                path.chmod(0o755)
        entry = {name: {"path": f"{self.folder}/harness/{name}"} for name in HARNESS}
        hooks: dict[str, Any] = {
            "SessionStart": [entry["start.sh"]],
            "PreToolUse": [
                entry["guard.sh"] | {"matcher": {"tool_name": "Bash"}},
                entry["crash.sh"] | {"matcher": {"tool_name": "Broken"}},
            ],
            "UserPromptSubmit": [entry["killed.sh"], entry["slow.sh"] | {"timeout": 300}],
            "Stop": [entry["carry_on.sh"]],
        }
        (self.folder / "settings.json").write_text(json.dumps({"hooks": hooks}))
        goose = self.folder / "goose"
        (self.folder / "config.yaml").write_text(
            "hooks:\n"
            f"  prompt_submit: [{{command: {goose}/context.sh}}]\n"
            f"  pre_tool_use: [{{command: {goose}/confirm.sh, tool_name: Bash}}]\n"
            f"  post_tool_use: [{{command: {goose}/log.sh}}, {{command: {goose}/bad_log.sh}}]\n"
            f"  session_stop: [{{command: {goose}/log.sh}}]\n"
        )
        llxprt = {
            "BeforeTool": _llxprt("rewrite.sh", "note.sh"),
            "BeforeModel": _llxprt("model.sh"),
            "AfterModel": _llxprt("reply.sh"),
        }
        (self.folder / "llxprt.json").write_text(json.dumps({"hooks": llxprt}))
        (self.folder / "studio_handlers.py").write_text(HANDLERS)
        (self.folder / "harn.toml").write_text(
            '[[hooks]]\nevent = "FileEdited"\nhandler = "studio_handlers::edited"\n'
            '[[hooks]]\nevent = "UserPromptSubmit"\nhandler = "studio_handlers::prompts"\n'
        )

    def hooks(self, **options: Any) -> Hooks:
        """All of them, loaded and registered, with a clock and ids that are the same each time."""
        self.write()
        ids = iter(f"id-{number}" for number in range(1, 100))
        hooks = Hooks(**{"clock": Clock(), "new_id": lambda: next(ids), **options})
        hooks.load(self.folder / "settings.json", "harness")
        hooks.load(self.folder / "config.yaml", "goose")
        hooks.load(self.folder / "llxprt.json", "llxprt")
        hooks.load(self.folder / "harn.toml", "harn")
        self.register(hooks)
        return hooks

    def register(self, hooks: Hooks) -> None:
        """The handlers in Python, of Harn and our own. Each call of one is noted."""

        def noted(name: str, answer: Callable[[dict[str, Any]], Any]) -> Callable[[dict[str, Any]], Any]:
            def handler(payload: dict[str, Any]) -> Any:
                self.calls.append(name)
                return answer(payload)

            handler.__name__ = handler.__qualname__ = name
            return handler

        def fail(payload: dict[str, Any]) -> Any:
            raise ValueError("the handler broke")

        hooks.register_tool_hook(pattern="exec_*", deny="exec is gated")
        hooks.register_tool_hook(pattern="Raise", pre=noted("raises_loudly", fail))
        hooks.register_tool_hook(pattern="Bash", post=noted("post", lambda payload: {"result": "[seen] clean"}))
        hooks.register_session_hook("permission_asked", noted("decides", lambda p: {"decision": "allow"}))
        hooks.register_persona_hook("merge_*", "PreStep", noted("step", lambda p: {"args": ["main"]}))
        hooks.register_step_hook("merge_*", "never", "PreStep", noted("gate", lambda p: {"deny": "not this step"}))
        hooks.register_session_hook("pre_finish", noted("finish", lambda payload: None))
        hooks.on("PreToolUse", match="Quiet")(noted("rewrites", lambda p: rewrite(tool_input={"quiet": True})))
        hooks.on("PreToolUse", match="Quiet")(noted("fails", fail))
        hooks.on("PreToolUse", match="Halt")(noted("halts", lambda p: halt("enough")))
        hooks.on("PreToolUse", match="Ask")(noted("asks", lambda p: ask("really?")))
        hooks.on("PostTurn")(noted("reminds", lambda p: remind("breathe", ttl_turns=1) | context("turn over")))
        hooks.on("PreCompact")(noted("keeps", lambda p: deny("not now") if p["trigger"] == "manual" else None))

    def wreck(self) -> None:
        """Every file of a hook goes."""
        for path in self.folder.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            elif not path.name.startswith("tape"):
                path.unlink()


class Host:
    """The host's own: its tools, its model, its person, its compactor. It notes what it was asked to do."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def run(self, given: Any) -> Any:
        self.asked.append("tool")
        if given == {"fail": True}:
            raise OSError("no such tool")
        return {"ran": given} if "json" in given else f"ran {given}"

    def call(self, request: Any) -> dict[str, Any]:
        self.asked.append("model")
        text = str(request["messages"][-1]["content"])
        if text == "crash":
            raise TimeoutError("no answer")
        return {"text": f"you said {text}"}

    def approve(self, ask: Any) -> bool | str:
        self.asked.append("person")
        return "session" if ask.input == {"command": "git push"} else False

    def compactor(self, reminders: Any) -> dict[str, Any]:
        self.asked.append("compactor")
        return {"archived_messages": 3, "remaining_messages": 1, "summary": "much was said"}


OPTIONS: dict[str, Any] = {"id": "s1", "allow": ["*"], "deny": ["guarded_*"], "task": "the task", "system": "be kind"}

TOOLS: list[tuple[str, dict[str, Any]]] = [
    ("Bash", {"command": "ls"}),
    ("Bash", {"command": "rm -rf /"}),
    ("Bash", {"command": "git push"}),
    ("Bash", {"command": "git push"}),
    ("exec_python", {"code": "1"}),
    ("guarded_read", {"path": "x"}),
    ("Broken", {}),
    ("Quiet", {"json": 1}),
    ("Halt", {}),
    ("Ask", {}),
    ("Other", {"fail": True}),
    ("Raise", {}),
]


def request(text: str) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": text}]}


def caught(call: Callable[[], Any]) -> Any:
    """What came of a call, also where it raised: what the host can tell of it."""
    try:
        return call()
    except (HookDenied, HookError) as error:
        return f"{type(error).__name__}: {error}"
    except Exception as error:
        return str(error) if isinstance(error, RecordedError) else f"{type(error).__name__}: {error}"


def play(s: Session, host: Host) -> list[Any]:
    """A whole session; what the host got to see."""
    seen: list[Any] = [s.started, s.slots.copy()]
    seen += [s.submit("fix the test"), s.submit("my secret plan")]
    seen += [caught(lambda text=text: s.model(request(text), host.call)) for text in ("hello", "forbidden", "crash")]
    for name, given in TOOLS:
        seen.append(caught(lambda n=name, g=given: s.tool(n, g, host.run)))
        s.file_edited(f"{name}.py")
    seen += [s.reminders.inject("mine", tags=["own"]), s.turn_done("so far"), s.system("base")]
    seen += [s.compact(host.compactor), s.compact(host.compactor, trigger="manual")]
    with s.persona("merge_bot"):
        seen += [s.step("merge", lambda branch: f"merged {branch}", "dev"), s.budget(80, left=3)]
        seen.append(caught(lambda: s.step("never", str, 1)))
    with s.subagent("helper") as child:
        seen += [child.id, child.submit("look"), child.tool("Bash", {"command": "ls"}, host.run), child.stop("found")]
    seen += [s.idle(wake_interval_ms=5), s.notify("look here"), s.stop("done"), s.stop("done"), s.turn_done("more")]
    s.on_finish(lambda session, value: value + 1)
    seen += [s.finish(1, unsettled={"suspended_subagents": ["x"]}), s.fire("SessionIdle", iteration=9), s.system()]
    seen.append(caught(lambda: s.model(request("the end"), host.call)))
    return seen


async def play_async(s: Session, host: Host) -> list[Any]:
    """The same, as an async host writes it."""
    seen: list[Any] = [s.started, await s.submit_async("fix the test")]
    seen.append(await s.model_async(request("hello"), host.call))
    for name, given in TOOLS[:6]:
        seen.append(await s.tool_async(name, given, host.run))
    seen += [await s.turn_done_async("so far"), await s.compact_async(host.compactor), await s.stop_async("done")]
    return seen


def record(folder: Path, tape: Path, **options: Any) -> tuple[list[Any], Host, Studio]:
    """A studio's whole session on a tape."""
    studio, host = Studio(folder), Host()
    hooks = studio.hooks()
    with hooks.session(cwd=str(folder), tape=tape, approve=host.approve, **{**OPTIONS, **options}) as s:
        seen = play(s, host)
    return seen, host, studio


def records(tape: Path) -> list[Record]:
    return list(read(tape))


def scripts(folder: Path, event: str = "PreToolUse", **bodies: str) -> Path:
    """A settings.json of The Harness whose hooks have these bodies, in order."""
    for name, body in bodies.items():
        (folder / f"{name}.sh").write_text(f"#!/bin/sh\n{body}\n")
        (folder / f"{name}.sh").chmod(0o755)
    config = folder / "settings.json"
    config.write_text(json.dumps({"hooks": {event: [{"path": f"{name}.sh"} for name in bodies]}}))
    return config
