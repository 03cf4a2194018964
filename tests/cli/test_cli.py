"""The command line, as a real process: what is on stdout, what on stderr, which exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

BASH = '{"tool_name":"Bash","tool_input":{"command":"ls"}}'


def hookline(
    *words: str, stdin: str | None = None, cwd: Path | None = None, **env: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "hookline", *words],
        cwd=cwd,
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "NO_COLOR": "1", "COLUMNS": "120", **env},
        timeout=60,
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Hooks of two dialects: a guard that blocks, asks, crashes or injects as the command says, and a Goose scanner."""
    guard = tmp_path / "guard.py"
    guard.write_text(
        """#!/usr/bin/env python3
# Hook: Guard
# Event: PreToolUse
# Description: Judges commands
import json, sys
command = json.load(sys.stdin)["tool_input"].get("command", "")
if command == "rm": print("never rm", file=sys.stderr); sys.exit(2)
if command == "push": print(json.dumps({"decision": "ask", "message": "push now?"}))
if command == "crash": sys.exit(7)
if command == "escape": print("\\x1b[2J[bold]owned[/bold]")
"""
    )
    guard.chmod(0o755)
    (tmp_path / "settings.json").write_text(
        json.dumps({"hooks": {"PreToolUse": [{"path": "guard.py", "matcher": {"tool_name": "Bash"}}]}})
    )
    (tmp_path / "config.yaml").write_text(
        f"""hooks:
  pre_tool_use:
    - command: "sh -c 'cat > {tmp_path}/seen'"
  post_tool_use:
    - command: "sh -c 'cat > {tmp_path}/after; exit 3'"
"""
    )
    return tmp_path


def fire(project: Path, command: str, *more: str) -> subprocess.CompletedProcess[str]:
    payload = json.dumps({"tool_name": "Bash", "tool_input": {"command": command}})
    return hookline("fire", "PreToolUse", "--config", f"{project}/settings.json", "--payload", payload, *more)


@pytest.mark.parametrize(("command", "code"), [("ls", 0), ("rm", 2), ("push", 3), ("crash", 0)])
def test_the_exit_code_is_the_ruling(project: Path, command: str, code: int) -> None:
    """0 go on, 2 denied, 3 ask; a crash of a hook is none of them."""
    done = fire(project, command, "--json")
    assert done.returncode == code
    ruling = json.loads(done.stdout)
    assert ruling["decision"] == {0: "none", 2: "deny", 3: "ask"}[code]
    assert ruling["healthy"] is (command != "crash")
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""


def test_a_person_gets_a_sentence(project: Path) -> None:
    """The last line names the decision, the hook and the reason."""
    assert fire(project, "rm").stdout.splitlines()[-1] == "Denied by guard.py: never rm"
    assert fire(project, "push").stdout.splitlines()[-1] == "Ask first, says guard.py: push now?"
    assert "not all hooks are healthy" in fire(project, "crash").stdout.splitlines()[-1]
    assert "exited with 7" in fire(project, "crash").stdout


def test_nothing_a_hook_prints_commands_the_terminal(project: Path) -> None:
    """Escape sequences are shown as replacement characters and markup as it is written."""
    shown = fire(project, "escape").stdout
    assert "\x1b" not in shown
    assert "[bold]owned[/bold]" in shown


def test_on_failure_can_be_turned_round(project: Path) -> None:
    """--on-failure deny makes a crash a denial that says why."""
    done = fire(project, "crash", "--on-failure", "deny", "--json")
    assert done.returncode == 2
    assert "guard.py exited with 7" in json.loads(done.stdout)["reason"]
    assert fire(project, "crash", "--on-failure", "ask").returncode == 3


def test_two_dialects_each_get_their_own_payload(project: Path) -> None:
    """Two configurations give one ruling with a report for each hook, and each hook its own language."""
    done = fire(project, "ls", "--config", f"goose={project}/config.yaml", "--session", "s1", "--json")
    reports = json.loads(done.stdout)["hooks"]
    assert [reports[0][key] for key in ("hook", "dialect", "status")] == ["guard.py", "harness", "ran"]
    assert reports[1]["dialect"] == "goose"
    assert json.loads((project / "seen").read_text()) == {
        "event": "pre_tool_use",
        "session_id": "s1",
        "tool_name": "Bash",
        "tool_arguments": {"command": "ls"},
    }


def test_the_end_of_the_call_waits_for_background_hooks(project: Path) -> None:
    """A fire-and-forget hook has run, and its failure is reported, when the call ends."""
    payload = '{"tool_name":"Bash","tool_input":null,"tool_output":["a"]}'
    done = hookline("fire", "post_tool_use", "-c", f"{project}/config.yaml", "-p", payload, "--json")
    assert done.returncode == 0
    ruling = json.loads(done.stdout)
    assert [(r["status"], r["exit_code"]) for r in ruling["hooks"]] == [("failed", 3)]
    assert ruling["healthy"] is False
    assert "exited with 3, in the background" in ruling["notices"][0]["text"]
    assert json.loads((project / "after").read_text())["tool_result"] == '["a"]'


def test_payload_from_everywhere(project: Path, tmp_path: Path) -> None:
    """A payload comes as it is, from a file, or from standard input; a pasted one may name its event."""
    (tmp_path / "p.json").write_text('{"hook_event_name":"PreToolUse",' + BASH[1:])
    config = f"{project}/settings.json"
    for words, stdin in [([BASH], None), ([f"@{tmp_path}/p.json"], None), (["-"], BASH)]:
        assert hookline("fire", "PreToolUse", "-c", config, "-p", *words, stdin=stdin).returncode == 0
    wrong = hookline("fire", "Stop", "-c", config, "-p", f"@{tmp_path}/p.json")
    assert wrong.returncode == 64
    assert "the payload's hook_event_name is 'PreToolUse', but the event fired is Stop" in wrong.stderr


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["bogus"], 64, "there is no verb 'bogus'"),
        (["fier"], 64, "did you mean 'fire'"),
        (["fire"], 64, "the following arguments are required: EVENT"),
        (["fire", "Stop", "--nope"], 64, "unrecognized arguments: --nope"),
        (["fire", "Stop", "--confg", "x"], 64, "unrecognized arguments: --confg x; did you mean '--config'?"),
        (["tape", "show", "t", "--decison=ask"], 64, "did you mean '--decision'?"),
        (["tape", "shw", "t"], 64, "did you mean 'show'?"),
        (["list", "settings.json"], 64, "did you mean --config settings.json?"),
        (["explain", "Stop", "{}"], 64, "did you mean --payload '{}'?"),
        (["fire", "Stop", "--mask", "x"], 64, "--mask goes with --tape FILE"),
        (["fire", "Stop", "--fsync", "--no-masking"], 64, "--fsync and --no-masking go with --tape FILE"),
        (["tape", "verify", "t", "--expect", "@/no/such"], 64, "--expect @/no/such: cannot be read: No such file"),
        (["fire", "Stop", "--root", "/"], 64, "--root goes with --config"),
        (["fire", "PreTolUse", "-c", "SETTINGS"], 64, "did you mean 'PreToolUse'"),
        (["fire", "PreToolUse", "-c", "SETTINGS"], 64, "PreToolUse needs tool_input and tool_name"),
        (["fire", "Stop", "-c", "SETTINGS", "-p", "[1]"], 64, "--payload must be a JSON object, not a list"),
        (["fire", "Stop", "-c", "SETTINGS", "-p", "{"], 64, "--payload is not JSON"),
        (["fire", "Stop", "-c", "SETTINGS", "-p", " "], 64, "--payload is empty; it takes a JSON object such as {"),
        (["fire", "Stop", "-c", "SETTINGS", "-p", "{'a': 1}"], 64, "(JSON has double quotes only)"),
        (["fire", "Stop", "-c", "SETTINGS", "-p", "@/no/such"], 64, "--payload @/no/such: cannot be read"),
        (["fire", "Stop", "-c", "SETTINGS", "-p", '{"respons":"x"}'], 64, "did you mean 'response'"),
        (["fire", "Stop", "-c", "SETTINGS", "--cwd", "/no/such"], 64, "--cwd '/no/such' is not a directory"),
        (["fire", "Stop", "-c", "/no/such.json"], 78, "/no/such.json: there is no such configuration file"),
        (["fire", "Stop", "-c", "claude=SETTINGS"], 64, "no dialect is called 'claude'"),
        (["fire", "Stop", "-c", "goose="], 78, "names no file"),
        (["fire", "Stop", "-c", "SETTINGS", "--tape", "/"], 65, "the tape cannot be opened"),
        (["fire", "Stop", "-c", "SETTINGS", "--on-failure", "explode"], 64, "invalid choice"),
        (["list", "--where", "-c", "SETTINGS"], 64, "--where is about the files that are found"),
        (["trust", "/no/such"], 64, "'/no/such' is not a directory"),
        (["trust", "--list", "--revoke"], 64, "not allowed with argument"),
        (["explain", "Stop", "-c", "/"], 78, "is a directory"),
        (["events", "Nope"], 64, "no event is called"),
    ],
)
def test_mistakes_have_codes_and_sentences(project: Path, words: list[str], code: int, message: str) -> None:
    """A mistake is one sentence on stderr, nothing on stdout, never a traceback, never exit code 2."""
    done = hookline(*(word.replace("SETTINGS", f"{project}/settings.json") for word in words))
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr
    assert done.stderr.startswith("hookline: ")
    assert "Traceback" not in done.stderr


def test_without_a_configuration_files_are_found(tmp_path: Path) -> None:
    """No --config means discovery, here with nothing to find: no hooks, no ruling but to go on, no mistake."""
    env = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": "", "XDG_STATE_HOME": "", "ENGRAM_DIR": "", "PAI_DIR": ""}
    listed = hookline("list", cwd=tmp_path, **env)
    assert (listed.returncode, listed.stderr) == (0, "")
    assert listed.stdout.splitlines() == ["0 hooks.", "`hookline list --where` shows where they are looked for."]
    fired = hookline("fire", "Stop", "--json", cwd=tmp_path, **env)
    assert (fired.returncode, json.loads(fired.stdout)) == (
        0,
        {"event": "Stop", "decision": "none", "healthy": True},
    )
    assert "No hook listens to Stop." in hookline("explain", "Stop", cwd=tmp_path, **env).stdout


def test_naming_a_file_needs_neither_discovery_nor_trust(project: Path) -> None:
    """The start of `fire --config` is on the path of every tool call: what it does not need is not imported."""
    code = (
        "import sys; from hookline.cli import main; "
        f"main(['fire', 'PreToolUse', '-c', '{project}/settings.json', '-p', '{BASH}', '--json']); "
        "print([name for name in sys.modules if name.split('.')[-1] in ('discovery', 'trust', 'state', 'scripts')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_help_teaches() -> None:
    """No words, --help and the help of every verb show what can be done, with examples, on stdout."""
    bare = hookline()
    assert bare.returncode == 0
    assert bare.stdout == hookline("--help").stdout
    for verb in ("fire", "explain", "list", "trust", "events"):
        assert verb in bare.stdout
        done = hookline(verb, "--help")
        assert done.returncode == 0
        assert "examples:" in done.stdout
        assert hookline("help", verb).stdout == done.stdout
    assert hookline("--version").stdout.startswith("hookline ")
    assert hookline("-V").stdout == hookline("--version").stdout


def test_explain_runs_nothing(project: Path) -> None:
    """The plan shows who would run and who would not; no hook is started."""
    done = hookline(
        "explain", "PreToolUse", "-c", f"{project}/settings.json", "-c", f"{project}/config.yaml", "--json",
        "-p", '{"tool_name":"Edit","tool_input":{}}',
    )  # fmt: skip
    rows = json.loads(done.stdout)["hooks"]
    assert [(row["runs"], row.get("skipped"), row.get("wave")) for row in rows] == [
        (False, "no match: tool_name = Bash", None),
        (True, None, 0),
    ]
    assert rows[0]["source"] == f"{project}/settings.json#/hooks/PreToolUse/0"
    assert not (project / "seen").exists()
    table = hookline("explain", "Stop", "-c", f"{project}/settings.json").stdout
    assert "No hook listens to Stop." in table


def test_list_shows_what_hooks_say_of_themselves(project: Path) -> None:
    """The documentation header is shown; --json has it too."""
    done = hookline("list", "-c", f"{project}/settings.json")
    assert "Guard (guard.py)" in done.stdout
    assert "Judges commands" in done.stdout
    [row] = json.loads(hookline("list", "-c", f"{project}/settings.json", "--json").stdout)["hooks"]
    assert (row["title"], row["description"], row["matcher"]) == ("Guard", "Judges commands", "tool_name = Bash")


def test_events_lists_the_catalogue() -> None:
    """All 29, or one by any of its names."""
    assert len(json.loads(hookline("events", "--json").stdout)["events"]) == 29
    [row] = json.loads(hookline("events", "BeforeTool", "--json").stdout)["events"]
    assert row["event"] == "PreToolUse"
    assert row["spellings"]["goose"] == "pre_tool_use"
    assert "OnUnsettledDetected" in hookline("events").stdout


def test_a_reader_that_goes_away_is_no_denial(project: Path) -> None:
    """A closed stdout ends the call with something else than 2, and without noise."""
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "hookline", "events"]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, check=False, text=True)
    os.close(write)
    assert done.returncode == 70
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("words", [["list"], ["events", "Stop", "--json"]])
def test_an_answer_that_cannot_be_written(words: list[str]) -> None:
    """A full disk is no bug of ours, and is told as what it is."""
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "hookline", *words]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False, text=True)
    assert (done.returncode, done.stderr) == (
        70,
        "hookline: the answer could not be written: No space left on device\n",
    )


def test_nobody_at_a_terminal(project: Path) -> None:
    """For a file or another program no line is broken, cut, or filled up with blanks."""
    done = hookline("fire", "PreToolUse", "-c", f"{project}/settings.json", "-p", BASH, COLUMNS="")
    assert f"{project}" in done.stdout or "guard.py" in done.stdout
    assert not [line for line in done.stdout.splitlines() if line != line.rstrip()]
    listed = hookline("list", "-c", f"{project}/settings.json", COLUMNS="")
    assert f"    {project}/settings.json#/hooks/PreToolUse/0" in listed.stdout.splitlines()


def test_many_verbs_in_one_process() -> None:
    """`main` may be called again and again, whichever verbs were called before."""
    code = "from hookline.cli import main; print([main([w, *x]) for w, *x in (['list'], ['events', 'Stop'], ['list'])])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[0, 0, 0]"


def test_a_handler_that_fails_is_no_wrong_usage(tmp_path: Path) -> None:
    """Of a manifest's handler that raises, or answers nonsense: 65; with HOOKLINE_DEBUG=1 also where."""
    (tmp_path / "bad.py").write_text("def nonsense(event):\n    return True\n\ndef broken(event):\n    event['no']\n")
    for name, word in (("nonsense", "it answered True"), ("broken", "raised KeyError: 'no'")):
        (tmp_path / "harn.toml").write_text(f'[[hooks]]\nevent = "PreToolUse"\nhandler = "bad::{name}"\n')
        done = hookline("fire", "PreToolUse", "-c", f"{tmp_path}/harn.toml", "-p", BASH)
        assert (done.returncode, done.stdout) == (65, "")
        assert f"bad::{name} on PreToolUse: {word}" in done.stderr
        assert f"{tmp_path}/harn.toml#/hooks/0" in done.stderr
        assert "Traceback" not in done.stderr
        shown = hookline("fire", "PreToolUse", "-c", f"{tmp_path}/harn.toml", "-p", BASH, HOOKLINE_DEBUG="1")
        assert "Traceback" in shown.stderr


def test_a_file_with_an_equals_sign_in_its_name(project: Path) -> None:
    """`a=b.json` is that file if it exists; the dialect in front is only split off where it is one."""
    odd = project / "a=b.json"
    odd.write_text((project / "settings.json").read_text())
    done = subprocess.run(
        [sys.executable, "-m", "hookline", "list", "-c", "a=b.json", "--json"],
        cwd=project, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert len(json.loads(done.stdout)["hooks"]) == 1


def test_the_tape_of_a_call(project: Path) -> None:
    """--tape keeps the call and the ruling, and the hook is told its transcript's path."""
    tape = project / "tape.jsonl"
    fire(project, "rm", "--tape", str(tape))
    kinds = [json.loads(line)["kind"] for line in tape.read_text().splitlines()]
    assert kinds == ["event", "hook_call", "hook_returned", "hook_vetoed", "ruling"]
