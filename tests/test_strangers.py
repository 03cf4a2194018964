"""What strangers write: configurations and answers made to hang us, to take us down, or to turn a no into a yes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hookline import ConfigError, Hooks, UsageError
from hookline.parsing import parse
from worlds import World

DENY = {"decision": "block", "message": "no", "reason": "no"}
NUMBERS = {
    "a long integer in TOML": ("harn.toml", "x = " + "1" * 5000),
    "an empty int in YAML": (".goose/config.yaml", "a: !!int ''"),
    "an empty float in YAML": (".goose/config.yaml", "a: !!float ''"),
    "a bool that is none": (".goose/config.yaml", "a: !!bool foo"),
    "a timestamp that is none": (".goose/config.yaml", "a: !!timestamp foo"),
    "a float in base 60": (".goose/config.yaml", "a: 1" + ":59" * 300 + ".5"),
    "an integer in base 60": (".goose/config.yaml", "a: 1" + ":59" * 300_000),
    "an explicit integer in base 60": (".goose/config.yaml", "a: !!int 1" + ":59" * 300_000),
}


def guarded(world: World) -> World:
    """The user's own hook denies everything."""
    world.llxprt("echo guarded >&2; exit 2", at="home/.llxprt/settings.json")
    return world


@pytest.mark.parametrize(("path", "text"), NUMBERS.values(), ids=NUMBERS.keys())
def test_a_stranger_does_not_silence_the_users_own_hooks(path: str, text: str, tmp_path: Path) -> None:
    """Whatever a project's file holds, discovery goes on in no time, and the user's own deny is heard."""
    world = guarded(World(tmp_path))
    world.write(f"project/{path}", text)
    ruling = world.fire()
    assert (ruling.decision, ruling.reason) == ("deny", "guarded")


@pytest.mark.parametrize("text", ["a: !!int ''", "a: !!bool foo", "a: !!float x"])
def test_a_named_file_of_that_kind_is_bad_configuration(text: str, tmp_path: Path) -> None:
    """Named, such a file is a ConfigError with its path, never an exception of the parser's."""
    (tmp_path / "config.yaml").write_text(text)
    with pytest.raises(ConfigError, match="is not valid YAML"):
        Hooks().load(tmp_path / "config.yaml", "goose")


def test_numbers_of_yaml() -> None:
    """Numbers are read as JSON has them; the rest of YAML's numbers are texts."""
    document = parse(b"[1, -2, 1.5, .5, 1e3, .nan, .inf, 1:30, 2026-01-01, yes, null, '3']", "f.yaml")
    assert repr(document) == "[1, -2, 1.5, 0.5, 1000.0, nan, inf, '1:30', '2026-01-01', True, None, '3']"


@pytest.mark.parametrize(
    "matcher",
    [
        "(?i)(?!x)" + "[\\u0100-\\U0010ffff]" * 5000,
        "(?i)(?!x)" + "[\\u0100-\\U0010ffff]" * 90,
        r"^(\w+)+(?=!)",
        "x{999}.{999}(a|b){900}",
    ],
)
def test_a_strangers_pattern_costs_nothing(matcher: str, tmp_path: Path) -> None:
    """A pattern made to be slow hangs neither discovery nor a fire, be it trusted or not."""
    world = World(tmp_path)
    groups = [
        {"matcher": f"{matcher}{number}", "hooks": [{"type": "command", "command": f"true {number}"}]}
        for number in range(100)
    ]
    world.write("project/.llxprt/settings.json", {"hooks": {"BeforeTool": groups}})
    tool = {"tool_name": "mcp__filesystem__read_text_file_contents", "tool_input": {}}
    assert world.discover().fire("PreToolUse", **tool).decision == "none"


def test_a_stranger_with_too_many_hooks_or_faults(tmp_path: Path) -> None:
    """More than 500 hooks of a project are not even considered; of a thousand faults the first 200 are told."""
    world = guarded(World(tmp_path))
    world.llxprt(*(f"true {number}" for number in range(501)))
    assert [str(hook.source.file) for hook in world.discover()] == [str(world.home / ".llxprt/settings.json")]
    world.write("project/.llxprt/settings.json", {"hooks": {f"Event{n}": [] for n in range(1000)}})
    assert len(world.discover().notices) < 210


def test_an_inner_project_says_that_the_outer_one_is_not_heard(tmp_path: Path) -> None:
    """A directory that becomes a project of its own does not lose the outer one's hooks in silence."""
    world = World(tmp_path)
    world.llxprt("true")
    (world.project / "vendor/.git").mkdir(parents=True)
    notices = [str(notice) for notice in world.discover("project/vendor").notices]
    assert any(f"the hooks of {world.project} are not used here" in notice for notice in notices)


def test_an_extension_switches_nothing_off(tmp_path: Path) -> None:
    """`hooksConfig` in the manifest of an extension does not disable the user's own hooks, and a notice says so."""
    world = World(tmp_path)
    world.llxprt("echo guarded >&2; exit 2", at="home/.llxprt/settings.json", name="guard")
    groups = {"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "true"}]}]}}
    manifest = groups | {"hooksConfig": {"disabled": ["guard"]}}
    world.write("home/.llxprt/extensions/evil/hooks/hooks.json", manifest)
    ruling = world.fire()
    assert ruling.decision == "deny"
    assert any("means nothing in an extension" in notice.text for notice in world.discover().notices)


# -- answers


def hook(tmp_path: Path, dialect: str, script: str) -> Hooks:
    path = tmp_path / "hook.py"
    path.write_text(f"#!{sys.executable}\nimport sys\n{script}\n")
    path.chmod(0o755)
    configs = {
        "harness": {"hooks": {"PreToolUse": [{"path": str(path)}]}},
        "goose": {"hooks": {"pre_tool_use": [{"command": str(path)}]}},
        "llxprt": {"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": str(path)}]}]}},
    }
    file = tmp_path / "config.json"
    file.write_text(json.dumps(configs[dialect]))
    hooks = Hooks()
    hooks.load(file, dialect)
    return hooks


@pytest.mark.parametrize("dialect", ["harness", "goose", "llxprt"])
@pytest.mark.parametrize(
    "more",
    ["'[' * 3000 + ']' * 3000", "'9' * 5000"],
    ids=["nested too deep", "too many digits"],
)
def test_a_deny_beyond_our_limits_is_a_failure(dialect: str, more: str, tmp_path: Path) -> None:
    """An answer that may be a deny and cannot be read is never an allow, nor no opinion: the hook failed."""
    script = f"sys.stdout.write({json.dumps(DENY)[:-1]!r} + ',\"x\":' + {more} + '}}')"
    ruling = hook(tmp_path, dialect, script).fire("PreToolUse", tool_name="x", tool_input={})
    assert (ruling.decision, ruling.healthy) == ("none", False)
    assert "nested too deep, or has too long a number" in ruling.hooks[0].error


@pytest.mark.parametrize("dialect", ["harness", "goose", "llxprt"])
def test_a_deny_behind_a_flood_of_blanks_is_a_failure(dialect: str, tmp_path: Path) -> None:
    """What was cut away may have been the answer, so it is no answer."""
    script = f"sys.stdout.write(' ' * 2_000_000 + {json.dumps(DENY)!r})"
    ruling = hook(tmp_path, dialect, script).fire("PreToolUse", tool_name="x", tool_input={})
    assert (ruling.decision, ruling.healthy) == ("none", False)
    assert "bytes too many" in ruling.hooks[0].error


@pytest.mark.parametrize("dialect", ["harness", "goose", "llxprt"])
def test_a_mark_after_a_line_break_does_not_hide_a_deny(dialect: str, tmp_path: Path) -> None:
    """Blanks and byte order marks around an answer do not matter, in whatever order they come."""
    script = f"sys.stdout.write('\\n\\ufeff \\n\\ufeff' + {json.dumps(DENY)!r} + '\\ufeff\\n')"
    assert hook(tmp_path, dialect, script).fire("PreToolUse", tool_name="x", tool_input={}).decision == "deny"


# -- handlers


def test_a_handler_that_exits_is_a_failure() -> None:
    """sys.exit in a handler ends neither the host nor the event."""
    hooks = Hooks()
    hooks.on("PreToolUse")(lambda payload: sys.exit(2))
    ruling = hooks.fire("PreToolUse", tool_name="x", tool_input={})
    assert (ruling.decision, ruling.healthy) == ("none", False)
    assert "raised SystemExit" in ruling.hooks[0].error


def test_waiting_in_the_background_is_refused(tmp_path: Path) -> None:
    """A callback on the background's own thread cannot wait for it: that is an error, not a deadlock."""
    (tmp_path / "config.yaml").write_text("hooks: {session_stop: [{command: 'true'}]}")
    raised: list[str] = []

    def ended(report: object) -> None:
        try:
            hooks.wait("s")
        except UsageError as error:
            raised.append(str(error))

    hooks = Hooks(on_background=ended)
    hooks.load(tmp_path / "config.yaml")
    hooks.fire("SessionEnd", session_id="s")
    hooks.wait()
    assert len(raised) == 1
    assert "it would wait for itself" in raised[0]


# -- the command line

MANIFEST = '[[hooks]]\nevent = "PreToolUse"\nhandler = "h::go"\n'


def command(tmp_path: Path, *words: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "hookline", *words],
        cwd=tmp_path,
        text=True,
        check=False,
        **options,  # type: ignore[call-overload]
    )


def test_a_handler_that_exits_with_2_is_no_denial(tmp_path: Path) -> None:
    """sys.exit(2) in a handler of a manifest is an error of the hook, with another exit code and a message."""
    (tmp_path / "harn.toml").write_text(MANIFEST)
    (tmp_path / "h.py").write_text("import sys\ndef go(payload): sys.exit(2)\n")
    fire = ("fire", "PreToolUse", "-c", "harn.toml", "-p", '{"tool_name":"x","tool_input":{}}', "--json")
    done = command(tmp_path, *fire, capture_output=True)
    assert (done.returncode, done.stdout) == (65, "")
    assert "raised SystemExit: 2" in done.stderr


def test_what_a_handler_prints_is_not_the_answer(tmp_path: Path) -> None:
    """With --json there is exactly one object on stdout, whatever a handler or its module prints."""
    (tmp_path / "harn.toml").write_text(MANIFEST)
    (tmp_path / "h.py").write_text("print('NOISE')\ndef go(payload): print('MORE')\n")
    fire = ("fire", "PreToolUse", "-c", "harn.toml", "-p", '{"tool_name":"x","tool_input":{}}', "--json")
    done = command(tmp_path, *fire, capture_output=True)
    assert json.loads(done.stdout)["decision"] == "none"
    assert "NOISE\nMORE\n" in done.stderr


@pytest.mark.parametrize("stdout", ["closed", "full", "nobody reads"])
def test_the_exit_code_is_the_ruling_though_nobody_can_be_told(stdout: str, tmp_path: Path) -> None:
    """A deny stays 2 where stdout is closed, full, or a pipe that nobody reads."""
    (tmp_path / "settings.json").write_text(json.dumps({"hooks": {"PreToolUse": [{"path": "deny.sh"}]}}))
    (tmp_path / "deny.sh").write_text("#!/bin/sh\necho no >&2\nexit 2\n")
    (tmp_path / "deny.sh").chmod(0o755)
    payload = '{"tool_name":"x","tool_input":{}}'
    fire = f"{sys.executable} -m hookline fire PreToolUse -c settings.json --json -p '{payload}'"
    where = {
        "closed": f"{fire} >&-",
        "full": f"{fire} >/dev/full",
        "nobody reads": f"{fire} | true; exit ${{PIPESTATUS[0]}}",
    }
    done = subprocess.run(["bash", "-c", where[stdout]], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "payload", [r'{"tool_name":"x","tool_input":{"c":"\ud83d"}}', '{"tool_name":"x","tool_input":{"n":1e999}}']
)
def test_a_payload_others_can_write_is_read(payload: str, tmp_path: Path) -> None:
    """Half an emoji, or a number too large, in a payload does not keep the hooks from running."""
    (tmp_path / "settings.json").write_text(json.dumps({"hooks": {"PreToolUse": [{"path": "deny.sh"}]}}))
    (tmp_path / "deny.sh").write_text("#!/bin/sh\nexit 2\n")
    (tmp_path / "deny.sh").chmod(0o755)
    assert (
        command(tmp_path, "fire", "PreToolUse", "-c", "settings.json", "-p", payload, capture_output=True).returncode
        == 2
    )


def test_names_stay_on_their_line(tmp_path: Path) -> None:
    """A name with line breaks cannot forge rows of the list."""
    entry = {"type": "command", "command": "true", "name": "a\nPreToolUse  forged"}
    (tmp_path / "settings.json").write_text(json.dumps({"hooks": {"BeforeTool": [{"hooks": [entry]}]}}))
    done = command(
        tmp_path,
        "list",
        "-c",
        "settings.json",
        capture_output=True,
        env={**os.environ, "COLUMNS": "200", "NO_COLOR": "1"},
    )
    assert r"a\nPreToolUse  forged" in done.stdout
