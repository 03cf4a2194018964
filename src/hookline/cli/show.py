"""What a person sees. Nothing a hook or a payload says is taken as markup or as a terminal command."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from hookline.events import Row
from hookline.model import About, Command, Hook, Notice, Report, Ruling
from hookline.planning import Entry, Plan
from hookline.shellwords import roles
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


UNBOUNDED = 4000
"""Columns where nobody looks at a terminal."""


class _Screen(Console):
    def on_broken_pipe(self) -> None:
        """Whoever reads went away: what exit code that is, `main` decides."""
        raise  # noqa: PLE0704  (rich calls this while it handles the BrokenPipeError)


class _Pipe(_Screen):
    """A file or another program reads: no line is broken or cut, none ends in blanks."""

    def print(self, *objects: Any, **options: Any) -> None:
        with self.capture() as got:
            super().print(*objects, **options)
        self.file.write("\n".join(line.rstrip(" ") for line in got.get().split("\n")))


def screen() -> Console:
    made = _Screen(highlight=False, soft_wrap=False)
    if made.is_terminal or os.environ.get("COLUMNS"):
        return made
    return _Pipe(highlight=False, soft_wrap=False, width=UNBOUNDED)


def line(value: object, style: str = "") -> Text:
    """A cell for something that is one line: breaks in it are spelled out, so that nobody can forge a row."""
    return cell("".join(c if c.isprintable() else ascii(c)[1:-1] for c in str(value)), style)


def cell(value: object, style: str = "") -> Text:
    text = harmless(str(value))
    return Text(text if len(text) <= LONGEST_CELL else text[:LONGEST_CELL] + "…", style=style)


def table(on: Console, *columns: str) -> Table:
    """A table without lines. A column marked with `*` takes what room there is, the others what they need."""
    stretches = any(column.endswith("*") for column in columns)
    expand = stretches and not isinstance(on, _Pipe)
    made = Table(box=None, pad_edge=False, header_style="bold", show_edge=False, expand=expand)
    for column in columns:
        wide = column.endswith("*")
        ratio = 1 if wide and expand else None
        made.add_column(column.rstrip("*"), overflow="fold", ratio=ratio, no_wrap=stretches and not wide)
    return made


# -- fire


def show_ruling(ruling: Ruling) -> None:
    console = screen()
    if ruling.hooks:
        rows = table(console, "hook*", "dialect", "status", "time", "says*")
        for report in ruling.hooks:
            rows.add_row(
                line(report.hook),
                cell(report.dialect, "dim"),
                cell(report.status, STYLES[report.status]),
                cell("" if report.duration_ms is None else f"{report.duration_ms:.0f} ms"),
                _says(report),
            )
        console.print(rows)
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
        return cell(report.skipped, "dim")
    if report.error:
        return cell(report.error, "magenta")
    word = report.decision if report.decision not in (None, "none") else ""
    said = f"{word}: {report.reason}" if word and report.reason else word or ""
    return cell(said, STYLES.get(word or "", ""))


def _part(name: str, text: str, style: str) -> Text:
    return Text.assemble((f"{name}: ", style), cell(text))


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
        sentence.append(", says " if ruling.decision == "ask" and not ruling.halt else " by ").append(cell(by, "bold"))
    sentence.append(": ").append(cell(reason)) if reason else sentence.append(".")
    return sentence if ruling.healthy else sentence.append(" (not all hooks are healthy)", "magenta")


# -- explain


def show_plan(plan: Plan, notices: Sequence[Notice]) -> None:
    console = screen()
    if not plan.entries:
        console.print(Text(f"No hook listens to {plan.event}."))
    else:
        for entry in plan.entries:
            why = entry.skipped or entry.hook.matcher.text or f"every {plan.event}"
            when = (f"{_when(entry):<10} ", "dim" if entry.skipped else "bold green")
            console.print(Text.assemble(when, _introduced(entry.hook.name, entry.hook, why)))
            console.print(Padding(line(entry.hook.source, "dim"), (0, 0, 0, 11)))
        console.print()
    _show_notices(console, notices)
    running = sum(entry.runs for entry in plan.entries)
    console.print(Text(f"{running} of {len(plan.entries)} would run for {plan.event}; nothing was run."))


def _when(entry: Entry) -> str:
    return "skip" if entry.skipped else "background" if entry.background else f"wave {entry.wave + 1}"


def _stacked(first: str, *below: str) -> Text:
    """A cell of several lines: what matters, and under it what helps."""
    return Text("\n").join([line(first), *(line(text, "dim") for text in below if text)])


def _introduced(title: str, hook: Hook, why: str) -> Text:
    """A hook in one line: its name, its dialect, how long it may take, and when it runs or why it does not."""
    time = [seconds(hook.action.timeout)] if isinstance(hook.action, Command) else []
    facts = ", ".join([hook.dialect, *time, *(["background"] if hook.background else [])])
    said = Text.assemble(line(title), (f"  {facts}", "dim"))
    return said.append(": ").append(line(why)) if why else said


# -- list


def show_hooks(described: Sequence[tuple[Hook, About]], notices: Sequence[Notice], *, found: bool = False) -> None:
    console = screen()
    for event in dict.fromkeys(hook.event for hook, _ in described):
        console.print(Text(event, style="bold"))
        for hook, about in described:
            if hook.event == event:
                title = f"{about.title} ({hook.name})" if about.title else hook.name
                only = f"only if {hook.matcher.text}" if hook.matcher.text else ""
                console.print(Padding(_introduced(title, hook, only), (0, 0, 0, 2)))
                for text, style in ((hook.barred, "magenta"), (about.text, ""), (hook.source, "dim")):
                    if text:
                        console.print(Padding(line(text, style), (0, 0, 0, 4)))
    if described:
        console.print()
    _show_notices(console, notices)
    console.print(Text(f"{len(described)} hook{'' if len(described) == 1 else 's'}."))
    if found and not described:
        console.print(Text("`hookline list --where` shows where they are looked for."))


def show_places(project: str | None, places: Sequence[Mapping[str, Any]]) -> None:
    console = screen()
    rows = table(console, "dialect", "whose", "place", "found")
    for row in places:
        hooks = f"{row['hooks']} hook{'' if row['hooks'] == 1 else 's'}" if row["hooks"] else ""
        status = "" if row["status"] == "read" and hooks else row["status"]
        rows.add_row(
            cell(row["dialect"], "dim"),
            cell(row["level"]),
            cell(row["path"]),
            _stacked(", ".join(filter(None, (hooks, status))), row.get("why", "")),
            style="dim" if row["status"] == "absent" else "",
        )
    console.print(rows)
    console.print()
    console.print(_part("project", project or "none here", "bold"))


# -- trust


def show_review(review: Mapping[str, Any]) -> None:
    """Exactly what would run, nothing cut short: what is not shown is not agreed to."""
    show = partial(screen().print, soft_wrap=True)  # a digest broken in two cannot be compared
    digests = {row["path"]: row for row in review["scripts"]}
    show(Text.assemble(("configuration ", "bold"), _whole(review.get("real", review["file"]))))
    show(_line("dialect", review["dialect"]), _line("sha256", review["digest"]), sep="\n")
    for name in review.get("disables", ()):
        show(_line("switches off", name, "yellow"))
    for hook in review["hooks"]:
        show()
        show(Text.assemble((f"  {hook['event']}", "bold"), "  ", _whole(hook["hook"])))
        if "handler" in hook:
            show(_line("Python", hook["handler"], "yellow"))
        argv = hook.get("argv", ())
        for number, (word, role) in enumerate(zip(argv, roles(argv), strict=True)):
            text = role == "text"
            show(_line("shell text" if text else f"argv[{number}]", word, "yellow" if text else ""))
        for name, value in hook.get("env", {}).items():
            show(_line("variable", f"{name}={value}"))
        show(_line("only if", hook.get("matcher", "always")))
        show(_line("timeout", seconds(hook["timeout"]) if "timeout" in hook else "none"))
        for path in hook.get("scripts", ()):
            show(_line("runs", _described(path, digests.get(path))))
        for caution in hook.get("cautions", ()):
            show(_line("caution", caution, "yellow"))
        if "problem" in hook:
            show(_line("cannot be trusted", hook["problem"], "bold red"))
    if review.get("changes"):
        show(Text("\n  since it was trusted:", style="bold"))
        for change in review["changes"]:
            show(Text("    ").append(_whole(change, "yellow")))
    show()


def _described(path: str, script: Mapping[str, Any] | None) -> str:
    if script is None:
        return path
    real = f" -> {script['real']}" if "real" in script else ""
    if script["kind"] == "program":
        return f"{path}{real}, an installed program: what is in it is not covered"
    bit = "" if script["executable"] else ", not executable"
    return f"{path}{real}, sha256 {script['digest']}{bit}"


def _line(name: str, value: str, style: str = "") -> Text:
    return Text.assemble((f"    {name}: ", "dim"), _whole(value, style))


def _whole(value: str, style: str = "") -> Text:
    """All of a text, with every sign a terminal would obey, and every line break, made visible."""
    return Text("".join(c if c.isprintable() else ascii(c)[1:-1] for c in value), style=style)


def show_records(rows: Sequence[Mapping[str, Any]], notices: Sequence[str]) -> None:
    console = screen()
    shown = table(console, "configuration", "dialect", "hooks", "files", "trusted at")
    for row in rows:
        counts = [str(row["hooks"]), str(row["scripts"])]
        shown.add_row(cell(row["file"]), cell(row["dialect"], "dim"), *counts, cell(row["at"]))
    if rows:
        console.print(shown)
    for notice in notices:
        console.print(Text.assemble(("note: ", "yellow"), line(notice)))
    if not rows:
        console.print(Text("Nothing is trusted."))


# -- events


def show_events(rows: Sequence[Row]) -> None:
    console = screen()
    shown = table(console, "event", "fields (? may be left out)", "can be", "in each dialect")
    for row in rows:
        fields = " ".join(name + ("" if name in row.required else "?") for name in row.fields)
        names = "\n".join(f"{dialect}: {name}" for dialect, name in row.spellings.items())
        shown.add_row(_stacked(row.name, row.when), fields, ", ".join(can_be(row)), names)
    console.print(shown)


def can_be(row: Row) -> list[str]:
    """The effects an event honours beyond those every event does, in words."""
    from hookline.events import EFFECTS, EVERYWHERE

    return list(dict.fromkeys(words for name, words in EFFECTS.items() if name in row.effects - EVERYWHERE))


def _show_notices(console: Console, notices: Sequence[Notice]) -> None:
    for notice in notices:
        console.print(Text.assemble(("note: ", "yellow"), line(notice)))
