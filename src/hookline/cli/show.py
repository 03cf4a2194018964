"""What a person sees. Nothing a hook or a payload says is taken as markup or as a terminal command."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from hookline.events import Row
from hookline.model import About, Hook, Notice, Report, Ruling
from hookline.planning import Entry, Plan
from hookline.wording import harmless, seconds

STYLES = {
    "allow": "green",
    "ask": "yellow",
    "deny": "bold red",
    "none": "dim",
    "ran": "green",
    "failed": "magenta",
    "timeout": "magenta",
    "skipped": "dim",
    "background": "cyan",
}
LONGEST_CELL = 400


def _console() -> Console:
    return Console(highlight=False, soft_wrap=False)


def _text(value: object, style: str = "") -> Text:
    text = harmless(str(value))
    return Text(text if len(text) <= LONGEST_CELL else text[:LONGEST_CELL] + "…", style=style)


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", show_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


# -- fire


def show_ruling(ruling: Ruling) -> None:
    console = _console()
    if ruling.hooks:
        table = _table("hook", "dialect", "status", "time", "says")
        for report in ruling.hooks:
            table.add_row(
                _text(report.hook),
                _text(report.dialect, "dim"),
                _text(report.status, STYLES[report.status]),
                _text("" if report.duration_ms is None else f"{report.duration_ms:.0f} ms"),
                _says(report),
            )
        console.print(table)
        console.print()
    for text in ruling.context:
        console.print(_part("context", text, "cyan"))
    for text in ruling.messages:
        console.print(_part("message", text, "cyan"))
    for name, value in ruling.rewrites.items():
        console.print(_part(f"new {name}", str(value), "yellow"))
    _show_notices(console, ruling.notices)
    console.print(_sentence(ruling))


def _says(report: Report) -> Text:
    if report.status == "skipped":
        return _text(report.skipped, "dim")
    if report.error:
        return _text(report.error, "magenta")
    word = report.decision if report.decision not in (None, "none") else ""
    said = f"{word}: {report.reason}" if word and report.reason else word or ""
    return _text(said, STYLES.get(word or "", ""))


def _part(name: str, text: str, style: str) -> Text:
    return Text.assemble((f"{name}: ", style), _text(text))


def _sentence(ruling: Ruling) -> Text:
    """The ruling in one sentence."""
    wanted = {
        "deny": ("Denied", "bold red"),
        "ask": ("Ask first", "yellow"),
        "allow": ("Go on, allowed", "green"),
        "none": ("Go on, no hook has an opinion" if ruling.hooks else "Go on, no hook listens", "green"),
    }
    words, style = ("Halted", "bold red") if ruling.halt and ruling.decision != "deny" else wanted[ruling.decision]
    by = ", ".join(r.hook for r in ruling.hooks if r.decision == ruling.decision and r.status == "ran")
    reason = ruling.halt.reason if ruling.halt and ruling.decision != "deny" else ruling.reason
    sentence = Text(words, style=style)
    if by and ruling.decision != "none":
        sentence.append(" by ").append(_text(by, "bold"))
    sentence.append(": ").append(_text(reason)) if reason else sentence.append(".")
    return sentence if ruling.healthy else sentence.append(" (not all hooks are healthy)", "magenta")


# -- explain


def show_plan(plan: Plan, notices: Sequence[Notice]) -> None:
    console = _console()
    if not plan.entries:
        console.print(Text(f"No hook listens to {plan.event}."))
    else:
        table = _table("", "hook", "dialect", "because", "timeout")
        for entry in plan.entries:
            table.add_row(
                _text(_when(entry), "dim" if entry.skipped else "bold green"),
                _stacked(entry.hook.name, str(entry.hook.source)),
                _text(entry.hook.dialect, "dim"),
                _text(entry.skipped or entry.hook.matcher.text or f"every {plan.event}"),
                _text(seconds(entry.hook.action.timeout)),
            )
        console.print(table)
        console.print()
    _show_notices(console, notices)
    running = sum(entry.runs for entry in plan.entries)
    console.print(Text(f"{running} of {len(plan.entries)} would run for {plan.event}; nothing was run."))


def _when(entry: Entry) -> str:
    return "skip" if entry.skipped else "background" if entry.background else f"wave {entry.wave + 1}"


def _stacked(first: str, *below: str) -> Text:
    """A cell of several lines: what matters, and under it what helps."""
    return Text("\n").join([_text(first), *(_text(line, "dim") for line in below if line)])


# -- list


def show_hooks(described: Sequence[tuple[Hook, About]], notices: Sequence[Notice]) -> None:
    console = _console()
    table = _table("event", "hook", "dialect", "only if", "timeout")
    for hook, about in described:
        title = f"{about.title} ({hook.name})" if about.title else hook.name
        table.add_row(
            _text(hook.event),
            _stacked(title, hook.barred, about.text, str(hook.source)),
            _text(hook.dialect, "dim"),
            _text(hook.matcher.text),
            _text(seconds(hook.action.timeout)),
        )
    if described:
        console.print(table)
        console.print()
    _show_notices(console, notices)
    console.print(Text(f"{len(described)} hook{'' if len(described) == 1 else 's'}."))


# -- events


def show_events(rows: Sequence[Row]) -> None:
    console = _console()
    table = _table("event", "fields (? may be left out)", "can be", "in each dialect")
    for row in rows:
        fields = " ".join(name + ("" if name in row.required else "?") for name in row.fields)
        names = "\n".join(f"{dialect}: {name}" for dialect, name in row.spellings.items())
        table.add_row(_stacked(row.name, row.when), fields, ", ".join(can_be(row)), names)
    console.print(table)


def can_be(row: Row) -> list[str]:
    """The effects an event honours beyond those every event does, in words."""
    from hookline.events import EFFECTS, EVERYWHERE

    return list(dict.fromkeys(words for name, words in EFFECTS.items() if name in row.effects - EVERYWHERE))


def _show_notices(console: Console, notices: Sequence[Notice]) -> None:
    for notice in notices:
        console.print(Text.assemble(("note: ", "yellow"), _text(notice)))
