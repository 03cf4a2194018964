"""Harn: Python handlers for tools, steps and the session, registered in the program or named by `harn.toml`.

Handlers run on the agent's own thread and answer with a small, strict protocol (see answering.py). One that
raises, or answers with a shape nobody knows, fails loudly; see docs/harn.md.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from math import isfinite, nan
from typing import Any

from msgspec.structs import replace

from hookline import handlers
from hookline.answering import answered, text
from hookline.compacting import as_json
from hookline.errors import ConfigError, HookError, UsageError
from hookline.events import CATALOGUE, ROWS, find
from hookline.expressions import expression
from hookline.matching import BadPattern, glob, globber, misread
from hookline.model import (
    EVERYTHING,
    NO_OPINION,
    READINGS,
    About,
    BeforeTool,
    Call,
    Event,
    Hook,
    Level,
    Loaded,
    Matcher,
    Outcome,
    Source,
    Verdict,
)
from hookline.reading import Entries
from hookline.truncating import truncated
from hookline.wording import kind_of, nearest, shown

NAME = "harn"
FORMAT = "toml"
SILENT = "allow"
ROWS_OF_HARN = tuple(row for row in CATALOGUE if NAME in row.spellings)
SESSION_EVENTS = tuple(row.name for row in ROWS_OF_HARN if row.surface == "session")
STEP_EVENTS = tuple(row.name for row in ROWS_OF_HARN if row.surface == "step")
TOOL_EVENTS = ("PreToolUse", "PostToolUse")
OWN = {
    "PreToolUse": {"deny", "tool_input"},
    "PostToolUse": {"tool_output"},
    "PreStep": {"deny", "args"},
    "PostStep": {"output"},
    "UserPromptSubmit": {"deny"},
    "PermissionAsked": {"deny", "allow", "ask"},
    "PreCompact": {"deny"},
    "PreFinish": {"deny"},
}
EFFECTS: Mapping[str, frozenset[str]] = {
    row.name: frozenset({"reminders"} | OWN.get(row.name, set())) for row in ROWS_OF_HARN
}
SWALLOWED = frozenset({"SessionEnd", "SessionError", "PermissionReplied", "FileEdited"})
"""Where a handler's exception is reported and goes no further: nothing may keep a session from its end."""

ELSEWHERE = (
    "PreAgentTurn",
    "PostAgentTurn",
    "WorkerSpawned",
    "WorkerProgressed",
    "WorkerWaitingForInput",
    "WorkerSuspended",
    "WorkerResumed",
    "WorkerCompleted",
    "WorkerFailed",
    "WorkerCancelled",
    "WorkerStopped",
)
"""Events a manifest may name that never happen here."""

KEYS = ("event", "pattern", "handler")
TOP = frozenset({"event", "session", "tool", "result", "reason", "decision"})
"""The top of what handlers are told of a tool: a pattern that begins otherwise is no path into it."""

ANY_STEP: Any = object()
"""No step is named: a hook of a persona."""


# -- registering


def tool_hooks(
    pattern: Any = "*", deny: Any = None, max_output: Any = None, pre: Any = None, post: Any = None
) -> list[Hook]:
    """What one `register_tool_hook` comes to, in this order: deny, max_output, pre, post."""
    pattern = "*" if pattern is None else str(pattern)
    hooks = []
    if deny is not None:
        reason = deny if deny is True else text(deny)  # what cannot be told is a mistake now, not at every call
        hooks.append(_tool("PreToolUse", pattern, lambda payload: {"deny": reason}, native=True))
    if isinstance(max_output, int) and not isinstance(max_output, bool):
        limit = max_output
        hooks.append(_tool("PostToolUse", pattern, lambda payload: _cut(payload["result"]["text"], limit), native=True))
    if pre is not None:
        hooks.append(_tool("PreToolUse", pattern, handlers.checked(pre, "pre")))
    if post is not None:
        hooks.append(_tool("PostToolUse", pattern, handlers.checked(post, "post")))
    return hooks


def _cut(output: str, limit: int) -> str | None:
    short = truncated(output, limit)
    return short if short != output else None


def _tool(event: str, pattern: str, handler: handlers.Handler, *, native: bool = False) -> Hook:
    side = "pre" if event == "PreToolUse" else "post"
    matcher = glob("tool_name", pattern) if native else _matcher(event, pattern)
    place = handlers.caller() if native else None
    return _hook(f"tool_hook::{pattern}::{side}", event, handler, _of_successes(event, matcher), place)


def session_hook(event: str, handler: Any, pattern: str | None = "*") -> Hook:
    """A hook of one of the fourteen session events, in either spelling."""
    name = _event(event, SESSION_EVENTS, "register_session_hook")
    pattern = "*" if pattern is None else pattern
    if not isinstance(pattern, str):
        raise UsageError(f"register_session_hook: pattern is a string, not {kind_of(pattern)}: {shown(pattern)}")
    return _hook(f"session_hook::{name}", name, handlers.checked(handler, "the handler"), _matcher(name, pattern))


def persona_hook(persona: str, event: str, handler: Any, *, once: bool = False) -> Hook:
    """A hook of every step, or of the notices, of the personas that fit the glob."""
    name, matcher = _persona_matcher(persona, ANY_STEP, event, "register_persona_hook")
    called, matcher = _called(handler, matcher, name, once=once)
    return _hook(f"persona_hook::{persona}::{_spelled(name, event)}", name, called, matcher)


def step_hook(persona: str, step: str, event: str, handler: Any, *, once: bool = False) -> Hook:
    """A hook of the step of this very name, of the personas that fit the glob."""
    name, matcher = _persona_matcher(persona, step, event, "register_step_hook")
    called, matcher = _called(handler, matcher, name, once=once)
    return _hook(f"step_hook::{persona}::{step}::{_spelled(name, event)}", name, called, matcher)


def _spelled(name: str, event: str) -> str:
    """An event as the tape names it, whatever spelling registered it, with its threshold."""
    return name + "".join(event.strip().partition("(")[1:])


def _called(handler: Any, matcher: Matcher, event: str, *, once: bool) -> tuple[handlers.Handler, Matcher]:
    """The handler; one that is called only `once` in a session for each persona does not match again."""
    called = handlers.checked(handler, "the handler")
    if not once:
        return called, matcher
    if event != "OnBudgetThreshold":
        raise UsageError(f"once=True is for OnBudgetThreshold, which is reported over and over, not for {event}")
    first = handlers.Once(called, lambda payload: (payload["session"]["id"], payload["persona"]))

    def not_yet(event: Event) -> bool:
        key = (event.session_id, event.payload.get("persona") or "")
        return (matcher.rest is None or matcher.rest(event)) and not first.was_called(key)

    text = ", ".join(filter(None, (matcher.text, "once in a session")))
    return first, replace(matcher, text=text, rest=not_yet)


def _hook(name: str, event: str, handler: handlers.Handler, matcher: Matcher, source: Source | None = None) -> Hook:
    return Hook(
        name=name,
        event=event,
        dialect=NAME,
        source=source or handlers.source(handler),
        action=Call(handler, handlers.label(handler)),
        matcher=matcher,
    )


def _event(event: Any, known: tuple[str, ...], by: str) -> str:
    """The event, if this way of registering owns it."""
    name = find(event).name
    if name in known:
        return name
    right = {"tool": "register_tool_hook", "step": "register_persona_hook or register_step_hook"}
    owner = right.get(ROWS[name].surface, "register_session_hook") if NAME in ROWS[name].spellings else "@hooks.on"
    raise UsageError(f"{by} does not take {shown(event)}: use {owner}; it takes {', '.join(known)}")


def _persona_matcher(persona: Any, step: Any, event: Any, by: str) -> tuple[str, Matcher]:
    strings = {"the persona's pattern": persona, "the event": event} | ({} if step is ANY_STEP else {"the step": step})
    for what, given in strings.items():
        if not isinstance(given, str):
            raise UsageError(f"{by}: {what} is a string, not {kind_of(given)}: {shown(given)}")
    word, sign, number = event.strip().partition("(")
    name = _event(word, STEP_EVENTS, by)
    threshold = _threshold(event, number, by) if sign and name == "OnBudgetThreshold" else None
    if sign and threshold is None:
        raise UsageError(f"{by}: {shown(event)}: only OnBudgetThreshold takes a number")
    fits, step_name = globber(persona), READINGS["step.name"]

    def test(event: Event) -> bool:
        given = event.payload
        return fits(given.get("persona") or "") and (step is ANY_STEP or step_name(given) == step)

    words = [f"persona = {persona}"] if persona != "*" else []
    words += [f"step = {step}"] if step is not ANY_STEP else []
    words += [f"pct >= {threshold:g}"] if threshold is not None else []
    fields = ("persona",) if step is ANY_STEP else ("persona", "step.name")
    rest = None if threshold is None else lambda event: event.payload.get("pct", float("-inf")) >= threshold
    return name, Matcher(", ".join(words), test, fields, rest)


def _threshold(event: str, number: str, by: str) -> float:
    """The 80 of `OnBudgetThreshold(80)`."""
    try:
        threshold = float(number.removesuffix(")")) if number.endswith(")") else nan
    except ValueError:
        threshold = nan
    if not isfinite(threshold):
        raise UsageError(f"{by}: {shown(event)} needs a number, as in OnBudgetThreshold(80)")
    return threshold


def _matcher(event: str, pattern: str) -> Matcher:
    """An event expression. A plain glob of a tool's name looks at nothing else, so its answer can be remembered."""
    pattern = pattern.strip()
    if pattern in ("", "*"):
        return EVERYTHING
    if "tool_name" in ROWS[event].fields and "=" not in pattern and pattern.partition(".")[0] not in TOP:
        return glob("tool_name", pattern)
    try:
        holds = expression(pattern)
    except BadPattern as error:
        raise UsageError(str(error)) from None
    return Matcher(pattern, EVERYTHING.fits, rest=lambda event: holds(SHAPES[event.name](event)))


def _of_successes(event: str, matcher: Matcher) -> Matcher:
    """Post hooks do not see a call that failed."""
    if event != "PostToolUse":
        return matcher
    text, succeeded = ", ".join(filter(None, (matcher.text, "the tool succeeded"))), READINGS["succeeded"]
    return replace(
        matcher,
        text=text,
        fits=lambda event: succeeded(event.payload) is not None and matcher.fits(event),
        fields=(*matcher.fields, "succeeded"),
    )


# -- the manifest


def claims(document: Any) -> bool:
    """A list of hooks with a handler each."""
    hooks = document.get("hooks") if isinstance(document, dict) else None
    return isinstance(hooks, list) and any(isinstance(entry, dict) and "handler" in entry for entry in hooks)


def read(
    document: Any, file: str, *, root: str | None = None, environ: Mapping[str, str], level: Level = "project"
) -> Loaded:
    entries = Entries(file)
    if not isinstance(document, dict):
        raise ConfigError(f"must hold tables, not {kind_of(document)}", file=file)
    listed = document.get("hooks", [])
    if not isinstance(listed, list):
        raise ConfigError(f"hooks must be a list: write [[hooks]], not {shown(listed)}", file=file, pointer="/hooks")
    if not listed:
        entries.note("", "has no [[hooks]], so it configures nothing")
    exports = _exports(entries, document)
    base = os.path.abspath(root or os.path.dirname(file) or ".")
    hooks = []
    for pointer, entry in entries.objects("/hooks", listed):
        made = _manifest_hook(entries, pointer, entry, base, exports)
        if made is not None:
            hooks.append(made)
    return Loaded(tuple(hooks), tuple(entries.notices))


def _exports(entries: Entries, document: dict[str, Any]) -> dict[str, str]:
    """Module name -> file, as `[exports]` has it."""
    table = document.get("exports", {})
    if isinstance(table, dict) and all(isinstance(path, str) for path in table.values()):
        return table
    entries.note("/exports", f"must map names of modules to files, not {shown(table)}; ignored")
    return {}


def _manifest_hook(
    entries: Entries, pointer: str, entry: dict[str, Any], base: str, exports: dict[str, str]
) -> Hook | None:
    """The hook of one entry; nothing of it is imported yet."""
    entries.unknown(entry, pointer, KEYS)
    event, handler = entries.text(entry, pointer, "event"), entries.text(entry, pointer, "handler")
    pattern = entry.get("pattern", "*")
    if event is None or handler is None:
        return None
    module, _, function = handler.rpartition("::")
    if event not in ELSEWHERE and NAME not in (ROWS[event].spellings if event in ROWS else ()):
        known = [row.name for row in ROWS_OF_HARN]
        entries.note(f"{pointer}/event", f"no event is called {shown(event)}; skipped{nearest(event, known)}")
    elif not module or not function:
        entries.note(f"{pointer}/handler", f"expected <module>::<function>, not {shown(handler)}; skipped")
    elif not isinstance(pattern, str):
        entries.note(
            f"{pointer}/pattern", f"pattern must be a string, not {kind_of(pattern)} {shown(pattern)}; skipped"
        )
    else:
        place = Source(entries.file, pointer)
        action = Call(handlers.Later(module, function, path=_file(module, base, exports), place=place), handler)
        if event in ELSEWHERE:
            return Hook(handler, event, NAME, place, action, barred="no such event here")
        try:
            matcher = _matcher(event, pattern)
        except UsageError as error:
            entries.note(f"{pointer}/pattern", f"{error}; skipped")
            return None
        if "tool_name" in matcher.fields and (why := misread(pattern)):  # no error to Harn, which never runs it
            entries.note(f"{pointer}/pattern", f"the pattern {shown(pattern)} fits no tool: {why}")
        return Hook(handler, event, NAME, place, action, _of_successes(event, matcher))
    return None


def _file(module: str, base: str, exports: dict[str, str]) -> str | None:
    """The file of a module: the exported one, or the one beside the manifest; None for a module to be imported."""
    if module in exports:
        return os.path.join(base, exports[module])
    beside = os.path.join(base, *module.split(".")) + ".py"
    return beside if os.path.isfile(beside) else None


# -- the wire


def encode(hook: Hook, event: Event) -> dict[str, Any]:
    return SHAPES[event.name](event)


def _before_tool(tool: str, args: Any, session_id: str, cwd: str = "", at: str = "") -> dict[str, Any]:
    return {"event": "PreToolUse", "session": {"id": session_id}, "tool": {"name": tool, "args": args}}


BEFORE_TOOL = BeforeTool(_before_tool, placed=False)


def _pre_tool_use(event: Event) -> dict[str, Any]:
    return _before_tool(event.payload["tool_name"], event.payload["tool_input"], event.session_id)


def _of_tool(event: Event) -> dict[str, Any]:
    given = event.payload
    tool = {"name": given["tool_name"], "args": given["tool_input"]}
    return {"event": event.name, "session": {"id": event.session_id}, "tool": tool}


def _post_tool_use(event: Event) -> dict[str, Any]:
    payload, output = _of_tool(event), event.payload.get("tool_output")
    payload["result"] = {"text": "" if output is None else text(output)}
    return payload


def _permission(event: Event) -> dict[str, Any]:
    return _of_tool(event) | {key: event.payload.get(key, "") for key in ROWS[event.name].fields[2:]}


def _of_session(event: Event) -> dict[str, Any]:
    return {"event": event.name, "session": {"id": event.session_id}, **DEFAULTS.get(event.name, {}), **event.payload}


def _session_end(event: Event) -> dict[str, Any]:
    payload = _of_session(event)
    return payload | {"final_status": payload["final_status"] or "done"}


def _post_turn(event: Event) -> dict[str, Any]:
    named = {"event": event.name, "session": {"id": event.session_id}, "session_id": event.session_id}
    return named | event.payload


def _of_step(event: Event) -> dict[str, Any]:
    given = event.payload
    persona, step = given.get("persona") or "", given.get("step")
    payload = {"event": event.name, "session": {"id": event.session_id}, "persona": persona}
    payload |= {key: value for key, value in given.items() if key not in ("persona", "step")}
    if isinstance(step, dict):
        name = step.get("name", "")
        payload["target"] = f"{persona}.{name}" if persona else name
        payload["step"] = {"name": name, "function": step.get("function", name), "args": step.get("args", [])}
    return payload


DEFAULTS: dict[str, dict[str, Any]] = {
    "SessionStart": {"task": "", "system": ""},
    "SessionEnd": {"final_status": "done", "stop_reason": "", "iterations": 0},
    "SessionError": {"final_status": "error", "stop_reason": "", "error": None},
    "UserPromptSubmit": {"system": ""},
    "FileEdited": {"metadata": None},
    "PreFinish": {"return_value": None, "unsettled": {}, "has_on_finish": False},
    "OnUnsettledDetected": {"unsettled": {}},
    "PostFinish": {"return_value": None, "unsettled": {}},
}
OWN_SHAPES = {
    "PreToolUse": _pre_tool_use,
    "PostToolUse": _post_tool_use,
    "PermissionAsked": _permission,
    "PermissionReplied": _permission,
    "SessionEnd": _session_end,
    "PostTurn": _post_turn,
}
SHAPES = {
    row.name: OWN_SHAPES.get(row.name, _of_step if row.surface == "step" else _of_session) for row in ROWS_OF_HARN
}
"""How each event is told in Harn's own shape."""


def decode(hook: Hook, event: Event, outcome: Outcome) -> Verdict:
    if outcome.status == "raised":
        if event.name in SWALLOWED:
            return Verdict(failed=outcome.error)
        raise HookError(hook.name, event.name, outcome.error, str(hook.source)) from outcome.exception
    if outcome.value is None:
        return NO_OPINION
    surface = ROWS[event.name].surface
    try:
        # A step's arguments and output are the program's own objects; everything else is JSON, as the tape has it.
        value = outcome.value if surface == "step" or not isinstance(outcome.value, dict) else as_json(outcome.value)
        return answered(hook, event, value, surface)
    except HookError as error:
        if event.name in SWALLOWED:
            return Verdict(failed=error.message.removeprefix("it "))
        raise


def about(hook: Hook) -> About:
    """A handler's docstring says what it is for."""
    return About(text=handlers.doc(getattr(hook.action, "handler", None)))
