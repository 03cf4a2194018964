"""Goose: its configuration, its way to split a command, its payloads, what its hooks' outcomes mean."""

from __future__ import annotations

import json
import shlex
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from hookline.dialects import goose
from hookline.model import EVERYTHING, About, Command, Event, Hook, Outcome, Source, Verdict
from hookline.reading import LARGEST_TEXT, bearable

CONTEXT = ("SessionStart", "UserPromptSubmit")
BACKGROUND = ("PostToolUse", "SessionEnd")
EVENTS = (*CONTEXT, "PreToolUse", *BACKGROUND)
PRE = Event("PreToolUse", {"tool_name": "developer__shell", "tool_input": {}}, "s", "/w", "t", "/tape")


def hook(event: str = "PreToolUse", command: str = "scan", index: int = 0, **options: Any) -> Hook:
    source = Source("/r/config.yaml", f"/hooks/{goose.SPELLED[event]}/{index}")
    action = options.pop("action", Command(tuple(command.split()), 10.0))
    return Hook(command, event, "goose", source, action, background=event in BACKGROUND, **options)


def read(document: Any, **environ: str) -> tuple[list[Hook], list[str]]:
    """The hooks of a document without their compiled matchers, and its notices."""
    loaded = goose.read(document, "/r/config.yaml", environ=environ)
    return [replace(found, matcher=EVERYTHING) for found in loaded.hooks], [str(notice) for notice in loaded.notices]


def exited(code: int = 0, stdout: str = "", stderr: str = "", **more: Any) -> Outcome:
    return Outcome("exited", code, stdout=stdout, stderr=stderr, **more)


# -- configuration


def test_the_configuration_of_the_specification() -> None:
    """The sample configuration comes to five hooks, the last two of which run in the background."""
    document = {
        "hooks": {
            "session_start": [{"command": "/path/to/start-hook.sh", "timeout": 15}],
            "prompt_submit": [{"command": "/path/to/inject.sh", "timeout": 5}],
            "pre_tool_use": [{"command": "/path/to/scanner.sh", "timeout": 5, "tool_name": "developer__shell"}],
            "post_tool_use": [{"command": "/path/to/logger.sh", "timeout": 5}],
            "session_stop": [{"command": "/path/to/cleanup.sh", "timeout": 10}],
        }
    }

    def one(event: str, name: str, timeout: float) -> Hook:
        return hook(event, f"/path/to/{name}.sh", action=Command((f"/path/to/{name}.sh",), timeout))

    assert read(document) == (
        [
            one("SessionStart", "start-hook", 15.0),
            one("UserPromptSubmit", "inject", 5.0),
            one("PreToolUse", "scanner", 5.0),
            one("PostToolUse", "logger", 5.0),
            one("SessionEnd", "cleanup", 10.0),
        ],
        [],
    )
    texts = [found.matcher.text for found in goose.read(document, "f", environ={}).hooks]
    assert texts == ["", "", "tool_name ~ developer__shell", "", ""]


@pytest.mark.parametrize(
    ("entry", "action", "on_failure"),
    [
        ({"command": "a"}, Command(("a",), 10.0), None),
        ({"command": "a 'b c' --d=\"e f\""}, Command(("a", "b c", "--d=e f"), 10.0), None),
        ({"command": "~/a ~/b"}, Command(("/home/me/a", "~/b"), 10.0), None),
        ({"command": "$HOME/a $B"}, Command(("$HOME/a", "$B"), 10.0), None),
        ({"command": "a", "timeout": 600}, Command(("a",), 600.0), None),
        ({"command": "a", "timeout": 0.25}, Command(("a",), 0.25), None),
        ({"command": "a", "timeout": None}, Command(("a",), 10.0), None),
        ({"command": "a", "on_failure": "deny"}, Command(("a",), 10.0), "deny"),
    ],
)
def test_an_entry(monkeypatch: pytest.MonkeyPatch, entry: dict[str, Any], action: Command, on_failure: Any) -> None:
    """A command is split into words, a leading ~ of the program is the user's home, a timeout is in seconds."""
    monkeypatch.setenv("HOME", "/home/me")
    wanted = hook("UserPromptSubmit", entry["command"], action=action, on_failure=on_failure)
    assert read({"hooks": {"prompt_submit": [entry]}}) == ([wanted], [])


@pytest.mark.parametrize(
    ("entry", "notice"),
    [
        ({}, "0: command is missing; this hook is skipped"),
        ({"command": 7}, "0/command: command must be a non-empty string, not a number 7; this hook is skipped"),
        ({"command": "\n"}, "0/command: command must be a non-empty string, not a string '\\n'; this hook is skipped"),
        ("a", "0: a hook is an object, not a string; skipped: 'a'"),
        (["a"], "0: a hook is an object, not a list; skipped: ['a']"),
        (
            {"command": "a", "tool_name": ["x"]},
            "0/tool_name: tool_name must be a string, not a list ['x']; this hook is skipped",
        ),
    ],
)
def test_a_bad_entry_is_skipped(entry: Any, notice: str) -> None:
    """What is wrong with an entry is a notice with file and pointer, and its neighbours stay."""
    hooks, notices = read({"hooks": {"pre_tool_use": [entry, {"command": "good"}]}})
    assert ([h.name for h in hooks], notices) == (["good"], [f"/r/config.yaml#/hooks/pre_tool_use/{notice}"])


@pytest.mark.parametrize(
    ("entry", "timeout", "notice"),
    [
        ({"timeout": 0}, 10.0, "timeout: timeout must be a positive number, not 0; 10 s is used"),
        ({"timeout": -2.5}, 10.0, "timeout: timeout must be a positive number, not -2.5; 10 s is used"),
        ({"timeout": "5"}, 10.0, "timeout: timeout must be a positive number, not '5'; 10 s is used"),
        ({"timeout": True}, 10.0, "timeout: timeout must be a positive number, not True; 10 s is used"),
        ({"timeout": float("nan")}, 10.0, "timeout: timeout must be a positive number, not nan; 10 s is used"),
        ({"timeout": 601}, 601.0, "timeout: timeout is in seconds here: 601 is 601 s; was it meant in milliseconds?"),
        ({"on_failure": "allow"}, 10.0, "on_failure: on_failure must be 'ask' or 'deny', not 'allow'; ignored"),
        ({"comand": "b"}, 10.0, "comand: unknown key 'comand', ignored; did you mean 'command'?"),
        ({7: "b"}, 10.0, "7: unknown key 7, ignored"),
    ],
)
def test_an_odd_value_keeps_the_hook(entry: dict[Any, Any], timeout: float, notice: str) -> None:
    """An unusable timeout is the default, a doubtful one is kept, an unknown key is ignored; each is noticed."""
    hooks, notices = read({"hooks": {"session_stop": [{"command": "a", **entry}]}})
    assert [h.action.timeout for h in hooks] == [timeout]
    assert notices == [f"/r/config.yaml#/hooks/session_stop/0/{notice}"]


@pytest.mark.parametrize(
    ("table", "notices"),
    [
        ({"session_start": None}, []),
        ({"session_start": {}}, ["/hooks/session_start: must be a list of hooks, not an object; skipped: {}"]),
        (
            {"SessionStart": [{"command": "a"}]},
            ["/hooks/SessionStart: no event is called 'SessionStart'; did you mean 'session_start'?"],
        ),
        (
            {"x": []},
            [f"/hooks/x: no event is called 'x'; it knows {', '.join(goose.EVENTS)}"],
        ),
        ({True: []}, None),
    ],
)
def test_a_table_of_events(table: dict[Any, Any], notices: list[str] | None) -> None:
    """A missing list is empty; an unknown event, or one that is no list, is noticed and left out."""
    hooks, found = read({"hooks": table})
    assert hooks == []
    if notices is not None:
        assert found == [f"/r/config.yaml#{notice}" for notice in notices]
    else:  # YAML's `yes:` is a boolean
        assert found[0].startswith("/r/config.yaml#/hooks/True: no event is called True")


@pytest.mark.parametrize(
    ("pattern", "tool", "runs"),
    [
        ("developer__shell", "developer__shell", True),
        ("shell", "developer__shell", True),
        ("^shell$", "developer__shell", False),
        ("Shell", "developer__shell", False),
        ("(?i)SHELL", "developer__shell", True),
        ("", "anything", True),
        (".", "anything", True),
        ("a|b", "xbx", True),
        ("(?!developer)^.*$", "developer__shell", False),
        (r"(.)\1", "baa", True),
        (r"(.)\1", "abc", False),
    ],
)
def test_the_filter_is_a_regex_search(pattern: str, tool: str, runs: bool) -> None:
    """tool_name is found anywhere in the name, on both tool events."""
    for event in ("pre_tool_use", "post_tool_use"):
        [found] = goose.read({"hooks": {event: [{"command": "a", "tool_name": pattern}]}}, "f", environ={}).hooks
        assert found.matcher.test(Event(found.event, {"tool_name": tool, "tool_input": {}})) is runs


@pytest.mark.parametrize("pattern", ["shell(", "[", "*", "a{2,1}", "(?P<n>"])
def test_an_invalid_filter_is_no_filter(pattern: str) -> None:
    """A pattern no engine understands lets the hook run for every tool, with one notice."""
    for event in ("pre_tool_use", "post_tool_use"):
        hooks, [notice] = read({"hooks": {event: [{"command": "a", "tool_name": pattern}]}})
        assert hooks[0].matcher is EVERYTHING
        assert notice.startswith(
            f"/r/config.yaml#/hooks/{event}/0/tool_name: {pattern!r} is not a regular expression: "
        )
        assert notice.endswith("; the hook runs for every tool, as it does in Goose")


@pytest.mark.parametrize("event", ["session_start", "prompt_submit", "session_stop"])
def test_a_filter_elsewhere_means_nothing(event: str) -> None:
    """On an event without a tool the hook always runs, and a notice says so."""
    loaded = goose.read({"hooks": {event: [{"command": "a", "tool_name": "x"}]}}, "f", environ={})
    assert [found.matcher for found in loaded.hooks] == [EVERYTHING]
    assert [notice.text for notice in loaded.notices] == [f"tool_name means nothing on {event}; the hook always runs"]


def test_the_legacy_variable() -> None:
    """GOOSE_SESSION_START_HOOK is a fallback for session_start, split like any command, after the file's own hooks."""
    legacy = Hook(
        "load 'a b'",
        "SessionStart",
        "goose",
        Source("environment", "/GOOSE_SESSION_START_HOOK"),
        Command(("load", "a b"), 10.0),
        fallback=True,
        dedupe="GOOSE_SESSION_START_HOOK",
    )
    assert read({"hooks": {}}, GOOSE_SESSION_START_HOOK=" load 'a b'\n") == ([legacy], [])
    own = hook("SessionStart", "own")
    document = {"hooks": {"session_start": [{"command": "own"}]}}
    assert read(document, GOOSE_SESSION_START_HOOK="load 'a b'") == ([own, legacy], [])
    for blank in ("", " \t\n"):
        assert read(document, GOOSE_SESSION_START_HOOK=blank) == ([own], [])


@pytest.mark.parametrize(
    ("document", "claimed"),
    [
        ({"hooks": {"pre_tool_use": [{"command": "a"}]}}, True),
        ({"hooks": {"session_stop": ["x", {"command": "a"}]}, "extensions": {}}, True),
        ({"hooks": {"PreToolUse": [{"command": "a"}]}}, False),
        ({"hooks": {"pre_tool_use": [{"path": "a"}]}}, False),
        ({"hooks": {"pre_tool_use": {"command": "a"}}}, False),
        ({"hooks": {"pre_tool_use": None}}, False),
        ({"hooks": None}, False),
        ("hooks", False),
    ],
)
def test_claims(document: Any, claimed: bool) -> None:
    """A file is Goose's if an entry with a command stands under one of its five events."""
    assert goose.claims(document) is claimed


def test_the_five_events() -> None:
    """Goose has five events: two with context, one with decisions, two without a say."""
    assert goose.EVENTS == {
        "session_start": "SessionStart",
        "prompt_submit": "UserPromptSubmit",
        "pre_tool_use": "PreToolUse",
        "post_tool_use": "PostToolUse",
        "session_stop": "SessionEnd",
    }
    assert {name: sorted(can) for name, can in goose.EFFECTS.items()} == {
        "SessionStart": ["context"],
        "UserPromptSubmit": ["context"],
        "PreToolUse": ["ask", "deny"],
        "PostToolUse": [],
        "SessionEnd": [],
    }


# -- splitting


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a b\tc\nd", ["a", "b", "c", "d"]),
        ("  a  ", ["a"]),
        ("", []),
        (" \t\n", []),
        ("a''b", ["ab"]),
        ("'' \"\"", ["", ""]),
        ("'a b'c\"d e\"", ["a bcd e"]),
        (r"a\ b", ["a b"]),
        (r"\a\\\'", ["a\\'"]),
        (r"'a\b'", [r"a\b"]),
        (r'"\$\`\"\\\a"', ['$`"\\\\a']),
        ("a\\\nb", ["ab"]),
        ('"a\\\nb"', ["ab"]),
        ("'a\\\nb'", ["a\\\nb"]),
        ("a # b c", ["a"]),
        ("# all of it", []),
        ("a #b\nc", ["a", "c"]),
        ("a#b", ["a#b"]),
        ("'#' \"#\" \\#", ["#", "#", "#"]),
        ("a\rb\r", ["a\rb\r"]),
        ("a\N{NO-BREAK SPACE}b", ["a\N{NO-BREAK SPACE}b"]),
        ("a|b && c > d; $(e) `f` ~ * $G", ["a|b", "&&", "c", ">", "d;", "$(e)", "`f`", "~", "*", "$G"]),
        ("python3 -c 'print(\"é\")'", ["python3", "-c", 'print("é")']),
    ],
)
def test_split(text: str, words: list[str]) -> None:
    """Quotes and backslashes group, a # where a word would begin ends the line, and no shell is at work."""
    assert goose.split(text) == words


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("a 'b", "an open ' quote"),
        ('a "b', 'an open " quote'),
        ('"a\\"', 'an open " quote'),
        ('"a\\', 'an open " quote'),
        ("it's", "an open ' quote"),
        ("a \\", "a backslash at its end"),
    ],
)
def test_what_cannot_be_split_cannot_start(text: str, fault: str) -> None:
    """An open quote and a trailing backslash are faults: noticed at load, failed when due, never guessed at."""
    with pytest.raises(ValueError, match=fault):
        goose.split(text)
    hooks, [notice] = read({"hooks": {"pre_tool_use": [{"command": text}]}})
    why = f"cannot start: the command {text!r} has {fault}"
    assert [found.action for found in hooks] == [Command((), 10.0, fault=why)]
    assert notice == f"/r/config.yaml#/hooks/pre_tool_use/0/command: {why}; it fails whenever it is due"


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0")), min_size=1))
def test_split_undoes_quoting(words: list[str]) -> None:
    """Whatever words a person quotes, these are the words the program gets."""
    assert goose.split(shlex.join(words)) == words


@given(st.text("ab '\"\\\t\n", max_size=12))
def test_split_is_shlex_where_they_agree(text: str) -> None:
    """Without comments and escaped line ends it splits as Python's shlex does, and refuses what that refuses."""
    if "\\\n" in text or "\\`" in text or "\\$" in text:
        return
    try:
        wanted = shlex.split(text)
    except ValueError:
        with pytest.raises(ValueError, match=r"quote|backslash"):
            goose.split(text)
    else:
        assert goose.split(text) == wanted


# -- the wire


@pytest.mark.parametrize(
    ("event", "payload", "session", "sent"),
    [
        ("SessionStart", {"source": "startup"}, "s", {"event": "session_start", "session_id": "s"}),
        ("SessionStart", {}, "", {"event": "session_start", "session_id": ""}),
        ("UserPromptSubmit", {"prompt": "p"}, "s", {"event": "prompt_submit", "session_id": "s", "prompt_text": "p"}),
        (
            "PreToolUse",
            {"tool_name": "t", "tool_input": {"a": [1]}, "mcp": None},
            "s",
            {"event": "pre_tool_use", "session_id": "s", "tool_name": "t", "tool_arguments": {"a": [1]}},
        ),
        (
            "PreToolUse",
            {"tool_name": "t", "tool_input": None},
            "",
            {"event": "pre_tool_use", "session_id": None, "tool_name": "t", "tool_arguments": None},
        ),
        (
            "PostToolUse",
            {"tool_name": "t", "tool_input": {}, "tool_output": [{"type": "text", "text": "é"}]},
            "s",
            {
                "event": "post_tool_use",
                "session_id": "s",
                "tool_name": "t",
                "tool_arguments": {},
                "tool_result": '[{"type":"text","text":"é"}]',
                "tool_error": None,
            },
        ),
        (
            "PostToolUse",
            {"tool_name": "t", "tool_input": {}, "tool_output": "plain", "tool_error": {"code": 1}},
            "s",
            {
                "event": "post_tool_use",
                "session_id": "s",
                "tool_name": "t",
                "tool_arguments": {},
                "tool_result": "plain",
                "tool_error": '{"code":1}',
            },
        ),
        ("SessionEnd", {"reason": "exit"}, "s", {"event": "session_stop", "session_id": "s"}),
    ],
)
def test_encode(event: str, payload: dict[str, Any], session: str, sent: dict[str, Any]) -> None:
    """A hook gets the fields of its event, all of them, in Goose's words and order, and no others."""
    found = goose.encode(hook(event), Event(event, payload, session, "/w", "t", "/tape"))
    assert json.dumps(found) == json.dumps(sent)


BLOCK = '{"decision":"block","reason":"no"}'
FAILURES = [
    (exited(1, BLOCK), "exited with 1"),
    (exited(2, BLOCK, "a\njq: error\n"), "exited with 2: jq: error"),
    (exited(126), "exited with 126 (found, but not executable)"),
    (exited(127, "text"), "exited with 127 (command or interpreter not found)"),
    (Outcome("exited", signal="SIGTERM", stdout=BLOCK), "was killed by SIGTERM"),
    (Outcome("timeout", signal="SIGKILL", stdout=BLOCK), "timed out after 10 s"),
    (Outcome("unstartable", error="cannot start: x"), "cannot start: x"),
    (Outcome("lost", error="ended, but", stdout=BLOCK), "ended, but"),
]


@pytest.mark.parametrize("name", EVENTS)
@pytest.mark.parametrize(("outcome", "why"), FAILURES, ids=[why for _, why in FAILURES])
def test_every_failure_is_without_effect(name: str, outcome: Outcome, why: str) -> None:
    """Whatever was printed before it, a failure says only that it is one; exit 2 is nothing special."""
    assert goose.decode(hook(name), Event(name, {}), outcome) == Verdict(failed=why)


@pytest.mark.parametrize(
    ("stdout", "verdict"),
    [
        ("", Verdict()),
        (" \n\t", Verdict()),
        ('{"decision": "allow"}\n', Verdict("allow")),
        ('{"decision":"allow","reason":"fine"}', Verdict("allow", "fine")),
        (BLOCK, Verdict("deny", "no")),
        ("\n" + BLOCK + "\n", Verdict("deny", "no")),
        ('{"decision":"block"}', Verdict("deny", "Blocked by hook scan")),
        ('{"decision":"block","reason":""}', Verdict("deny", "Blocked by hook scan")),
        ('{"decision":"block","reason":7}', Verdict("deny", "Blocked by hook scan")),
        ('{"decision":"require_approval","reason":"sure?"}', Verdict("ask", "sure?")),
        ('{"decision":"require_approval"}', Verdict("ask", "Hook scan requires approval")),
        ('{"decision":"block","reason":"no","context_injection":"x"}', Verdict("deny", "no")),
        ('{"context_injection":"x"}', Verdict()),
        ('{"decision":null}', Verdict()),
        ('{"decision":["block"]}', Verdict()),
        ("{}", Verdict()),
        ("42", Verdict()),
        ('"block"', Verdict()),
        ('["block"]', Verdict()),
        ("null", Verdict()),
        ("true", Verdict()),
        *(
            (
                json.dumps({"decision": word}),
                Verdict(
                    notices=(f"its decision {word!r} is none of allow, block, require_approval, so it decides nothing",)
                ),
            )
            for word in ("Block", "deny", "BLOCK", "", "block ", "ask")
        ),
        *(
            (text, Verdict(notices=(f"it printed {text!r}, which is not JSON, so it decides nothing",)))
            for text in ("block", '{"decision":"blo', "{'decision':'block'}", BLOCK + BLOCK, "log\n" + BLOCK)
        ),
    ],
)
def test_decode_on_the_decision_event(stdout: str, verdict: Verdict) -> None:
    """Only a JSON object with one of three words decides; a reason is a string, or names the command."""
    assert goose.decode(hook(), PRE, exited(stdout=stdout, stderr="noise")) == verdict


@pytest.mark.parametrize("name", CONTEXT)
@pytest.mark.parametrize(
    ("stdout", "context"),
    [
        ("", ()),
        ("\n ", ()),
        ("text\n", ("text",)),
        ("  a\n  b  ", ("a\n  b",)),
        ('{"context_injection": "x"}', ("x",)),
        ('{"context_injection":" x\\n"}', (" x\n",)),
        ('{"context_injection":" "}', (" ",)),
        ('{"context_injection":""}', ()),
        ('{"context_injection":null}', ()),
        ('{"context_injection":["x"]}', ()),
        ('{"decision":"block","context_injection":"x"}', ("x",)),
        (BLOCK, ()),
        ("{}", ()),
        ("42", ()),
        ('"quoted"', ()),
        ("[1]", ()),
        ("null", ()),
        ("true", ()),
        ("NaN", ("NaN",)),
        ('{"context_injection":"x"', ('{"context_injection":"x"',)),
        ("# Rules\n- {}", ("# Rules\n- {}",)),
    ],
)
def test_decode_on_a_context_event(name: str, stdout: str, context: tuple[str, ...]) -> None:
    """context_injection verbatim, or what is no JSON trimmed; other JSON, and a decision, inject nothing."""
    assert goose.decode(hook(name), Event(name, {}), exited(stdout=stdout, stderr="noise")) == Verdict(context=context)


@pytest.mark.parametrize("name", BACKGROUND)
@pytest.mark.parametrize("stdout", ["", "text", BLOCK, '{"context_injection":"x"}'])
def test_decode_on_a_background_event(name: str, stdout: str) -> None:
    """Whatever a fire-and-forget hook prints is ignored."""
    assert goose.decode(hook(name), Event(name, {}), exited(stdout=stdout)) == Verdict()


def test_long_outputs() -> None:
    """At most 32 KiB are injected, marked; JSON of which the end was not kept is a failure, text is not."""
    long = "x" * (LARGEST_TEXT + 1)
    mark = f"\n[hookline: cut after {LARGEST_TEXT} of {LARGEST_TEXT + 1} bytes]"
    start, hooked = Event("SessionStart", {}), hook("SessionStart")
    wanted = Verdict(
        context=(long[:-1] + mark,), notices=(f"its text of {len(long)} bytes was cut to {len(long) - 1}",)
    )
    assert bearable(goose.decode(hooked, start, exited(stdout=long))) == wanted
    assert bearable(goose.decode(hooked, start, exited(stdout=json.dumps({"context_injection": long})))) == wanted
    assert bearable(goose.decode(hooked, start, exited(stdout=long, stdout_cut=3))) == wanted
    failed = Verdict(failed="printed 3 bytes too many, so its answer cannot be read")
    assert goose.decode(hooked, start, exited(stdout='{"context_inj', stdout_cut=3)) == failed
    assert goose.decode(hook(), PRE, exited(stdout='{"decision":"blo', stdout_cut=3)) == failed


ANSWERS = st.dictionaries(
    st.sampled_from(["decision", "reason", "context_injection", "x"]),
    st.sampled_from(["block", "allow", "require_approval", "deny", "", " ", True, None, 1, {"decision": "block"}]),
).map(json.dumps)
PRINTED = st.binary().map(lambda data: data.decode("utf-8", "replace")) | ANSWERS | ANSWERS.map(lambda text: text[:-2])
WORDS = {"block": "deny", "require_approval": "ask", "allow": "allow"}


@given(st.sampled_from(EVENTS), st.integers(0, 255), PRINTED, PRINTED)
@example("PreToolUse", 0, '{"decision":"block","decision":"allow"}', "")
@example("SessionStart", 0, "\ufeff\ufeff{", "\0")
def test_whatever_a_hook_prints_it_is_never_misread(name: str, code: int, stdout: str, stderr: str) -> None:
    """A decision needs exit 0, the decision event and its very word; context a context event; a failure has neither."""
    verdict = goose.decode(hook(name), Event(name, {}), exited(code, stdout, stderr))
    try:
        answer = json.loads(stdout.lstrip("\ufeff").strip())
    except ValueError:
        answer = None
    word = answer.get("decision") if isinstance(answer, dict) else None
    wanted = WORDS.get(word, "none") if name == "PreToolUse" and code == 0 and isinstance(word, str) else "none"
    assert verdict.decision == wanted
    assert bool(verdict.reason) >= (wanted in ("deny", "ask"))
    assert bool(verdict.failed) == (code != 0)
    if name not in CONTEXT or code:
        assert verdict.context == ()
    elif isinstance(answer, dict):
        injection = answer.get("context_injection")
        assert verdict.context == ((injection,) if isinstance(injection, str) and injection else ())


def test_a_goose_hook_says_nothing_of_itself() -> None:
    """Goose has no documentation header."""
    assert goose.about(hook()) == About()
