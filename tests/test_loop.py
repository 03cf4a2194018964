"""The reference loop obeys: one test for each effect a ruling can have, and for what may go wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import stages
from hookline import HookError, Hooks, UsageError, Verdict, allow, ask, context, deny, halt, remind, rewrite
from hookline.loop import Agent, ScriptedModel, scratch_tools
from hookline.model import Tools
from hookline.replay import replay
from hookline.tape import read

LOOK = {"text": "I look.", "tool_calls": [{"name": "look", "args": {"at": "x"}}]}
DONE = {"text": "Done."}
ROOT = Path(__file__).parent.parent


class Run:
    """An agent that was given one prompt, what it said, and everything it was seen to do."""

    def __init__(
        self, hooks: Hooks, *play: dict[str, Any], tools: dict[str, Any] | None = None, **options: Any
    ) -> None:
        self.model = ScriptedModel(play or (LOOK, DONE))
        self.looked: list[Any] = []
        self.shown: list[str] = []
        self.watch = stages.Watch(hooks)
        look = {"look": lambda args: self.looked.append(args) or f"saw {args['at']}"}
        self.agent = Agent(self.model, {**look, **(tools or {})}, hooks, show=self.shown.append, **options)
        with self.agent:
            self.answer = self.agent.run("go")

    def read(self, call: int) -> str:
        """Everything the model could read in one of its calls."""
        return "\n".join(message["content"] for message in self.model.requests[call]["messages"])


def test_a_plain_run() -> None:
    """Prompt, tool, answer; the model reads the tool's output, a person sees what was said."""
    run = Run(Hooks())
    assert (run.answer, run.looked) == ("Done.", [{"at": "x"}])
    assert run.shown == ["I look.", "saw x", "Done."]
    assert [message["content"] for message in run.model.requests[1]["messages"]] == [
        *("You are an agent.", "go", "I look.", "saw x")
    ]
    assert run.watch.events.count("PostTurn") == 2


# -- each effect


def test_deny_a_prompt() -> None:
    """The model is not called; the answer says why."""
    hooks = Hooks()
    hooks.on("UserPromptSubmit")(lambda payload: deny("not here"))
    run = Run(hooks)
    assert (run.answer, run.model.requests, run.agent.messages) == ("blocked: not here", [], [])


def test_deny_a_tool() -> None:
    """The tool does not run, and the model reads the reason."""
    hooks = Hooks()
    hooks.on("PreToolUse")(lambda payload: deny("not with this tool"))
    run = Run(hooks)
    assert (run.looked, run.answer) == ([], "Done.")
    assert "not with this tool" in run.read(1)


def test_deny_a_model_call() -> None:
    """Without a response of the hook's own the reason is the answer."""
    hooks = Hooks()
    hooks.on("BeforeModel")(lambda payload: deny("too dear"))
    run = Run(hooks)
    assert (run.answer, run.model.requests) == ("too dear", [])


def test_deny_with_a_response() -> None:
    """The response in the model's place is the answer, and AfterModel does not fire."""
    hooks = Hooks()
    hooks.on("BeforeModel")(lambda payload: deny("cached") | rewrite(llm_response={"text": "From the cache."}))
    run = Run(hooks)
    assert (run.answer, run.model.requests) == ("From the cache.", [])
    assert "AfterModel" not in run.watch.events


def test_deny_a_stop() -> None:
    """The agent carries on, with the reason as its next prompt, until nobody objects."""
    hooks = Hooks()
    hooks.on("Stop")(lambda payload: None if payload["stop_hook_active"] else deny("run the tests"))
    run = Run(hooks, DONE, {"text": "Tested."})
    assert run.answer == "Tested."
    assert run.model.requests[1]["messages"][-1] == {"role": "user", "content": "run the tests"}


def test_deny_a_stop_for_ever() -> None:
    """The agent stops all the same, after eight times."""
    hooks = Hooks()
    hooks.on("Stop")(lambda payload: deny("carry on"))
    run = Run(hooks, *[DONE] * 20)
    assert (run.answer, len(run.model.requests)) == ("Done.", 9)


def test_deny_a_subagents_stop() -> None:
    """The subagent carries on."""
    hooks = Hooks()
    hooks.on("SubagentStop")(lambda payload: None if payload["stop_hook_active"] else deny("look again"))
    delegate = {"text": "", "tool_calls": [{"name": "delegate", "args": {"agent": "helper", "prompt": "look"}}]}
    run = Run(hooks, delegate, {"text": "Nothing."}, {"text": "A bug."}, DONE)
    assert run.answer == "Done."
    assert run.model.requests[2]["messages"][1:] == [
        {"role": "user", "content": "look"},
        {"role": "model", "content": "Nothing."},
        {"role": "user", "content": "look again"},
    ]
    assert run.read(3).endswith("A bug.")


def test_deny_a_compaction() -> None:
    """The conversation stays as it is."""
    hooks = Hooks()
    hooks.on("PreCompact")(lambda payload: deny("not now"))
    run = Run(hooks, LOOK, LOOK, DONE, compact_above=2)
    assert "PostCompact" not in run.watch.events
    assert len(run.model.requests[2]["messages"]) == 6
    assert len(Run(Hooks(), LOOK, LOOK, DONE, compact_above=2).model.requests[2]["messages"]) == 2


def test_deny_a_step() -> None:
    """A persona's turn that must not begin ends the run with the reason."""
    hooks = Hooks()
    hooks.register_step_hook("scribe", "turn", "PreStep", lambda payload: {"deny": "not on a Friday"})
    run = Run(hooks, persona="scribe")
    assert (run.answer, run.model.requests) == ("denied: not on a Friday", [])


def test_deny_a_finish() -> None:
    """The host hears of it, and the session ends as an error."""
    hooks = Hooks()
    watch = stages.Watch(hooks, "SessionError", "SessionEnd")
    hooks.on("PreFinish")(lambda payload: deny("tests fail"))
    with pytest.raises(Exception, match="tests fail"):
        Run(hooks)
    assert watch.events == ["SessionError", "SessionEnd"]


@pytest.mark.parametrize(("answer", "looked"), [(True, 1), (False, 0), ("session", 1)])
def test_ask(answer: Any, looked: int) -> None:
    """A person decides; meanwhile a notification tells that one is needed."""
    hooks = Hooks()
    hooks.on("PreToolUse")(lambda payload: ask("risky"))
    run = Run(hooks, approve=lambda question: answer)
    assert len(run.looked) == looked
    assert run.watch.of("Notification") == [
        {
            "message": "Tool look requires confirmation",
            "notification_type": "ToolPermission",
            "details": {"reason": "risky"},
        }
    ]


def test_ask_nobody() -> None:
    """Without a person it is denied."""
    hooks = Hooks()
    hooks.on("PreToolUse")(lambda payload: ask("risky"))
    run = Run(hooks)
    assert run.looked == []
    assert "nobody could be asked" in run.read(1)


def test_allow() -> None:
    """A hook's allow lifts the objection of the policy."""
    hooks = Hooks()
    hooks.on("PermissionAsked")(lambda payload: allow("for looking"))
    assert len(Run(hooks, deny=["look"]).looked) == 1
    assert Run(Hooks(), deny=["look"]).looked == []


def test_rewrite_the_input() -> None:
    """The tool gets what the hook wrote."""
    hooks = Hooks()
    hooks.on("PreToolUse")(lambda payload: rewrite(tool_input={"at": "y"}))
    run = Run(hooks)
    assert run.looked == [{"at": "y"}]
    assert "saw y" in run.read(1)


def test_rewrite_the_output() -> None:
    """The model reads what the hook wrote."""
    hooks = Hooks()
    hooks.on("PostToolUse")(lambda payload: rewrite(tool_output="saw nothing"))
    run = Run(hooks)
    assert run.model.requests[1]["messages"][-1]["content"] == "saw nothing"


def test_rewrite_the_request() -> None:
    """The model gets the request the hook wrote; the conversation keeps its own."""
    hooks = Hooks()
    hooks.on("BeforeModel")(lambda payload: rewrite(llm_request={"model": "other", "messages": []}))
    run = Run(hooks, DONE)
    assert run.model.requests == [{"model": "other", "messages": []}]
    assert run.agent.messages[0]["content"] == "go"


def test_rewrite_the_response() -> None:
    """The agent goes on with the response the hook wrote; what the model wanted to call is gone with its own."""
    hooks = Hooks()
    hooks.on("AfterModel")(lambda payload: rewrite(llm_response={"text": "No comment."}))
    run = Run(hooks)
    assert (run.answer, run.looked, run.shown) == ("No comment.", [], ["No comment."])


def test_rewrite_arguments_and_output_of_a_step() -> None:
    """A persona's turn has no arguments; its output is the answer, as the hook wrote it."""
    hooks = Hooks()
    hooks.register_persona_hook("scribe", "PostStep", lambda payload: {"output": payload["output"].upper()})
    assert Run(hooks, DONE, persona="scribe").answer == "DONE."

    hooks = Hooks()
    hooks.register_persona_hook("scribe", "PreStep", lambda payload: {"args": [payload["step"]["args"][0] + "!"]})
    with hooks.session() as s, s.persona("scribe"):
        assert s.step("shout", lambda text: text, "hey") == "hey!"


def test_context() -> None:
    """Context reaches the model: of the session and the prompt in the system prompt, of a tool behind its output."""
    hooks = Hooks()
    for event in ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostTurn"):
        hooks.on(event)(lambda payload: context(f"from {payload['event']}"))
    run = Run(hooks)
    system = "You are an agent.\n\nfrom SessionStart\n\nfrom UserPromptSubmit"
    assert run.model.requests[0]["messages"][0]["content"] == system
    assert run.model.requests[1]["messages"][0]["content"] == f"{system}\n\nfrom PostTurn"
    assert run.model.requests[1]["messages"][-1]["content"] == "saw x\n\nfrom PreToolUse\n\nfrom PostToolUse"


def test_context_of_a_denied_stop() -> None:
    """What a Stop hook prints while it denies is read with the next call."""
    hooks = Hooks()
    hooks.on("Stop")(lambda payload: None if payload["stop_hook_active"] else deny("again") | context("2 tests fail"))
    run = Run(hooks, DONE, DONE)
    assert "2 tests fail" in run.model.requests[1]["messages"][0]["content"]


def test_messages() -> None:
    """Messages of the system reach the model, marked as such."""
    hooks = Hooks()
    for event in ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "AfterModel"):
        hooks.on(event)(lambda payload: Verdict(messages=(f"from {payload['event']}",)))
    run = Run(hooks)
    for event in ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "AfterModel"):
        assert f"[System] from {event}" in run.read(1)


def test_tools() -> None:
    """The request carries the restriction, and what the model calls besides is refused."""
    hooks = Hooks()
    hooks.on("BeforeToolSelection")(lambda payload: Verdict(tools=Tools("AUTO", ("read",))))
    run = Run(hooks)
    assert run.model.requests[0]["toolConfig"] == {"mode": "AUTO", "allowedFunctionNames": ["read"]}
    assert run.looked == []
    assert "outside of those allowed for this model call (read)" in run.read(1)


HALTS = ("UserPromptSubmit", "BeforeToolSelection", "BeforeModel", "AfterModel", "PreToolUse", "PostToolUse", "Stop")


@pytest.mark.parametrize("event", HALTS)
def test_halt(event: str) -> None:
    """The loop ends where the halt comes: nothing after it is fired but the end of the session."""
    hooks = Hooks()
    hooks.on(event)(lambda payload: halt("enough"))
    run = Run(hooks)
    assert run.answer == ("blocked: enough" if event == "UserPromptSubmit" else "halted: enough")
    assert run.looked == ([] if event != "PostToolUse" and event != "Stop" else [{"at": "x"}])
    assert run.watch.events[-3:] == ["PreFinish", "PostFinish", "SessionEnd"]
    assert event == "Stop" or "PostTurn" not in run.watch.events


@pytest.mark.parametrize(("event", "hidden"), [("PostToolUse", "saw x"), ("AfterModel", "I look.")])
def test_suppress_output(event: str, hidden: str) -> None:
    """A person does not see it, the model does."""
    hooks = Hooks()
    hooks.on(event)(lambda payload: Verdict(suppress_output=True))
    run = Run(hooks)
    assert hidden not in run.shown
    assert hidden in run.read(1)


@pytest.mark.parametrize("carry_on", [False, True])
def test_clear_context(carry_on: bool) -> None:
    """The conversation begins anew; with a denial only the reason is in it."""
    hooks = Hooks()
    cleared = Verdict(clear_context=True)
    hooks.on("Stop")(
        lambda payload: None if payload["stop_hook_active"] else cleared | deny("afresh") if carry_on else cleared
    )
    run = Run(hooks, DONE, DONE)
    if carry_on:
        assert run.model.requests[1]["messages"][1:] == [{"role": "user", "content": "afresh"}]
    else:
        assert run.agent.messages == []


def test_reminders() -> None:
    """A reminder stands in the system prompt of as many calls as its ttl says."""
    hooks = Hooks()
    hooks.on("UserPromptSubmit")(lambda payload: remind("be brief", ttl_turns=2))
    run = Run(hooks, LOOK, LOOK, LOOK, DONE)
    assert ["be brief" in run.read(call) for call in range(4)] == [True, True, False, False]


# -- what may go wrong


def test_a_tool_that_raises() -> None:
    """The model reads of it, and the loop goes on."""
    run = Run(Hooks(), tools={"look": lambda args: 1 / 0})
    assert run.answer == "Done."
    assert run.read(1).endswith("The tool look failed: ZeroDivisionError: division by zero")


def test_a_tool_there_is_not() -> None:
    """The model reads which there are."""
    run = Run(Hooks(), {"text": "", "tool_calls": [{"name": "fly"}]}, DONE)
    assert "there is no tool 'fly'; there are delegate, look" in run.read(1)


def test_a_model_that_raises() -> None:
    """The host hears of it, and the session ends as an error."""
    hooks = Hooks()
    watch = stages.Watch(hooks, "SessionError", "SessionEnd", "PreFinish")
    with pytest.raises(UsageError, match="only 1 responses"):
        Run(hooks, LOOK)
    assert watch.events == ["SessionError", "SessionEnd"]


def test_a_handler_that_raises_is_not_the_tools_fault() -> None:
    """A Harn handler's exception reaches the host, not the model."""
    hooks = Hooks()
    hooks.register_tool_hook(pre=lambda payload: 1 / 0)
    with pytest.raises(HookError):
        Run(hooks)


def test_running_out_of_turns() -> None:
    """The agent stops; the prompt is work left, and the session is stuck."""
    run = Run(Hooks(), *[LOOK] * 3, max_turns=3)
    assert run.answer == "stopped after 3 turns"
    assert run.watch.of("OnUnsettledDetected")[0]["unsettled"]["queued_triggers"] == ["go"]
    assert run.watch.of("SessionError")[0]["final_status"] == "stuck"


# -- models and tools


def test_a_script_in_a_file(tmp_path: Path) -> None:
    """One JSON object a line; anything else is refused with its number."""
    play = tmp_path / "play.jsonl"
    play.write_text("\n\n".join(map(json.dumps, [LOOK, DONE])))
    model = ScriptedModel(play)
    assert [model({}), model({})] == [LOOK, DONE]
    play.write_text("{}\n[1]\n")
    with pytest.raises(UsageError, match="response 2 of the script"):
        ScriptedModel(str(play))


def test_scratch_tools(tmp_path: Path) -> None:
    """A shell, reading and writing, all inside of one directory; every file written is told."""
    edited: list[str] = []
    tools = scratch_tools(tmp_path, edited.append)
    assert tools["write"]({"path": "a.txt", "content": "é"}) == "wrote a.txt"
    assert tools["read"]({"path": "a.txt"}) == "é"
    assert tools["shell"]({"command": "cat a.txt; exit 3"}) == "é[exit 3]"
    assert edited == ["a.txt"]


@pytest.mark.parametrize("path", ["../a", "/etc/hosts", "link/a"])
@pytest.mark.parametrize("tool", ["read", "write"])
def test_scratch_tools_stay_inside(tmp_path: Path, tool: str, path: str) -> None:
    """Neither dots nor links lead out."""
    (tmp_path / "link").symlink_to("/tmp")
    run: Callable[[dict[str, Any]], Any] = scratch_tools(tmp_path)[tool]
    with pytest.raises(PermissionError, match="outside"):
        run({"path": path, "content": ""})


def test_serving_many_prompts() -> None:
    """A waiting agent answers each prompt, and sleeps after it; the conversation goes on."""
    hooks = Hooks()
    watch = stages.Watch(hooks, "SessionIdle", "UserPromptSubmit", "PreFinish")
    model = ScriptedModel([DONE, DONE])
    with Agent(model, {}, hooks) as agent:
        assert agent.serve(["one", "two"]) == ["Done.", "Done."]
    assert watch.events == ["UserPromptSubmit", "SessionIdle", "UserPromptSubmit", "SessionIdle", "PreFinish"]
    assert len(model.requests[1]["messages"]) == 4


# -- driven again


def tool(name: str, **args: Any) -> dict[str, Any]:
    return {"text": f"I {name}.", "tool_calls": [{"name": name, "args": args}]}


LIFE = [
    tool("shell", command="echo hello"),
    {**tool("write", path="a.txt", content="one"), "text": "I write."},
    tool("fails"),
    tool("delegate", agent="reader", prompt="read it"),
    tool("read", path="a.txt"),  # the helper's
    {"text": "It says one."},
    tool("delegate", agent="dawdler", prompt="dawdle"),
    *[tool("read", path="a.txt")] * 6,  # the other helper's, until its turns are used up
    {"text": "Done."},
    {"text": "Really done."},
    {"text": "Tested."},
]


def live_hooks(agents: list[Agent]) -> Hooks:
    """Hooks that ask, rewrite, remind, deny once, and act on the session themselves."""
    hooks = Hooks()
    hooks.on("PreToolUse", match="write")(lambda payload: ask("May it write?"))
    hooks.register_tool_hook(pattern="shell", post=lambda payload: payload["result"]["text"].upper())
    hooks.register_session_hook("post_turn", lambda payload: {"body": "breathe", "ttl_turns": 2, "dedupe_key": "b"})
    hooks.on("Stop")(lambda payload: None if payload["stop_hook_active"] else deny("run the tests"))
    hooks.on("PostToolUse")(lambda payload: context(f"after {payload['tool_name']}"))

    @hooks.on("FileEdited")
    def linted(payload: dict[str, Any]) -> None:
        agents[0].session.reminders.inject(f"lint {payload['path']}", ttl_turns=3)
        agents[0].session.notify("linted")

    return hooks


def lived(hooks: Hooks, folder: Path, agents: list[Agent], **session: Any) -> tuple[Any, ...]:
    """One life of the reference agent; all that it came to."""
    model = ScriptedModel(LIFE)
    agent = Agent(model, {}, hooks, persona="scribe", max_turns=6, compact_above=6, approve=lambda ask: True, **session)
    agents.append(agent)
    agent.tools |= scratch_tools(folder, agent.session.file_edited)
    agent.tools["fails"] = lambda args: {}["nothing"]
    with agent:
        answers = agent.serve(["go", "on"])
    return answers, agent.answer, agent.messages, agent.unsettled, agent.session.turn, agent.session.system()


def test_the_loop_is_driven_again_by_its_tape(tmp_path: Path) -> None:
    """Its tools, model, person, compactor, helpers and hooks are not there, and it lives the same life again."""
    agents: list[Agent] = []
    tape, copy, work = tmp_path / "tape", tmp_path / "copy", tmp_path / "work"
    work.mkdir()
    seen = lived(live_hooks(agents), work, agents, tape=tape, cwd=work)
    assert seen[3] == {"suspended_subagents": ["dawdle"], "queued_triggers": ["go"]}
    kinds = {record.kind for record in read(tape)}
    assert {"within", "approval", "compaction", "subagent", "system_reminder", "tool_result"} <= kinds
    (work / "a.txt").unlink()
    assert lived(Hooks(), work, [], replay=tape, tape=copy) == seen
    assert os.listdir(work) == []
    assert copy.read_bytes() == tape.read_bytes()
    assert replay(tape).divergence is None


# -- the example


@pytest.mark.parametrize(
    ("option", "written"), [([], "wrote notes.txt"), (["--no"], "was denied: May the agent write")]
)
def test_the_example(option: list[str], written: str, tmp_path: Path) -> None:
    """examples/agent.py runs as it stands: two systems' hooks, a handler, a person, a reminder, a whole tape."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "examples/agent.py", *option],
        cwd=ROOT,
        env=os.environ
        | {"HOME": str(tmp_path), "GOOSE_AUDIT_LOG": f"{tmp_path}/audit.jsonl"}
        | {"HARNESS_SESSIONS": f"{tmp_path}/sessions"},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert "Blocked: recursive deletion of root filesystem" in done.stdout
    assert written in done.stdout
    assert "answer: Done.\nreminded in call: [2]\nthe tape is whole: " in done.stdout
    assert [file.name for file in (tmp_path / "sessions").iterdir()] != []
    logged = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text().splitlines()]
    assert [entry.get("tool_name") for entry in logged] == ["Bash", *(["write"] if not option else []), None]
