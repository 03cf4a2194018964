"""The examples of handlers: harn.toml with its guards, and a program that decorates its own."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hookline import Hooks

ROOT = Path(__file__).parent.parent
MANIFEST = ROOT / "examples" / "harn" / "harn.toml"
PROGRAM = ROOT / "examples" / "agent_guard.py"
KEY = "AKIA" + "IOSFODNN7EXAMPLE"


@pytest.fixture
def house() -> Hooks:
    hooks = Hooks()
    hooks.load(MANIFEST, strict=True)
    return hooks


@pytest.fixture
def program() -> dict[str, Any]:
    """What the program defines, run anew: it counts calls."""
    return runpy.run_path(str(PROGRAM))


@pytest.mark.parametrize(
    ("prompt", "decision"),
    [(f"deploy with {KEY}", "deny"), ("-----BEGIN RSA PRIVATE KEY-----", "deny"), ("list the files", "none")],
)
def test_secrets_in_prompts(house: Hooks, prompt: str, decision: str) -> None:
    """A prompt with a key in it is blocked, and the reason does not repeat it."""
    ruling = house.fire("user_prompt_submit", prompt=prompt)
    assert ruling.decision == decision
    assert KEY not in ruling.reason


@pytest.mark.parametrize(
    ("command", "decision", "rewritten"),
    [
        ("git push", "none", None),
        ("git push --force origin main", "deny", None),
        ("git push -f origin master", "deny", None),
        ("git push --force origin topic", "none", "git push --force-with-lease origin topic"),
        ("git push -f", "none", "git push --force-with-lease"),
        ("git push --force-with-lease origin topic", "none", None),
        ("echo -f", "none", None),
    ],
)
def test_forced_pushes(house: Hooks, command: str, decision: str, rewritten: str | None) -> None:
    """A forced push becomes a careful one, with a reminder; one to main is refused."""
    call = {"tool_name": "shell_run", "tool_input": {"command": command, "cwd": "x"}}
    ruling = house.fire("PreToolUse", **call)
    assert ruling.decision == decision
    assert ruling.tool_input == ({"command": rewritten, "cwd": "x"} if rewritten else None)
    assert len(ruling.reminders) == (1 if rewritten else 0)


def test_pushes_of_other_tools(house: Hooks) -> None:
    """The pattern keeps the guard from other tools, and a call without arguments does no harm."""
    ruling = house.fire("PreToolUse", tool_name="read_file", tool_input={"command": "git push -f"})
    assert ruling.hooks[0].status == "skipped"
    assert house.fire("PreToolUse", tool_name="exec_run", tool_input=None).decision == "none"


@pytest.mark.parametrize(("tool", "decision"), [("read_file", "allow"), ("search_web", "allow"), ("exec_run", "none")])
def test_permissions(house: Hooks, tool: str, decision: str) -> None:
    """Reading is allowed, anything else is left to whoever is asked next."""
    assert house.fire("permission_asked", tool_name=tool, tool_input={}, reason="x").decision == decision


def test_reminders_of_tests(house: Hooks) -> None:
    """An edit of a Python file leaves a reminder that replaces the one before; other files leave none."""
    [one] = house.fire("file_edited", path="src/a.py").reminders
    assert (one["dedupe_key"], "src/a.py" in one["body"]) == ("run-the-tests", True)
    assert house.fire("file_edited", path="README.md").reminders == ()


def test_every_guard_says_what_it_is_for(house: Hooks) -> None:
    """Each handler the manifest names has a docstring, and nothing else is in it."""
    guards = runpy.run_path(str(MANIFEST.with_name("guards.py")))
    assert [hook.name for hook in house] == [f"guards::{name}" for name, made in guards.items() if callable(made)]
    assert all(guards[hook.name.rpartition("::")[2]].__doc__ for hook in house)


# -- the program


def test_the_program_runs() -> None:
    """It prints what became of three commands."""
    done = subprocess.run([sys.executable, str(PROGRAM)], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "ls: none",
        "rm -rf /: deny Not the root, and not a home directory. Name what should go.",
        "pip install rich: none {'command': 'pip install rich -q'}",
    ]


def test_the_budget_of_the_program(program: dict[str, Any]) -> None:
    """The fortieth call leaves a reminder, the fifty-first halts the agent."""
    hooks: Hooks = program["hooks"]
    rulings = [hooks.fire("PreToolUse", tool_name="Read", tool_input={}) for _ in range(51)]
    assert [number for number, ruling in enumerate(rulings, 1) if ruling.reminders] == [40]
    assert [number for number, ruling in enumerate(rulings, 1) if ruling.halt] == [51]


def test_the_rest_of_the_program(program: dict[str, Any]) -> None:
    """It begins with context, cleans what it fetches, cuts long output, and refuses where its own guard breaks."""
    hooks: Hooks = program["hooks"]
    assert hooks.fire("SessionStart").context == ("Tests are run with pytest. Commits are small.",)
    page = "<p>a</p><script>x\ny</script>"
    assert hooks.fire("PostToolUse", tool_name="fetch_url", tool_input={}, tool_output=page).tool_output == "<p>a</p>"
    long = hooks.fire("PostToolUse", tool_name="Bash", tool_input={}, tool_output="x" * 50_000).tool_output
    assert len(long) < 20_100
    broken = hooks.fire("PreToolUse", tool_name="Bash", tool_input={})
    assert (broken.decision, broken.healthy) == ("deny", False)
