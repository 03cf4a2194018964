"""Where two accounts of a case differ, and what of LLxprt's rules says why.

D1 to D30 are the rows of the spec's section 1, S1 to S36 its settled questions. For what has a row in neither, HOOK-nnn
is the requirement that says so, §n the section, and rule 2 that of docs/architecture.md; the sums count these apart.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

WIDTH = 72
ROW = re.compile(r"[DS]\d+")
UNEXPLAINED, GONE, AGREE = "UNEXPLAINED", "GONE", "agree"
REASONS = {
    "D1": "exit 2 with an empty stderr denies",
    "D2": "exit 2: stdout is never read",
    "D3": "exit codes other than 0 and 2 never block",
    "D4": "what a hook printed before it failed does not count",
    "D5": "stderr with exit 0 is a log",
    "D6": "exit 2: the reason is stderr as it stands",
    "D8": "duplicates are known by the command alone",
    "D10": "a halt of BeforeToolSelection is honoured",
    "D11": "a block ends a sequence",
    "D12": "AfterTool cannot be denied",
    "D13": "AfterModel cannot be denied",
    "D16": "the environment has the three project directories",
    "D17": "a variable in a command is the shell's business",
    "D18": "an event with a failed hook is not healthy",
    "D19": "an error inside while firing never voids the event",
    "D20": "permissionDecision counts on BeforeTool",
    "D21": "ask is allow",
    "D23": "additionalContext is handed on as it is",
    "D24": "systemMessage is for the model, on events that have one",
    "D29": "SIGKILL follows SIGTERM",
    "D30": "how messages go back into the SDK's request",
    "S1": "only stdout with exit 0 is an answer",
    "S2": "where no reason is given, a sentence that names the hook is",
    "S4": "an omitted list of tools is no empty list",
    "S5": "no toolConfig, no restriction",
    "S7": "a deny sticks",
    "S8": "tool_input is laid over the arguments",
    "S9": "a denial too late has no effect; AfterTool passes its reason on",
    "S10": "exit 2 where nothing can be blocked is a failure",
    "S13": "a halt ends a sequence",
    "S14": "a JSON string that holds no object is plain text",
    "S18": "the process group is ended; whoever still holds the pipes does not count",
    "S19": "a timeout that is not positive is the default",
    "S20": "the expressions are those of our engine; what it does not know is compared as it is",
    "S25": "what a hook's request leaves out keeps its value",
    "S29": "a matcher that is no string costs its group alone",
    "S30": "changes of different keys both stand",
    "S31": "toolConfig is part of the request",
    "§3": "types of fields are strict; AfterAgent has an additionalContext, as in LLxprt",
    "§12": "a response needs content, not parts",
    "HOOK-072": "a request is shown as the host has it; its config may be left out",
    "HOOK-074": "names of tools are strings",
    "HOOK-094": "messages are concatenated, on every event",
    "HOOK-157": "reason is a string",
    "HOOK-195": "a plugin fails open; Gemini CLI runs its command if it has one",
    "HOOK-196": "stderr of a killed hook is a warning",
    "rule 2": "reason is that of the hooks that won: an allow explains no denial",
}
EXIT_3 = {"decision": "D3", "reason": "D3", "messages": "D3", "healthy": "D18"}
PERMISSION = dict.fromkeys(("decision", "reason"), "D20")
ENDED = {"ran": "D11", "saw": "D11"}
PATTERN = dict.fromkeys(("ran", "saw"), "S20")
LATE_TOOL = {"decision": "D12", "reason": "D12", "messages": "S9"}
LATE_MODEL = {"decision": "D13", "reason": "D13"}
STICKS = {"decision": "S7", "reason": "S7", "messages": "D24"}
SLOW = dict.fromkeys(("decision", "failed", "healthy", "reason"), "S19")
VOID = dict.fromkeys(("healthy", "ran", "saw"), "S29")

DIFFERENCES: dict[str, dict[str, str]] = {
    "tables/after_agent_clear_context": {"context": "§3"},
    "tables/default_timeout": {"failed": "S19", "healthy": "S19", "messages": "S19", "saw": "S19"},
    "tables/nothing_runs_twice": {"healthy": "D18"},
    "tables/after_model_deny": LATE_MODEL,
    "tables/after_model_failure": {"healthy": "D18", "response": "D4"},
    "tables/after_tool_deny": LATE_TOOL,
    "tables/after_tool_exit_2": LATE_TOOL | {"healthy": "S10"},
    "tables/after_tool_failure": {"context": "D4", "healthy": "D18"},
    "tables/any_block_blocks": {"reason": "rule 2"},
    "tables/ask_is_allow": {"decision": "D21"},
    "tables/bad_entries": VOID,
    "tables/before_model_appends_messages": {"request": "D30"},
    "tables/before_model_cannot_do_the_rest": {"messages": "D24"},
    "tables/before_model_deny_sticks": STICKS | {"healthy": "D18"},
    "tables/before_model_failure": {"decision": "D4", "reason": "D4", "healthy": "D18"},
    "tables/before_model_rewritten": {"request": "S25"},
    "tables/before_model_sequential": {"request": "S30"},
    "tables/deny_json_without_reason": {"reason": "S2"},
    "tables/duplicates": {"ran": "D8", "saw": "D8"},
    "tables/environment": dict.fromkeys(("decision", "failed", "messages", "reason", "saw"), "D16"),
    "tables/exit_1": {"healthy": "D18"},
    "tables/exit_1_silent": {"healthy": "D18", "messages": "S1"},
    "tables/exit_1_with_deny_json": {"decision": "D4", "halt": "D4", "healthy": "D18"},
    "tables/exit_2_ignores_stdout": {"decision": "D2", "reason": "D2"},
    "tables/exit_2_silent": {"reason": "D2"},
    "tables/exit_2_with_json_on_stderr": {"decision": "D6", "reason": "D6"},
    "tables/exit_3": EXIT_3,
    "tables/killed_by_a_signal": {"decision": "D4", "reason": "D4", "messages": "HOOK-196", "healthy": "D18"},
    "tables/messages_in_plan_order": {"healthy": "D18"},
    "tables/missing_script": {"healthy": "D18"},
    "tables/one_failure_of_three": {"healthy": "D18", "tool_input": "S8"},
    "tables/one_sequential_group": {"tool_input": "S8"},
    "tables/parallel": {"tool_input": "S8"},
    "tables/permission_decision": PERMISSION,
    "tables/permission_decision_beats_allow": PERMISSION,
    "tables/permission_decision_survives_a_later_allow": PERMISSION,
    "tables/sequential_chain": {"tool_input": "S8"},
    "tables/sequential_deny": ENDED,
    "tables/sequential_failure": {"healthy": "D18", "tool_input": "D4"},
    "tables/sequential_halt": {"halt": "S2", "ran": "S13", "saw": "S13"},
    "tables/session_start_exit_2": {"healthy": "S10"},
    "tables/stderr_with_exit_0": {"decision": "D5", "reason": "D5"},
    "tables/tool_input_rewritten": {"tool_input": "S8"},
    "tables/tool_selection_bad_config": {"tools": "HOOK-074"},
    "tables/tool_selection_deny": {"tools": "S5"},
    "tables/tool_selection_failure": {"healthy": "D18", "tools": "D4"},
    "tables/tool_selection_halt": {"halt": "D10"},
    "tables/tool_selection_mode": {"tools": "S4"},
    "tables/tool_selection_without_config": {"tools": "S5"},
    "exit 126": EXIT_3,
    "exit 255": EXIT_3,
    "exit 3, silent": {"healthy": "D18"},
    "exit 3, deny on stdout": {"decision": "D4", "reason": "D4", "healthy": "D18"},
    "exit 1, text on stdout": {"healthy": "D18", "messages": "S1"},
    "exit 1, text on both": {"healthy": "D18", "messages": "S1"},
    "exit 2, allow on stdout": {"decision": "D2", "reason": "D2"},
    "exit 2, text on stdout only": {"reason": "D2"},
    "exit 2, blanks on stderr": {"decision": "D1", "reason": "D1"},
    "exit 0, deny on stderr": {"decision": "D5", "reason": "D5"},
    "signal, silent": {"healthy": "D18"},
    "signal, deny on stdout": {"decision": "D4", "reason": "D4", "healthy": "D18"},
    "signal, stderr": {"healthy": "D18", "messages": "HOOK-196"},
    "no such program": EXIT_3,
    'prints "42"': {"messages": "S14"},
    'prints "[1]"': {"messages": "S14"},
    "encoded three times": {"messages": "S14"},
    "ask": {"decision": "D21"},
    "deny without a reason": {"reason": "S2"},
    "reason is a number": {"reason": "HOOK-157"},
    "halt, no reason": {"halt": "S2"},
    "suppressOutput is 1": {"suppress": "§3"},
    "specific output is a text": {"healthy": "D19"},
    "timeout, children": {"left": "S18"},
    "timeout, SIGTERM ignored": {"left": "D29"},
    "a child holds the pipes": dict.fromkeys(("decision", "failed", "healthy", "reason"), "S18"),
    "timeout 0": SLOW,
    "timeout -5": SLOW,
    "matcher: Python group": PATTERN,
    "matcher: flag inside": PATTERN,
    "matcher: possessive": PATTERN,
    "matcher: any character": PATTERN,
    "matcher: identity escape": PATTERN,
    "matcher: look-behind": PATTERN,
    "matcher: property": PATTERN,
    "matcher: absolute end": PATTERN,
    "matcher is a number": VOID,
    "same command, other names": {"ran": "D8", "saw": "D8"},
    "names that run together": {"ran": "D8", "left": "D8", "messages": "D5"},
    "plugin": {"failed": "HOOK-195", "healthy": "HOOK-195"},
    "tool_input, chained": {"tool_input": "S8"},
    "tool_input, a list": {"saw": "§3"},
    "tool_input, empty": {"tool_input": "S8"},
    "chain, exit 1": {"healthy": "D18", "tool_input": "D4"},
    "chain, deny": ENDED,
    "chain, exit 2": ENDED,
    "chain, halt": {"ran": "S13", "saw": "S13"},
    "request, chained": {"request": "S30"},
    "deny, then allow": {"reason": "rule 2"},
    "allow, then deny": {"reason": "rule 2"},
    "deny and ask": {"reason": "rule 2"},
    "deny and a failure": {"healthy": "D18"},
    "context with tags": {"context": "D23"},
    "permissionDecision": PERMISSION,
    "AfterTool, deny": LATE_TOOL,
    "AfterTool, exit 2": LATE_TOOL | {"healthy": "S10"},
    "BeforeModel, deny, then allow": {"decision": "S7", "reason": "S7"},
    "BeforeModel, deny, then text": STICKS,
    "BeforeModel, config in part": {"request": "S25"},
    "AfterModel, response without parts": {"response": "§12"},
    "AfterModel, deny": LATE_MODEL,
    "selection, mode only": {"tools": "S4"},
    "selection, unknown mode": {"tools": "S5"},
    "selection, nothing": {"tools": "S5"},
    "selection, halt": {"halt": "D10", "tools": "S5"},
    "SessionEnd, two messages": {"messages": "HOOK-094"},
    "variable LLXPRT_PROJECT_DIR": {"left": "D16"},
    "variable GEMINI_CWD": {"left": "D16"},
    "variable GEMINI_SESSION_ID": {"left": "D16"},
    "variable GEMINI_PLANS_DIR": {"left": "D16"},
    "variable in quotes": {"left": "D17"},
    "variable, longer name": {"left": "D17"},
}
"""For every case that is known to differ: each field that does, and why."""

SEEN = {('["toolConfig"]', "-"): "S31", ("-", '["an empty config"]'): "HOOK-072"}
"""Differences of the field `request seen` that every case with a request may have, and why."""


class Line(Struct, frozen=True):
    """A case that agrees, or one field of a case that does not."""

    case: str
    field: str = ""
    ours: str = ""
    theirs: str = ""
    why: str = AGREE

    @property
    def bad(self) -> bool:
        return self.why in (UNEXPLAINED, GONE)


def compared(case: str, ours: dict[str, Any], theirs: dict[str, Any]) -> list[Line]:
    """One line for each field that differs, or that no longer does; one in all if the case agrees."""
    expected = DIFFERENCES.get(case, {})
    found = []
    for key in sorted(ours.keys() | theirs.keys()):
        if ours.get(key) != theirs.get(key):
            left, right = map(_shown, _apart(ours.get(key), theirs.get(key)))
            why = SEEN.get((left, right)) if key == "request seen" else expected.get(key)
            found.append(Line(case, key, left, right, why or UNEXPLAINED))
    gone = sorted(expected.keys() - {line.field for line in found})
    return [*found, *(Line(case, key, _shown(ours.get(key)), "the same", GONE) for key in gone)] or [Line(case)]


def _apart(ours: Any, theirs: Any) -> tuple[Any, Any]:
    """Only what differs of two values."""
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs) == 1:
        found = _apart(ours[0], theirs[0])
        return [found[0]], [found[1]]
    if not (isinstance(ours, dict) and isinstance(theirs, dict)):
        return ours, theirs
    pairs = {key: (ours.get(key), theirs.get(key)) for key in sorted(ours.keys() | theirs.keys())}
    apart = {key: _apart(*pair) for key, pair in pairs.items() if pair[0] != pair[1]}
    left, right = ({key: pair[side] for key, pair in apart.items() if pair[side] is not None} for side in (0, 1))
    return left, right


def _shown(value: Any) -> str:
    return "-" if value is None else json.dumps(value, ensure_ascii=False)


def table(lines: Sequence[Line], *, differences_only: bool = False) -> str:
    """The lines in Markdown: what differs, by reason, then what agrees, then the sums."""
    differ = [line for line in lines if line.why != AGREE]
    agree = [line.case for line in lines if line.why == AGREE]
    order = {why: number for number, why in enumerate((UNEXPLAINED, GONE, *REASONS))}
    rows = ["| case | field | hookline | Gemini CLI | why |", "|---|---|---|---|---|"]
    rows += map(_row, _gathered(sorted(differ, key=lambda line: order[line.why])))
    if not differences_only and agree:
        rows += ["", f"Agree: {'; '.join(agree)}."]
    return "\n".join([*rows, "", *_sums(differ, agree)])


def _gathered(lines: Iterable[Line]) -> list[Line]:
    """Lines that say the same of several cases, as one."""
    together: dict[Line, list[str]] = {}
    for line in lines:
        together.setdefault(Line("", line.field, line.ours, line.theirs, line.why), []).append(line.case)
    return [Line("; ".join(names), line.field, line.ours, line.theirs, line.why) for line, names in together.items()]


def _row(line: Line) -> str:
    why = f"{line.why}: {REASONS[line.why]}" if line.why in REASONS else line.why
    cells = [line.case, line.field, _cut(line.ours), _cut(line.theirs), why]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _cut(text: str) -> str:
    if text in ("-", "the same"):
        return text
    text = text if len(text) <= WIDTH else text[: WIDTH - 1] + "…"
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def _sums(differ: Sequence[Line], agree: Sequence[str]) -> list[str]:
    cases, kinds = {line.case for line in differ}, Counter(line.why for line in differ)
    done = [f"{len(cases) + len(agree)} cases: {len(agree)} agree, {len(cases)} differ in {len(differ)} fields."]
    besides = [f"{why} ({count})" for why, count in kinds.items() if why in REASONS and not ROW.fullmatch(why)]
    if besides:
        done.append(f"Explained by something other than a D or an S: {', '.join(sorted(besides))}.")
    if kinds[UNEXPLAINED]:
        done.append(f"{UNEXPLAINED}: {kinds[UNEXPLAINED]}.")
    if kinds[GONE]:
        done.append(f"{GONE}, for both sides now say the same: {kinds[GONE]}.")
    return done
