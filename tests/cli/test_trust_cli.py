"""`hookline trust`, and the other verbs without --config, as real processes; questions on a real terminal."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from worlds import TOOL, World

PAYLOAD = json.dumps(TOOL)


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path)
    made.script("project/.llxprt/hooks/guard.sh", "echo no >&2; exit 2")
    made.llxprt('"$LLXPRT_PROJECT_DIR"/.llxprt/hooks/guard.sh --strict', name="guard", env={"LEVEL": "3"}, timeout=2500)
    return made


def on_a_terminal(world: World, answer: str, *words: str) -> tuple[int, str, str]:
    """Exit code, stdout, stderr of a call whose standard input is a terminal on which this was typed."""
    ours, theirs = pty.openpty()
    os.write(ours, answer.encode())
    done = subprocess.run(
        [sys.executable, "-m", "hookline", *words],
        cwd=world.project, env=world.environ, stdin=theirs, capture_output=True, text=True, check=False, timeout=30,
    )  # fmt: skip
    os.close(ours)
    os.close(theirs)
    return done.returncode, done.stdout, done.stderr


def test_trust_shows_exactly_what_would_run(world: World) -> None:
    """Every word, what is shell text, the variables, the event, the matcher, the timeout, the digests."""
    code, out, err = on_a_terminal(world, "n\n", "trust")
    config, script = world.project / ".llxprt/settings.json", world.project / ".llxprt/hooks/guard.sh"
    [review] = world.reviews()
    assert out.splitlines() == [
        f"configuration {config}",
        "    dialect: llxprt",
        f"    sha256: {review.config.digest}",
        "",
        "  PreToolUse  guard",
        "    argv[0]: bash",
        "    argv[1]: -c",
        '    shell text: "$LLXPRT_PROJECT_DIR"/.llxprt/hooks/guard.sh --strict',
        "    variable: LEVEL=3",
        "    only if: always",
        "    timeout: 2.5 s",
        f"    runs: {script}, sha256 {review.scripts[str(script)].digest}",
        "",
        "Nothing was trusted.",
    ]
    assert err == f"Trust this configuration of {world.project}? [y/N] "
    assert code == 65
    assert world.barred() != [""]


@pytest.mark.parametrize("answer", ["y\n", "YES\n"])
def test_yes_is_remembered(world: World, answer: str) -> None:
    """From then on the hook runs, and trusting again has nothing to ask."""
    code, out, _ = on_a_terminal(world, answer, "trust")
    assert (code, out.splitlines()[-1]) == (0, f"{world.project} is trusted.")
    fired = world.hookline("fire", "PreToolUse", "-p", PAYLOAD, "--json")
    assert (fired.returncode, json.loads(fired.stdout)["reason"]) == (2, "no")
    again = world.hookline("trust")
    assert (again.returncode, again.stdout) == (0, f"{world.project} is trusted already.\n")


@pytest.mark.parametrize("answer", ["\n", "no\n", "yup\n", "\x04"])
def test_anything_else_is_no(world: World, answer: str) -> None:
    """Only y and yes are a yes; the end of input is not."""
    assert on_a_terminal(world, answer, "trust")[0] == 65
    assert not world.state.exists()


def test_without_a_terminal_somebody_must_say_yes(world: World) -> None:
    """What would run is shown, then it is a usage error that says so."""
    done = world.hookline("trust")
    assert done.returncode == 64
    assert "shell text: " in done.stdout
    assert done.stderr == (
        "hookline: there is no terminal to ask on; look at the above, then run `hookline trust --yes`\n"
    )
    piped = world.hookline("trust", stdin="y\n")
    assert (piped.returncode, world.state.exists()) == (64, False)


def test_json_shows_and_with_yes_records(world: World) -> None:
    """One object; without --yes it is a look, and its exit code says that something is not trusted."""
    look = world.hookline("trust", "--json")
    report = json.loads(look.stdout)
    assert (look.returncode, report["recorded"], report["project"]) == (65, False, str(world.project))
    [config] = report["configs"]
    assert config["status"] == "new"
    assert config["hooks"] == [
        {
            "event": "PreToolUse",
            "hook": "guard",
            "argv": ["bash", "-c", '"$LLXPRT_PROJECT_DIR"/.llxprt/hooks/guard.sh --strict'],
            "shell": True,
            "timeout": 2.5,
            "env": {"LEVEL": "3"},
            "source": f"{world.project}/.llxprt/settings.json#/hooks/BeforeTool/0/hooks/0",
            "scripts": [f"{world.project}/.llxprt/hooks/guard.sh"],
        }
    ]
    assert not world.state.exists()
    done = world.hookline("trust", "--json", "--yes")
    assert (done.returncode, json.loads(done.stdout)["recorded"]) == (0, True)
    done = world.hookline("trust", "--json")
    assert (done.returncode, json.loads(done.stdout)["configs"][0]["status"]) == (0, "trusted")


def test_what_changed_is_shown(world: World) -> None:
    """The second time a person sees what is not as it was."""
    assert world.hookline("trust", "--yes").returncode == 0
    world.script("project/.llxprt/hooks/guard.sh", "exit 0")
    shown = world.hookline("trust").stdout
    assert "  since it was trusted:\n" in shown
    assert f"    changed file: {world.project}/.llxprt/hooks/guard.sh (was " in shown
    explained = world.hookline("explain", "PreToolUse", "-p", PAYLOAD, "--json")
    [row] = json.loads(explained.stdout)["hooks"]
    assert row["skipped"].startswith(f"changed since it was trusted: {world.project}/.llxprt/hooks/guard.sh (was ")


def test_trust_from_below_and_from_elsewhere(world: World) -> None:
    """The project is found from a directory in it, or named."""
    (world.project / "deep/down").mkdir(parents=True)
    assert world.hookline("trust", "--yes", cwd="project/deep/down").returncode == 0
    assert world.hookline("trust", "../project", cwd="home").stdout == f"{world.project} is trusted already.\n"


def test_nothing_to_trust(world: World) -> None:
    """A directory without hooks of its own is no mistake."""
    done = world.hookline("trust", cwd="home")
    assert (done.returncode, done.stdout) == (0, "'.' has no hooks of its own.\n")
    assert json.loads(world.hookline("trust", "--json", cwd="home").stdout)["configs"] == []


def test_revoke_forgets_and_removes(world: World) -> None:
    """The record and the copies go; a host that runs already no longer finds them. Twice is no mistake."""
    world.trust()
    hooks = world.discover()
    assert world.hookline("trust", "--revoke").stdout == f"{world.project} is no longer trusted.\n"
    assert world.barred() == [f"not trusted; run `hookline trust {world.project}`"]
    assert [p for p in world.state.rglob("*") if p.is_file()] == [world.state / "lock"]
    assert [r.status for r in hooks.fire("PreToolUse", **TOOL).hooks] == ["failed"]
    assert world.hookline("trust", "--revoke").stdout == f"{world.project} was not trusted.\n"
    assert json.loads(world.hookline("trust", "--revoke", "--json").stdout)["revoked"] is False


def test_a_project_that_is_gone_can_be_revoked(world: World) -> None:
    """By the path it had."""
    world.trust()
    world.project.rename(world.base / "moved")
    assert world.hookline("trust", "--revoke", str(world.project), cwd="home").stdout.endswith("no longer trusted.\n")


def test_the_list(world: World) -> None:
    """What is trusted, everywhere, and what cannot be believed."""
    assert world.hookline("trust", "--list").stdout == "Nothing is trusted.\n"
    world.trust()
    (world.state / "trust" / "x.json").write_text("{")
    (world.state / "trust" / "x.json").chmod(0o600)
    report = json.loads(world.hookline("trust", "--list", "--json").stdout)
    [row] = report["trusted"]
    assert (row["project"], row["dialect"], row["hooks"], row["scripts"]) == (str(world.project), "llxprt", 1, 1)
    assert "x.json is damaged" in report["notices"][0]
    assert str(world.project / ".llxprt/settings.json") in world.hookline("trust", "--list").stdout
    assert world.hookline("trust", "--list", ".").returncode == 64


def test_where(world: World) -> None:
    """Every place of the table, and what is there, for people and for programs."""
    world.goose("true", at="home/.config/goose/hooks.yaml")
    world.write("home/.gemini/settings.json", "{")
    report = json.loads(world.hookline("list", "--where", "--json").stdout)
    assert report["project"] == str(world.project)
    rows = {row["path"]: row for row in report["places"]}
    assert rows[f"{world.project}/.llxprt/settings.json"] == {
        "dialect": "llxprt",
        "level": "project",
        "path": f"{world.project}/.llxprt/settings.json",
        "status": "not trusted",
        "hooks": 1,
    }
    assert rows[f"{world.home}/.config/goose/hooks.yaml"]["status"] == "read"
    assert rows[f"{world.home}/.gemini/settings.json"]["status"] == "unreadable"
    assert rows[f"{world.home}/.claude/settings.json"]["status"] == "absent"
    table = world.hookline("list", "--where").stdout
    assert "1 hook, not trusted" in table
    assert f"project: {world.project}" in table


def test_every_verb_finds_the_hooks(world: World) -> None:
    """list, explain and fire without --config; --cwd and the payload's cwd say where to look."""
    row = {"hook": "guard", "dialect": "llxprt"}
    for cwd, words in (("project", ()), ("home", ("--cwd", str(world.project)))):
        done = world.hookline("explain", "BeforeTool", "-p", PAYLOAD, "--json", *words, cwd=cwd)
        [found] = json.loads(done.stdout)["hooks"]
        assert found.items() >= row.items()
        assert found["skipped"].startswith("not trusted; run `hookline trust ")
    payload = json.dumps({**TOOL, "cwd": str(world.project)})
    fired = world.hookline("fire", "BeforeTool", "-p", payload, "--json", cwd="home")
    [report] = json.loads(fired.stdout)["hooks"]
    assert (fired.returncode, report["status"]) == (0, "skipped")
    [listed] = json.loads(world.hookline("list", "--json").stdout)["hooks"]
    assert listed["barred"].startswith("not trusted; ")


def test_naming_the_file_is_trusting_it(world: World) -> None:
    """--config runs what it names, as it is."""
    config = str(world.project / ".llxprt/settings.json")
    done = world.hookline("fire", "PreToolUse", "-c", config, "-p", PAYLOAD, "--json")
    assert (done.returncode, json.loads(done.stdout)["reason"]) == (2, "no")
