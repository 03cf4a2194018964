"""What a person sees of a tape: a timeline, a table of numbers, what would change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.text import Text

from hookline.cli.show import STYLES, screen, table
from hookline.cli.show import cell as _cell
from hookline.judging import Change, by_hook, summary
from hookline.tape import ADDED, Record

INDENTED = ("hook_call", "hook_returned", "hook_raised", "hook_vetoed", "hook_skipped", "system_reminder", "ruling")


def show_records(records: Iterable[Record]) -> None:
    console = screen()
    count = 0
    for record in records:
        count += 1
        line = Text.assemble((f"{record.seq:>6} ", "dim"), (record.at[11:23], "dim"), " ")
        line.append("  " if record.kind in INDENTED else "")
        console.print(line.append(_said(record)), soft_wrap=True)
    console.print(Text(f"{count} record{'' if count == 1 else 's'}."))


def _said(record: Record) -> Text:
    """One record in one line."""
    data = record.data
    match record.kind:
        case "event":
            return Text.assemble((data["event"], "bold"), " ", _cell(_about(data["payload"]), "dim"))
        case "hook_call":
            return Text.assemble("calls ", _cell(data["handler"]), " ", _cell(data.get("dialect", ""), "dim"))
        case "hook_returned":
            took = f" ({data.get('duration_ms', 0):.0f} ms)"
            return Text.assemble(_cell(data["handler"]), " returned ", _styled(data["result"]), (took, "dim"))
        case "hook_raised":
            return Text.assemble(_cell(data["handler"]), (" raised: ", "magenta"), _cell(data["error"]))
        case "hook_vetoed":
            return Text.assemble(_cell(data["handler"]), (" vetoed: ", "bold red"), _cell(data["reason"]))
        case "hook_skipped":
            return Text.assemble(_cell(data["handler"], "dim"), (" skipped: ", "dim"), _cell(data["reason"], "dim"))
        case "ruling":
            reason = f": {data['reason']}" if data.get("reason") else ""
            return Text.assemble("ruling ", _styled(data["decision"]), _cell(reason), _extras(data))
        case "message":
            return Text.assemble((f"{data['role']}: ", "cyan"), _cell(data["content"]))
        case "tool_call":
            return Text.assemble(("tool ", "cyan"), _cell(data["tool_name"]), " ", _cell(data["tool_input"], "dim"))
        case "tool_result":
            failed = "error" in data
            words = Text.assemble(("tool ", "cyan"), _cell(data["tool_name"]), " failed: " if failed else " gave: ")
            return words.append(_cell(data["error"] if failed else data["output"]))
        case "system_reminder":
            return Text.assemble(("reminder: ", "cyan"), _cell(data["reminder"].get("body", "")))
        case _:
            return Text.assemble((f"{record.kind} ", "cyan"), _cell(record.said))


def _about(payload: dict[str, Any]) -> str:
    known = ("tool_name", "prompt", "path", "trigger", "persona", "source", "reason", "message", "response")
    return next((str(payload[name]) for name in known if payload.get(name)), "")


def _styled(word: Any) -> Text:
    return Text(str(word), style=STYLES.get(str(word), ""))


def _extras(ruling: dict[str, Any]) -> str:
    plain = ("event", "decision", "healthy", "reason", "notices", "hooks", *ADDED)
    extras = [name for name in ruling if name not in plain]
    ill = [] if ruling.get("healthy", True) else ["not healthy"]
    return f" [{', '.join(extras + ill)}]" if extras or ill else ""


def show_stats(found: dict[str, Any]) -> None:
    console = screen()
    rows = table("hook", "runs", "failed", "vetoes", "skipped", "p50/p95/max ms", "total ms", "injected")
    for row in found["hooks"]:
        times = "/".join(f"{row[key]:.0f}" for key in ("p50_ms", "p95_ms", "max_ms"))
        numbers = [str(row[key]) for key in ("runs", "failures", "vetoes", "skips")]
        rows.add_row(_cell(row["hook"]), *numbers, times, f"{row['total_ms']:.0f}", f"{row['injected']}")
    if found["hooks"]:
        console.print(rows)
        console.print()
    decisions = ", ".join(f"{number} {word}" for word, number in found["decisions"].items() if number)
    console.print(Text(f"{found['records']} records, {found['events']} events; rulings: {decisions or 'none'}."))


def show_changes(found: Sequence[Change], events: int, *, plan_only: bool) -> None:
    console = screen()
    if found:
        rows = table("record", "event", "tool", "was", "would be", "decided by")
        for change in found:
            was, now = change.turn
            by = ", ".join(change.deciders)
            rows.add_row(
                str(change.seq),
                change.event,
                _cell(change.tool),
                *(_ran(change) if change.planned else (_why(was, change.before), _why(now, change.after))),
                _cell(by),
            )
        console.print(rows)
        console.print()
    for line in summary(list(found)):
        console.print(Text(f"{line}."))
    for hook, number in by_hook(list(found)).items():
        console.print(Text.assemble("  ", _cell(hook), f": {number}"))
    other = "would run other hooks" if plan_only else "would be ruled otherwise"
    console.print(Text(f"{len(found)} of {events} events {other}."))


def _ran(change: Change) -> tuple[Text, Text]:
    """What ran, and what would run."""
    return _cell(", ".join(change.before["hooks"])), _cell(", ".join(change.after["hooks"]))


def _why(word: str, ruling: dict[str, Any]) -> Text:
    reason = ruling.get("reason") or ruling.get("error") or ""
    return _cell(f"{word}: {reason}" if reason else word)
