"""LLxprt Code: its configuration, its payloads, what its hooks' outcomes mean, how they are ordered and merged."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from hookline import ConfigError, Hooks, Ruling, engine
from hookline.dialects import llxprt
from hookline.model import (
    EVERYTHING,
    Command,
    Event,
    Hook,
    Job,
    Outcome,
    Redaction,
    Source,
    Tools,
    Verdict,
)
from hookline.planning import plan
from hookline.runners import process

FILE = "/p/.llxprt/settings.json"
PROJECT_DIR = ("LLXPRT_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR")
ELEVEN = {
    "BeforeTool": "PreToolUse",
    "AfterTool": "PostToolUse",
    "BeforeAgent": "UserPromptSubmit",
    "AfterAgent": "Stop",
    "BeforeModel": "BeforeModel",
    "AfterModel": "AfterModel",
    "BeforeToolSelection": "BeforeToolSelection",
    "SessionStart": "SessionStart",
    "SessionEnd": "SessionEnd",
    "PreCompress": "PreCompact",
    "Notification": "Notification",
}
DENIABLE = ("BeforeTool", "BeforeAgent", "BeforeModel", "AfterAgent")
REQUEST = {"model": "m", "messages": [{"role": "user", "content": "q"}]}
RESPONSE = {"candidates": [{"content": {"role": "model", "parts": ["a"]}, "finishReason": "STOP"}]}
PAYLOADS: dict[str, dict[str, Any]] = {
    "BeforeTool": {"tool_name": "write_file", "tool_input": {"path": "a"}},
    "AfterTool": {"tool_name": "write_file", "tool_input": {"path": "a"}, "tool_output": "done"},
    "BeforeAgent": {"prompt": "p"},
    "AfterAgent": {"prompt": "p", "response": "r", "stop_hook_active": False},
    "BeforeModel": {"llm_request": REQUEST},
    "AfterModel": {"llm_request": REQUEST, "llm_response": RESPONSE},
    "BeforeToolSelection": {"llm_request": REQUEST},
    "SessionStart": {"source": "startup"},
    "SessionEnd": {"reason": "exit"},
    "PreCompress": {"trigger": "auto"},
    "Notification": {"message": "m"},
}


def command(text: str, timeout: float = 60.0, **options: Any) -> Command:
    """What an entry with this command comes to."""
    options = {"grace": 5.0, "shell": True, "cwd_variables": PROJECT_DIR} | options
    return Command(("bash", "-c", text), timeout, **options)


def hook(spelling: str, text: str = "h", at: str = "0/hooks/0", **options: Any) -> Hook:
    """The hook of an entry with this command, in the settings of a project."""
    options = {"action": command(text), "parallel": True, "priority": 1, "dedupe": text, "name": text} | options
    source = Source(FILE, f"/hooks/{spelling}/{at}")
    return Hook(event=ELEVEN[spelling], dialect="llxprt", source=source, **options)


def event(spelling: str = "BeforeTool", **payload: Any) -> Event:
    return Event(ELEVEN[spelling], payload or PAYLOADS[spelling], "s", "/w", "t", "/tape")


def groups(*entries: dict[str, Any], **group: Any) -> dict[str, Any]:
    """Settings with one group on BeforeTool."""
    return {"hooks": {"BeforeTool": [{**group, "hooks": list(entries)}]}}


def entry(text: str = "h", **more: Any) -> dict[str, Any]:
    return {"type": "command", "command": text, **more}


def read(document: Any, file: str = FILE, **options: Any) -> tuple[list[Hook], list[str]]:
    """The hooks of a document without their compiled matchers, and its notices without the file's name."""
    loaded = llxprt.read(document, file, environ={}, **options)
    notices = [str(notice).removeprefix(f"{file}#") for notice in loaded.notices]
    return [replace(found, matcher=EVERYTHING) for found in loaded.hooks], notices


def exited(code: int = 0, stdout: Any = "", stderr: str = "", **more: Any) -> Outcome:
    text = stdout if isinstance(stdout, str) else json.dumps(stdout)
    return Outcome("exited", code, stdout=text, stderr=stderr, **more)


def specific(**members: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": members}


# -- configuration: sections 6 and 7


def test_the_settings_of_the_specification() -> None:
    """A group with everything comes to hooks with seconds, a shell, three variables, a tier and a pointer."""
    document = {
        "theme": "dark",
        "hooks": {
            "BeforeTool": [
                {
                    "matcher": "write_.*",
                    "sequential": True,
                    "hooks": [
                        {
                            "type": "command",
                            "command": "$LLXPRT_PROJECT_DIR/guard.sh",
                            "timeout": 5000,
                            "name": "guard",
                            "description": "Guards.",
                            "env": {"LEVEL": "3"},
                            "on_failure": "deny",
                        },
                        {"type": "command", "command": "log"},
                    ],
                }
            ],
            "AfterModel": [{"hooks": [{"type": "command", "command": "log"}]}],
        },
    }
    guard = "$LLXPRT_PROJECT_DIR/guard.sh"
    assert read(document) == (
        [
            hook(
                "BeforeTool",
                guard,
                name="guard",
                action=command(guard, 5.0, env={"LEVEL": "3"}),
                parallel=False,
                on_failure="deny",
            ),
            hook("BeforeTool", "log", "0/hooks/1", parallel=False),
            hook("AfterModel", "log"),
        ],
        [],
    )
    texts = [found.matcher.text for found in llxprt.read(document, FILE, environ={}).hooks]
    assert texts == ["tool_name ~ write_.*", "tool_name ~ write_.*", ""]


def test_the_eleven_events() -> None:
    """LLxprt has eleven events, each with the effects its matrix gives it and no other."""
    assert llxprt.EVENTS == ELEVEN
    matrix = {
        "BeforeTool": {"deny", "tool_input", "halt", "messages"},
        "AfterTool": {"halt", "context", "suppress_output", "messages"},
        "BeforeModel": {"deny", "llm_request", "llm_response", "halt"},
        "AfterModel": {"llm_response", "halt", "suppress_output", "messages"},
        "BeforeToolSelection": {"tools", "halt"},
        "BeforeAgent": {"deny", "halt", "context", "messages"},
        "AfterAgent": {"deny", "halt", "clear_context", "context", "suppress_output", "messages"},
        "SessionStart": {"context", "messages"},
        "SessionEnd": {"suppress_output", "messages"},
        "PreCompress": {"suppress_output", "messages"},
        "Notification": {"suppress_output", "messages"},
    }
    assert {name: set(effects) for name, effects in llxprt.EFFECTS.items()} == {
        ELEVEN[spelling]: effects for spelling, effects in matrix.items()
    }


@pytest.mark.parametrize(
    ("given_entry", "name", "timeout"),
    [
        (entry("a b"), "a b", 60.0),
        (entry(timeout=None), "h", 60.0),
        (entry(timeout=100), "h", 0.1),
        (entry(timeout=1500.5), "h", 1.5005),
        (entry(timeout=3_600_000), "h", 3600.0),
        (entry(name=" guard "), "guard", 60.0),
        (entry(name=""), "h", 60.0),
        (entry(description="d"), "h", 60.0),
    ],
)
def test_an_entry(given_entry: dict[str, Any], name: str, timeout: float) -> None:
    """The name identifies a hook, else its command does; milliseconds become seconds, 60000 of them by default."""
    hooks, notices = read(groups(given_entry))
    assert [(found.name, found.action.timeout) for found in hooks] == [(name, pytest.approx(timeout))]
    assert notices == []


NO_MATCHER = "/matcher: matcher must be a string, not "
WRITE = 'so this hook is skipped; write "type": "command"'


@pytest.mark.parametrize(
    ("bad", "notice"),
    [
        ("x", ": a hook is an object, not a string; skipped: 'x'"),
        (None, ": a hook is an object, not null; skipped: None"),
        ({"command": "x"}, f": type is missing, {WRITE}"),
        (entry(type=None), f"/type: type must be 'command', not None, {WRITE}"),
        (
            entry(type="Command"),
            "/type: type must be 'command', not 'Command', so this hook is skipped; did you mean 'command'?",
        ),
        (entry(type="runtime"), f"/type: type must be 'command', not 'runtime', {WRITE}"),
        (entry(type=["command"]), f"/type: type must be 'command', not ['command'], {WRITE}"),
        ({"type": "command"}, ": command is missing; this hook is skipped"),
        (entry(""), "/command: command must be a non-empty string, not a string ''; this hook is skipped"),
        (entry(" \n"), "/command: command must be a non-empty string, not a string ' \\n'; this hook is skipped"),
        (entry(["x"]), "/command: command must be a non-empty string, not a list ['x']; this hook is skipped"),
        (entry(env=[]), "/env: env must map names to strings, not []; this hook is skipped"),
        (entry(env={"A": None}), "/env: env must map names to strings, not {'A': None}; this hook is skipped"),
    ],
)
def test_a_bad_entry_is_dropped(bad: Any, notice: str) -> None:
    """What is wrong with an entry is a notice with its pointer, and its neighbours stay."""
    hooks, notices = read(groups(bad, entry("good")))
    assert [found.name for found in hooks] == ["good"]
    assert notices == [f"/hooks/BeforeTool/0/hooks/0{notice}"]


@pytest.mark.parametrize(
    ("bad", "notices"),
    [
        (None, [": a group of hooks is an object, not null; skipped: None"]),
        ([], [": a group of hooks is an object, not a list; skipped: []"]),
        ({}, [": has no list of hooks; this group is skipped"]),
        ({"hooks": None}, ["/hooks: has no list of hooks; this group is skipped"]),
        ({"hooks": {"0": entry()}}, ["/hooks: needs a list of hooks, not an object; this group is skipped"]),
        (
            entry(),
            [
                "/type: unknown key 'type', ignored",
                "/command: unknown key 'command', ignored",
                ": has no list of hooks; this group is skipped",
            ],
        ),
        ({"matcher": 7, "hooks": [entry()]}, [f"{NO_MATCHER}a number 7; this group is skipped"]),
        ({"matcher": ["w"], "hooks": [entry()]}, [f"{NO_MATCHER}a list ['w']; this group is skipped"]),
        ({"matcher": False, "hooks": [entry()]}, [f"{NO_MATCHER}a boolean False; this group is skipped"]),
    ],
)
def test_a_bad_group_is_dropped(bad: Any, notices: list[str]) -> None:
    """What is wrong with a group costs that group alone; a matcher that is no string never voids the others."""
    hooks, found = read({"hooks": {"BeforeTool": [bad, {"hooks": [entry("good")]}]}})
    assert [(hook.name, hook.source.pointer) for hook in hooks] == [("good", "/hooks/BeforeTool/1/hooks/0")]
    assert found == [f"/hooks/BeforeTool/0{text}" for text in notices]


def test_an_empty_group_is_nothing() -> None:
    """A group without entries, an event without groups and an event of null come to no hooks and no notices."""
    assert read({"hooks": {"BeforeTool": [{"hooks": []}], "AfterTool": [], "BeforeModel": None}}) == ([], [])


@pytest.mark.parametrize(
    ("more", "timeout", "notice"),
    [
        ({"timeout": 0}, 60.0, "/timeout: timeout must be a positive number, not 0; 60 s is used"),
        ({"timeout": -5}, 60.0, "/timeout: timeout must be a positive number, not -5; 60 s is used"),
        ({"timeout": "5000"}, 60.0, "/timeout: timeout must be a positive number, not '5000'; 60 s is used"),
        ({"timeout": True}, 60.0, "/timeout: timeout must be a positive number, not True; 60 s is used"),
        ({"timeout": 30}, 0.03, "/timeout: timeout is in milliseconds here: 30 is 30 ms; was it meant in seconds?"),
        ({"timeout": 1e8}, 86400.0, "/timeout: timeout is in milliseconds here: 100000000.0 is 86400 s; is it meant?"),
        ({"name": 7}, 60.0, "/name: name must be a string, not a number 7; ignored"),
        ({"on_failure": "block"}, 60.0, "/on_failure: on_failure must be 'ask' or 'deny', not 'block'; ignored"),
        ({"comand": "x"}, 60.0, "/comand: unknown key 'comand', ignored; did you mean 'command'?"),
    ],
)
def test_an_odd_value_keeps_the_hook(more: dict[str, Any], timeout: float, notice: str) -> None:
    """A timeout that is no positive number is the default, a doubtful one is kept, an unknown key is ignored."""
    hooks, notices = read(groups(entry(**more)))
    assert [(found.name, found.action.timeout) for found in hooks] == [("h", pytest.approx(timeout))]
    assert notices == [f"/hooks/BeforeTool/0/hooks/0{notice}"]


def test_odd_keys_of_a_group_keep_it() -> None:
    """sequential is true or false; a description is welcome, an unknown key is ignored; both are noticed."""
    hooks, notices = read(groups(entry(), sequential="true", description="d", matchers="x"))
    assert [found.parallel for found in hooks] == [True]
    assert notices == [
        "/hooks/BeforeTool/0/matchers: unknown key 'matchers', ignored; did you mean 'matcher'?",
        "/hooks/BeforeTool/0/sequential: must be true or false, not 'true'; false is used",
    ]


@pytest.mark.parametrize("spelling", ["PreToolUse", "beforetool", "before_tool", "UserPromptSubmit", "Stop", "Hooks"])
def test_an_unknown_event_is_skipped(spelling: str) -> None:
    """A settings file speaks LLxprt's own eleven spellings; any other key is a notice, and the others load."""
    hooks, [notice] = read({"hooks": {spelling: [{"hooks": [entry("x")]}], "AfterTool": [{"hooks": [entry("y")]}]}})
    assert [found.name for found in hooks] == ["y"]
    assert notice.startswith(f"/hooks/{spelling}: no event is called '{spelling}'")


@pytest.mark.parametrize("listed", [{}, {"hooks": [entry()]}, "x", 7, True])
def test_an_event_that_is_no_list_is_skipped(listed: Any) -> None:
    """An event must hold a list of groups; the other events stay."""
    hooks, [notice] = read({"hooks": {"BeforeTool": listed, "AfterTool": [{"hooks": [entry("y")]}]}})
    assert [found.name for found in hooks] == ["y"]
    assert notice.startswith("/hooks/BeforeTool: must be a list of hooks, not ")


@pytest.mark.parametrize("document", [[], "x", {"hooks": []}, {"hooks": "x"}, {"hooks": 7}])
def test_a_document_that_is_none_is_an_error(document: Any) -> None:
    """Settings are an object, and so are its hooks; anything else cannot be loaded."""
    with pytest.raises(ConfigError):
        read(document)


def test_settings_without_hooks_configure_nothing() -> None:
    """A settings file need not have hooks."""
    loaded = llxprt.read({"theme": "dark"}, FILE, environ={})
    assert [str(notice) for notice in loaded.notices] == [f"{FILE}: has no key 'hooks', so it configures nothing"]


def test_plugins_are_kept_and_fail() -> None:
    """An entry of the type plugin passes, needs no command, can never start, and is nobody's duplicate."""
    hooks, notices = read(groups({"type": "plugin", "name": "p"}, {"type": "plugin", "command": "c"}, entry("plugin")))
    fault = "cannot start: it is of the type plugin, which is only a name here"
    assert [(found.name, found.action.fault, found.dedupe) for found in hooks] == [
        ("p", fault, ""),
        ("c", fault, ""),
        ("plugin", "", "plugin"),
    ]
    assert notices == [f"/hooks/BeforeTool/0/hooks/{i}/type: {fault}; it fails whenever it is due" for i in (0, 1)]


@pytest.mark.parametrize("spelling", ["BeforeTool", "AfterTool"])
@pytest.mark.parametrize(
    ("matcher", "tool", "fires"),
    [
        (None, "any", True),
        ("", "any", True),
        ("  ", "any", True),
        ("*", "any", True),
        (" * ", "any", True),
        ("write", "write_file", True),
        ("write", "overwrite_file", True),
        ("write", "Write_file", False),
        (" write ", "write_file", True),
        ("write_*", "overwrite", True),
        ("write_*", "writ_", False),
        ("write*", "overwrit", True),
        ("^write_file$", "write_file", True),
        ("^write_file$", "write_file\n", False),
        ("^write_file$", "xwrite_file", False),
        ("write|edit", "edit", True),
        (".*", "any", True),
        ("mcp__.*__read", "mcp__fs__read", True),
        ("(?!write)", "read", True),
        ("^(?!write)", "write_file", False),
        (r"(\w)\1", "book", True),
        ("x", "", True),
    ],
)
def test_tool_matchers(spelling: str, matcher: str | None, tool: str, fires: bool) -> None:
    """On tool events a matcher is trimmed, then a regular expression found anywhere in the tool's name."""
    group = {"hooks": [entry()]} | ({} if matcher is None else {"matcher": matcher})
    loaded = llxprt.read({"hooks": {spelling: [group]}}, FILE, environ={})
    assert loaded.notices == ()
    assert loaded.hooks[0].matcher.test(event(spelling, tool_name=tool, tool_input={})) is fires


@pytest.mark.parametrize("pattern", ["write[", "*x", "a(b", "x{2,1}", "[^]", r"\y", "(?<=a+)b"])
def test_an_invalid_expression_is_compared_literally(pattern: str) -> None:
    """What no engine understands is the name of a tool, and a notice says so at load."""
    loaded = llxprt.read(groups(entry(), matcher=pattern), FILE, environ={})
    [notice] = loaded.notices
    assert str(notice).startswith(f"{FILE}#/hooks/BeforeTool/0/matcher: {pattern!r} is not a regular expression")
    assert notice.text.endswith("it is compared with the name of the tool as it stands")
    test = loaded.hooks[0].matcher.test
    assert test(event(tool_name=pattern, tool_input={}))
    assert not test(event(tool_name="write", tool_input={}))


@pytest.mark.parametrize(
    ("spelling", "field", "default"),
    [("SessionStart", "source", "startup"), ("SessionEnd", "reason", "exit"), ("PreCompress", "trigger", "auto")],
)
def test_session_matchers_are_compared(spelling: str, field: str, default: str) -> None:
    """These matchers equal the field or they do not; a host that does not say gets the default, as its hooks do."""

    def fires(matcher: str, **payload: Any) -> bool:
        document = {"hooks": {spelling: [{"matcher": matcher, "hooks": [entry()]}]}}
        [found] = llxprt.read(document, FILE, environ={}).hooks
        return found.matcher.test(Event(ELEVEN[spelling], payload))

    assert fires("other", **{field: "other"})
    assert fires(" other ", **{field: "other"})
    assert not fires("oth", **{field: "other"})
    assert not fires("Other", **{field: "other"})
    assert not fires(f"other|{default}", **{field: "other"})
    assert fires(default)
    assert fires(default, **{field: ""})
    assert llxprt.encode(hook(spelling), Event(ELEVEN[spelling], {field: ""}))[field] == default


@pytest.mark.parametrize(
    "spelling", ["BeforeModel", "AfterModel", "BeforeToolSelection", "BeforeAgent", "AfterAgent", "Notification"]
)
def test_a_matcher_on_an_event_with_nothing_to_match(spelling: str) -> None:
    """It is ignored, with a notice at load; the hooks always run."""
    loaded = llxprt.read({"hooks": {spelling: [{"matcher": "x", "hooks": [entry()]}]}}, FILE, environ={})
    assert loaded.hooks[0].matcher is EVERYTHING
    assert [str(notice) for notice in loaded.notices] == [
        f"{FILE}#/hooks/{spelling}/0/matcher: {spelling} has nothing a matcher could look at; the hooks always run"
    ]


@pytest.mark.parametrize(
    ("switches", "key"),
    [
        ({}, ""),
        ({"enableHooks": True, "tools": {"enableHooks": True}, "hooksConfig": {"enabled": True}}, ""),
        ({"enableHooks": False}, "enableHooks"),
        ({"tools": {"enableHooks": False}}, "tools.enableHooks"),
        ({"hooksConfig": {"enabled": False}}, "hooksConfig.enabled"),
        ({"enableHooks": True, "hooksConfig": {"enabled": False}}, "hooksConfig.enabled"),
        ({"enableHooks": 0, "tools": [], "hooksConfig": {"enabled": "false"}}, ""),
    ],
)
def test_hooks_are_on_unless_switched_off(switches: dict[str, Any], key: str) -> None:
    """Any of three switches, literally false, keeps a file's hooks from running; they stay listed, with the reason."""
    [found], notices = read(groups(entry()) | switches)
    assert found.barred == (f"switched off by {key} in {FILE}" if key else "")
    assert notices == []


def test_legacy_keys_are_migrated() -> None:
    """enabled, disabled and notifications beside the events count, with a notice, unless hooksConfig says otherwise."""
    legacy = {"enabled": False, "disabled": ["h"], "notifications": False}
    document = {"hooks": legacy | groups(entry())["hooks"]}
    loaded = llxprt.read(document, FILE, environ={})
    assert loaded.hooks[0].barred == f"switched off by hooksConfig.enabled in {FILE}"
    assert loaded.disabled == ("h",)
    assert [str(notice) for notice in loaded.notices] == [
        f"{FILE}#/hooks/{key}: belongs under hooksConfig: write hooksConfig.{key}" for key in legacy
    ]
    newer = llxprt.read(document | {"hooksConfig": {"enabled": True, "disabled": []}}, FILE, environ={})
    assert (newer.hooks[0].barred, newer.disabled) == ("", ())


@pytest.mark.parametrize(
    ("config", "disabled", "notices"),
    [
        ({"disabled": ["guard", "log"]}, ("guard", "log"), []),
        ({"disabled": []}, (), []),
        ({"disabled": ["gaurd"]}, ("gaurd",),
         ["/hooksConfig/disabled: no hook of this file is called 'gaurd'; did you mean 'guard'?"]),
        ({"disabled": ["check"]}, ("check",), ["/hooksConfig/disabled: no hook of this file is called 'check'"]),
        ({"disabled": "guard"}, (),
         ["/hooksConfig/disabled: must be a list of names of hooks, not 'guard'; ignored"]),
        ({"disabled": [1]}, (), ["/hooksConfig/disabled: must be a list of names of hooks, not [1]; ignored"]),
        ([], (), ["/hooksConfig: must be an object, not a list []; ignored"]),
    ],
)  # fmt: skip
def test_disabling(config: Any, disabled: tuple[str, ...], notices: list[str]) -> None:
    """A hook is disabled by its name, or by its command where it has none; an unknown name is noticed."""
    document = groups(entry("check", name="guard"), entry("log")) | {"hooksConfig": config}
    loaded = llxprt.read(document, FILE, environ={})
    assert loaded.disabled == disabled
    assert [str(notice).removeprefix(f"{FILE}#") for notice in loaded.notices] == notices


@pytest.mark.parametrize("name", ["llxprt-extension.json", "gemini-extension.json", "hooks/hooks.json"])
def test_extensions(name: str) -> None:
    """An extension's hooks come last, and find the extension, the workspace and the separator in their environment."""
    text = "${extensionPath}${/}x ${workspacePath} ${pathSeparator}"
    [found], notices = read(groups(entry(text, env={"A": "b"})), f"/ext/{name}")
    assert found.priority == 4
    assert found.action == command(
        "${extensionPath}/x ${workspacePath} ${pathSeparator}",
        env={"extensionPath": "/ext", "pathSeparator": "/", "A": "b"},
        cwd_variables=(*PROJECT_DIR, "workspacePath"),
    )
    assert found.dedupe == "/ext/x ${workspacePath} ${pathSeparator}"
    assert notices == []


def test_settings_are_no_extension() -> None:
    """In a settings file `${/}` and `${extensionPath}` are the shell's business; hooks.json needs its directory."""
    for file in (FILE, "/ext/hooks.json", "/ext/hooks/settings.json"):
        [found], _ = read(groups(entry("x ${/} ${extensionPath}")), file)
        assert (found.action, found.priority) == (command("x ${/} ${extensionPath}"), 1)


def test_a_manifest_with_a_legacy_hook_loads_the_rest() -> None:
    """Named hooks of old manifests are never executed, and cost nothing but a notice."""
    document = groups(entry()) | {"name": "ext"}
    document["hooks"]["my-hook"] = {"command": "x", "args": []}
    hooks, [notice] = read(document, "/ext/llxprt-extension.json")
    assert [found.name for found in hooks] == ["h"]
    assert notice.startswith("/hooks/my-hook: no event is called 'my-hook'")


def test_a_file_is_read_once(tmp_path: Path) -> None:
    """Neither planning nor firing reads the file again; loading it twice runs no command twice."""
    file = tmp_path / "settings.json"
    file.write_text(json.dumps(groups(entry("echo >>ran"))))
    hooks = Hooks()
    hooks.load(file)
    hooks.load(file)
    file.unlink()
    assert (len(hooks), len(hooks.explain("BeforeTool", **PAYLOADS["BeforeTool"]).waves)) == (2, 1)
    ruling = hooks.fire("BeforeTool", **PAYLOADS["BeforeTool"], cwd=tmp_path)
    assert [report.status for report in ruling.hooks] == ["ran", "skipped"]
    assert (tmp_path / "ran").read_text() == "\n"


def test_comments_in_settings(tmp_path: Path) -> None:
    """Both sorts of comments are let through, not inside strings, and a mistake is found on the line it is on."""
    file = tmp_path / "settings.json"
    text = (
        '// one\n{ /* two\n*/ "hooks": {"BeforeTool": [{"hooks": [ // three\n{"type":"command","command":"x //y"}]}]}}'
    )
    file.write_text(text)
    hooks = Hooks()
    assert [found.name for found in hooks.load(file)] == ["x //y"]
    assert hooks.notices == ()
    file.write_text(text.replace('"type":', '"type"'))
    with pytest.raises(ConfigError, match="at line 4, column 8"):
        hooks.load(file, "llxprt")


@pytest.mark.parametrize(
    ("document", "claimed"),
    [
        (groups(entry()), True),
        ({"hooks": {"AfterModel": [{"hooks": []}], "x": 1}, "theme": "dark"}, True),
        ({"hooks": {"SessionStart": [None, {"hooks": []}]}}, True),
        ({"hooks": {"SessionStart": [{"path": "a"}]}}, False),
        ({"hooks": {"PreToolUse": [{"hooks": []}]}}, False),
        ({"hooks": {"BeforeTool": {"hooks": []}}}, False),
        ({"hooks": {"BeforeTool": [{"hooks": {}}]}}, False),
        ({"hooks": []}, False),
        ({}, False),
        (None, False),
    ],
)
def test_claims(document: Any, claimed: bool) -> None:
    """A file is LLxprt's if a group with a list of hooks stands under one of its eleven events."""
    assert llxprt.claims(document) is claimed


@pytest.mark.parametrize(
    ("asked", "redaction", "notice"),
    [
        (None, None, ""),
        ({}, None, ""),
        ({"enabled": False, "allowed": ["A"]}, None, ""),
        ({"enabled": True}, Redaction(), ""),
        ({"enabled": True, "allowed": ["A"], "blocked": ["B"]}, Redaction(("A",), ("B",)), ""),
        ({"enabled": "yes"}, None, "enabled: must be true or false, not 'yes'; nothing is redacted"),
        ({"enabled": 1}, None, "enabled: must be true or false, not 1; nothing is redacted"),
        ({"enabled": True, "allowed": "A", "blocked": ["B"]}, Redaction((), ("B",)),
         "allowed: must be a list of names of variables, not 'A'; ignored"),
        ([], None, ""),
    ],
)  # fmt: skip
def test_the_switch_of_redaction(asked: Any, redaction: Redaction | None, notice: str) -> None:
    """security.environmentVariableRedaction, off by default, is what keeps secrets from every hook of the file."""
    [found], notices = read(groups(entry()) | {"security": {"environmentVariableRedaction": asked}})
    assert found.action == command("h", redaction=redaction)
    assert notices == ([f"/security/environmentVariableRedaction/{notice}"] if notice else [])


# -- the wire: section 2


@pytest.mark.parametrize(
    ("spelling", "payload", "sent"),
    [
        ("BeforeTool", {"tool_name": "w", "tool_input": {"a": 1}}, {"tool_name": "w", "tool_input": {"a": 1}}),
        ("BeforeTool", {"tool_name": "w", "tool_input": None}, {"tool_name": "w", "tool_input": {}}),
        ("BeforeTool", {"tool_name": "w", "tool_input": {}, "mcp": None}, {"tool_name": "w", "tool_input": {}}),
        (
            "BeforeTool",
            {"mcp": {"server_name": "s"}, "tool_name": "w", "tool_input": {}},
            {"tool_name": "w", "tool_input": {}, "mcp_context": {"server_name": "s"}},
        ),
        (
            "AfterTool",
            {"tool_name": "w", "tool_input": {}, "tool_output": "done", "mcp": {"server_name": "s"}},
            {
                "tool_name": "w",
                "tool_input": {},
                "mcp_context": {"server_name": "s"},
                "tool_response": {"llmContent": "done", "returnDisplay": "done"},
            },
        ),
        ("BeforeModel", {"llm_request": REQUEST}, {"llm_request": REQUEST}),
        (
            "AfterModel",
            {"llm_response": RESPONSE, "llm_request": REQUEST},
            {"llm_request": REQUEST, "llm_response": RESPONSE},
        ),
        ("BeforeToolSelection", {"llm_request": REQUEST}, {"llm_request": REQUEST}),
        ("BeforeAgent", {"prompt": "é", "system": "s"}, {"prompt": "é"}),
        (
            "AfterAgent",
            {"prompt": "p", "response": "r", "stop_hook_active": True},
            {"prompt": "p", "prompt_response": "r", "stop_hook_active": True},
        ),
        ("AfterAgent", {}, {"prompt": "", "prompt_response": "", "stop_hook_active": False}),
        ("SessionStart", {"source": "resume", "task": "t"}, {"source": "resume"}),
        ("SessionStart", {}, {"source": "startup"}),
        ("SessionEnd", {"reason": "logout", "final_status": "x"}, {"reason": "logout"}),
        ("SessionEnd", {}, {"reason": "exit"}),
        ("PreCompress", {"trigger": "manual", "keep_last": 3}, {"trigger": "manual"}),
        ("PreCompress", {}, {"trigger": "auto"}),
        (
            "Notification",
            {"message": "m", "details": {"type": "exec"}, "notification_type": "Other"},
            {"notification_type": "Other", "message": "m", "details": {"type": "exec"}},
        ),
        ("Notification", {"message": "m"}, {"notification_type": "ToolPermission", "message": "m", "details": {}}),
    ],
)
def test_encode(spelling: str, payload: dict[str, Any], sent: dict[str, Any]) -> None:
    """The base fields come first, always, then exactly what the event has in LLxprt; the event is not changed."""
    before = json.dumps(payload)
    found = llxprt.encode(hook(spelling), Event(ELEVEN[spelling], payload, "s", "/w", "t"))
    base = {"session_id": "s", "transcript_path": "", "cwd": "/w", "hook_event_name": spelling, "timestamp": "t"}
    assert json.dumps(found) == json.dumps(base | sent)
    assert json.dumps(payload) == before


@pytest.mark.parametrize(
    ("output", "error", "response"),
    [
        ("out", None, {"llmContent": "out", "returnDisplay": "out"}),
        ("out", "", {"llmContent": "out", "returnDisplay": "out"}),
        (None, None, {"llmContent": "", "returnDisplay": ""}),
        ({"a": [1]}, None, {"llmContent": {"a": [1]}, "returnDisplay": '{"a":[1]}'}),
        (None, "bad", {"llmContent": "bad", "returnDisplay": "bad", "error": {"message": "bad"}}),
        ("half", "bad", {"llmContent": "half", "returnDisplay": "half", "error": {"message": "bad"}}),
        (None, {"type": "E", "message": "bad"}, {"llmContent": '{"type":"E","message":"bad"}',
         "returnDisplay": '{"type":"E","message":"bad"}', "error": {"type": "E", "message": "bad"}}),
        ({"llmContent": "x", "returnDisplay": "X", "metadata": {"n": 1}}, None,
         {"llmContent": "x", "returnDisplay": "X", "metadata": {"n": 1}}),
        ({"llmContent": "x"}, "bad", {"llmContent": "x", "returnDisplay": "x", "error": {"message": "bad"}}),
    ],
)  # fmt: skip
def test_the_result_of_a_tool(output: Any, error: Any, response: dict[str, Any]) -> None:
    """tool_response always has llmContent and returnDisplay, an error where there is one, metadata where given."""
    given = event("AfterTool", tool_name="w", tool_input={}, tool_output=output, tool_error=error)
    assert llxprt.encode(hook("AfterTool"), given)["tool_response"] == response


def test_the_timestamp_of_a_fire(tmp_path: Path) -> None:
    """It is UTC in ISO form with milliseconds, made anew for every fire; the session's id may be empty."""
    file = tmp_path / "settings.json"
    file.write_text(json.dumps(groups(entry("{ cat; echo; } >>seen"))))
    now = iter([0.0, 1735689600.0426])
    hooks = Hooks(clock=lambda: next(now))
    hooks.load(file)
    for _ in range(2):
        hooks.fire("BeforeTool", tool_name="w", tool_input={}, cwd=tmp_path)
    seen = [json.loads(line) for line in (tmp_path / "seen").read_text().splitlines()]
    stamps = ["1970-01-01T00:00:00.000Z", "2025-01-01T00:00:00.042Z"]
    assert [(payload["timestamp"], payload["session_id"]) for payload in seen] == [(stamp, "") for stamp in stamps]


# -- the wire: sections 3, 4 and 5


DENY = {"decision": "deny", "reason": "no"}
BLOCKED = "Blocked by hook h"


@pytest.mark.parametrize(
    ("outcome", "verdict"),
    [
        # exit 0, nothing
        (exited(), Verdict()),
        (exited(stdout=" \n\t"), Verdict()),
        (exited(stdout="\ufeff\n"), Verdict()),
        (exited(stderr='{"decision":"deny"}'), Verdict()),
        # exit 0, an object
        (exited(stdout={}), Verdict()),
        (exited(stdout=DENY), Verdict("deny", "no")),
        (exited(stdout=DENY, stderr="chatter"), Verdict("deny", "no")),
        (exited(stdout={"decision": "block", "reason": " no "}), Verdict("deny", "no")),
        (exited(stdout={"decision": "deny"}), Verdict("deny", BLOCKED)),
        (exited(stdout={"decision": "allow", "reason": "r"}), Verdict("allow", "r")),
        (exited(stdout={"decision": "approve"}), Verdict("allow")),
        (exited(stdout={"decision": "ask", "reason": "r?"}), Verdict("allow", "r?", literal="ask")),
        (exited(stdout={"decision": None}), Verdict()),
        (exited(stdout="\ufeff" + json.dumps(DENY)), Verdict("deny", "no")),
        (exited(stdout='{"decision":"allow","decision":"deny"}'), Verdict("deny", BLOCKED)),
        (exited(stdout='{"decision":"deny","reason":"\\udcff"}'), Verdict("deny", "\ufffd")),
        (exited(stdout='{"decision":"deny","n":1e999,"m":' + "9" * 40 + "}"), Verdict("deny", BLOCKED)),
        (exited(stdout={"unknown": 1}), Verdict()),
        # exit 0, a string that holds an object
        (exited(stdout=json.dumps(json.dumps(DENY))), Verdict("deny", "no")),
        (exited(stdout=json.dumps(" " + json.dumps(DENY))), Verdict("deny", "no")),
        (exited(stdout=json.dumps(json.dumps(json.dumps(DENY)))), "text"),
        (exited(stdout='"text"'), "text"),
        (exited(stdout='"42"'), "text"),
        (exited(stdout='""'), "text"),
        # exit 0, JSON that is no object
        (exited(stdout="42"), Verdict()),
        (exited(stdout="true"), Verdict()),
        (exited(stdout="null"), Verdict()),
        (exited(stdout='["deny"]'), Verdict()),
        # exit 0, anything else
        (exited(stdout=" hello \n"), Verdict("allow", messages=("hello",))),
        (exited(stdout='log\n{"decision":"deny"}'), "text"),
        (exited(stdout='{"decision":"deny"}\n{"decision":"deny"}'), "text"),
        (exited(stdout='{"decision":"deny"'), "text"),
        (exited(stdout='{"decision":"deny","n":NaN}'), "text"),
        (exited(stdout="Infinity"), "text"),
        (exited(stdout="text", stdout_cut=9), "text"),
        (exited(stdout='{"decision":"de', stdout_cut=9),
         Verdict(failed="printed 9 bytes too many, so its answer cannot be read")),
        # exit 2
        (exited(2, stderr=" no \n"), Verdict("deny", "no")),
        (exited(2, DENY | {"reason": "other", "continue": False}, "no"), Verdict("deny", "no")),
        (exited(2, {"decision": "allow"}), Verdict("deny", BLOCKED)),
        (exited(2, "text"), Verdict("deny", BLOCKED)),
        (exited(2), Verdict("deny", BLOCKED)),
        (exited(2, stderr=" \n"), Verdict("deny", BLOCKED)),
        (exited(2, stderr='{"reason":"r"}'), Verdict("deny", '{"reason":"r"}')),
        # any other exit
        (exited(1), Verdict(failed="exited with 1")),
        (exited(1, DENY), Verdict(failed="exited with 1")),
        (exited(1, "text", " a\nb \n"), Verdict(failed="exited with 1: b", messages=("Warning: a\nb",))),
        (exited(3, {"decision": "allow"}, "e"), Verdict(failed="exited with 3: e", messages=("Warning: e",))),
        (exited(126), Verdict(failed="exited with 126 (found, but not executable)")),
        (exited(127), Verdict(failed="exited with 127 (command or interpreter not found)")),
        (exited(255, DENY), Verdict(failed="exited with 255")),
        # no exit at all
        (Outcome("exited", signal="SIGSEGV", stdout=json.dumps(DENY)), Verdict(failed="was killed by SIGSEGV")),
        (Outcome("exited", signal="SIGTERM", stderr="e"),
         Verdict(failed="was killed by SIGTERM", messages=("Warning: e",))),
        (Outcome("timeout", signal="SIGTERM", stdout=json.dumps(DENY), stderr="e"),
         Verdict(failed="timed out after 60 s")),
        (Outcome("unstartable", error="cannot start: x"), Verdict(failed="cannot start: x")),
        (Outcome("lost", error="ended, but", stdout=json.dumps(DENY)), Verdict(failed="ended, but")),
    ],
)  # fmt: skip
def test_decode_streams_and_exit_codes(outcome: Outcome, verdict: Verdict | str) -> None:
    """The exit code outranks what was printed; only exit 2, or exit 0 with block or deny, can block."""
    if verdict == "text":
        verdict = Verdict("allow", messages=(outcome.stdout.strip(),))
    assert llxprt.decode(hook("BeforeTool"), event(), outcome) == verdict


def ignored(key: str, wanted: str, found: str) -> Verdict:
    return Verdict(notices=(f"its {key} must be {wanted}, not {found}; ignored",))


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ({"decision": "Deny"}, Verdict(
            notices=("its decision 'Deny' is none of allow, approve, ask, block, deny, so it decides nothing",))),
        ({"decision": " deny"}, Verdict(
            notices=("its decision ' deny' is none of allow, approve, ask, block, deny, so it decides nothing",))),
        ({"decision": True}, ignored("decision", "a string", "a boolean True")),
        ({"reason": "r"}, Verdict(reason="r")),
        ({"decision": "deny", "reason": 7}, Verdict("deny", BLOCKED,
                                                    notices=("its reason must be a string, not a number 7; ignored",))),
        ({"continue": True, "stopReason": "s"}, Verdict()),
        ({"continue": False, "stopReason": " s "}, Verdict(halt="s")),
        ({"continue": False, "stopReason": "", "reason": "r"}, Verdict(reason="r", halt="r")),
        ({"continue": False, "stopReason": None}, Verdict(halt="Stopped by hook h")),
        ({"continue": False, "decision": "deny", "reason": "r"}, Verdict("deny", "r", halt="r")),
        ({"continue": False, "decision": "allow"}, Verdict("allow", halt="Stopped by hook h")),
        ({"continue": 0}, ignored("continue", "true or false", "a number 0")),
        ({"continue": None}, Verdict()),
        ({"suppressOutput": True}, Verdict(suppress_output=True)),
        ({"suppressOutput": 1}, ignored("suppressOutput", "true or false", "a number 1")),
        ({"systemMessage": "m"}, Verdict(messages=("m",))),
        ({"systemMessage": " \n"}, Verdict()),
        ({"systemMessage": ["m"]}, ignored("systemMessage", "a string", "a list ['m']")),
        ({"hookSpecificOutput": "x"}, ignored("hookSpecificOutput", "an object", "a string 'x'")),
        ({"hookSpecificOutput": None}, Verdict()),
        (specific(hookEventName="Whatever"), Verdict()),
        (specific(tool_input={"a": 1}), Verdict(patches={"tool_input": {"a": 1}})),
        (specific(tool_input={}), Verdict(patches={"tool_input": {}})),
        (specific(tool_input=None), Verdict()),
        (specific(tool_input="x"), ignored("tool_input", "an object", "a string 'x'")),
        (specific(additionalContext="c"), Verdict(context=("c",))),
        (specific(additionalContext=7), ignored("additionalContext", "a string", "a number 7")),
        (specific(clearContext=True), Verdict(clear_context=True)),
        (specific(clearContext="true"), ignored("clearContext", "true or false", "a string 'true'")),
        (specific(toolConfig={"mode": "ANY"}), Verdict(tools=Tools("ANY"))),
        (specific(toolConfig={"allowedFunctionNames": []}), Verdict(tools=Tools(None, ()))),
        (specific(toolConfig={}), Verdict()),
        (specific(toolConfig=[]), ignored("toolConfig", "an object", "a list []")),
        (specific(toolConfig={"mode": ["NONE"], "allowedFunctionNames": ["a"]}), Verdict(
            tools=Tools(None, ("a",)), notices=("its mode ['NONE'] is none of AUTO, ANY, NONE; ignored",))),
        (specific(llm_request={"model": "x"}), Verdict(patches={"llm_request": {"model": "x"}})),
        (specific(llmRequest={}), Verdict(
            notices=("its 'llmRequest' means nothing on BeforeTool; ignored; did you mean 'llm_request'?",))),
        (specific(permissionDecision="deny", permissionDecisionReason="p"), Verdict("deny", "p")),
        (specific(permissionDecision="block"), Verdict("deny", BLOCKED)),
        (specific(permissionDecision="allow", permissionDecisionReason="p"), Verdict("allow", "p")),
        (specific(permissionDecision="ask"), Verdict("allow", literal="ask")),
        ({"decision": "allow"} | specific(permissionDecision="deny"), Verdict("deny", BLOCKED)),
        (DENY | specific(permissionDecision="allow", permissionDecisionReason="p"), Verdict("deny", "no")),
        (DENY | specific(permissionDecision="deny", permissionDecisionReason="p"), Verdict("deny", "p")),
        (DENY | specific(permissionDecisionReason="p"), Verdict("deny", "p")),
        (DENY | specific(permissionDecisionReason=7), Verdict(
            "deny", "no", notices=("its permissionDecisionReason must be a string, not a number 7; ignored",))),
    ],
)  # fmt: skip
def test_decode_fields(answer: dict[str, Any], verdict: Verdict) -> None:
    """Each field means what it says if it has its type; what has another is noticed and counts as absent."""
    assert llxprt.decode(hook("BeforeTool"), event(), exited(stdout=answer)) == verdict


@pytest.mark.parametrize("spelling", ELEVEN)
def test_decode_by_event(spelling: str) -> None:
    """Exit 2 denies what can be denied and fails elsewhere; after a tool the model still learns the reason."""
    by_code = llxprt.decode(hook(spelling), event(spelling), exited(2, stderr="no"))
    silent = llxprt.decode(hook(spelling), event(spelling), exited(2))
    by_json = llxprt.decode(hook(spelling), event(spelling), exited(stdout=DENY))
    told = ("no",) if spelling == "AfterTool" else ()
    if spelling in DENIABLE:
        assert (by_code, silent) == (Verdict("deny", "no"), Verdict("deny", BLOCKED))
    else:
        wrong = f"exited with 2, which cannot block {spelling}: "
        assert by_code == Verdict("deny", "no", messages=told, failed=wrong + "no")
        assert silent == Verdict("deny", BLOCKED, failed=wrong + BLOCKED)
    assert by_json == Verdict("deny", "no", messages=told)


@pytest.mark.parametrize("spelling", ELEVEN)
def test_a_warning_goes_where_messages_go(spelling: str) -> None:
    """The stderr of a failure becomes a message on every event that can have one, and nothing else."""
    verdict = llxprt.decode(hook(spelling), event(spelling), exited(1, DENY, "e"))
    warns = spelling not in ("BeforeModel", "BeforeToolSelection")
    assert verdict == Verdict(failed="exited with 1: e", messages=("Warning: e",) if warns else ())


SYNTHETIC = specific(llm_response=RESPONSE)
EMPTY = specific(llm_response={"candidates": []})


@pytest.mark.parametrize(
    ("spelling", "answer", "verdict"),
    [
        ("BeforeModel", DENY | SYNTHETIC, Verdict("deny", "no", rewrites={"llm_response": RESPONSE})),
        ("BeforeModel", DENY, Verdict("deny", "no")),
        ("BeforeModel", DENY | EMPTY, Verdict("deny", "no", rewrites={"llm_response": {"candidates": []}})),
        ("BeforeModel", SYNTHETIC, Verdict(
            notices=("its llm_response counts only where it also denies the call; ignored",))),
        ("BeforeModel", {"continue": False, "stopReason": "s"} | SYNTHETIC, Verdict(
            halt="s", notices=("its llm_response counts only where it also denies the call; ignored",))),
        ("AfterModel", SYNTHETIC, Verdict(
            rewrites={"llm_response": RESPONSE}, aside={"llm_response": RESPONSE})),
        ("AfterModel", EMPTY, Verdict(
            notices=("its llm_response has no candidates[0].content: {'candidates': []}; ignored",))),
        ("AfterModel", specific(llm_response=[]), ignored("llm_response", "an object", "a list []")),
        ("AfterModel", specific(permissionDecision="deny"), Verdict(
            notices=("its 'permissionDecision' means nothing on AfterModel; ignored",))),
        ("BeforeAgent", specific(additionalContext="c"), Verdict(context=("c",), aside={"prompt": "p\n\nc"})),
        ("SessionStart", specific(additionalContext="c"), Verdict(context=("c",))),
        ("AfterTool", {"decision": "deny"}, Verdict("deny", BLOCKED)),
        ("AfterTool", DENY | {"systemMessage": "m"}, Verdict("deny", "no", messages=("m", "no"))),
    ],
)  # fmt: skip
def test_decode_what_only_some_events_have(spelling: str, answer: dict[str, Any], verdict: Verdict) -> None:
    """A response in the model's place, a prompt for the next hook, an objection that comes too late."""
    assert llxprt.decode(hook(spelling), event(spelling), exited(stdout=answer)) == verdict


WORDS = ["block", "deny", "allow", "approve", "ask", "Deny", "", "x", True, False, None, 0, 1, [], {}, DENY]
KEYS = ["decision", "reason", "continue", "stopReason", "suppressOutput", "systemMessage", "hookSpecificOutput", "x"]
SPECIFIC = ["tool_input", "permissionDecision", "permissionDecisionReason", "additionalContext", "clearContext"]
SPECIFIC += ["llm_request", "llm_response", "toolConfig", "mode", "hookEventName"]
VALUES = st.sampled_from([*WORDS, RESPONSE, {"mode": "NONE"}])
ANSWERS = st.dictionaries(
    st.sampled_from(KEYS), VALUES | st.dictionaries(st.sampled_from(SPECIFIC), VALUES, max_size=4), max_size=5
).map(json.dumps)
PRINTED = (
    st.binary().map(lambda data: data.decode("utf-8", "replace"))
    | st.text()
    | ANSWERS
    | ANSWERS.map(json.dumps)
    | ANSWERS.map(lambda text: text[:-2])
)


@given(st.sampled_from(sorted(ELEVEN)), st.integers(0, 255), PRINTED, PRINTED, st.sampled_from([0, 0, 5]))
@example("BeforeTool", 0, '{"decision":"deny","reason":"\\ud800"}', "", 0)
@example("BeforeModel", 0, '"{\\"decision\\":\\"deny\\"}"', "", 0)
@example("AfterModel", 0, '{"hookSpecificOutput":{"llm_response":{"candidates":[null]}}}', "", 0)
def test_whatever_a_hook_prints_it_is_never_misread(
    spelling: str, code: int, stdout: str, stderr: str, cut: int
) -> None:
    """A deny comes from exit 2 or from deny JSON at exit 0, an allow from a word or plain text, and nothing raises."""
    verdict = llxprt.decode(hook(spelling), event(spelling), exited(code, stdout, stderr, stdout_cut=cut))
    assert verdict.decision == expected(spelling, code, stdout, verdict)
    assert bool(verdict.reason) >= (verdict.decision == "deny")
    if code not in (0, 2):
        assert verdict.failed
    if code != 0:
        shown = stderr.lstrip("\ufeff").strip()
        assert set(verdict.messages) <= {shown, f"Warning: {shown}"}
        assert replace(verdict, messages=(), failed="", decision="none", reason="") == Verdict()


def expected(spelling: str, code: int, stdout: str, verdict: Verdict) -> str:
    """The decision by another parser."""
    if code != 0:
        return "deny" if code == 2 else "none"
    text = stdout.lstrip("\ufeff").strip()
    answer = genuine(text)
    if isinstance(answer, str):
        answer = inner if isinstance(inner := genuine(answer), dict) else ...
    if answer is ...:
        return "none" if verdict.failed else "allow"
    if not isinstance(answer, dict):
        return "none"
    words = {"deny": "deny", "block": "deny", "allow": "allow", "approve": "allow", "ask": "allow"}
    specific = answer.get("hookSpecificOutput")
    given = [answer.get("decision")]
    if spelling == "BeforeTool" and isinstance(specific, dict):
        given.append(specific.get("permissionDecision"))
    meant = [words[word] for word in given if isinstance(word, str) and word in words]
    return "deny" if "deny" in meant else (meant or ["none"])[0]


def genuine(text: str) -> Any:
    """The JSON a text holds; nothing at all is None, what is no JSON is an ellipsis."""

    def refuse(word: str) -> None:
        raise ValueError(word)

    try:
        return json.loads(text, parse_constant=refuse) if text else None
    except (ValueError, RecursionError):
        return ...


# -- order: sections 8, 9 and 10


def loaded(*documents: tuple[str, dict[str, Any]], at: Path) -> Hooks:
    """Hooks from several files, each with its level."""
    hooks = Hooks()
    for number, (level, document) in enumerate(documents):
        file = at / str(number) / "settings.json"
        file.parent.mkdir()
        file.write_text(json.dumps(document))
        hooks.load(file, "llxprt", level=level)  # type: ignore[arg-type]
    return hooks


def shape(hooks: Hooks, spelling: str = "BeforeTool") -> list[tuple[str, int | str]]:
    planned = hooks.explain(spelling, **PAYLOADS[spelling])
    return [(found.hook.name, found.skipped.split(" (")[0] or found.wave) for found in planned.entries]


def test_the_four_tiers(tmp_path: Path) -> None:
    """Project before user before system before extensions, whatever order they are loaded in; else file order."""
    tiers = ("extension", "user", "project", "system", "project")
    documents = [(tier, groups(entry(f"{tier}{i} a"), entry(f"{tier}{i} b"))) for i, tier in enumerate(tiers)]
    names = [name for name, _ in shape(loaded(*documents, at=tmp_path))]
    order = ["project2", "project4", "user1", "system3", "extension0"]
    assert names == [f"{tier} {letter}" for tier in order for letter in "ab"]


def test_duplicates_of_other_tiers(tmp_path: Path) -> None:
    """The same command runs once; the one of the highest tier stays, with its own name and timeout."""
    hooks = loaded(
        ("user", groups(entry("check", name="mine", timeout=1000), entry("own"))),
        ("project", groups(entry("check", name="theirs", timeout=2000))),
        at=tmp_path,
    )
    assert shape(hooks) == [("theirs", 0), ("mine", "duplicate of theirs"), ("own", 0)]


def test_two_extensions_may_use_the_same_words(tmp_path: Path) -> None:
    """`${extensionPath}` is another directory in another extension, so their commands are no duplicates."""
    hooks = Hooks()
    for name in ("one", "two", "one"):
        file = tmp_path / name / "llxprt-extension.json"
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(groups(entry("sh ${extensionPath}/a.sh"), entry("common"))))
        hooks.load(file)
    assert [wave for _, wave in shape(hooks)] == [0, 0, 0, "duplicate of common", *[
        "duplicate of sh ${extensionPath}/a.sh", "duplicate of common"]]  # fmt: skip


def test_the_same_command_on_two_events_runs_for_each(tmp_path: Path) -> None:
    """Duplicates are counted for one event at a time."""
    hooks = loaded(("project", groups(entry()) | {"hooks": {e: [{"hooks": [entry()]}] for e in ELEVEN}}), at=tmp_path)
    assert all(shape(hooks, spelling) == [("h", 0)] for spelling in ELEVEN)


@pytest.mark.parametrize(
    ("listed", "wanted"),
    [
        ([{"hooks": [entry("a"), entry("b")]}, {"hooks": [entry("c")]}], [("a", 0), ("b", 0), ("c", 0)]),
        (
            [{"hooks": [entry("a")]}, {"sequential": True, "hooks": [entry("b")]}, {"hooks": [entry("c")]}],
            [("a", 0), ("b", 1), ("c", 2)],
        ),
        (
            [{"hooks": [entry("a"), entry("c")]}, {"sequential": True, "matcher": "read", "hooks": [entry("b")]}],
            [("a", 0), ("c", 0), ("b", "no match: tool_name ~ read")],
        ),
        (
            [{"hooks": [entry("a"), entry("c")]}, {"sequential": True, "hooks": [entry("a", name="again")]}],
            [("a", 0), ("c", 0), ("again", "duplicate of a")],
        ),
        (
            [{"sequential": True, "hooks": [entry("a"), entry("b")]}, {"hooks": [entry("a", name="again")]}],
            [("a", 0), ("b", 1), ("again", "duplicate of a")],
        ),
    ],
    ids=["parallel", "one sequential", "filtered", "duplicate", "sequential first"],
)
def test_one_sequential_group_makes_all_wait(tmp_path: Path, listed: Any, wanted: Any) -> None:
    """A sequential group that survives makes the plan sequential; one that is filtered or a duplicate does not."""
    assert shape(loaded(("project", {"hooks": {"BeforeTool": listed}}), at=tmp_path)) == wanted


def test_a_disabled_sequential_hook_does_not_count(tmp_path: Path) -> None:
    """What never runs makes nobody wait; a name disabled in one file is disabled in all."""
    two, alone = {"hooks": [entry("a"), entry("b")]}, {"sequential": True, "hooks": [entry()]}
    document = {"hooks": {"BeforeTool": [two, alone]}}
    hooks = loaded(("project", document), ("user", groups() | {"hooksConfig": {"disabled": ["h"]}}), at=tmp_path)
    assert shape(hooks) == [("a", 0), ("b", 0), ("h", f"disabled by {tmp_path}/1/settings.json")]


# -- merging, without processes: section 11


def ruled(spelling: str, outcomes: list[Outcome], *, sequential: bool) -> tuple[Ruling, list[Any]]:
    """The ruling of hooks with these outcomes, and the payload each of those that ran was given."""
    names = [f"h{number}" for number in range(len(outcomes))]
    hooks = [hook(spelling, name, f"0/hooks/{i}", parallel=not sequential) for i, name in enumerate(names)]
    steps = engine.fire(event(spelling), plan(hooks, event(spelling)))
    waiting, payloads = dict(zip(names, outcomes, strict=True)), []
    try:
        jobs = next(steps)
        while True:
            payloads += [job.payload for job in jobs]
            jobs = steps.send([waiting[job.hook.name] for job in jobs])
    except StopIteration as end:
        return end.value, payloads


OUTCOMES = st.builds(exited, st.sampled_from([0, 0, 0, 1, 2, 127]), ANSWERS, st.sampled_from(["", "e"]))


@given(st.sampled_from(DENIABLE), st.lists(OUTCOMES, max_size=4), st.lists(OUTCOMES, max_size=4), st.booleans())
def test_a_deny_never_disappears(spelling: str, before: list[Outcome], after: list[Outcome], sequential: bool) -> None:
    """Whatever the hooks around it say, and in whichever mode, a deny that was said is the ruling, with its reason."""
    deny = exited(stdout=DENY | {"reason": "because"})
    ruling, payloads = ruled(spelling, [*before, deny, *after], sequential=sequential)
    reached = len(payloads) > len(before)
    assert (ruling.decision == "deny") or not reached
    if reached:
        assert "because" in ruling.reason.split("\n")
        assert set(ruling.rewrites) <= {"llm_response"}
    else:  # an earlier hook ended the chain: by a deny of its own, or by a halt
        assert ruling.decision == "deny" or ruling.halt


@given(st.sampled_from(sorted(ELEVEN)), st.lists(OUTCOMES, max_size=5), st.booleans())
def test_no_ruling_holds_an_effect_its_event_cannot_have(spelling: str, outcomes: list[Any], sequential: bool) -> None:
    """Every effect of a ruling is one of its event's, and every failure makes it unhealthy."""
    ruling, _ = ruled(spelling, outcomes, sequential=sequential)
    had = {name for name in ("context", "messages", "suppress_output", "clear_context") if getattr(ruling, name)}
    had |= set(ruling.rewrites) | ({"halt"} if ruling.halt else set()) | ({"tools"} if ruling.tools else set())
    had |= {"deny"} & {ruling.decision}
    assert had <= llxprt.EFFECTS[ELEVEN[spelling]]
    assert ruling.healthy is not any(report.status == "failed" for report in ruling.hooks)
    assert len(ruling.hooks) == len(outcomes)


@pytest.mark.parametrize("sequential", [False, True])
def test_or_decisions(sequential: bool) -> None:
    """Contexts and messages are kept in order, suppression and clearing are sticky, whichever mode they ran in."""
    answers = [
        {"systemMessage": "m1", "suppressOutput": True} | specific(additionalContext="c1", clearContext=True),
        {"suppressOutput": False} | specific(clearContext=False),
        {"systemMessage": "m2"} | specific(additionalContext="c2"),
    ]
    ruling, _ = ruled("AfterAgent", [exited(stdout=answer) for answer in answers], sequential=sequential)
    assert (ruling.context, ruling.messages) == (("c1", "c2"), ("m1", "m2"))
    assert (ruling.suppress_output, ruling.clear_context, ruling.decision) == (True, True, "none")


@pytest.mark.parametrize(
    ("asked", "tools"),
    [
        ([{}], None),
        ([{"mode": "AUTO"}], Tools("AUTO")),
        ([{"allowedFunctionNames": ["b", "a", "b"]}], Tools("AUTO", ("a", "b"))),
        ([{"mode": "ANY", "allowedFunctionNames": ["b"]}, {"allowedFunctionNames": ["a"]}], Tools("ANY", ("a", "b"))),
        ([{"mode": "ANY", "allowedFunctionNames": ["b"]}, {"mode": "NONE"}], Tools("NONE", ())),
        ([{"mode": "AUTO"}, {"mode": "ANY"}, {}], Tools("ANY")),
        ([{"allowedFunctionNames": []}], Tools("AUTO", ())),
        ([{"allowedFunctionNames": []}, {"allowedFunctionNames": ["a"]}], Tools("AUTO", ("a",))),
    ],
)
@pytest.mark.parametrize("sequential", [False, True])
def test_tool_selection(asked: list[dict[str, Any]], tools: Tools | None, sequential: bool) -> None:
    """Names are united and sorted, NONE > ANY > AUTO, NONE empties the list, an omitted list is no empty one."""
    outcomes = [exited(stdout=specific(toolConfig=config)) for config in asked]
    ruling, payloads = ruled("BeforeToolSelection", outcomes, sequential=sequential)
    assert ruling.tools == tools
    assert all(payload["llm_request"] == REQUEST for payload in payloads)


@pytest.mark.parametrize(
    ("spelling", "answers", "field", "seen"),
    [
        ("BeforeTool", [specific(tool_input={"x": {"y": 1}}), specific(tool_input={"x": {"z": 2}}), {}], "tool_input",
         [{"path": "a"}, {"path": "a", "x": {"y": 1}}, {"path": "a", "x": {"z": 2}}]),
        ("BeforeModel", [specific(llm_request={"config": {"topK": 1}}), specific(llm_request={"model": "n"}), {}],
         "llm_request", [REQUEST, REQUEST | {"config": {"topK": 1}}, REQUEST | {"config": {"topK": 1}, "model": "n"}]),
        ("BeforeAgent", [specific(additionalContext="a"), {}, specific(additionalContext="b"), {}], "prompt",
         ["p", "p\n\na", "p\n\na", "p\n\na\n\nb"]),
        ("AfterModel", [specific(llm_response={"candidates": [{"content": {}}]}), {}], "llm_response",
         [RESPONSE, RESPONSE]),
        ("AfterTool", [specific(additionalContext="c"), {}], "tool_input", [{"path": "a"}] * 2),
        ("SessionStart", [specific(additionalContext="c"), {}], "source", ["startup"] * 2),
        ("AfterAgent", [specific(additionalContext="c"), {}], "prompt", ["p"] * 2),
        ("BeforeToolSelection", [specific(toolConfig={"mode": "ANY"}), {}], "llm_request", [REQUEST] * 2),
    ],
)  # fmt: skip
def test_chaining(spelling: str, answers: list[dict[str, Any]], field: str, seen: list[Any]) -> None:
    """In sequence BeforeTool, BeforeModel and BeforeAgent hand on what they changed, shallowly; no other event does."""
    outcomes = [exited(stdout=answer) for answer in answers]
    assert [payload[field] for payload in ruled(spelling, outcomes, sequential=True)[1]] == seen
    assert [payload[field] for payload in ruled(spelling, outcomes, sequential=False)[1]] == seen[:1] * len(seen)


def test_a_failure_hands_nothing_on() -> None:
    """The answer of a hook that failed changes neither the ruling nor what the next one sees."""
    change = specific(tool_input={"path": "b"})
    ruling, payloads = ruled("BeforeTool", [exited(1, change), exited()], sequential=True)
    assert [payload["tool_input"] for payload in payloads] == [{"path": "a"}] * 2
    assert ruling.rewrites == {}


@pytest.mark.parametrize("end", [DENY, {"continue": False}], ids=["deny", "halt"])
def test_what_ends_a_chain(end: dict[str, Any]) -> None:
    """A deny or a halt ends a sequential chain; side by side the others have run already, and are heard."""
    outcomes = [exited(stdout=end), exited(stdout={"systemMessage": "m"})]
    ruling, payloads = ruled("BeforeTool", outcomes, sequential=True)
    assert (len(payloads), ruling.messages, ruling.hooks[1].skipped) == (1, (), "settled by h0")
    ruling, payloads = ruled("BeforeTool", outcomes, sequential=False)
    assert (len(payloads), ruling.messages) == (2, ("m",))


# -- real processes: the environment and the end of a hook


def fired(at: Path, document: dict[str, Any], monkeypatch: pytest.MonkeyPatch | None = None, **environ: str) -> Ruling:
    """The ruling of BeforeTool in a directory, with these variables in the host's environment."""
    file = at / "settings.json"
    file.write_text(json.dumps(document))
    for name, value in environ.items():
        assert monkeypatch
        monkeypatch.setenv(name, value)
    hooks = Hooks()
    hooks.load(file, "llxprt")
    return hooks.fire("BeforeTool", tool_name="w", tool_input={}, cwd=at)


PRINTS = 'for name in A_TOKEN NICE DATABASE_URL URL GITHUB_SHA; do echo "$name=${!name-}"; done'
HOST = {"A_TOKEN": "t", "NICE": "n", "DATABASE_URL": "d", "URL": "https://u:p@h/"}


@pytest.mark.parametrize(
    ("asked", "host", "kept"),
    [
        (None, {}, "A_TOKEN=t NICE=n DATABASE_URL=d URL=https://u:p@h/ GITHUB_SHA="),
        ({"enabled": False}, {}, "A_TOKEN=t NICE=n DATABASE_URL=d URL=https://u:p@h/ GITHUB_SHA="),
        ({"enabled": True}, {}, "A_TOKEN= NICE=n DATABASE_URL= URL= GITHUB_SHA="),
        ({"enabled": True, "allowed": ["A_TOKEN", "URL"]}, {}, "A_TOKEN=t NICE=n DATABASE_URL= URL= GITHUB_SHA="),
        ({"enabled": True, "blocked": ["nice"]}, {}, "A_TOKEN= NICE= DATABASE_URL= URL= GITHUB_SHA="),
        ({"enabled": True, "allowed": ["GITHUB_SHA"]}, {"GITHUB_SHA": "1"},
         "A_TOKEN= NICE= DATABASE_URL= URL= GITHUB_SHA=1"),
    ],
)  # fmt: skip
def test_redaction(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: Any, host: Any, kept: str) -> None:
    """Off by default. On, names and values that look like secrets go, unless allowed by name; values always do."""
    monkeypatch.delenv("GITHUB_SHA", raising=False)
    document = groups(entry(PRINTS)) | {"security": {"environmentVariableRedaction": asked}}
    ruling = fired(tmp_path, document, monkeypatch, **HOST | host)
    assert ruling.messages == (kept.replace(" ", "\n"),)


def test_what_hookline_sets_is_added_after_redaction(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry's own secrets, the three variables and PATH are there, also in the strict mode of a build server."""
    text = 'echo "$API_KEY $LLXPRT_PROJECT_DIR $GEMINI_PROJECT_DIR $CLAUDE_PROJECT_DIR"; [ -n "$PATH" ]'
    document = groups(entry(text, env={"API_KEY": "own"}))
    document["security"] = {"environmentVariableRedaction": {"enabled": True}}
    ruling = fired(tmp_path, document, monkeypatch, API_KEY="host", GITHUB_SHA="1", LLXPRT_PROJECT_DIR="/else")
    assert ruling.messages == (f"own {tmp_path} {tmp_path} {tmp_path}",)


def test_a_directory_with_quotes_and_blanks(tmp_path: Path) -> None:
    """The shell expands the variables, so a name of a directory is never taken for code."""
    odd = tmp_path / 'it\'s $(touch pwned) `x` "q"'
    odd.mkdir()
    (odd / "a.sh").write_text("echo found")
    ruling = fired(odd, groups(entry('sh "$LLXPRT_PROJECT_DIR/a.sh"; echo "$CLAUDE_PROJECT_DIRECTORY"')))
    assert ruling.messages == ("found",)
    assert sorted(os.listdir(odd)) == ["a.sh", "settings.json"]


def test_a_payload_is_never_code(tmp_path: Path) -> None:
    """What a payload holds reaches a hook on stdin alone."""
    file = tmp_path / "settings.json"
    file.write_text(json.dumps(groups(entry("cat >seen"))))
    hooks = Hooks()
    hooks.load(file)
    hooks.fire("BeforeTool", tool_name="$(touch pwned)", tool_input={"a": "`touch pwned`"}, cwd=tmp_path)
    assert json.loads((tmp_path / "seen").read_text())["tool_name"] == "$(touch pwned)"
    assert sorted(os.listdir(tmp_path)) == ["seen", "settings.json"]


@pytest.mark.parametrize(
    ("script", "signal", "printed"),
    [
        ("trap 'echo bye; exit 2' TERM; echo up; while :; do sleep 0.05; done", "", "up\nbye\n"),
        ("trap 'echo no' TERM; echo up; while :; do sleep 0.05; done", "SIGKILL", "up\nno\n"),
        ("echo up; exec sleep 60", "SIGTERM", "up\n"),
    ],
    ids=["ends itself", "does not listen", "just dies"],
)
def test_the_grace_after_the_timeout(tmp_path: Path, script: str, signal: str, printed: str) -> None:
    """SIGTERM first, SIGKILL when the grace is over; what a hook says then decides nothing, exit 2 neither."""
    [found], _ = read(groups(entry(script)))
    assert found.action.grace == 5.0
    quick = replace(found, action=replace(found.action, timeout=0.7, grace=0.5))
    [outcome] = process.run([Job(quick, {}, str(tmp_path))])
    assert (outcome.status, outcome.exit_code, outcome.signal, outcome.stdout) == ("timeout", None, signal, printed)
    assert llxprt.decode(quick, event(), outcome) == Verdict(failed="timed out after 700 ms")


def test_a_child_in_the_background_does_not_delay(tmp_path: Path) -> None:
    """A hook is over when its process is, whoever still holds its pipes; its answer counts."""
    ruling = fired(
        tmp_path, groups(entry(f'(sleep 3; touch {tmp_path}/late) & echo \'{{"decision":"deny","reason":"no"}}\''))
    )
    assert (ruling.decision, ruling.reason) == ("deny", "no")
    assert not (tmp_path / "late").exists()


def test_a_missing_directory_fails_open(tmp_path: Path) -> None:
    """Where a hook cannot be started, the operation goes on, and the ruling says why."""
    file = tmp_path / "settings.json"
    file.write_text(json.dumps(groups(entry("true"))))
    hooks = Hooks()
    hooks.load(file)
    ruling = hooks.fire("BeforeTool", tool_name="w", tool_input={}, cwd=tmp_path / "gone")
    assert (ruling.decision, ruling.healthy, ruling.hooks[0].status) == ("none", False, "failed")
    assert f"the working directory '{tmp_path}/gone' does not exist" in ruling.hooks[0].error


def test_a_large_payload_that_nobody_reads(tmp_path: Path) -> None:
    """A hook that ends without reading megabytes of payload is heard as any other."""
    file = tmp_path / "settings.json"
    file.write_text(json.dumps(groups(entry("exec <&-; echo no >&2; exit 2"))))
    hooks = Hooks()
    hooks.load(file)
    ruling = hooks.fire("BeforeTool", tool_name="w", tool_input={"content": "x" * 3_000_000}, cwd=tmp_path)
    assert (ruling.decision, ruling.reason) == ("deny", "no")


def test_a_session_without_a_terminal(tmp_path: Path) -> None:
    """A hook has no terminal to wait at: it runs in a session of its own, and its stdin is the payload."""
    text = f"{shlex.quote(sys.executable)} -c 'import os,sys; print(os.getsid(0)==os.getppid(), sys.stdin.isatty())'; :"
    [shown] = fired(tmp_path, groups(entry(text))).messages
    assert re.fullmatch("True False", shown)
