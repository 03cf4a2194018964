"""What a person sees of a tape: a timeline, a table of numbers, what would change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.padding import Padding
from rich.text import Text

from hookline.cli.show import STYLES, line, screen, table
from hookline.compacting import compact
from hookline.judging import Change, by_hook, summary
from hookline.tape import ADDED, Record

INDENTED = ("hook_call", "hook_returned", "hook_raised", "hook_vetoed", "hook_skipped", "system_reminder", "ruling")


LONGEST = 200
"""Of what a record says so much is shown; `--json` has it all."""


def show_records(records: Iterable[Record], *, apart: bool = False) -> None:
    """One line each. Where only some are shown, `apart` from their events, each says what it is about."""
    console = screen()
    number = 0
    for record in records:
        number += 1
        shown = Text.assemble((f"{record.seq:>6} ", "dim"), (record.at[11:23], "dim"), " ")
        if record.kind in INDENTED:
            shown.append(_words(record.data.get("event", ""), "bold") if apart else "").append(" " if apart else "  ")
        console.print(shown.append(_said(record)), soft_wrap=True)
    console.print(Text(f"{count(number, 'record')}."))


def count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _said(record: Record) -> Text:
    """One record in one line."""
    data = record.data
    match record.kind:
        case "event":
            return Text.assemble(_words(data["event"], "bold"), " ", _words(_about(data["payload"]), "dim"))
        case "hook_call":
            return Text.assemble("calls ", _words(data["handler"]), " ", _words(data.get("dialect", ""), "dim"))
        case "hook_returned":
            took = f" ({data.get('duration_ms', 0):.0f} ms)"
            return Text.assemble(_words(data["handler"]), " returned ", _styled(data["result"]), (took, "dim"))
        case "hook_raised":
            return Text.assemble(_words(data["handler"]), (" raised: ", "magenta"), _words(data["error"]))
        case "hook_vetoed":
            return Text.assemble(_words(data["handler"]), (" vetoed: ", "bold red"), _words(data["reason"]))
        case "hook_skipped":
            return Text.assemble(_words(data["handler"], "dim"), (" skipped: ", "dim"), _words(data["reason"], "dim"))
        case "ruling":
            reason = f": {data['reason']}" if data.get("reason") else ""
            return Text.assemble("ruling ", _styled(data["decision"]), _words(reason), _extras(data))
        case "message":
            return Text.assemble(_words(data["role"], "cyan"), ": ", _words(data["content"]))
        case "tool_call":
            return Text.assemble(("tool ", "cyan"), _words(data["tool_name"]), " ", _words(data["tool_input"], "dim"))
        case "tool_result":
            failed = "error" in data
            words = Text.assemble(("tool ", "cyan"), _words(data["tool_name"]), " failed: " if failed else " gave: ")
            return words.append(_words(data["error"] if failed else data["output"]))
        case "tool_refused":
            return Text.assemble(
                ("tool ", "cyan"), _words(data["tool_name"]), (" refused: ", "bold red"), _words(data["reason"])
            )
        case "approval":
            answers = {True: "yes", False: "no", "session": "yes, for the session"}
            said = data.get("error") or answers.get(data["answer"], data["answer"])
            return Text.assemble(("approval of ", "cyan"), _words(data["tool_name"]), ": ", _words(said))
        case "system_reminder":
            return Text.assemble(("reminder: ", "cyan"), _words(data["reminder"].get("body", "")))
        case _:
            facts = ", ".join(f"{name} {_plain(value)}" for name, value in record.said.items() if value not in EMPTY)
            return Text.assemble(_words(record.kind, "cyan"), ": ", _words(facts))


EMPTY: tuple[Any, ...] = (None, "", [], {}, False)


def _words(value: Any, style: str = "") -> Text:
    """What a record says, on one line: nobody can forge the next one."""
    text = _plain(value)
    return line(text if len(text) <= LONGEST else f"{text[:LONGEST]}…", style)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else compact(value).decode()


def _about(payload: dict[str, Any]) -> str:
    persona, step = payload.get("persona"), payload.get("step")
    if isinstance(step, dict):
        return ".".join(filter(None, (persona, str(step.get("name", "")))))
    if "pct" in payload:
        return f"{persona or ''} {payload['pct']} %".strip()
    known = ("tool_name", "prompt", "path", "trigger", "source", "reason", "message", "response")
    return next((str(payload[name]) for name in known if payload.get(name)), str(persona or ""))


def _styled(word: Any) -> Text:
    return _words(word, STYLES.get(str(word), ""))


def _extras(ruling: dict[str, Any]) -> str:
    plain = ("event", "decision", "healthy", "reason", "notices", "hooks", *ADDED)
    extras = [name for name in ruling if name not in plain]
    ill = [] if ruling.get("healthy", True) else ["not healthy"]
    return f" [{', '.join(extras + ill)}]" if extras or ill else ""


NARROW = 90
"""Columns below which a table of that many numbers has no room for the names."""


def show_stats(found: dict[str, Any]) -> None:
    console = screen()
    rows = table(console, "runs", "failed", "vetoes", "skipped", "p50/p95/max ms", "total ms", "injected", "hook*")
    for row in found["hooks"]:
        times = "/".join(f"{row[key]:.0f}" for key in ("p50_ms", "p95_ms", "max_ms")) if row["runs"] else "-"
        runs, failed, vetoes, skipped = (str(row[key]) for key in ("runs", "failures", "vetoes", "skips"))
        total, injected = f"{row['total_ms']:.0f}", str(row["injected"])
        if console.width >= NARROW:
            rows.add_row(runs, failed, vetoes, skipped, times, total, injected, line(row["hook"]))
            continue
        console.print(line(row["hook"], "bold"))
        numbers = f"{runs} run, {failed} failed, {vetoes} vetoed, {skipped} skipped; {injected} characters injected"
        for text in (numbers, f"p50/p95/max {times} ms, {total} ms in all"):
            console.print(Padding(Text(text), (0, 0, 0, 2)))
    if rows.row_count:
        console.print(rows)
    if found["hooks"]:
        console.print()
    decisions = ", ".join(f"{number} {word}" for word, number in found["decisions"].items() if number)
    events = f"{count(found['records'], 'record')}, {count(found['events'], 'event')}"
    console.print(Text(f"{events}; rulings: {decisions or 'none'}."))


def show_changes(found: Sequence[Change], events: int, *, plan_only: bool) -> None:
    console = screen()
    if found:
        rows = table(console, "record", "event", "tool", "was", "would be", "decided by")
        for change in found:
            before, now = _ran(change) if change.planned else _ruled(change)
            by = line(", ".join(change.deciders))
            rows.add_row(str(change.seq), change.event, line(change.tool), before, now, by)
        console.print(rows)
        console.print()
    for sentence in summary(list(found)):
        console.print(Text(f"{sentence}."))
    for hook, number in by_hook(list(found)).items():
        console.print(Text.assemble("  ", line(hook), f": {number}"))
    other = "would run other hooks" if plan_only else "would be ruled otherwise"
    console.print(Text(f"{len(found)} of {count(events, 'event')} {other}."))


def _ran(change: Change) -> tuple[Text, Text]:
    """What ran, and what would run."""
    return line(", ".join(change.before["hooks"])), line(", ".join(change.after["hooks"]))


def _ruled(change: Change) -> tuple[Text, Text]:
    """What was ruled, and what would be: with the reason, or what else is asked of the host."""
    was, now = change.turn
    other = f"other {', '.join(change.effects)}" if change.effects and was == now else ""
    return _why(was, change.before), _why(now, change.after, other)


def _why(word: str, ruling: dict[str, Any], other: str = "") -> Text:
    reason = other or ruling.get("reason") or ruling.get("error") or ""
    return line(f"{word}: {reason}" if reason else word)
