"""Goose: `config.yaml`, five events, commands split into words without a shell, seconds.

Context events read a text or `context_injection`, the decision event reads `decision`, the other
two are fire-and-forget. Every failure is without effect. See docs/goose.md.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from hookline.compacting import compact
from hookline.events import spellings
from hookline.matching import BadPattern, regex
from hookline.model import (
    EVERYTHING,
    About,
    Command,
    Decision,
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
from hookline.wording import kind_of, shown

NAME = "goose"
FORMAT = "yaml"
SILENT = "none"
EVENTS = spellings(NAME)
SPELLED = {event: spelling for spelling, event in EVENTS.items()}
EFFECTS: Mapping[str, frozenset[str]] = {
    "SessionStart": frozenset({"context"}),
    "UserPromptSubmit": frozenset({"context"}),
    "PreToolUse": frozenset({"deny", "ask"}),
    "PostToolUse": frozenset(),
    "SessionEnd": frozenset(),
}
BACKGROUND = frozenset({"PostToolUse", "SessionEnd"})
TOOL_EVENTS = frozenset({"PreToolUse", "PostToolUse"})
DECISIONS: dict[str, Decision] = {"allow": "allow", "block": "deny", "require_approval": "ask"}

KEYS = ("command", "timeout", "tool_name", "on_failure")
DEFAULT_TIMEOUT = 10.0
DOUBTFUL_S = (0, 600)
LEGACY = "GOOSE_SESSION_START_HOOK"


# -- configuration


def claims(document: Any) -> bool:
    """Entries with a `command` under an event spelled as only Goose spells it."""
    table = document.get("hooks") if isinstance(document, dict) else None
    if not isinstance(table, dict):
        return False
    return any(
        isinstance(entry, dict) and "command" in entry
        for event in EVENTS
        if isinstance(table.get(event), list)
        for entry in table[event]
    )


def read(
    document: Any, file: str, *, root: str | None = None, environ: Mapping[str, str], level: Level = "project"
) -> Loaded:
    entries = Entries(file)
    hooks = []
    for event, pointer, entry in entries.flat(document, EVENTS):
        entries.unknown(entry, pointer, KEYS)
        command = entries.text(entry, pointer, "command")
        matcher = _matcher(entries, entry, pointer, event)
        if command is None or matcher is None:
            continue
        timeout = entries.timeout(entry, pointer, unit=1.0, default=DEFAULT_TIMEOUT, doubtful=DOUBTFUL_S)
        action = _command(command, timeout)
        if action.fault:
            entries.note(f"{pointer}/command", f"{action.fault}; it fails whenever it is due")
        hooks.append(
            Hook(
                name=command,
                event=event,
                dialect=NAME,
                source=Source(file, pointer),
                action=action,
                matcher=matcher,
                background=event in BACKGROUND,
                on_failure=entries.on_failure(entry, pointer),
            )
        )
    if legacy := environ.get(LEGACY, "").strip():
        action, source = _command(legacy, DEFAULT_TIMEOUT), Source("environment", f"/{LEGACY}")
        if action.fault:
            entries.notices.append(Notice(f"{action.fault}; it fails whenever it is due", source))
        hooks.append(
            Hook(
                name=legacy,
                event="SessionStart",
                dialect=NAME,
                source=source,
                action=action,
                fallback=True,
                dedupe=LEGACY,
            )
        )
    return Loaded(tuple(hooks), tuple(entries.notices))


def _matcher(entries: Entries, entry: dict[str, Any], pointer: str, event: str) -> Matcher | None:
    pattern = entry.get("tool_name")
    where = f"{pointer}/tool_name"
    if pattern is None:
        return EVERYTHING
    if not isinstance(pattern, str):
        entries.note(
            where, f"tool_name must be a string, not {kind_of(pattern)} {shown(pattern)}; this hook is skipped"
        )
        return None
    if event not in TOOL_EVENTS:
        entries.note(where, f"tool_name means nothing on {SPELLED[event]}; the hook always runs")
        return EVERYTHING
    try:
        return regex("tool_name", pattern) if pattern else EVERYTHING
    except BadPattern as error:
        entries.note(where, f"{shown(pattern)} is {error}; the hook runs for every tool, as it does in Goose")
        return EVERYTHING


def _command(text: str, timeout: float) -> Command:
    try:
        words = split(text)
    except ValueError as error:
        return Command(argv=(), timeout=timeout, fault=f"cannot start: the command {shown(text)} has {error}")
    if not words:
        return Command(argv=(), timeout=timeout, fault=f"cannot start: the command {shown(text)} holds no word")
    return Command(argv=(os.path.expanduser(words[0]), *words[1:]), timeout=timeout)


def split(text: str) -> list[str]:
    """Words as Goose splits them: quotes and backslashes, `#` comments where a word would begin, no shell.

    Not `shlex.split`: there a `#` inside a word begins a comment too, and a backslash before a
    newline keeps the newline.
    """
    words: list[str] = []
    word: list[str] | None = None
    signs = iter(text)
    for sign in signs:
        if sign in " \t\n":
            if word is not None:
                words.append("".join(word))
            word = None
        elif sign == "#" and word is None:
            for sign in signs:  # noqa: PLW2901  (the rest of the line)
                if sign == "\n":
                    break
        else:
            word = [] if word is None else word
            if sign == "'":
                word.extend(_quoted(signs, "'"))
            elif sign == '"':
                word.extend(_quoted(signs, '"'))
            elif sign == "\\":
                following = next(signs, None)
                if following is None:
                    raise ValueError("a backslash at its end")
                word.append("" if following == "\n" else following)
            else:
                word.append(sign)
    if word is not None:
        words.append("".join(word))
    return words


def _quoted(signs: Any, quote: str) -> list[str]:
    """The signs up to the closing quote. Between double quotes a backslash protects only $ ` " \\ and newline."""
    kept: list[str] = []
    for sign in signs:
        if sign == quote:
            return kept
        if sign == "\\" and quote == '"':
            following = next(signs, None)
            if following is None:
                break
            kept.append("" if following == "\n" else following if following in '$`"\\' else "\\" + following)
        else:
            kept.append(sign)
    raise ValueError(f"an open {quote} quote")


# -- the wire


def encode(hook: Hook, event: Event) -> dict[str, Any]:
    payload: dict[str, Any] = {"event": SPELLED[event.name], "session_id": event.session_id}
    if event.name == "UserPromptSubmit":
        payload["prompt_text"] = event.payload["prompt"]
    if event.name in TOOL_EVENTS:
        payload["tool_name"] = event.payload["tool_name"]
        payload["tool_arguments"] = event.payload["tool_input"]
    if event.name == "PreToolUse":
        payload["session_id"] = event.session_id or None
    if event.name == "PostToolUse":
        payload["tool_result"] = _as_text(event.payload.get("tool_output"))
        payload["tool_error"] = _as_text(event.payload.get("tool_error"))
    return payload


def _as_text(value: Any) -> str | None:
    """Goose hands over results and errors as strings: a text as it is, any other value as its JSON."""
    return value if value is None or isinstance(value, str) else compact(value).decode()


def decode(hook: Hook, event: Event, outcome: Outcome) -> Verdict:
    if failed := no_answer(outcome, hook.command.timeout):
        return Verdict(failed=failed)
    if outcome.exit_code:
        return Verdict(failed=bad_exit(outcome))
    text = printed(outcome.stdout)
    if hook.background or not text:
        return Verdict()
    if failed := unreadable(outcome, text):
        return Verdict(failed=failed)
    answer = json_value(text)
    return _decision(hook, answer, text) if event.name == "PreToolUse" else _injection(answer, text)


def _decision(hook: Hook, answer: Any, text: str) -> Verdict:
    if answer is NOT_JSON:
        return Verdict(notices=(f"it printed {shown(text)}, which is not JSON, so it decides nothing",))
    word = answer.get("decision") if isinstance(answer, dict) else None
    if not isinstance(word, str):
        return Verdict()
    if word not in DECISIONS:
        return Verdict(
            notices=(f"its decision {shown(word)} is none of {', '.join(DECISIONS)}, so it decides nothing",)
        )
    reason = answer.get("reason")
    said = reason.strip() if isinstance(reason, str) else ""
    default = {"deny": f"Blocked by hook {hook.name}", "ask": f"Hook {hook.name} requires approval"}
    decision = DECISIONS[word]
    return Verdict(decision=decision, reason=said or default.get(decision, ""))


def _injection(answer: Any, text: str) -> Verdict:
    if answer is not NOT_JSON:
        injection = answer.get("context_injection") if isinstance(answer, dict) else None
        text = injection if isinstance(injection, str) else ""
    return Verdict(context=(text,) if text else ())


def about(hook: Hook) -> About:
    """A Goose hook says nothing of itself."""
    return About()
