"""The Harness: `settings.json`, six events, executable files, milliseconds.

A hook's stdout is text for the model, on every event; on an event that can be denied it may be a
decision instead. Exit 2 blocks, any other failure does not. See docs/harness.md.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from hookline.events import ROWS, spellings
from hookline.matching import fields
from hookline.model import (
    BASE_FIELDS,
    EVERYTHING,
    About,
    Command,
    Event,
    Hook,
    Level,
    Loaded,
    Matcher,
    Notice,
    Outcome,
    Source,
    Verdict,
)
from hookline.reading import NOT_JSON, Entries, bad_exit, json_value, no_answer, printed, unreadable
from hookline.wording import kind_of, nearest, shown

NAME = "harness"
FORMAT = "json"
SILENT = "none"
EVENTS = spellings(NAME)
EFFECTS: Mapping[str, frozenset[str]] = {
    "SessionStart": frozenset({"context"}),
    "UserPromptSubmit": frozenset({"context", "deny"}),
    "PreToolUse": frozenset({"context", "deny", "ask"}),
    "SubagentStop": frozenset({"context", "deny"}),
    "Stop": frozenset({"context", "deny"}),
    "SessionEnd": frozenset({"context"}),
}

KEYS = ("path", "timeout", "matcher", "args", "on_failure")
DEFAULT_TIMEOUT = 5.0
DOUBTFUL_MS = (50, 600_000)
INTERPRETERS = {
    ".py": ("python3",),
    ".sh": ("bash",),
    ".js": ("node",),
    ".mjs": ("node",),
    ".ts": ("bun",),
}
ROOT_VARIABLES = ("ENGRAM_DIR", "PAI_DIR")


# -- configuration


def claims(document: Any) -> bool:
    """Entries with a `path` under an event of The Harness, and none with a list of `hooks`."""
    table = document.get("hooks") if isinstance(document, dict) else None
    if not isinstance(table, dict):
        return False
    lists = [table[event] for event in EVENTS if isinstance(table.get(event), list)]
    entries = [entry for listed in lists for entry in listed if isinstance(entry, dict)]
    return any("path" in entry for entry in entries) and not any("hooks" in entry for entry in entries)


def read(
    document: Any, file: str, *, root: str | None = None, environ: Mapping[str, str], level: Level = "project"
) -> Loaded:
    entries = Entries(file)
    base = os.path.abspath(_expanded(root or environ.get("ENGRAM_DIR") or os.path.dirname(file) or "."))
    # Shipped hooks look for the framework root in these, and elsewhere if neither is set.
    env = {name: (not root and environ.get(name)) or base for name in ROOT_VARIABLES}
    hooks = []
    for event, pointer, entry in entries.flat(document, EVENTS):
        entries.unknown(entry, pointer, KEYS)
        path = entries.text(entry, pointer, "path")
        matcher = _matcher(entries, entry, pointer, event)
        args = _args(entries, entry, pointer)
        if path is None or matcher is None or args is None:
            continue
        program = os.path.join(base, os.path.expanduser(path))
        command = Command(
            argv=(program, *args),
            timeout=entries.timeout(entry, pointer, unit=0.001, default=DEFAULT_TIMEOUT, doubtful=DOUBTFUL_MS),
            interpreter=INTERPRETERS.get(os.path.splitext(path)[1], ()),
            env=env,
        )
        hooks.append(
            Hook(
                name=path,
                event=event,
                dialect=NAME,
                source=Source(file, pointer),
                action=command,
                matcher=matcher,
                on_failure=entries.on_failure(entry, pointer),
            )
        )
    return Loaded(tuple(hooks), tuple(entries.notices))


def _expanded(path: str) -> str:
    """A leading ~, $HOME or ${HOME}, as the shipped hooks understand them."""
    return os.path.expanduser(re.sub(r"^\$(HOME\b|\{HOME\})", "~", path))


def _matcher(entries: Entries, entry: dict[str, Any], pointer: str, event: str) -> Matcher | None:
    value = entry.get("matcher")
    if value is None:
        return EVERYTHING
    where = f"{pointer}/matcher"
    if not isinstance(value, dict):
        entries.note(
            where,
            f'matcher must be an object such as {{"tool_name": "Bash"}}, not {kind_of(value)} {shown(value)}; '
            "this hook is skipped",
        )
        return None
    known = (*ROWS[event].fields, *BASE_FIELDS, "hook_event_name")
    for name in value:
        if name not in known:
            entries.note(where, f"{event} has no field {shown(name)}, so this never matches{nearest(str(name), known)}")
    return fields(value) if value else EVERYTHING


def _args(entries: Entries, entry: dict[str, Any], pointer: str) -> tuple[str, ...] | None:
    value = entry.get("args", [])
    if isinstance(value, list) and all(isinstance(word, str) for word in value):
        return tuple(value)
    entries.note(f"{pointer}/args", f"args must be a list of strings, not {shown(value)}; this hook is skipped")
    return None


# -- the wire


def encode(hook: Hook, event: Event) -> dict[str, Any]:
    payload = {
        "session_id": event.session_id,
        "transcript_path": event.transcript_path,
        "hook_event_name": event.name,
        "cwd": event.cwd,
        "timestamp": event.timestamp,
    } | event.payload
    if payload.get("tool_input", ...) is None:
        payload["tool_input"] = {}
    if event.name == "Stop" and "response" in payload:
        payload["last_assistant_message"] = payload["response"]  # the name real Stop hooks read
    return payload


def decode(hook: Hook, event: Event, outcome: Outcome) -> Verdict:
    if failed := no_answer(outcome, hook.command.timeout):
        return Verdict(failed=failed)
    deniable = "deny" in EFFECTS[event.name]
    text = printed(outcome.stdout)
    answer = _answer(text)
    decides = "decision" in answer or "continue" in answer  # any other JSON is text
    said = [answer.get("message"), answer.get("reason"), printed(outcome.stderr)]
    if outcome.exit_code == 2 and deniable:
        default = f"blocked by {hook.name}, which exited with 2 and did not say why"
        return Verdict(decision="deny", reason=_reason([*said, "" if decides else text], default))
    if outcome.exit_code == 2:
        return Verdict(failed=f"exited with 2, which cannot block {event.name}")
    if outcome.exit_code:
        return Verdict(failed=bad_exit(outcome))
    if deniable and (failed := unreadable(outcome, text)):
        return Verdict(failed=failed)
    if not deniable:
        odd = (f"{event.name} cannot be decided, so its JSON {shown(text)} is text",) if decides else ()
        return Verdict(context=(text,) if text else (), notices=odd)
    word = answer.get("decision")
    if word == "block":
        return Verdict(decision="deny", reason=_reason(said, f"blocked by {hook.name}, which did not say why"))
    if word == "ask":
        return Verdict(decision="ask", reason=_reason(said, f"{hook.name} asks for confirmation and did not say why"))
    if answer.get("continue") is True and word is None:
        return Verdict(decision="allow", reason=_reason(said[:2], ""))
    known = f"its JSON {shown(text)} is no decision The Harness knows (block, ask, continue: true), so it is text"
    return Verdict(context=(text,) if text else (), notices=(known,) if decides else ())


def _answer(text: str) -> dict[str, Any]:
    value = json_value(text) if text.startswith("{") else NOT_JSON
    return value if isinstance(value, dict) else {}


def _reason(candidates: Sequence[Any], default: str) -> str:
    """The first candidate that says something."""
    return next((word.strip() for word in candidates if isinstance(word, str) and word.strip()), default)


# -- the documentation header

_HEADER = re.compile(
    r"^\s*(?://|#|\*|/\*+|--|;)?\s*(Hook|Event|Description|Matcher|PURPOSE|TRIGGER)\s*:\s*(.*?)\s*(?:\*/)?$"
)
_CONDITION = re.compile(r"""(\w+)\s*=\s*["']([^"']*)["']""")
HEADER_BYTES = 4096


def header(path: str) -> dict[str, str]:
    """The documentation header of a hook file: Hook, Event, Description, Matcher, as far as it has them."""
    if not os.path.isfile(path):  # only to open some devices is to do something
        return {}
    try:
        with open(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), "rb") as script:
            text = (script.read(HEADER_BYTES) or b"").decode("utf-8", "replace")
    except OSError:
        return {}
    found: dict[str, str] = {}
    for line in text.splitlines():
        if parts := _HEADER.match(line):
            found.setdefault(parts[1], parts[2])
    if "PURPOSE" in found:
        found.setdefault("Description", found["PURPOSE"])
    trigger = re.match(r"\w+", found.get("TRIGGER", ""))
    if trigger and trigger[0] in EVENTS:
        found.setdefault("Event", trigger[0])
    return found


def about(hook: Hook) -> About:
    """The header, and where it contradicts the registration."""
    said = header(hook.command.argv[0])
    notices = []
    if said.get("Event") and hook.event not in re.findall(r"\w+", said["Event"]):
        notices.append(f"its header says Event: {said['Event']}, but it is registered for {hook.event}")
    if said.get("Matcher"):
        wanted = fields(dict(_CONDITION.findall(said["Matcher"]))).text
        if wanted and wanted != hook.matcher.text:
            notices.append(
                f"its header says Matcher: {said['Matcher']}, but it is registered "
                + (f"with {hook.matcher.text}" if hook.matcher.text else "without a matcher")
            )
    return About(
        title=said.get("Hook", ""),
        text=said.get("Description", ""),
        notices=tuple(Notice(text, hook.source) for text in notices),
    )
