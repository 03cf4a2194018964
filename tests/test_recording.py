"""What the engine puts on the tape: the same kinds in the same order for hooks of every dialect."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from hookline import HookError, Hooks, Tape, context, deny, remind
from hookline.tape import Record, read
from studio import Studio, record, records, scripts

TOOL = {"tool_name": "Bash", "tool_input": {"command": "ls"}}


def fired(hooks: Hooks, tape: Path, event: str = "PreToolUse", **payload: Any) -> list[Record]:
    """Fire an event on a tape; its records."""
    writing = Tape(tape)
    try:
        hooks.fire(event, tape=writing, **(payload or TOOL))
        hooks.wait()
    finally:
        writing.close()
    return list(read(tape))


def denying(dialect: str, folder: Path) -> tuple[Hooks, str]:
    """One hook of a dialect that denies; and the name its records have."""
    hooks = Hooks()
    (folder / "no.sh").write_text("#!/bin/sh\ncat > /dev/null\necho '" + ANSWERS.get(dialect, "") + "'\n")
    (folder / "no.sh").chmod(0o755)
    if dialect == "harness":
        (folder / "c").write_text(json.dumps({"hooks": {"PreToolUse": [{"path": "no.sh"}]}}))
    elif dialect == "goose":
        (folder / "c").write_text(f"hooks: {{pre_tool_use: [{{command: {folder}/no.sh}}]}}")
    elif dialect == "llxprt":
        entry = {"type": "command", "command": f"{folder}/no.sh", "name": "no"}
        (folder / "c").write_text(json.dumps({"hooks": {"BeforeTool": [{"hooks": [entry]}]}}))
    elif dialect == "harn":
        hooks.register_tool_hook(pattern="Bash", pre=lambda payload: {"deny": "not this"})
        return hooks, "tool_hook::Bash::pre"
    else:
        hooks.on("PreToolUse")(refuses)
        return hooks, "refuses"
    [hook] = hooks.load(folder / "c", dialect)
    return hooks, hook.name


def refuses(payload: dict[str, Any]) -> Any:
    return deny("not this")


ANSWERS = {
    "harness": '{"decision":"block","message":"not this"}',
    "goose": '{"decision":"block","reason":"not this"}',
    "llxprt": '{"decision":"deny","reason":"not this"}',
}


@pytest.mark.parametrize("dialect", ["harness", "goose", "llxprt", "harn", "python"])
def test_a_denial_in_every_dialect(tmp_path: Path, dialect: str) -> None:
    """event, hook_call, hook_returned, hook_vetoed, ruling; each names hook, dialect, source, and the file's digest."""
    hooks, name = denying(dialect, tmp_path)
    found = fired(hooks, tmp_path / "t")
    assert [r.kind for r in found] == ["event", "hook_call", "hook_returned", "hook_vetoed", "ruling"]
    event, call, answer, veto, ruling = (r.data for r in found)
    assert (event["event"], event["payload"]) == ("PreToolUse", TOOL)
    for data in (call, answer, veto):
        assert (data["event"], data["dialect"]) == ("PreToolUse", dialect)
        assert data["handler"].endswith(name)
        if dialect in ANSWERS:
            assert data["digest"] == hashlib.sha256((tmp_path / "c").read_bytes()).hexdigest()
            assert data["source"].startswith(f"{tmp_path}/c#/hooks/")
    assert call["surface"] == "tool"
    assert "Bash" in json.dumps(call["payload"])
    assert answer["result"] == ("block" if dialect == "harn" else "deny")
    assert answer["duration_ms"] > 0
    assert veto["reason"] == ruling["reason"] == "not this"
    assert veto["decision"] in ("deny", None)
    assert ruling["hooks"][0]["hook"] == call["handler"]


def test_a_hook_finds_its_call_on_the_tape(tmp_path: Path) -> None:
    """`hook_call` is on disk before the hook starts, with the payload it gets: the hook reads it there itself."""
    config = scripts(tmp_path, looks="cat > got.json; tail -n 1 t > seen.json")
    hooks = Hooks()
    hooks.load(config)
    fired(hooks, tmp_path / "t", **TOOL, cwd=str(tmp_path))
    seen = json.loads((tmp_path / "seen.json").read_text())
    assert seen["kind"] == "hook_call"
    assert seen["data"]["payload"] == json.loads((tmp_path / "got.json").read_text())


def test_the_ruling_is_on_the_tape_before_the_host_has_it(tmp_path: Path) -> None:
    """When `fire`, or a call of a session, comes back, its ruling is the last record; a tool finds its own call."""
    tape = tmp_path / "t"
    with Hooks().session(tape=tape) as s:
        assert records(tape)[-1].kind == "ruling"
        s.submit("hello")
        assert [r.kind for r in records(tape)][-2:] == ["ruling", "message"]
        seen = s.tool("read", {"n": 1}, lambda given: records(tape)[-1].kind).output
        assert seen == "tool_call"
    assert records(tape)[-1].data["event"] == "SessionEnd"


def test_the_order_of_a_hooks_records(tmp_path: Path) -> None:
    """hook_call, hook_returned, its reminders, hook_vetoed; then the next hook. Skips known beforehand come first."""
    hooks = Hooks()
    hooks.on("PreToolUse", match="Other")(lambda payload: None)
    hooks.register_tool_hook(pattern="Bash", pre=lambda p: {"reminder": {"body": "first"}, "deny": "no"})
    hooks.on("PreToolUse")(lambda payload: None)
    found = fired(hooks, tmp_path / "t")
    assert [(r.kind, r.data.get("reason")) for r in found if r.kind != "event"] == [
        ("hook_skipped", "no match: tool_name = Other"),
        ("hook_call", None),
        ("hook_returned", None),
        ("system_reminder", None),
        ("hook_vetoed", "no"),
        ("hook_skipped", "settled by tool_hook::Bash::pre"),
        ("ruling", "no"),
    ]
    assert found[4].data["reminder"]["body"] == "first"


def test_a_wave_is_called_together_and_answers_in_plan_order(tmp_path: Path) -> None:
    """Hooks that run side by side: all calls first, then the answers as planned, whoever was first."""
    entries = [{"type": "command", "name": n, "command": f"sleep {s}; echo {{}}"} for n, s in (("a", 0.2), ("b", 0))]
    (tmp_path / "c").write_text(json.dumps({"hooks": {"BeforeTool": [{"hooks": entries}]}}))
    hooks = Hooks()
    hooks.load(tmp_path / "c", "llxprt")
    found = [(r.kind, r.data.get("handler")) for r in fired(hooks, tmp_path / "t")]
    assert found[1:5] == [("hook_call", "a"), ("hook_call", "b"), ("hook_returned", "a"), ("hook_returned", "b")]


def test_how_a_hook_failed(tmp_path: Path) -> None:
    """Exit code, signal, what it said and how long it took; and no veto."""
    config = scripts(
        tmp_path,
        crashes="echo out; echo 'on stderr' >&2; exit 7",
        killed="kill -TERM $$",
        hangs="echo begun; exec sleep 60",
        gone="true",
    )
    document = json.loads(config.read_text())
    document["hooks"]["PreToolUse"][2]["timeout"] = 200
    config.write_text(json.dumps(document))
    hooks = Hooks()
    hooks.load(config)
    (tmp_path / "gone.sh").unlink()
    found = fired(hooks, tmp_path / "t")
    answers = {Path(r.data["handler"]).stem: r.data for r in found if r.kind == "hook_returned"}
    assert {name: data["result"] for name, data in answers.items()} == {
        "crashes": "failed", "killed": "failed", "hangs": "timeout", "gone": "failed",
    }  # fmt: skip
    crashed = answers["crashes"]["raw"]
    assert (crashed["exit_code"], crashed["stderr"], crashed["stdout"]) == (7, "on stderr\n", "out\n")
    assert answers["killed"]["raw"]["signal"] == "SIGTERM"
    assert (answers["hangs"]["raw"]["status"], answers["hangs"]["raw"]["stdout"]) == ("timeout", "begun\n")
    assert answers["hangs"]["duration_ms"] >= 200
    assert answers["gone"]["raw"]["status"] == "unstartable"
    assert "hook_vetoed" not in {r.kind for r in found}
    assert found[-1].data["healthy"] is False


def test_a_failure_that_is_made_a_denial_is_a_veto(tmp_path: Path) -> None:
    """With on_failure="deny" the hook's failure decides, and the tape says what was asked of it."""
    hooks = Hooks(on_failure="deny")
    hooks.load(scripts(tmp_path, crashes="exit 7"))
    found = fired(hooks, tmp_path / "t")
    assert [r.kind for r in found] == ["event", "hook_call", "hook_returned", "hook_vetoed", "ruling"]
    assert (found[1].data["on_failure"], found[2].data["result"], found[3].data["decision"]) == (
        "deny",
        "failed",
        "deny",
    )


def breaks(payload: dict[str, Any]) -> Any:
    raise ValueError("broken")


def test_a_handler_that_raised(tmp_path: Path) -> None:
    """It has no hook_returned but a hook_raised; one of ours is a failure, and the ruling follows."""
    hooks = Hooks()
    hooks.on("PreToolUse")(breaks)
    found = fired(hooks, tmp_path / "t")
    assert [r.kind for r in found] == ["event", "hook_call", "hook_raised", "ruling"]
    assert found[2].data["error"] == "raised ValueError: broken"
    assert "loud" not in found[2].data
    assert found[3].data["healthy"] is False


@pytest.mark.parametrize("handler", [breaks, lambda payload: "nonsense"], ids=["raises", "answers nonsense"])
def test_a_handler_of_harn_that_raised(tmp_path: Path, handler: Any) -> None:
    """It is loud: the host hears of it, and no ruling follows. What nobody could read is kept."""
    hooks = Hooks()
    hooks.register_tool_hook(pattern="*", pre=handler)
    with pytest.raises(HookError):
        fired(hooks, tmp_path / "t")
    found = list(read(tmp_path / "t"))
    assert [r.kind for r in found] == ["event", "hook_call", "hook_raised"]
    assert found[2].data["loud"] is True
    assert found[2].data.get("raw") == (None if handler is breaks else "nonsense")


def test_hooks_in_the_background(tmp_path: Path) -> None:
    """The same kinds, marked; after the ruling, which says only that they were handed over. A failure is there, too."""
    config = tmp_path / "config.yaml"
    config.write_text("hooks: {post_tool_use: [{command: 'sh -c \"echo oops >&2; exit 3\"'}, {command: 'true'}]}")
    hooks = Hooks()
    hooks.load(config, "goose")
    found = fired(hooks, tmp_path / "t", "PostToolUse", **TOOL)
    assert [r.kind for r in found] == ["event", "ruling", *["hook_call", "hook_returned"] * 2]
    assert all(r.data["background"] for r in found[2:])
    assert [report["status"] for report in found[1].data["hooks"]] == ["background", "background"]
    assert (found[3].data["result"], found[3].data["raw"]["exit_code"], found[3].data["raw"]["stderr"]) == (
        "failed", 3, "oops\n",
    )  # fmt: skip
    assert found[5].data["result"] == "none"


def test_what_was_injected_is_counted(tmp_path: Path) -> None:
    """The characters of context, messages and reminders, for each hook."""
    hooks = Hooks()
    hooks.on("SessionStart")(lambda payload: context("12345") | remind("123"))
    hooks.on("SessionStart")(lambda payload: None)
    tape = Tape(tmp_path / "t")
    hooks.fire("SessionStart", tape=tape)
    tape.close()
    assert [r.data.get("injected") for r in read(tmp_path / "t") if r.kind == "hook_returned"] == [8, None]


def test_surfaces_and_names(tmp_path: Path) -> None:
    """`event` is the catalogue's name, `surface` tool, step or session, `handler` the ruling's `hook`."""
    record(tmp_path / "w", tmp_path / "t")
    found = records(tmp_path / "t")
    surfaces = {r.data["event"]: r.data["surface"] for r in found if r.kind == "hook_call"}
    assert surfaces["PreToolUse"] == surfaces["PostToolUse"] == "tool"
    assert surfaces["PreStep"] == "step"
    assert {surfaces[name] for name in ("UserPromptSubmit", "SessionStart", "PermissionAsked", "PreFinish")} == {
        "session"
    }
    handlers = {r.data["handler"] for r in found if r.data.get("dialect") == "harn"}
    assert {"tool_hook::exec_*::pre", "session_hook::PermissionAsked", "studio_handlers::prompts"} <= handlers
    for ruling in (r.data for r in found if r.kind == "ruling"):
        assert {report["hook"] for report in ruling.get("hooks", [])} <= {
            r.data["handler"] for r in found if "handler" in r.data
        }


def test_a_block_and_a_decision_of_harn(tmp_path: Path) -> None:
    """hook_vetoed says why: null for a block, the word for a decision; one without a reason has it in words."""
    hooks = Hooks()
    hooks.register_session_hook("user_prompt_submit", lambda payload: {"block": True, "reason": "no"})
    hooks.register_session_hook("permission_asked", lambda payload: {"decision": "deny"})
    tape = Tape(tmp_path / "t")
    hooks.fire("UserPromptSubmit", prompt="x", tape=tape)
    hooks.fire("PermissionAsked", tool_name="x", tool_input={}, tape=tape)
    tape.close()
    vetoes = [r.data for r in read(tmp_path / "t") if r.kind == "hook_vetoed"]
    results = [r.data["result"] for r in read(tmp_path / "t") if r.kind == "hook_returned"]
    assert results == ["block", "decision_deny"]
    assert [(v["decision"], v["reason"]) for v in vetoes] == [(None, "no"), ("deny", "decision=deny")]


def test_the_studio_is_on_the_tape_without_its_hooks(tmp_path: Path) -> None:
    """Nothing is written for a hook of another event: no match leaves a skip, another event leaves nothing."""
    studio = Studio(tmp_path / "w")
    found = fired(studio.hooks(), tmp_path / "t", "Notification", message="x")
    assert [r.kind for r in found] == ["event", "ruling"]
