"""The Harness: its configuration, its payloads, what its hooks' outcomes mean, what its hooks say of themselves."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from hookline.dialects import harness
from hookline.model import EVERYTHING, About, Command, Event, Hook, Notice, Outcome, Source, Verdict
from hookline.reading import LARGEST_TEXT, bearable

HOOK = Hook(
    "h.sh", "PreToolUse", "harness", Source("/r/settings.json", "/hooks/PreToolUse/0"), Command(("/r/h.sh",), 5)
)
PRE = Event("PreToolUse", {"tool_name": "Bash", "tool_input": {}}, "s", "/w", "t", "/tape")
SAMPLE = '{"tool_name": "Bash"}'
DENIABLE = ("UserPromptSubmit", "PreToolUse", "SubagentStop", "Stop")
EVENTS = ("SessionStart", *DENIABLE, "SessionEnd")


def read(document: Any, **environ: str) -> tuple[list[Hook], list[str]]:
    """The hooks of a document without their compiled matchers, and its notices."""
    loaded = harness.read(document, "/r/settings.json", environ=environ)
    return [replace(hook, matcher=EVERYTHING) for hook in loaded.hooks], [str(notice) for notice in loaded.notices]


def hook(event: str, index: int, path: str, action: Command, **options: Any) -> Hook:
    return Hook(path, event, "harness", Source("/r/settings.json", f"/hooks/{event}/{index}"), action, **options)


def exited(code: int = 0, stdout: str = "", stderr: str = "", **more: Any) -> Outcome:
    return Outcome("exited", code, stdout=stdout, stderr=stderr, **more)


# -- configuration


def test_the_settings_of_the_specification() -> None:
    """The sample settings come to four hooks with seconds, roots, interpreters and pointers."""
    document = {
        "hooks": {
            "SessionStart": [{"path": "hooks/LoadContext.ts", "timeout": 5000}],
            "PreToolUse": [
                {"path": "hooks/SecurityValidator.ts", "timeout": 3000, "matcher": {"tool_name": "Bash"}},
                {"path": "hooks/WriteProtector.ts", "timeout": 3000, "matcher": {"tool_name": "Write"}},
            ],
            "Stop": [{"path": "hooks/SessionSummary.ts", "timeout": 10000}],
        }
    }
    env = {"ENGRAM_DIR": "/r", "PAI_DIR": "/r"}

    def bun(name: str, timeout: float) -> Command:
        return Command((f"/r/hooks/{name}.ts",), timeout, interpreter=("bun",), env=env)

    assert read(document) == (
        [
            hook("SessionStart", 0, "hooks/LoadContext.ts", bun("LoadContext", 5.0)),
            hook("PreToolUse", 0, "hooks/SecurityValidator.ts", bun("SecurityValidator", 3.0)),
            hook("PreToolUse", 1, "hooks/WriteProtector.ts", bun("WriteProtector", 3.0)),
            hook("Stop", 0, "hooks/SessionSummary.ts", bun("SessionSummary", 10.0)),
        ],
        [],
    )
    texts = [found.matcher.text for found in harness.read(document, "/r/settings.json", environ={}).hooks]
    assert texts == ["", "tool_name = Bash", "tool_name = Write", ""]


@pytest.mark.parametrize(
    ("entry", "action", "on_failure"),
    [
        ({"path": "a"}, Command(("/r/a",), 5.0), None),
        ({"path": "a.py"}, Command(("/r/a.py",), 5.0, interpreter=("python3",)), None),
        ({"path": "a.sh"}, Command(("/r/a.sh",), 5.0, interpreter=("bash",)), None),
        ({"path": "a.js"}, Command(("/r/a.js",), 5.0, interpreter=("node",)), None),
        ({"path": "a.hook.mjs"}, Command(("/r/a.hook.mjs",), 5.0, interpreter=("node",)), None),
        ({"path": "a.hook.ts"}, Command(("/r/a.hook.ts",), 5.0, interpreter=("bun",)), None),
        ({"path": "/abs/a"}, Command(("/abs/a",), 5.0), None),
        ({"path": "~/a"}, Command(("/home/me/a",), 5.0), None),
        ({"path": "a b --c"}, Command(("/r/a b --c",), 5.0), None),
        ({"path": "a", "args": ["b c", ""]}, Command(("/r/a", "b c", ""), 5.0), None),
        ({"path": "a", "timeout": 50}, Command(("/r/a",), 0.05), None),
        ({"path": "a", "timeout": 1500.5}, Command(("/r/a",), 1.5005), None),
        ({"path": "a", "timeout": None}, Command(("/r/a",), 5.0), None),
        ({"path": "a", "on_failure": "deny"}, Command(("/r/a",), 5.0), "deny"),
        ({"path": "a", "on_failure": "ask"}, Command(("/r/a",), 5.0), "ask"),
    ],
)
def test_an_entry(monkeypatch: pytest.MonkeyPatch, entry: dict[str, Any], action: Command, on_failure: Any) -> None:
    """A path is one file below the root, ~ is the user's home, milliseconds become seconds."""
    monkeypatch.setenv("HOME", "/home/me")
    wanted = hook("Stop", 0, entry["path"], replace(action, env={"ENGRAM_DIR": "/r", "PAI_DIR": "/r"}))
    assert read({"hooks": {"Stop": [entry]}}) == ([replace(wanted, on_failure=on_failure)], [])


@pytest.mark.parametrize(
    ("root", "environ", "program", "told"),
    [
        (None, {}, "/r/a", {"ENGRAM_DIR": "/r", "PAI_DIR": "/r"}),
        ("/root", {}, "/root/a", {"ENGRAM_DIR": "/root", "PAI_DIR": "/root"}),
        (None, {"ENGRAM_DIR": "/e"}, "/e/a", {"ENGRAM_DIR": "/e", "PAI_DIR": "/e"}),
        (None, {"ENGRAM_DIR": "~/e"}, "/home/me/e/a", {"ENGRAM_DIR": "~/e", "PAI_DIR": "/home/me/e"}),
        (None, {"ENGRAM_DIR": "$HOME/e"}, "/home/me/e/a", {"ENGRAM_DIR": "$HOME/e", "PAI_DIR": "/home/me/e"}),
        (None, {"ENGRAM_DIR": "${HOME}/e"}, "/home/me/e/a", {"ENGRAM_DIR": "${HOME}/e", "PAI_DIR": "/home/me/e"}),
        (None, {"ENGRAM_DIR": "", "PAI_DIR": "/p"}, "/r/a", {"ENGRAM_DIR": "/r", "PAI_DIR": "/p"}),
        ("/root", {"ENGRAM_DIR": "/e", "PAI_DIR": "/p"}, "/root/a", {"ENGRAM_DIR": "/root", "PAI_DIR": "/root"}),
    ],
)
def test_the_root(monkeypatch: pytest.MonkeyPatch, root: Any, environ: dict[str, str], program: str, told: Any) -> None:
    """The root is the argument, else ENGRAM_DIR, else the directory of the settings; hooks are told."""
    monkeypatch.setenv("HOME", "/home/me")
    [found] = harness.read({"hooks": {"Stop": [{"path": "a"}]}}, "/r/settings.json", root=root, environ=environ).hooks
    assert (found.action.argv, found.action.env) == ((program,), told)


def test_a_relative_settings_file_has_an_absolute_root() -> None:
    """A hook is found whatever the session's working directory is."""
    [found] = harness.read({"hooks": {"Stop": [{"path": "a"}]}}, "settings.json", environ={}).hooks
    assert found.action.argv == (os.path.join(os.getcwd(), "a"),)


@pytest.mark.parametrize(
    ("entry", "notice"),
    [
        ({}, "/hooks/Stop/0: path is missing; this hook is skipped"),
        ({"path": None}, "/hooks/Stop/0/path: path must be a non-empty string, not null None; this hook is skipped"),
        (
            {"path": ["a"]},
            "/hooks/Stop/0/path: path must be a non-empty string, not a list ['a']; this hook is skipped",
        ),
        ("a", "/hooks/Stop/0: a hook is an object, not a string; skipped: 'a'"),
        (None, "/hooks/Stop/0: a hook is an object, not null; skipped: None"),
        (
            {"path": "a", "args": [1]},
            "/hooks/Stop/0/args: args must be a list of strings, not [1]; this hook is skipped",
        ),
        (
            {"path": "a", "matcher": []},
            f"/hooks/Stop/0/matcher: matcher must be an object such as {SAMPLE}, not a list []; this hook is skipped",
        ),
    ],
)
def test_a_bad_entry_is_skipped(entry: Any, notice: str) -> None:
    """What is wrong with an entry is a notice with file and pointer, and its neighbours stay."""
    hooks, notices = read({"hooks": {"Stop": [entry, {"path": "good"}]}})
    assert ([h.name for h in hooks], notices) == (["good"], [f"/r/settings.json#{notice}"])


@pytest.mark.parametrize(
    ("entry", "timeout", "notice"),
    [
        ({"timeout": 0}, 5.0, "timeout: timeout must be a positive number, not 0; 5 s is used"),
        ({"timeout": -1}, 5.0, "timeout: timeout must be a positive number, not -1; 5 s is used"),
        ({"timeout": "3000"}, 5.0, "timeout: timeout must be a positive number, not '3000'; 5 s is used"),
        ({"timeout": False}, 5.0, "timeout: timeout must be a positive number, not False; 5 s is used"),
        ({"timeout": 1e999}, 5.0, "timeout: timeout must be a positive number, not inf; 5 s is used"),
        ({"timeout": 5}, 0.005, "timeout: timeout is in milliseconds here: 5 is 5 ms; was it meant in seconds?"),
        (
            {"timeout": 49.5},
            0.0495,
            "timeout: timeout is in milliseconds here: 49.5 is 49.5 ms; was it meant in seconds?",
        ),
        ({"on_failure": "block"}, 5.0, "on_failure: on_failure must be 'ask' or 'deny', not 'block'; ignored"),
        ({"time_out": 5}, 5.0, "time_out: unknown key 'time_out', ignored; did you mean 'timeout'?"),
        ({"a/b~c": 5}, 5.0, "a~1b~0c: unknown key 'a/b~c', ignored"),
    ],
)
def test_an_odd_value_keeps_the_hook(entry: dict[str, Any], timeout: float, notice: str) -> None:
    """An unusable timeout is the default, a doubtful one is kept, an unknown key is ignored; each is noticed."""
    hooks, notices = read({"hooks": {"Stop": [{"path": "a", **entry}]}})
    assert [h.action.timeout for h in hooks] == [pytest.approx(timeout)]
    assert notices == [f"/r/settings.json#/hooks/Stop/0/{notice}"]


@pytest.mark.parametrize(
    ("matcher", "fires"),
    [
        ({}, True),
        ({"tool_name": "Bash"}, True),
        ({"tool_name": "BASH"}, False),
        ({"tool_name": "Bas"}, False),
        ({"tool_name": "B*"}, False),
        ({"tool_name": ".*"}, False),
        ({"tool_name": ["Write", "Bash"]}, True),
        ({"tool_name": []}, False),
        ({"tool_name": None}, False),
        ({"tool_name": "Bash", "cwd": "/w"}, True),
        ({"tool_name": "Bash", "cwd": "/x"}, False),
        ({"hook_event_name": "PreToolUse", "session_id": "s", "transcript_path": "/tape"}, True),
        ({"tool_input": {}}, True),
        ({"tool_input": {"command": "ls"}}, False),
        ({"prompt": ""}, False),
        ({"prompt": None}, False),
    ],
)
def test_matchers(matcher: dict[str, Any], fires: bool) -> None:
    """Every key must equal its field exactly; a list is any of its values; a missing field matches nothing."""
    document = {"hooks": {"PreToolUse": [{"path": "a", "matcher": matcher}]}}
    [found] = harness.read(document, "f", environ={}).hooks
    assert found.matcher.test(PRE) is fires


def test_a_matcher_on_an_unknown_field_is_noticed() -> None:
    """A condition that can never hold is said at load, with the nearest field."""
    [notice] = read({"hooks": {"PreToolUse": [{"path": "a", "matcher": {"toolname": "Bash"}}]}})[1]
    assert notice.endswith(
        "/0/matcher: PreToolUse has no field 'toolname', so this never matches; did you mean 'tool_name'?"
    )


@pytest.mark.parametrize(
    ("document", "claimed"),
    [
        ({"hooks": {"Stop": [{"path": "a"}]}}, True),
        ({"hooks": {"Stop": [{"path": "a"}], "PostToolUse": []}, "permissions": {}}, True),
        ({"hooks": {"Stop": ["a", {"path": "a"}]}}, True),
        ({"hooks": {"Stop": [{"path": "a"}, {"hooks": []}]}}, False),
        ({"hooks": {"Stop": [{"command": "a"}]}}, False),
        ({"hooks": {"stop": [{"path": "a"}]}}, False),
        ({"hooks": {"PostToolUse": [{"path": "a"}]}}, False),
        ({"hooks": {"Stop": {"path": "a"}}}, False),
        ({"hooks": []}, False),
        ({}, False),
        ([], False),
        (None, False),
    ],
)
def test_claims(document: Any, claimed: bool) -> None:
    """A file is The Harness's if an entry with a path stands under one of its six events."""
    assert harness.claims(document) is claimed


def test_the_six_events() -> None:
    """The Harness has six events, four of which can be denied, one of which can be asked about."""
    assert tuple(harness.EVENTS) == (
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "SubagentStop",
        "Stop",
        "SessionEnd",
    )
    assert set(harness.EFFECTS) == set(harness.EVENTS.values())
    assert {name for name, can in harness.EFFECTS.items() if "deny" in can} == set(DENIABLE)
    assert {name for name, can in harness.EFFECTS.items() if "ask" in can} == {"PreToolUse"}


# -- the wire


@pytest.mark.parametrize(
    ("event", "payload", "sent"),
    [
        ("SessionStart", {}, {}),
        ("SessionStart", {"source": "resume"}, {"source": "resume"}),
        ("UserPromptSubmit", {"prompt": "é"}, {"prompt": "é"}),
        ("PreToolUse", {"tool_name": "B", "tool_input": {"a": 1}}, {"tool_name": "B", "tool_input": {"a": 1}}),
        ("PreToolUse", {"tool_name": "B", "tool_input": None}, {"tool_name": "B", "tool_input": {}}),
        ("SubagentStop", {"agent": "x", "output": None}, {"agent": "x", "output": None}),
        ("Stop", {"stop_hook_active": False}, {"stop_hook_active": False}),
        ("Stop", {"response": "r"}, {"response": "r", "last_assistant_message": "r"}),
        ("SessionEnd", {"reason": "exit"}, {"reason": "exit"}),
    ],
)
def test_encode(event: str, payload: dict[str, Any], sent: dict[str, Any]) -> None:
    """The base fields come first, in one order, then what the event holds; the event itself is not changed."""
    before = json.dumps(payload)
    found = harness.encode(HOOK, Event(event, payload, "s", "/w", "t", "/tape"))
    base = {"session_id": "s", "transcript_path": "/tape", "hook_event_name": event, "cwd": "/w", "timestamp": "t"}
    assert json.dumps(found) == json.dumps(base | sent)
    assert json.dumps(payload) == before


ODD = "is no decision The Harness knows (block, ask, continue: true), so it is text"
BLOCK = '{"decision":"block","message":"m","reason":"r"}'
SILENT = "blocked by h.sh, which exited with 2 and did not say why"


@pytest.mark.parametrize(
    ("outcome", "verdict"),
    [
        (exited(), Verdict()),
        (exited(stdout=" \n"), Verdict()),
        (exited(stdout="text\n"), Verdict(context=("text",))),
        (exited(stdout="text", stderr="chatter"), Verdict(context=("text",))),
        (exited(stdout='{"continue": true}\n'), Verdict("allow")),
        (exited(stdout='{"continue":true,"message":"fine"}'), Verdict("allow", "fine")),
        (exited(stdout=BLOCK), Verdict("deny", "m")),
        (exited(stdout="\ufeff" + BLOCK), Verdict("deny", "m")),
        (exited(stdout='{"decision":"block","reason":" r "}'), Verdict("deny", "r")),
        (exited(stdout='{"decision":"block","message":7}', stderr="e\n"), Verdict("deny", "e")),
        (exited(stdout='{"decision":"block"}'), Verdict("deny", "blocked by h.sh, which did not say why")),
        (exited(stdout='{"continue":true,"decision":"block","message":"m"}'), Verdict("deny", "m")),
        (exited(stdout='{"decision":"ask","message":"q?"}'), Verdict("ask", "q?")),
        (exited(stdout='{"decision":"ask"}', stderr="e"), Verdict("ask", "e")),
        (exited(stdout='{"decision":"ask"}'), Verdict("ask", "h.sh asks for confirmation and did not say why")),
        (exited(2), Verdict("deny", SILENT)),
        (exited(2, BLOCK, "e"), Verdict("deny", "m")),
        (exited(2, '{"reason":"r"}', "e"), Verdict("deny", "r")),
        (exited(2, "text", "e\n"), Verdict("deny", "e")),
        (exited(2, "text\n"), Verdict("deny", "text")),
        (exited(2, '{"decision":"ask","message":"q?"}'), Verdict("deny", "q?")),
        (exited(2, '{"continue":true}'), Verdict("deny", SILENT)),
        (exited(2, '{"decision":"block"}'), Verdict("deny", SILENT)),
        (exited(2, '{"error":"x"}'), Verdict("deny", '{"error":"x"}')),
        (exited(2, '["x"]'), Verdict("deny", '["x"]')),
        (exited(1, BLOCK), Verdict(failed="exited with 1")),
        (exited(1, "text", "a\nb\n"), Verdict(failed="exited with 1: b")),
        (exited(3, '{"continue":true}'), Verdict(failed="exited with 3")),
        (exited(126, stderr="e"), Verdict(failed="exited with 126 (found, but not executable): e")),
        (exited(127), Verdict(failed="exited with 127 (command or interpreter not found)")),
        (Outcome("exited", signal="SIGSEGV", stdout=BLOCK), Verdict(failed="was killed by SIGSEGV")),
        (Outcome("timeout", signal="SIGKILL", stdout=BLOCK), Verdict(failed="timed out after 5 s")),
        (Outcome("unstartable", error="cannot start: x"), Verdict(failed="cannot start: x")),
        (Outcome("lost", error="ended, but"), Verdict(failed="ended, but")),
        (exited(stdout='["decision","block"]'), Verdict(context=('["decision","block"]',))),
        (exited(stdout='"block"'), Verdict(context=('"block"',))),
        (exited(stdout="42"), Verdict(context=("42",))),
        (exited(stdout='{"decision":"blo'), Verdict(context=('{"decision":"blo',))),
        (exited(stdout='{"hookSpecificOutput":{}}'), Verdict(context=('{"hookSpecificOutput":{}}',))),
        (exited(stdout='log line\n{"decision":"block"}'), Verdict(context=('log line\n{"decision":"block"}',))),
        (
            exited(stdout='{"continue":1}'),
            Verdict(
                context=('{"continue":1}',),
                notices=(f"its JSON '{{\"continue\":1}}' {ODD}",),
            ),
        ),
        (
            exited(stdout='{"decision":"blo', stdout_cut=7),
            Verdict(failed="printed 7 bytes too many, so its answer cannot be read"),
        ),
        (exited(stdout="text", stdout_cut=7), Verdict(context=("text",))),
    ],
)
def test_decode_on_pre_tool_use(outcome: Outcome, verdict: Verdict) -> None:
    """Exit 2 blocks, decision JSON decides, text is context, every other exit fails, in this order of explanation."""
    assert harness.decode(HOOK, PRE, outcome) == verdict


@pytest.mark.parametrize("name", EVENTS)
def test_decode_by_event(name: str) -> None:
    """Exit 2 and block JSON deny the four deniable events; on the others one warns, the other is text with a notice."""
    event = Event(name, {})
    by_code = harness.decode(HOOK, event, exited(2, stderr="no"))
    by_json = harness.decode(HOOK, event, exited(stdout=BLOCK))
    if name in DENIABLE:
        assert (by_code, by_json) == (Verdict("deny", "no"), Verdict("deny", "m"))
    else:
        assert by_code == Verdict(failed=f"exited with 2, which cannot block {name}")
        odd = f"{name} cannot be decided, so its JSON {BLOCK!r} is text"
        assert by_json == Verdict(context=(BLOCK,), notices=(odd,))


def test_a_long_text_is_cut() -> None:
    """At most 32 KiB reach the model, marked; on an event without decisions even where it begins like JSON."""
    mark = f"\n[hookline: cut after {LARGEST_TEXT} of {LARGEST_TEXT + 1} bytes]"
    notice = (f"its text of {LARGEST_TEXT + 1} bytes was cut to {LARGEST_TEXT}",)
    long = "x" * (LARGEST_TEXT + 1)
    cut = Verdict(context=(long[:-1] + mark,), notices=notice)
    assert bearable(harness.decode(HOOK, PRE, exited(stdout=long))) == cut
    begins = "{" + long[1:]
    start = harness.decode(HOOK, Event("SessionStart", {}), exited(stdout=begins, stdout_cut=9))
    assert bearable(start) == Verdict(context=(begins[:-1] + mark,), notices=notice)


ANSWERS = st.dictionaries(
    st.sampled_from(["decision", "continue", "message", "reason", "x"]),
    st.sampled_from(["block", "ask", "allow", "deny", "", True, False, None, 1, {"decision": "block"}]),
).map(json.dumps)
PRINTED = st.binary().map(lambda data: data.decode("utf-8", "replace")) | ANSWERS | ANSWERS.map(lambda text: text[:-2])


@given(st.sampled_from(EVENTS), st.integers(0, 255), PRINTED, PRINTED, st.sampled_from([0, 5]))
@example("PreToolUse", 0, '{"decision":"block","decision":"ask"}', "", 0)
@example("Stop", 0, "\ufeff\ufeff{", "\0", 0)
def test_whatever_a_hook_prints_it_is_never_misread(name: str, code: int, stdout: str, stderr: str, cut: int) -> None:
    """A deny needs exit 2 or block JSON, an ask ask JSON, an allow continue JSON; every failure is no opinion."""
    verdict = harness.decode(HOOK, Event(name, {}), exited(code, stdout, stderr, stdout_cut=cut))
    answer = genuine(stdout) if code == 0 and not cut else {}
    wanted = "none"
    if name in DENIABLE and code == 2:
        wanted = "deny"
    elif name in DENIABLE and answer.get("decision") in ("block", "ask"):
        wanted = {"block": "deny", "ask": "ask"}[answer["decision"]]
    elif name in DENIABLE and answer.get("continue") is True and answer.get("decision") is None:
        wanted = "allow"
    assert verdict.decision == wanted
    assert bool(verdict.reason) >= (wanted in ("deny", "ask"))
    if code not in (0, 2):
        assert verdict.failed
    if verdict.failed or wanted != "none":
        assert verdict.context == ()


def genuine(stdout: str) -> dict[str, Any]:
    """The JSON object a hook printed, by another parser."""
    try:
        value = json.loads(stdout.lstrip("\ufeff").strip())
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


# -- the documentation header


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            '#!/usr/bin/env bun\n// Hook: A\n// Event: Stop\n// Description: Does it.\n// Matcher: tool_name = "B"\n',
            {"Hook": "A", "Event": "Stop", "Description": "Does it.", "Matcher": 'tool_name = "B"'},
        ),
        ("#!/bin/sh\n# Hook: A\n# Description: x: y\n", {"Hook": "A", "Description": "x: y"}),
        ("/** Hook: A */\n", {"Hook": "A"}),
        (
            "/**\n * PURPOSE: Guards.\n * TRIGGER: PreToolUse (Bash)\n */\n",
            {"PURPOSE": "Guards.", "TRIGGER": "PreToolUse (Bash)", "Description": "Guards.", "Event": "PreToolUse"},
        ),
        ("-- TRIGGER: every day\n", {"TRIGGER": "every day"}),
        ("# Hook: first\n# Hook: second\n", {"Hook": "first"}),
        ("echo hi\n", {}),
        ("", {}),
        ("#\n" * 5000 + "# Hook: too late\n", {}),
    ],
)
def test_header(tmp_path: Path, text: str, found: dict[str, str]) -> None:
    """Comments of every sort carry the header, both known forms are read, and none is needed."""
    file = tmp_path / "h"
    file.write_text(text)
    assert harness.header(str(file)) == found


def test_no_header_where_there_is_no_file(tmp_path: Path) -> None:
    """A missing file, a directory, a FIFO and a binary have no header, and nothing hangs."""
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "binary").write_bytes(bytes(range(256)))
    for name in ("missing", ".", "fifo", "binary"):
        assert harness.header(str(tmp_path / name)) == {}


@pytest.mark.parametrize(
    ("text", "matcher", "notices"),
    [
        ("# Hook: A\n# Description: d\n", None, []),
        (
            '# Hook: A\n# Description: d\n# Event: PreToolUse\n# Matcher: tool_name = "Bash"\n',
            {"tool_name": "Bash"},
            [],
        ),
        (
            "# Hook: A\n# Description: d\n# Event: Stop\n",
            None,
            ["its header says Event: Stop, but it is registered for PreToolUse"],
        ),
        (
            '# Hook: A\n# Description: d\n# Matcher: tool_name = "Bash"\n',
            None,
            ['its header says Matcher: tool_name = "Bash", but it is registered without a matcher'],
        ),
        (
            "# Hook: A\n# Description: d\n# Matcher: tool_name = 'Bash'\n",
            {"tool_name": "Write"},
            ["its header says Matcher: tool_name = 'Bash', but it is registered with tool_name = Write"],
        ),
        ("# Hook: A\n# Description: d\n# Matcher: any tool\n", {"tool_name": "Write"}, []),
    ],
)
def test_about(tmp_path: Path, text: str, matcher: Any, notices: list[str]) -> None:
    """The header is shown as it is; where it contradicts the registration, a notice says how."""
    (tmp_path / "h").write_text(text)
    document = {"hooks": {"PreToolUse": [{"path": "h", "matcher": matcher}]}}
    [found] = harness.read(document, str(tmp_path / "settings.json"), environ={}).hooks
    assert harness.about(found) == About("A", "d", tuple(Notice(text, found.source) for text in notices))


def test_a_contradiction_is_shown_by_list_and_explain(tmp_path: Path) -> None:
    """Both commands warn of a header that contradicts the registration, on paper and as JSON, and run nothing."""
    (tmp_path / "h.sh").write_text("#!/bin/sh\n# Hook: A\n# Event: Stop\ntouch ran\n")
    file = tmp_path / "settings.json"
    file.write_text('{"hooks":{"SessionStart":[{"path":"h.sh"}]}}')
    text = "its header says Event: Stop, but it is registered for SessionStart"
    for verb in (["list"], ["explain", "SessionStart"]):
        for form in ([], ["--json"]):
            command = [sys.executable, "-m", "hookline", *verb, "--config", str(file), *form]
            env = {**os.environ, "COLUMNS": "500", "NO_COLOR": "1"}
            done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, env=env)
            assert text in done.stdout + done.stderr
            if form:
                assert json.loads(done.stdout)["notices"] == [{"text": text, "source": f"{file}#/hooks/SessionStart/0"}]
    assert not (tmp_path / "ran").exists()
