"""The cases: every golden case of tests/tables/llxprt that both can play, and some that only matter beside Gemini CLI.

A case is a directory with a `settings.json` and scripts, and an event. Each script begins by adding its stdin to a file
`seen…`; what it wants to leave behind it writes to `note…`.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from msgspec import Struct, field

TABLES = Path(__file__).parent.parent / "tests" / "tables" / "llxprt"
GOLDEN = ("stdin.jsonl", "ruling.json", "notices.json", "event.json")
DIRECTORY = "CASE"
"""What the files of a case call the directory it runs in."""

LEFT_OUT = {
    "comments_in_settings": "the settings file is parsed by the program around the core",
    "extension_hooks_file": "extensions are read by the program around the core",
    "extension_manifest": "extensions are read by the program around the core",
    "four_tiers": "several files are merged by the program around the core",
    "genai_request": "the call is translated by us before hooks see it",
    "genai_request_rewritten": "the call is translated by us before hooks see it",
    "genai_response": "the response is translated by us before hooks see it",
    "genai_response_replaced": "the response is translated by us before hooks see it",
    "legacy_keys": "the old keys are moved by the program around the core",
    "loaded_once": "several files are merged by the program around the core",
    "on_failure_deny": "on_failure is hookline's own",
    "switched_off": "the switch is read by the program around the core",
    "timeout_ignored": "the core never sends the second signal (D29), so it waits as long as the hook likes",
}
"""Golden cases that the core of Gemini CLI cannot play, and why."""


class Case(Struct, frozen=True):
    """`files` are written to its directory; those of a golden case are copied from `folder`."""

    name: str
    states: str
    event: str
    fields: dict[str, Any]
    files: dict[str, str] = field(default_factory=dict)
    folder: Path | None = None

    def play_in(self, directory: Path) -> None:
        """Lay out the case in a directory of its own."""
        if self.folder:
            shutil.copytree(self.folder, directory, ignore=shutil.ignore_patterns(*GOLDEN))
        directory.mkdir(parents=True, exist_ok=True)
        for name, text in self.files.items():
            (directory / name).write_text(text, encoding="utf-8")

    def fields_in(self, directory: Path) -> dict[str, Any]:
        done: dict[str, Any] = json.loads(json.dumps(self.fields).replace(DIRECTORY, json.dumps(str(directory))[1:-1]))
        return done


def golden() -> list[Case]:
    found = []
    for file in sorted(TABLES.glob("*/event.json")):
        if file.parent.name not in LEFT_OUT:
            told = json.loads(file.read_text(encoding="utf-8"))
            name = f"tables/{file.parent.name}"
            found.append(Case(name, told["states"], told["event"], told["fields"], folder=file.parent))
    return found


BASE = {"session_id": "s1", "cwd": DIRECTORY, "timestamp": "2026-01-02T03:04:05.678Z"}
CALL = {"tool_name": "write_file", "tool_input": {"path": "a.txt", "content": "hi"}}
REQUEST = {
    "model": "m1",
    "messages": [{"role": "user", "content": "hello"}],
    "config": {"temperature": 0.2, "topK": 40},
}
RESPONSE = {
    "text": "hi",
    "candidates": [{"content": {"role": "model", "parts": ["hi"]}, "finishReason": "STOP", "index": 0}],
}
PAYLOADS: dict[str, dict[str, Any]] = {
    "BeforeTool": CALL,
    "AfterTool": CALL | {"tool_output": "done"},
    "BeforeAgent": {"prompt": "tidy up"},
    "AfterAgent": {"prompt": "tidy up", "response": "done", "stop_hook_active": False},
    "BeforeModel": {"llm_request": REQUEST},
    "AfterModel": {"llm_request": REQUEST, "llm_response": RESPONSE},
    "BeforeToolSelection": {"llm_request": REQUEST},
    "SessionStart": {"source": "startup"},
    "SessionEnd": {"reason": "exit"},
    "PreCompress": {"trigger": "auto"},
    "Notification": {"notification_type": "ToolPermission", "message": "m", "details": {"type": "info", "title": "t"}},
}


def says(answer: Any) -> str:
    """A line of shell that prints a value as JSON; a string as it is."""
    text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    quoted = text.replace("'", "'\\''")
    return f"printf '%s' '{quoted}'"


def own(
    name: str,
    states: str,
    *bodies: str,
    event: str = "BeforeTool",
    groups: list[Any] | None = None,
    entry: dict[str, Any] | None = None,
    config: dict[str, Any] | None = None,
    fields: dict[str, Any] | None = None,
    **group: Any,
) -> Case:
    """A case with one script for each body, `a.sh`, `b.sh` …, in one group, unless `groups` says otherwise."""
    letters = "abcdef"[: len(bodies)]
    scripts = {
        f"{letter}.sh": f"#!/bin/sh\n{{ cat; echo; }} >>seen.{letter}\n{body}\n"
        for letter, body in zip(letters, bodies, strict=True)
    }
    entries = [{"type": "command", "command": f"sh {letter}.sh"} | (entry or {}) for letter in letters]
    hooks = {event: groups if groups is not None else [{"hooks": entries} | group]}
    files = scripts | {"settings.json": json.dumps({"hooks": hooks} | (config or {}), indent=2)}
    return Case(name, states, event, BASE | PAYLOADS[event] | (fields or {}), files)


def command(line: str, **more: Any) -> dict[str, Any]:
    return {"type": "command", "command": line} | more


def specific(event: str, **keys: Any) -> str:
    return says({"hookSpecificOutput": {"hookEventName": event} | keys})


def selects(**config: Any) -> str:
    return specific("BeforeToolSelection", toolConfig=config)


DENY = {"decision": "deny", "reason": "no"}
MEETS = "touch met.{0}; n=0; while [ ! -e met.{1} ] && [ $n -lt 100 ]; do sleep 0.02; n=$((n+1)); done"
NOTES = "echo {0} >>note; sleep 0.2; echo {0} >>note"
PARTS = [
    {"role": "user", "parts": [{"text": "look"}, {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}]},
    {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
    {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"r": 1}}}]},
    {"role": "model", "parts": [{"text": "seen"}]},
]


def matched(name: str, states: str, matcher: str, tool: str = "write_file") -> Case:
    return own(f"matcher: {name}", states, "", matcher=matcher, fields={"tool_name": tool})


STREAMS = [
    own("exit 126", "A script that cannot be executed fails and blocks nothing.", "echo no >&2; exit 126"),
    own("exit 255", "So does the largest exit code.", "echo no >&2; exit 255"),
    own("exit 3, silent", "A failure without a word.", "exit 3"),
    own("exit 3, deny on stdout", "A failure that printed a denial.", f"{says(DENY)}; exit 3"),
    own("exit 1, text on stdout", "A failure that printed a text.", "echo text; exit 1"),
    own("exit 1, text on both", "A failure with both streams.", "echo out; echo err >&2; exit 1"),
    own("exit 2, allow on stdout", "Exit 2 and an allow.", f"{says({'decision': 'allow'})}; echo no >&2; exit 2"),
    own("exit 2, text on stdout only", "Exit 2 whose text is on the wrong stream.", "echo no; exit 2"),
    own("exit 2, blanks on stderr", "Exit 2 and nothing but blanks.", "printf ' \\n' >&2; exit 2"),
    own("exit 0, deny on stderr", "A denial on the wrong stream.", f"{says(DENY)} >&2"),
    own("exit 0, both streams", "stdout is read, stderr is a log.", f"{says(DENY)}; echo log >&2"),
    own("exit 0, blanks", "Nothing but blanks.", "printf ' \\n\\t'"),
    own("signal, silent", "Killed by a signal.", "kill -9 $$"),
    own("signal, deny on stdout", "Killed after it printed a denial.", f"{says(DENY)}; kill -9 $$"),
    own("signal, stderr", "Killed after a complaint.", "echo oops >&2; kill -15 $$", entry={"command": "exec sh a.sh"}),
    own("stdin unread", "A hook that closes its stdin.", f"exec <&-; {says(DENY)}"),
    own(
        "large stdin unread",
        "A large payload that nobody reads.",
        groups=[{"hooks": [command(says(DENY))]}],
        fields={"tool_input": {"content": "x" * 300_000}},
    ),
    own("large answer", "A denial of 300 kB.", says(DENY | {"padding": "x" * 100}).replace("x" * 100, "x" * 100_000)),
    own("no directory", "The working directory is gone.", "echo hi", fields={"cwd": f"{DIRECTORY}/gone"}),
    own("no such program", "The shell finds nothing to run.", groups=[{"hooks": [command("no-such-program-here")]}]),
]
SHAPES = [
    *(
        own(f"prints {text}", f"{text} on stdout.", says(text))
        for text in ("42", "true", "null", "[]", "{}", '"text"', '"42"', '"[1]"', "NaN", "Infinity", '{"decision":NaN}')
    ),
    own("array of a denial", "A list is no answer.", says([DENY])),
    own("double-encoded", "A string that holds a denial.", says(json.dumps(json.dumps(DENY)))),
    own("encoded three times", "One decoding too few.", says(json.dumps(json.dumps(json.dumps(DENY))))),
    own("mark before JSON", "A byte order mark, then a denial.", f"printf '\\357\\273\\277'; {says(DENY)}"),
    own("mark before text", "A byte order mark, then a text.", "printf '\\357\\273\\277text'"),
    own(
        "blanks around JSON",
        "Blanks and line ends around a denial.",
        f"printf '\\r\\n '; {says(DENY)}; printf '\\r\\n'",
    ),
    own("text before JSON", "A log line, then a denial.", f"echo log; {says(DENY)}"),
    own("text after JSON", "A denial, then a log line.", f"{says(DENY)}; echo; echo log"),
    own("two objects", "Two answers on two lines.", f"{says(DENY)}; echo; {says(DENY)}"),
    own("duplicate keys", "The last of two keys counts.", says('{"decision":"allow","decision":"deny","reason":"no"}')),
    own("escaped letters", "A reason in escapes.", says('{"decision":"deny","reason":"caf\\u00e9 \\ud83d\\ude00"}')),
    own("bytes that are no UTF-8", "A text with a stray byte.", "printf 'a\\377b'"),
    own("decision in capitals", "Deny is no decision.", says({"decision": "Deny", "reason": "no"})),
    own("unknown decision", "Nor is reject.", says({"decision": "reject", "reason": "no"})),
    own("decision is a boolean", "Nor is false.", says({"decision": False})),
    own("block", "block is deny.", says({"decision": "block", "reason": "no"})),
    own("approve", "approve is allow.", says({"decision": "approve", "reason": "yes"})),
    own("ask", "ask is allow.", says({"decision": "ask", "reason": "sure?"})),
    own("deny without a reason", "A denial has a reason, always.", says({"decision": "deny"})),
    own("reason is a number", "A reason that is no text.", says({"decision": "deny", "reason": 7})),
    own("continue is a string", "Only false halts.", says({"continue": "false"})),
    own("continue is 0", "Only false halts.", says({"continue": 0})),
    own("halt", "A halt and its reason.", says({"continue": False, "stopReason": "enough"})),
    own("halt, reason only", "A halt falls back on reason.", says({"continue": False, "reason": "why"})),
    own(
        "halt, empty stopReason", "An empty one is none.", says({"continue": False, "stopReason": "", "reason": "why"})
    ),
    own("halt, no reason", "A halt without a word.", says({"continue": False})),
    own("stopReason alone", "Without a halt it is nothing.", says({"stopReason": "enough"})),
    own("halt and deny", "Both.", says(DENY | {"continue": False, "stopReason": "enough"})),
    own("suppressOutput is 1", "Only true hides.", says({"suppressOutput": 1}), event="AfterTool"),
    own("unknown keys", "What nobody knows.", says({"colour": "red", "hookSpecificOutput": {"shape": "round"}})),
    own("specific output is a text", "hookSpecificOutput that is no object.", says({"hookSpecificOutput": "x"})),
]
TIMES = [
    own(
        "timeout, deny printed",
        "What it said before does not count.",
        f"{says(DENY)}; exec sleep 9",
        entry={"timeout": 500},
    ),
    own(
        "timeout, children",
        "The whole group is ended.",
        "sleep 2; echo late >>note",
        entry={"timeout": 500, "command": "sh a.sh; exit"},
    ),
    own(
        "timeout, SIGTERM ignored",
        "Five seconds later it is killed.",
        "trap '' TERM; n=0; while [ $n -lt 35 ]; do sleep 0.2; n=$((n+1)); done; echo late >>note",
        entry={"timeout": 300, "command": "exec sh a.sh"},
    ),
    own(
        "a child holds the pipes",
        "Its end is the end of its process.",
        f"sleep 3 & {says(DENY)}",
        entry={"timeout": 2000},
    ),
    *(
        own(
            f"timeout {number}",
            "The default is used.",
            groups=[{"hooks": [command(f"sleep 0.5; {says(DENY)}", timeout=number)]}],
        )
        for number in (0, -5)
    ),
]
MATCHERS = [
    matched("anywhere", "Found anywhere in the name.", "rite"),
    matched("case", "Upper and lower case count.", "WRITE"),
    matched("anchored", "For one tool.", "^write_file$"),
    matched("other", "For another.", "^read_file$"),
    matched("alternatives", "For one of two.", "read_file|write_file"),
    matched("blanks", "Blanks around it are dropped.", "  ^write_file$ "),
    matched("all blanks", "Blanks are everything.", "   "),
    matched("star", "A star is everything.", " * "),
    matched("like a glob", "It is no glob.", "write_*"),
    matched("stars", "Two stars are no expression.", "**"),
    matched("invalid", "No expression: compared as it is.", "write_file("),
    matched("invalid, equal", "No expression, and equal.", "a(b", "a(b"),
    matched("named group", "A group with a name, as JavaScript writes it.", "(?<n>write)"),
    matched("Python group", "A group with a name, as Python writes it.", "(?P<n>write)"),
    matched("flag inside", "A flag, as Python writes it.", "(?i)WRITE"),
    matched("possessive", "A possessive repeat is none.", "e++"),
    matched("open repeat", "Braces without a first number are letters.", "^wri{,2}te"),
    matched("any character", "Any character at all, as JavaScript writes it.", "^[^]rite"),
    matched("needless escape", "An escape of nothing.", "\\write_file", "write_file"),
    matched("identity escape", "An escaped letter is that letter.", "^\\y", "yes"),
    matched("look-ahead", "Not followed by.", "write_(?!file)"),
    matched("look-behind", "Preceded by, of any length.", "(?<=w.+_)file"),
    matched("back-reference", "Twice the same.", "(t)e_\\1"),
    matched("line end", "The end is the very end.", "^write_file$", "write_file\n"),
    matched("digits", "Digits are ASCII.", "^\\d$", "٣"),
    matched("words", "So are word characters.", "^\\w+$", "naïve"),
    matched("dot", "A dot is no line end.", "^a.b$", "a\nb"),
    matched("Unicode escape", "A letter by its number.", "^\\u0077rite"),
    matched("property", "A class of Unicode letters needs a flag.", "\\p{L}"),
    matched("absolute end", "Python's end of text.", "file\\Z"),
    matched("no tool name", "Nothing to match is a match.", "^read_file$", ""),
    own("session matcher", "Compared as it is.", "", event="SessionStart", matcher="startup"),
    own("session matcher, blanks", "Without blanks around it.", "", event="SessionStart", matcher=" startup "),
    own("session matcher, pattern", "No expression.", "", event="SessionStart", matcher="startup|resume"),
    own("session matcher, part", "All of it.", "", event="SessionStart", matcher="start"),
    own("end matcher", "By its reason.", "", event="SessionEnd", matcher="clear"),
    own("compress matcher", "By its trigger.", "", event="PreCompress", matcher="manual"),
    own("notification matcher", "Nothing to match.", "", event="Notification", matcher="anything"),
    own("matcher is null", "No matcher.", "", matcher=None),
    own(
        "matcher is a number",
        "A group that cannot be matched costs that group.",
        "",
        groups=[{"matcher": 7, "hooks": [command("true")]}, {"hooks": [command("sh a.sh")]}],
    ),
]
PLANS = [
    own("same command twice", "It runs once.", "", groups=[{"hooks": [command("sh a.sh"), command("sh a.sh")]}]),
    own(
        "same command, other names",
        "Names do not make two of it.",
        "",
        groups=[{"hooks": [command("sh a.sh", name="one"), command("sh a.sh", name="two")]}],
    ),
    own(
        "same command, other blanks",
        "Another line is another command.",
        "",
        groups=[{"hooks": [command("sh a.sh"), command("sh  a.sh")]}],
    ),
    own(
        "names that run together",
        "Two commands, though name and command read the same together.",
        groups=[
            {
                "hooks": [
                    command("true:x >>note; echo c >>note", name="a"),
                    command("x >>note; echo c >>note", name="a:true"),
                ]
            }
        ],
    ),
    own(
        "a duplicate was sequential",
        "A group that fell away decides nothing.",
        MEETS.format("a", "b") + "; [ -e met.b ] && echo together >>note.a",
        MEETS.format("b", "a") + "; [ -e met.a ] && echo together >>note.b",
        groups=[
            {"hooks": [command("sh a.sh"), command("sh b.sh")]},
            {"sequential": True, "hooks": [command("sh a.sh")]},
        ],
    ),
    own(
        "in parallel",
        "Side by side.",
        MEETS.format("a", "b") + "; [ -e met.b ] && echo together >>note.a",
        MEETS.format("b", "a"),
    ),
    own("one after the other", "In the order of the file.", NOTES.format("a"), NOTES.format("b"), sequential=True),
    own(
        "one sequential group of two",
        "It makes all of them wait.",
        NOTES.format("a"),
        NOTES.format("b"),
        groups=[{"hooks": [command("sh a.sh")]}, {"sequential": True, "hooks": [command("sh b.sh")]}],
    ),
    own("sequential is a text", "Only true is true.", "", "", sequential="yes"),
    own("disabled", "By its name.", "", entry={"name": "n"}, config={"hooksConfig": {"disabled": ["n"]}}),
    own("disabled by command", "Where it has no name.", "", config={"hooksConfig": {"disabled": ["sh a.sh"]}}),
    own(
        "disabled by the command of a named one",
        "A name is the only name.",
        "",
        entry={"name": "n"},
        config={"hooksConfig": {"disabled": ["sh a.sh"]}},
    ),
    own("disabled, one of two", "The other one runs.", "", "", config={"hooksConfig": {"disabled": ["sh a.sh"]}}),
    own(
        "plugin",
        "Fails open.",
        groups=[{"hooks": [{"type": "plugin", "name": "p", "command": "true"}, command("true")]}],
    ),
    own("no command", "Dropped.", groups=[{"hooks": [{"type": "command"}, command("", name="e"), command("true")]}]),
    own("no type", "Dropped.", groups=[{"hooks": [{"command": "true"}, {"type": "Command", "command": "true"}]}]),
    own("a group of nothing", "Nothing to run.", groups=[{"hooks": []}]),
    own(
        "a group that is no group",
        "The others run.",
        "",
        groups=[None, 7, [], {"matcher": "x"}, {"hooks": [command("sh a.sh")]}],
    ),
]
CHAINS = [
    own(
        "tool_input, chained",
        "Each sees what the one before made of it.",
        specific("BeforeTool", tool_input={"content": "A", "a": {"x": 1}}),
        specific("BeforeTool", tool_input={"a": {"y": 2}}),
        "",
        sequential=True,
    ),
    own("tool_input, a list", "No object, no change.", specific("BeforeTool", tool_input=[1]), "", sequential=True),
    own("tool_input, null", "No object, no change.", specific("BeforeTool", tool_input=None), "", sequential=True),
    own("tool_input, empty", "Nothing laid over it.", specific("BeforeTool", tool_input={}), "", sequential=True),
    own("tool_input, whole", "Every key.", specific("BeforeTool", tool_input={"path": "b", "content": "B"})),
    own(
        "chain, exit 1",
        "A failure hands nothing on.",
        f"{specific('BeforeTool', tool_input={'a': 1})}; exit 1",
        "",
        sequential=True,
    ),
    own("chain, deny", "A denial ends it.", says(DENY), "", sequential=True),
    own("chain, exit 2", "So does exit 2.", "echo no >&2; exit 2", "", sequential=True),
    own("chain, halt", "So does a halt.", says({"continue": False, "stopReason": "enough"}), "", sequential=True),
    own(
        "prompt, chained",
        "The context so far is in the prompt.",
        specific("BeforeAgent", additionalContext="one"),
        specific("BeforeAgent", additionalContext="two"),
        "",
        event="BeforeAgent",
        sequential=True,
    ),
    own(
        "request, chained",
        "Key by key; a config replaces the config.",
        specific("BeforeModel", llm_request={"model": "m2"}),
        specific("BeforeModel", llm_request={"config": {"temperature": 1}}),
        "",
        event="BeforeModel",
        sequential=True,
    ),
    own(
        "response, not chained",
        "Each sees the model's own.",
        specific("AfterModel", llm_response={"candidates": [{"content": {"role": "model", "parts": ["HI"]}}]}),
        "",
        event="AfterModel",
        sequential=True,
    ),
    own(
        "selection, not chained",
        "Each sees the same request.",
        selects(mode="ANY", allowedFunctionNames=["x"]),
        "",
        event="BeforeToolSelection",
        sequential=True,
    ),
]
MERGES = [
    own("deny, then allow", "A denial sticks.", says(DENY), says({"decision": "allow", "reason": "yes"})),
    own("allow, then deny", "Whatever the order.", says({"decision": "allow", "reason": "yes"}), says(DENY)),
    own("deny and block", "Both reasons.", says(DENY), says({"decision": "block", "reason": "never"})),
    own("deny and ask", "Asking does not weaken it.", says(DENY), says({"decision": "ask", "reason": "sure?"})),
    own("deny and a failure", "Nor does a failure.", says(DENY), "echo oops >&2; exit 1"),
    own("deny and plain text", "Nor does a text.", says(DENY), "echo text"),
    own(
        "two halts",
        "Both reasons.",
        says({"continue": False, "stopReason": "one"}),
        says({"continue": False, "stopReason": "two"}),
    ),
    own("messages", "All of them.", says({"systemMessage": "one"}), "echo two", event="AfterTool"),
    own(
        "contexts",
        "All of them.",
        specific("AfterTool", additionalContext="one"),
        specific("AfterTool", additionalContext="two"),
        event="AfterTool",
    ),
    own("context with tags", "As it is.", specific("AfterTool", additionalContext="<b>"), event="AfterTool"),
    own("context is a number", "Only texts.", specific("AfterTool", additionalContext=7), event="AfterTool"),
    own("suppress, one of two", "One is enough.", says({"suppressOutput": True}), says({}), event="AfterTool"),
    own(
        "permissionDecision",
        "Counts on BeforeTool.",
        specific("BeforeTool", permissionDecision="deny", permissionDecisionReason="no"),
    ),
    own("AfterTool, deny", "Too late to deny.", says(DENY), event="AfterTool"),
    own("AfterTool, exit 2", "Too late to deny.", "echo no >&2; exit 2", event="AfterTool"),
    own(
        "AfterTool, halt", "Not too late to halt.", says({"continue": False, "stopReason": "enough"}), event="AfterTool"
    ),
    own("BeforeAgent, deny", "Can be denied.", says(DENY), event="BeforeAgent"),
    own("AfterAgent, deny", "Can be denied.", says(DENY), event="AfterAgent"),
    own(
        "AfterAgent, clear",
        "True once is true.",
        specific("AfterAgent", clearContext=True),
        specific("AfterAgent", clearContext=False),
        event="AfterAgent",
    ),
    own("AfterAgent, clear is 1", "Only true.", specific("AfterAgent", clearContext=1), event="AfterAgent"),
    own(
        "SessionStart, context",
        "Can add context.",
        specific("SessionStart", additionalContext="x"),
        event="SessionStart",
    ),
    own("SessionStart, deny", "Cannot be denied.", says(DENY), event="SessionStart"),
    own("BeforeModel, deny", "Can be denied.", says(DENY), event="BeforeModel"),
    own(
        "BeforeModel, deny, then allow",
        "A denial sticks.",
        says(DENY),
        says({"decision": "allow"}),
        event="BeforeModel",
    ),
    own("BeforeModel, deny, then nothing", "A denial sticks.", says(DENY), says({}), event="BeforeModel"),
    own("BeforeModel, deny, then text", "A denial sticks.", says(DENY), "echo text", event="BeforeModel"),
    own("BeforeModel, halt", "Can be halted.", says({"continue": False, "stopReason": "enough"}), event="BeforeModel"),
    own(
        "BeforeModel, synthetic response",
        "A denial may bring a reply.",
        says(DENY | {"hookSpecificOutput": {"llm_response": RESPONSE}}),
        event="BeforeModel",
    ),
    own(
        "BeforeModel, messages",
        "A text changes, one is added.",
        specific(
            "BeforeModel",
            llm_request={"messages": [{"role": "user", "content": "HELLO"}, {"role": "user", "content": "more"}]},
        ),
        event="BeforeModel",
    ),
    own(
        "BeforeModel, other parts",
        "What is no text stays.",
        specific(
            "BeforeModel",
            llm_request={"messages": [{"role": "user", "content": "LOOK"}, {"role": "model", "content": "seen"}]},
        ),
        event="BeforeModel",
        fields={"request": {"model": "m1", "contents": PARTS, "config": {"systemInstruction": "be brief"}}},
    ),
    own(
        "BeforeModel, no change",
        "The same messages again.",
        specific("BeforeModel", llm_request={"messages": REQUEST["messages"]}),
        event="BeforeModel",
    ),
    own(
        "BeforeModel, config in part",
        "What an answer leaves out stays.",
        specific("BeforeModel", llm_request={"config": {"temperature": 1}}),
        event="BeforeModel",
    ),
    own(
        "AfterModel, response",
        "Takes the place of the model's.",
        specific(
            "AfterModel",
            llm_response={
                "candidates": [{"content": {"role": "model", "parts": ["HI"]}, "finishReason": "STOP", "index": 0}]
            },
        ),
        event="AfterModel",
    ),
    own(
        "AfterModel, response without parts",
        "No parts, no response.",
        specific("AfterModel", llm_response={"candidates": [{"content": {"role": "model", "parts": []}}]}),
        event="AfterModel",
    ),
    own("AfterModel, deny", "Too late to deny.", says(DENY), event="AfterModel"),
    own(
        "AfterModel, halt",
        "Not too late to halt.",
        says({"continue": False, "stopReason": "enough"}),
        event="AfterModel",
    ),
    own(
        "selection, union",
        "All names, sorted.",
        selects(mode="ANY", allowedFunctionNames=["b", "a"]),
        selects(mode="AUTO", allowedFunctionNames=["c", "a"]),
        event="BeforeToolSelection",
    ),
    own(
        "selection, NONE",
        "None is none.",
        selects(mode="NONE"),
        selects(mode="ANY", allowedFunctionNames=["a"]),
        event="BeforeToolSelection",
    ),
    own(
        "selection, empty list", "No tools.", selects(mode="ANY", allowedFunctionNames=[]), event="BeforeToolSelection"
    ),
    own("selection, mode only", "No list.", selects(mode="ANY"), event="BeforeToolSelection"),
    own("selection, names only", "No mode.", selects(allowedFunctionNames=["b", "a"]), event="BeforeToolSelection"),
    own("selection, unknown mode", "No mode of ours.", selects(mode="SOME"), event="BeforeToolSelection"),
    own("selection, nothing", "No tool config.", says({"decision": "allow"}), event="BeforeToolSelection"),
    own(
        "selection, halt",
        "Can be halted.",
        says({"continue": False, "stopReason": "enough"}),
        event="BeforeToolSelection",
    ),
    own(
        "SessionEnd, two messages",
        "Both.",
        says({"systemMessage": "one"}),
        says({"systemMessage": "two"}),
        event="SessionEnd",
    ),
    own("PreCompress, deny", "Cannot be denied.", says(DENY), event="PreCompress"),
    own("Notification, message", "May speak.", says({"systemMessage": "one"}), event="Notification"),
]
VARIABLES = [
    own(
        f"variable {name}",
        "In a hook's environment.",
        f'printf "%s\\n" "${{{name}-unset}}" >note',
    )
    for name in (
        *("LLXPRT_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"),
        *("GEMINI_CWD", "GEMINI_SESSION_ID", "GEMINI_PLANS_DIR", "PATH"),
    )
]
VARIABLES += [
    own("own variable", "Of one entry.", 'echo "$GREETING" >note', entry={"env": {"GREETING": "hello"}}),
    own(
        "own variable wins",
        "Over all others.",
        'echo "$GEMINI_PROJECT_DIR" >note',
        entry={"env": {"GEMINI_PROJECT_DIR": "/x"}},
    ),
    own("variable in the command", "Expanded.", groups=[{"hooks": [command('echo "$GEMINI_PROJECT_DIR/x" >note')]}]),
    own("variable, bare", "Expanded.", groups=[{"hooks": [command("echo $GEMINI_PROJECT_DIR/x >note")]}]),
    own("variable in quotes", "By the shell alone.", groups=[{"hooks": [command("echo '$GEMINI_PROJECT_DIR' >note")]}]),
    own(
        "variable, longer name", "Another variable.", groups=[{"hooks": [command("echo [$GEMINI_PROJECT_DIRX] >note")]}]
    ),
]
OWN = [*STREAMS, *SHAPES, *TIMES, *MATCHERS, *PLANS, *CHAINS, *MERGES, *VARIABLES]


def cases() -> list[Case]:
    """All of them, in the order of the table."""
    return [*golden(), *OWN]
