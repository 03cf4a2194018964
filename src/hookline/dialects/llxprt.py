"""LLxprt Code, and Gemini CLI on the same wire: `settings.json`, eleven events, shell commands, milliseconds.

A hook answers with a JSON object on stdout and exit 0, or with exit 2 and a reason on stderr. The exit
code outranks whatever was printed, and a failure decides nothing. See docs/llxprt.md.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from hookline.compacting import compact
from hookline.errors import ConfigError
from hookline.events import spellings
from hookline.matching import BadPattern, exact, regex
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
    Outcome,
    Redaction,
    Source,
    Tools,
    Verdict,
)
from hookline.reading import BEYOND, NOT_JSON, Entries, bad_exit, json_value, no_answer, printed, unreadable
from hookline.wording import kind_of, nearest, shown

NAME = "llxprt"
FORMAT = "json"
SILENT = "none"
EVENTS = spellings(NAME)
SPELLED = {event: spelling for spelling, event in EVENTS.items()}
EFFECTS: Mapping[str, frozenset[str]] = {
    "SessionStart": frozenset({"context", "messages"}),
    "UserPromptSubmit": frozenset({"deny", "halt", "context", "messages"}),
    "BeforeToolSelection": frozenset({"tools", "halt"}),
    "BeforeModel": frozenset({"deny", "halt", "llm_request", "llm_response"}),
    "AfterModel": frozenset({"halt", "llm_response", "suppress_output", "messages"}),
    "PreToolUse": frozenset({"deny", "halt", "tool_input", "messages"}),
    "PostToolUse": frozenset({"halt", "context", "suppress_output", "messages"}),
    "PreCompact": frozenset({"suppress_output", "messages"}),
    "Notification": frozenset({"suppress_output", "messages"}),
    "Stop": frozenset({"deny", "halt", "context", "clear_context", "suppress_output", "messages"}),
    "SessionEnd": frozenset({"suppress_output", "messages"}),
}

TIERS: dict[Level, int] = {"project": 1, "user": 2, "system": 3, "extension": 4}
MANIFESTS = ("llxprt-extension.json", "gemini-extension.json")
PROJECT_DIR = ("LLXPRT_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR")
LEGACY = ("enabled", "disabled", "notifications")
"""Keys that once stood beside the events and belong under `hooksConfig`."""

GROUP_KEYS = ("matcher", "sequential", "hooks", "description")
KEYS = ("type", "command", "timeout", "name", "description", "env", "on_failure")
TYPES = ("command", "plugin")
DEFAULT_TIMEOUT = 60.0
DOUBTFUL_MS = (100, 3_600_000)
GRACE = 5.0

MATCHED = {"PreToolUse": "tool_name", "PostToolUse": "tool_name"}
COMPARED = {"SessionStart": ("source", "startup"), "SessionEnd": ("reason", "exit"), "PreCompact": ("trigger", "auto")}
"""Events whose matcher is compared as it is: with which field, and what that is where the host does not say."""

DECISIONS: dict[str, Decision] = {"allow": "allow", "approve": "allow", "ask": "allow", "block": "deny", "deny": "deny"}
MODES = ("AUTO", "ANY", "NONE")
SPECIFIC = (
    *("hookEventName", "tool_input", "additionalContext", "clearContext", "llm_request", "llm_response", "toolConfig"),
    *("permissionDecision", "permissionDecisionReason"),
)
"""What a `hookSpecificOutput` may hold; the last two only on BeforeTool."""

NOT_HERE = ("tailToolCallRequest", "llm_request_boundary")
"""What it may hold in Gemini CLI and in later versions of LLxprt."""


# -- configuration


def claims(document: Any) -> bool:
    """Groups with a list of `hooks` under an event spelled as LLxprt spells it."""
    table = document.get("hooks") if isinstance(document, dict) else None
    if not isinstance(table, dict):
        return False
    groups = [group for event in EVENTS if isinstance(table.get(event), list) for group in table[event]]
    return any(isinstance(group, dict) and isinstance(group.get("hooks"), list) for group in groups)


def read(
    document: Any, file: str, *, root: str | None = None, environ: Mapping[str, str], level: Level = "project"
) -> Loaded:
    entries = Entries(file)
    if not isinstance(document, dict):
        raise ConfigError(f"must hold an object with the key 'hooks', not {kind_of(document)}", file=file)
    extension = _extension(file)
    if extension:  # it brings hooks along; what the user has switched on or off is not for it to say
        for key in ("hooksConfig", "enableHooks", "security"):
            if key in document:
                entries.note(f"/{key}", "is for settings, and means nothing in an extension; ignored")
        document = {"hooks": document["hooks"]} if "hooks" in document else {}
    switches = _switches(entries, document)
    common = {
        "env": {"extensionPath": extension, "pathSeparator": os.sep} if extension else {},
        "cwd_variables": (*PROJECT_DIR, "workspacePath") if extension else PROJECT_DIR,
        "redaction": _redaction(entries, document),
    }
    hooks = []
    for event, pointer, group, matcher, entry in _entries(entries, document):
        action = _action(entries, entry, pointer, common)
        if action is None:
            continue
        command = action.argv[-1]
        hooks.append(
            Hook(
                name=_name(entries, entry, pointer) or command,
                event=event,
                dialect=NAME,
                source=Source(file, pointer),
                action=action,
                matcher=matcher,
                parallel=not group["sequential"],
                priority=TIERS["extension" if extension else level],
                dedupe="" if action.fault else _in_full(command, extension),
                barred=switches["off"],
                on_failure=entries.on_failure(entry, pointer),
            )
        )
    names = {hook.name for hook in hooks}
    for name in switches["disabled"]:
        if name not in names:
            entries.note("/hooksConfig/disabled", f"no hook of this file is called {shown(name)}{nearest(name, names)}")
    return Loaded(tuple(hooks), tuple(entries.notices), tuple(switches["disabled"]))


def _extension(file: str) -> str:
    """The directory of the extension a file is the manifest of; nothing for a settings file."""
    directory, name = os.path.split(os.path.abspath(file))
    if name in MANIFESTS:
        return directory
    return os.path.dirname(directory) if name == "hooks.json" and os.path.basename(directory) == "hooks" else ""


def _in_full(command: str, extension: str) -> str:
    """A command by which duplicates are known: two extensions may call a file of their own by the same words."""
    return command.replace("${extensionPath}", extension).replace("$extensionPath", extension) if extension else command


def _switches(entries: Entries, document: dict[str, Any]) -> dict[str, Any]:
    """What the file says of hooks as such: whether all are off, and why, and which are disabled by name."""
    table, tools = document.get("hooks"), document.get("tools")
    legacy = {key: table[key] for key in LEGACY if key in table} if isinstance(table, dict) else {}
    for key in legacy:
        entries.note(f"/hooks/{key}", f"belongs under hooksConfig: write hooksConfig.{key}")
    config = document.get("hooksConfig")
    if config is not None and not isinstance(config, dict):
        entries.note("/hooksConfig", f"must be an object, not {kind_of(config)} {shown(config)}; ignored")
    config = legacy | (config if isinstance(config, dict) else {})
    flags = {
        "enableHooks": document.get("enableHooks"),
        "tools.enableHooks": tools.get("enableHooks") if isinstance(tools, dict) else None,
        "hooksConfig.enabled": config.get("enabled"),
    }
    off = next((f"switched off by {key} in {entries.file}" for key, value in flags.items() if value is False), "")
    disabled = config.get("disabled", [])
    if not isinstance(disabled, list) or not all(isinstance(name, str) for name in disabled):
        entries.note("/hooksConfig/disabled", f"must be a list of names of hooks, not {shown(disabled)}; ignored")
        disabled = []
    return {"off": off, "disabled": disabled}


def _redaction(entries: Entries, document: dict[str, Any]) -> Redaction | None:
    security = document.get("security")
    asked = security.get("environmentVariableRedaction") if isinstance(security, dict) else None
    enabled = asked.get("enabled") if isinstance(asked, dict) else None
    if enabled is not None and not isinstance(enabled, bool):
        where = "/security/environmentVariableRedaction/enabled"
        entries.note(where, f"must be true or false, not {shown(enabled)}; nothing is redacted")
    if not isinstance(asked, dict) or enabled is not True:
        return None
    lists = {key: asked.get(key, []) for key in ("allowed", "blocked")}
    for key, value in lists.items():
        if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
            where = f"/security/environmentVariableRedaction/{key}"
            entries.note(where, f"must be a list of names of variables, not {shown(value)}; ignored")
            lists[key] = []
    return Redaction(allowed=tuple(lists["allowed"]), blocked=tuple(lists["blocked"]))


def _entries(
    entries: Entries, document: dict[str, Any]
) -> Iterator[tuple[str, str, dict[str, Any], Matcher, dict[str, Any]]]:
    """Every hook entry: (event, pointer, its group, the group's matcher, the entry)."""
    for event, place, groups in entries.lists(document, EVENTS, besides=LEGACY):
        for where, group in entries.objects(place, groups, "a group of hooks"):
            entries.unknown(group, where, GROUP_KEYS)
            listed = group.get("hooks")
            if not isinstance(listed, list):
                what = "has no list of hooks" if listed is None else f"needs a list of hooks, not {kind_of(listed)}"
                entries.note(f"{where}/hooks" if "hooks" in group else where, f"{what}; this group is skipped")
                continue
            matcher = _matcher(entries, group, where, event)
            if matcher is None:
                continue
            sequential = group.get("sequential", False)
            if not isinstance(sequential, bool):
                entries.note(f"{where}/sequential", f"must be true or false, not {shown(sequential)}; false is used")
            for pointer, entry in entries.objects(f"{where}/hooks", listed):
                yield event, pointer, group | {"sequential": sequential is True}, matcher, entry


def _matcher(entries: Entries, group: dict[str, Any], pointer: str, event: str) -> Matcher | None:
    value, where = group.get("matcher"), f"{pointer}/matcher"
    if value is None:
        return EVERYTHING
    if not isinstance(value, str):
        entries.note(where, f"matcher must be a string, not {kind_of(value)} {shown(value)}; this group is skipped")
        return None
    text = value.strip()
    if text in ("", "*"):
        return EVERYTHING
    if event in COMPARED:
        field, default = COMPARED[event]
        if set(text) & set("|*?[]()^$"):
            entries.note(where, f"on {SPELLED[event]} it is compared with {field} as it stands, not as a pattern")
        return Matcher(f"{field} = {text}", lambda event: (event.value(field) or default) == text, (field,))
    if event not in MATCHED:
        entries.note(where, f"{SPELLED[event]} has nothing a matcher could look at; the hooks always run")
        return EVERYTHING
    try:
        found = regex(MATCHED[event], text)
    except BadPattern as error:
        entries.note(where, f"{shown(text)} is {error}; it is compared with the name of the tool as it stands")
        found = exact(MATCHED[event], text)
    return Matcher(found.text, lambda event: not event.value("tool_name") or found.fits(event), found.fields)


def _action(entries: Entries, entry: dict[str, Any], pointer: str, common: dict[str, Any]) -> Command | None:
    entries.unknown(entry, pointer, KEYS)
    kind = entry.get("type")
    if kind not in TYPES:
        hint = (nearest(kind, TYPES) if isinstance(kind, str) else "") or '; write "type": "command"'
        what = f"must be 'command', not {shown(kind)}" if "type" in entry else "is missing"
        place = f"{pointer}/type" if "type" in entry else pointer
        entries.note(place, f"type {what}, so this hook is skipped{hint}")
        return None
    timeout = entries.timeout(entry, pointer, unit=0.001, default=DEFAULT_TIMEOUT, doubtful=DOUBTFUL_MS)
    if kind == "plugin":
        fault = "cannot start: it is of the type plugin, which is only a name here"
        entries.note(f"{pointer}/type", f"{fault}; it fails whenever it is due")
        return Command(argv=(str(entry.get("command") or "plugin"),), timeout=timeout, fault=fault)
    command = entries.text(entry, pointer, "command")
    own = _env(entries, entry, pointer)
    if command is None or own is None:
        return None
    if common["env"]:  # no shell expands `${/}`; what else an extension may name is in its hooks' environment
        command = command.replace("${/}", os.sep)
    return Command(  # noqa: S604  (the dialect means a shell)
        argv=("bash", "-c", command),
        timeout=timeout,
        grace=GRACE,
        shell=True,
        **common | {"env": common["env"] | own},
    )


def _env(entries: Entries, entry: dict[str, Any], pointer: str) -> dict[str, str] | None:
    value = entry.get("env", {})
    if isinstance(value, dict) and all(isinstance(text, str) for text in value.values()):
        return value
    entries.note(f"{pointer}/env", f"env must map names to strings, not {shown(value)}; this hook is skipped")
    return None


def _name(entries: Entries, entry: dict[str, Any], pointer: str) -> str:
    value = entry.get("name", "")
    if isinstance(value, str):
        return value.strip()
    entries.note(f"{pointer}/name", f"name must be a string, not {kind_of(value)} {shown(value)}; ignored")
    return ""


# -- the wire


def encode(hook: Hook, event: Event) -> dict[str, Any]:
    given = event.payload | event.asides.get(NAME, {})
    payload: dict[str, Any] = {
        "session_id": event.session_id,
        "transcript_path": event.transcript_path,
        "cwd": event.cwd,
        "hook_event_name": SPELLED[event.name],
        "timestamp": event.timestamp,
    }
    match event.name:
        case "PreToolUse" | "PostToolUse":
            payload |= {"tool_name": given["tool_name"], "tool_input": given["tool_input"] or {}}
            if given.get("mcp") is not None:
                payload["mcp_context"] = given["mcp"]
            if event.name == "PostToolUse":
                payload["tool_response"] = _tool_response(given.get("tool_output"), given.get("tool_error"))
        case "BeforeModel" | "BeforeToolSelection":
            payload["llm_request"] = given["llm_request"]
        case "AfterModel":
            payload |= {"llm_request": given["llm_request"], "llm_response": given["llm_response"]}
        case "UserPromptSubmit":
            payload["prompt"] = given["prompt"]
        case "Stop":
            payload |= {"prompt": given.get("prompt", ""), "prompt_response": given.get("response", "")}
            payload["stop_hook_active"] = given.get("stop_hook_active", False)
        case "Notification":
            payload["notification_type"] = given.get("notification_type", "ToolPermission")
            payload |= {"message": given["message"], "details": given.get("details", {})}
        case _:
            field, default = COMPARED[event.name]
            payload[field] = given.get(field) or default
    return payload


def _tool_response(output: Any, error: Any) -> dict[str, Any]:
    """A tool's result as LLxprt has it: what the model gets, what the user sees, and the error if there was one."""
    failed = {"error": error if isinstance(error, dict) else {"message": _text(error)}} if error else {}
    if isinstance(output, dict) and "llmContent" in output:
        content, rest = output["llmContent"], output
    else:
        content, rest = output if output is not None else _text(error) if error else "", {}
    return {"llmContent": content, "returnDisplay": _text(content)} | rest | failed


def _text(value: Any) -> str:
    return value if isinstance(value, str) else compact(value).decode()


def decode(hook: Hook, event: Event, outcome: Outcome) -> Verdict:
    if outcome.status != "exited":
        return Verdict(failed=no_answer(outcome, hook.command.timeout))
    if outcome.exit_code == 2:
        return _blocked(hook, event, printed(outcome.stderr))
    if outcome.exit_code != 0:
        failed = no_answer(outcome, hook.command.timeout) or bad_exit(outcome)
        warning = printed(outcome.stderr)
        spoken = (f"Warning: {warning}",) if warning and "messages" in EFFECTS[event.name] else ()
        return Verdict(failed=failed, messages=spoken)
    text = printed(outcome.stdout)
    if not text:
        return Verdict()
    if failed := unreadable(outcome, text):
        return Verdict(failed=failed)
    answer = _answer(text)
    if answer is NOT_JSON:
        return Verdict(decision="allow", messages=(text,))
    if answer is BEYOND:
        return Verdict(failed="printed JSON that is nested too deep, or has too long a number, to be read")
    return _verdict(hook, event, answer) if isinstance(answer, dict) else Verdict()


def _answer(text: str) -> Any:
    """The JSON a hook printed. A string that holds JSON is decoded once more; one that holds none is plain text."""
    value = json_value(text)
    if not isinstance(value, str):
        return value
    inner = json_value(value)
    return inner if isinstance(inner, dict) or inner is BEYOND else NOT_JSON


def _blocked(hook: Hook, event: Event, reason: str) -> Verdict:
    """Exit 2. Where nothing can be blocked it is a failure, and the model is still told why a tool was objected to."""
    told = reason or f"Blocked by hook {hook.name}"
    can = "deny" in EFFECTS[event.name]
    return Verdict(
        decision="deny",
        reason=told,
        messages=_objection(event, reason),
        failed="" if can else f"exited with 2, which cannot block {SPELLED[event.name]}: {told}",
    )


def _objection(event: Event, reason: str) -> tuple[str, ...]:
    """What the model is told of a denial that comes too late: the tool has run."""
    return (reason,) if reason and event.name == "PostToolUse" else ()


class _Answer:
    """A hook's JSON object, field by field; what has the wrong type is noted and counts as absent."""

    def __init__(self, answer: dict[str, Any]) -> None:
        self.notices: list[str] = []
        self.top = answer
        self.specific = self.member(answer, "hookSpecificOutput", dict) or {}

    def member(self, table: dict[str, Any], key: str, kind: type) -> Any:
        value = table.get(key)
        if value is None or isinstance(value, kind):
            return value
        wanted = {dict: "an object", str: "a string", list: "a list", bool: "true or false"}[kind]
        self.notices.append(f"its {key} must be {wanted}, not {kind_of(value)} {shown(value)}; ignored")
        return None

    def unknown(self, event: Event) -> None:
        """Note what asks for an effect that the event, or LLxprt, does not have."""
        known = SPECIFIC if event.name == "PreToolUse" else SPECIFIC[:-2]
        for key in self.specific:
            if key not in known:
                hint = nearest(key, known) if key not in (*SPECIFIC, *NOT_HERE) else ""
                self.notices.append(f"its {shown(key)} means nothing on {SPELLED[event.name]}; ignored{hint}")

    def text(self, table: dict[str, Any], key: str) -> str:
        return (self.member(table, key, str) or "").strip()

    def word(self, table: dict[str, Any], key: str) -> str:
        """A decision, if it is one LLxprt knows; letter by letter, for `Block` blocks nothing there."""
        value = self.member(table, key, str)
        if value is None or value in DECISIONS:
            return value or ""
        self.notices.append(f"its {key} {shown(value)} is none of {', '.join(DECISIONS)}, so it decides nothing")
        return ""

    def tools(self) -> Tools | None:
        config = self.member(self.specific, "toolConfig", dict)
        if config is None:
            return None
        mode, names = config.get("mode"), self.member(config, "allowedFunctionNames", list)
        if mode is not None and mode not in MODES:
            self.notices.append(f"its mode {shown(mode)} is none of {', '.join(MODES)}; ignored")
            mode = None
        if names is not None and not all(isinstance(name, str) for name in names):
            self.notices.append(f"its allowedFunctionNames must be strings, not {shown(names)}; ignored")
            names = None
        return Tools(mode, None if names is None else tuple(names)) if mode or names is not None else None


def _verdict(hook: Hook, event: Event, output: dict[str, Any]) -> Verdict:
    answer = _Answer(output)
    answer.unknown(event)
    decision, word, reason = _decision(event, answer)
    context = answer.member(answer.specific, "additionalContext", str) or ""
    system = answer.member(output, "systemMessage", str) or ""
    messages: tuple[str, ...] = (system,) if system.strip() else ()
    if decision == "deny":
        messages += _objection(event, reason)
        reason = reason or f"Blocked by hook {hook.name}"
    stops = answer.member(output, "continue", bool) is False
    patches = {key: answer.member(answer.specific, key, dict) for key in ("tool_input", "llm_request")}
    rewrites = _response(event, answer, denied=decision == "deny")
    return Verdict(
        decision=decision,
        reason=reason,
        literal="ask" if word == "ask" else None,
        context=(context,) if context else (),
        messages=messages,
        rewrites=rewrites,
        patches={key: value for key, value in patches.items() if value is not None},
        tools=answer.tools(),
        halt=(answer.text(output, "stopReason") or reason or f"Stopped by hook {hook.name}") if stops else None,
        suppress_output=answer.member(output, "suppressOutput", bool) is True,
        clear_context=answer.member(answer.specific, "clearContext", bool) is True,
        notices=tuple(answer.notices),
        aside=_aside(event, context, rewrites),
    )


def _aside(event: Event, context: str, rewrites: dict[str, Any]) -> dict[str, Any]:
    """What later hooks see: the prompt with the context so far; the model's own response, whatever takes its place."""
    seen = event.payload | event.asides.get(NAME, {})
    if event.name == "UserPromptSubmit" and context:
        return {"prompt": f"{seen.get('prompt', '')}\n\n{context}"}
    return {"llm_response": seen.get("llm_response")} if event.name == "AfterModel" and rewrites else {}


def _decision(event: Event, answer: _Answer) -> tuple[Decision, str, str]:
    """The decision, the hook's word for it, its reason. `permissionDecision` counts too, the stricter of both wins."""
    word, reason = answer.word(answer.top, "decision"), answer.text(answer.top, "reason")
    if event.name == "PreToolUse":
        permission = answer.word(answer.specific, "permissionDecision")
        own = answer.text(answer.specific, "permissionDecisionReason")
        if not permission or not word or DECISIONS[permission] == "deny":
            word, reason = permission or word, own or reason
    return DECISIONS.get(word, "none"), word, reason


def _response(event: Event, answer: _Answer, *, denied: bool) -> dict[str, Any]:
    """The response a hook gives in the model's place: instead of a call it denies, or in the place of one that came."""
    response = answer.member(answer.specific, "llm_response", dict)
    if response is None:
        return {}
    if event.name == "BeforeModel" and not denied:
        answer.notices.append("its llm_response counts only where it also denies the call; ignored")
        return {}
    if event.name == "AfterModel" and not _has_content(response):
        answer.notices.append(f"its llm_response has no candidates[0].content: {shown(response)}; ignored")
        return {}
    if "llm_response" in event.asides.get(NAME, {}):
        answer.notices.append("its llm_response takes the place of an earlier hook's, which it has not seen")
    return {"llm_response": response}


def _has_content(response: dict[str, Any]) -> bool:
    candidates = response.get("candidates")
    first = candidates[0] if isinstance(candidates, list) and candidates else None
    return isinstance(first, dict) and isinstance(first.get("content"), dict)


def about(hook: Hook) -> About:
    """An LLxprt hook says nothing of itself outside its settings."""
    return About()
