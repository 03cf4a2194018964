"""The examples: hooks such as the systems' own documents show, written anew, do what those documents say."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hookline import Hooks, Ruling

ROOT = Path(__file__).parent.parent
SETTINGS = ROOT / "examples" / "harness" / "settings.json"
CONFIG = ROOT / "examples" / "goose" / "config.yaml"
LLXPRT = ROOT / "examples" / "llxprt" / "settings.json"
ALL = ("-c", str(SETTINGS), "-c", str(CONFIG), "-c", str(LLXPRT))
POLICY = "Destructive command blocked by security policy"


@pytest.fixture(autouse=True)
def _only_python_and_bash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The examples find python3, bash and cat on their PATH, and nothing else; home is an empty directory."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name, program in {"python3": sys.executable, "bash": shutil.which("bash"), "cat": shutil.which("cat")}.items():
        (tools / name).symlink_to(str(program))
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("ENGRAM_DIR", "PAI_DIR", "GOOSE_SESSION_START_HOOK", "GOOSE_AUDIT_LOG", "HARNESS_SESSIONS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The working directory of a session."""
    directory = tmp_path / "MyApp"
    directory.mkdir()
    return directory


def harness() -> Hooks:
    hooks = Hooks()
    hooks.load(SETTINGS, strict=True)
    return hooks


def goose() -> Hooks:
    hooks = Hooks()
    hooks.load(CONFIG, strict=True)
    return hooks


def llxprt() -> Hooks:
    hooks = Hooks()
    hooks.load(LLXPRT, strict=True)
    return hooks


def hookline(event: str, payload: dict[str, Any], *words: str) -> tuple[int, dict[str, Any]]:
    """The exit code and the ruling of `hookline fire`, run where the examples are meant to be run."""
    done = subprocess.run(
        [sys.executable, "-m", "hookline", "fire", event, "--json", "--payload", json.dumps(payload), *words],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.stderr == ""
    return done.returncode, json.loads(done.stdout)


def test_every_example_is_registered() -> None:
    """The configurations name every script there is, every script is executable, and nothing about them is odd."""
    scripts = {file for file in (ROOT / "examples").glob("*/hooks/*") if file.is_file()}
    assert all(os.access(file, os.X_OK) for file in scripts)
    named = {Path(hook.action.argv[0]) for hook in harness()}
    named |= {ROOT / hook.action.argv[1] for hook in goose()}
    named |= {ROOT / hook.action.argv[-1].split()[1] for hook in llxprt()}
    assert named == scripts
    done = subprocess.run(
        [sys.executable, "-m", "hookline", "list", "--json", *ALL],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    listed = json.loads(done.stdout)
    assert listed["notices"] == []
    told = [row["title"] for row in listed["hooks"] if row["dialect"] == "harness"]
    assert told == ["LoadContext", "SecurityValidator", "WriteProtector", "SessionSummary"]
    assert all(row["description"] for row in listed["hooks"] if row["dialect"] == "harness")


# -- The Harness


def bash(command: str) -> Ruling:
    return harness().fire("PreToolUse", tool_name="Bash", tool_input={"command": command}, cwd=str(ROOT))


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf /",
        "rm -rf /*",
        "sudo rm  -fr / --no-preserve-root",
        "cd /tmp && rm -rf /usr; echo done",
        "bash -c 'rm -rf /'",
        "ls\nrm -rf /",
        "rm -rf /tmp/build-cache",
    ],
)
def test_the_security_validator_blocks(command: str) -> None:
    """A recursive deletion from the root is a hard block, with an explanation."""
    ruling = bash(command)
    reason = "Blocked: recursive deletion of root filesystem"
    assert (ruling.decision, ruling.reason, ruling.healthy) == ("deny", reason, True)
    assert [(r.hook, r.exit_code) for r in ruling.hooks if r.status == "ran"] == [("hooks/SecurityValidator.py", 2)]


@pytest.mark.parametrize("command", ["ls -la /", "rm -rf build", "rm /tmp/x", "git rm -r docs", "echo rm", "", "#"])
def test_the_security_validator_lets_the_rest_pass(command: str) -> None:
    """An ordinary command is allowed by an explicit answer, and nothing is injected."""
    ruling = bash(command)
    assert (ruling.decision, ruling.reason, ruling.context, ruling.healthy) == ("allow", "", (), True)


@pytest.mark.parametrize(
    ("path", "decision"),
    [
        ("/etc/hosts", "deny"),
        ("/tmp/../etc/hosts", "deny"),
        (".git/config", "deny"),
        ("sub/.env", "deny"),
        (".env.production", "deny"),
        ("certs/server.pem", "deny"),
        ("~/.ssh/authorized_keys", "deny"),
        (".env.example", "allow"),
        ("src/main.py", "allow"),
        ("environment.md", "allow"),
        (".gitignore", "allow"),
        ("/etcetera/notes", "allow"),
        (str(SETTINGS), "ask"),
        (str(SETTINGS.parent / "hooks" / "WriteProtector.py"), "ask"),
    ],
)
def test_the_write_protector(project: Path, path: str, decision: str) -> None:
    """Protected paths are blocked and named, its own configuration is asked about, other files may be written."""
    ruling = harness().fire("PreToolUse", tool_name="Write", tool_input={"file_path": path}, cwd=str(project))
    reason = {
        "deny": f"Cannot write protected path: {path}",
        "ask": f"{path} decides which hooks watch over this session. Let the agent change it?",
        "allow": "",
    }[decision]
    assert (ruling.decision, ruling.reason, ruling.healthy) == (decision, reason, True)
    assert [r.hook for r in ruling.hooks if r.status == "ran"] == ["hooks/WriteProtector.py"]


def test_other_tools_concern_nobody() -> None:
    """A tool neither matcher names starts no process."""
    ruling = harness().fire("PreToolUse", tool_name="Read", tool_input={"file_path": "/etc/hosts"})
    assert ruling.decision == "none"
    assert [r.skipped for r in ruling.hooks] == ["no match: tool_name = Bash", "no match: tool_name = Write"]


def test_load_context(project: Path) -> None:
    """The project, its branch and its own notes become context; what is not there is not mentioned."""
    assert harness().fire("SessionStart", cwd=str(project)).context == ("Project: MyApp",)
    (project / ".git").mkdir()
    (project / ".git" / "HEAD").write_text("ref: refs/heads/feature/auth-refactor\n")
    (project / ".harness").mkdir()
    (project / ".harness" / "context.md").write_text("Last session: 3 tests failing\n")
    [text] = harness().fire("SessionStart", cwd=str(project)).context
    assert text == "Project: MyApp\nBranch: feature/auth-refactor\n\nLast session: 3 tests failing"
    (project / ".git" / "HEAD").write_text("0123456789abcdef\n")
    [text] = harness().fire("SessionStart", cwd=str(project)).context
    assert text.splitlines()[1] == "Branch: none (detached at 0123456789ab)"


def test_session_summary(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Stop leaves one file for the session, the same each time, and says nothing to the model."""
    happened = {"session_id": "a/b", "prompt": "fix it\nnow", "response": "done", "cwd": str(project)}
    for _ in range(2):
        ruling = harness().fire("Stop", **happened)
        assert (ruling.decision, ruling.context, ruling.healthy) == ("none", (), True)
    kept = project / ".harness" / "sessions" / "a_b.md"
    assert kept.read_text() == "# Session a/b\n\nTranscript: none\nPrompt: fix it\nAnswer: done\n"
    assert list(kept.parent.iterdir()) == [kept]
    monkeypatch.setenv("HARNESS_SESSIONS", str(project / "elsewhere"))
    harness().fire("Stop", cwd=str(project))
    assert [file.name for file in (project / "elsewhere").iterdir()] == ["unnamed.md"]


# -- Goose


@pytest.mark.parametrize("tool", ["developer__shell", "Bash"])
@pytest.mark.parametrize(
    ("command", "decision"),
    [
        ("rm -rf /", "deny"),
        ("rm  -rf  /home", "deny"),
        ("mkfs.ext4 /dev/sda1", "deny"),
        ("dd if=/dev/zero of=/dev/sda", "deny"),
        ("ls /tmp", "allow"),
        ("rm -rf build", "allow"),
        ("echo mkfs", "allow"),
    ],
)
def test_the_security_scanner(tool: str, command: str, decision: str) -> None:
    """Destructive shell commands are blocked by policy, everything else is allowed by an explicit answer."""
    ruling = goose().fire("pre_tool_use", tool_name=tool, tool_input={"command": command}, cwd=str(ROOT))
    assert (ruling.decision, ruling.reason) == (decision, POLICY if decision == "deny" else "")
    assert ruling.healthy


@pytest.mark.parametrize("arguments", [None, {}, {"command": None}, {"command": ["rm"]}])
def test_the_security_scanner_reads_odd_arguments(arguments: Any) -> None:
    """A call without a command is no failure of the scanner."""
    ruling = goose().fire("pre_tool_use", tool_name="developer__shell", tool_input=arguments, cwd=str(ROOT))
    assert (ruling.decision, ruling.healthy) == ("allow", True)


def test_the_scanner_is_only_asked_about_shells() -> None:
    """The filter keeps the scanner from running for another tool."""
    ruling = goose().fire(
        "pre_tool_use", tool_name="developer__edit", tool_input={"command": "rm -rf /"}, cwd=str(ROOT)
    )
    assert (ruling.decision, ruling.hooks[0].status) == ("none", "skipped")


def test_the_session_context() -> None:
    """The rules in the named file become part of the system prompt, to the letter."""
    ruling = goose().fire("session_start", cwd=str(ROOT))
    assert ruling.context == ((ROOT / "examples" / "goose" / "context.md").read_text(),)


def test_the_session_context_of_a_project(project: Path) -> None:
    """Without an argument the rules are .goose/context.md of the working directory; without that there are none."""
    script = ROOT / "examples" / "goose" / "hooks" / "session_context.py"
    config = project / "config.yaml"
    config.write_text(json.dumps({"hooks": {"session_start": [{"command": f"python3 '{script}'"}]}}))
    hooks = Hooks()
    hooks.load(config)
    ruling = hooks.fire("session_start", cwd=str(project))
    assert (ruling.context, ruling.healthy) == ((), True)
    (project / ".goose").mkdir()
    (project / ".goose" / "context.md").write_text('Say "é".\n')
    assert hooks.fire("session_start", cwd=str(project)).context == ('Say "é".\n',)


def test_the_audit_logger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every tool call and the end of the session are on the log, in order, each with its time, and delay nobody."""
    hooks = goose()
    call = {"tool_name": "developer__shell", "tool_input": {"command": "ls"}, "session_id": "s", "cwd": str(ROOT)}
    for output in (["a"], ["é"]):
        ruling = hooks.fire("post_tool_use", tool_output=output, **call)
        assert [r.status for r in ruling.hooks] == ["background"]
    hooks.fire("session_stop", session_id="s", cwd=str(ROOT))
    hooks.wait()
    log = tmp_path / "home" / ".goose" / "audit.jsonl"
    records = [json.loads(line) for line in log.read_text().splitlines()]
    times = [record.pop("timestamp") for record in records]
    arguments = {"command": "ls"}
    common = {"event": "post_tool_use", "session_id": "s", "tool_name": "developer__shell", "tool_arguments": arguments}
    assert records == [
        {**common, "tool_result": '["a"]', "tool_error": None},
        {**common, "tool_result": '["é"]', "tool_error": None},
        {"event": "session_stop", "session_id": "s"},
    ]
    assert times == sorted(times)
    assert all(len(time) == 20 and time.endswith("Z") for time in times)
    monkeypatch.setenv("GOOSE_AUDIT_LOG", str(tmp_path / "audit"))
    hooks.fire("session_stop", cwd=str(ROOT))
    hooks.wait()
    assert len((tmp_path / "audit").read_text().splitlines()) == 1


# -- LLxprt


@pytest.fixture
def workspace(project: Path) -> Path:
    """A project beside which the examples are found as its settings name them."""
    shutil.copytree(ROOT / "examples", project / "examples")
    return project


@pytest.mark.parametrize("tool", ["write_file", "replace"])
@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("src/main.py", ""),
        (".env.example", ""),
        ("src/../a", ""),
        ("../other", "../other is outside the project {}"),
        ("/etc/hosts", "/etc/hosts is outside the project {}"),
        ("link/x", "link/x is outside the project {}"),
        (".env", ".env holds secrets; edit it yourself"),
        ("certs/server.pem", "certs/server.pem holds secrets; edit it yourself"),
    ],
)
def test_the_write_guard(workspace: Path, tool: str, path: str, reason: str) -> None:
    """Writing outside the project or over secrets is blocked, links and dots notwithstanding; the rest passes."""
    (workspace / "link").symlink_to("/tmp")
    given = {"file_path": path, "content": "x\n"}
    ruling = llxprt().fire("BeforeTool", tool_name=tool, tool_input=given, cwd=workspace)
    assert (ruling.decision, ruling.reason) == ("deny" if reason else "none", reason.format(workspace))
    assert (ruling.rewrites, ruling.healthy) == ({}, True)


def test_the_write_guard_mends_line_ends(workspace: Path) -> None:
    """Only the content is rewritten, and other tools are not looked at."""
    given = {"file_path": "a", "content": "x\r\ny\r\n"}
    ruling = llxprt().fire("BeforeTool", tool_name="write_file", tool_input=given, cwd=workspace)
    assert ruling.tool_input == {"file_path": "a", "content": "x\ny\n"}
    other = llxprt().fire("BeforeTool", tool_name="read_file", tool_input=given, cwd=workspace)
    assert [report.status for report in other.hooks] == ["skipped"]


def test_the_redactor(workspace: Path) -> None:
    """What looks like a key leaves every message; a request without one is not touched."""
    request = {"model": "m", "messages": [{"role": "user", "content": "use ghp_0123456789abcdefXYZ please"}]}
    ruling = llxprt().fire("BeforeModel", llm_request=request, cwd=workspace)
    assert ruling.llm_request == {"model": "m", "messages": [{"role": "user", "content": "use [redacted] please"}]}
    clean = llxprt().fire("BeforeModel", llm_request=ruling.llm_request, cwd=workspace)
    assert (clean.rewrites, clean.healthy) == ({}, True)


def test_a_redactor_that_fails_keeps_the_request_at_home(workspace: Path) -> None:
    """Its on_failure makes a crash a denial: nothing leaves the machine unread."""
    ruling = llxprt().fire("BeforeModel", llm_request={"messages": [{"role": "user"}]}, cwd=workspace)
    assert (ruling.decision, ruling.healthy) == ("deny", False)


def test_the_tool_picker(workspace: Path) -> None:
    """In a project that is read-only, only tools that read may be called."""
    request = {"model": "m", "messages": []}
    assert llxprt().fire("BeforeToolSelection", llm_request=request, cwd=workspace).tools is None
    (workspace / ".read-only").touch()
    tools = llxprt().fire("BeforeToolSelection", llm_request=request, cwd=workspace).tools
    assert tools
    assert tools.to_dict() == {
        "mode": "AUTO",
        "allowed": ["glob", "list_directory", "read_file", "search_file_content"],
    }


# -- both, from the command line

BOTH = ("--config", str(SETTINGS), "--config", str(CONFIG))


def test_both_systems_allow() -> None:
    """The command of the README: an ordinary call passes the hooks of both systems."""
    code, ruling = hookline("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "ls"}}, *BOTH)
    assert (code, ruling["decision"], ruling["healthy"]) == (0, "allow", True)
    assert [(r["dialect"], r["status"]) for r in ruling["hooks"]] == [
        ("harness", "ran"),
        ("harness", "skipped"),
        ("goose", "ran"),
    ]


def test_the_first_system_denies() -> None:
    """The Harness blocks rm -rf /, and the Goose hook is not even asked."""
    code, ruling = hookline("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "rm -rf /"}}, *BOTH)
    assert (code, ruling["decision"]) == (2, "deny")
    assert ruling["reason"] == "Blocked: recursive deletion of root filesystem"
    assert ruling["hooks"][2]["skipped"] == "settled by hooks/SecurityValidator.py"


def test_the_second_system_denies() -> None:
    """What only the Goose scanner knows is denied by it."""
    code, ruling = hookline("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "mkfs.ext4 /dev/sda"}}, *BOTH)
    assert (code, ruling["reason"]) == (2, POLICY)


def test_a_question_from_the_command_line() -> None:
    """The write protector's question is exit code 3."""
    payload = {"tool_name": "Write", "tool_input": {"file_path": str(SETTINGS)}}
    code, ruling = hookline("PreToolUse", payload, "--config", str(SETTINGS))
    assert (code, ruling["decision"]) == (3, "ask")


def test_contexts_of_both_systems(project: Path) -> None:
    """A session begins with the context of both, in the order of the configurations."""
    code, ruling = hookline("SessionStart", {}, *BOTH)
    assert code == 0
    assert [text.splitlines()[0] for text in ruling["context"]] == [
        f"Project: {ROOT.name}",
        "Run the tests before you say that something works.",
    ]


def test_background_hooks_from_the_command_line(tmp_path: Path) -> None:
    """The call ends when the audit logger has, and says what became of it."""
    code, ruling = hookline("session_stop", {"session_id": "s"}, "--config", str(CONFIG))
    assert (code, [r["status"] for r in ruling["hooks"]]) == (0, ["ran"])
    assert len((tmp_path / "home" / ".goose" / "audit.jsonl").read_text().splitlines()) == 1
