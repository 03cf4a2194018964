"""Writes the generated pages, events.md, cli.md, lifecycle.md and schemas/*.json, from the code they describe.

python docs/generate.py            rewrite them
python docs/generate.py --check    exit 1 if one of them is stale, and say how to mend it
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path

# argparse wraps to the terminal and, on newer Pythons, colours: neither may show in a file.
os.environ |= {"COLUMNS": "100", "NO_COLOR": "1", "PYTHON_COLORS": "0"}
sys.path.insert(0, str(Path(__file__).parent))

import life

from hookline.cli import (
    ASK,
    BAD_CONFIG,
    BAD_DATA,
    BUG,
    DENIED,
    GO_ON,
    HALTED,
    INTERRUPTED,
    USAGE,
    VERBS,
    introduction,
)
from hookline.cli.show import can_be
from hookline.dialects import DIALECTS, dialect
from hookline.events import CATALOGUE, EFFECTS, EVERYWHERE, FIELD_TYPES, ROWS, TYPES, Row, snake_case
from hookline.kinds import schema as record_schema
from hookline.llm import SCHEMAS, schemas
from hookline.model import BASE_FIELDS

HERE = Path(__file__).parent
COMMAND = "python docs/generate.py"

EXIT_CODES = (
    (GO_ON, "go on: nothing was denied, nobody has to be asked"),
    (DENIED, "denied"),
    (ASK, "ask: a person has to confirm"),
    (HALTED, "halted, and not denied"),
    (USAGE, "wrong usage: an unknown verb, event, field or option, or a payload that is not a JSON object"),
    (
        BAD_DATA,
        (
            "bad data: a tape that cannot be opened, read, written or continued, also where `tape show` and "
            "`tape stats` have told what could be read; a handler of a manifest that raised, or answered what its "
            "protocol does not know; `replay`: something is not as it was; `trust`: something is not trusted"
        ),
    ),
    (
        BUG,
        (
            "a bug in hookline (`HOOKLINE_DEBUG=1` shows where), or whoever read its stdout went away; `fire` then "
            "ends with the code of its ruling all the same, and a message"
        ),
    ),
    (BAD_CONFIG, "bad configuration: a file that cannot be read, parsed or recognised"),
    (INTERRUPTED, "interrupted with Ctrl-C"),
)


def main(arguments: Sequence[str]) -> int:
    if arguments not in ([], ["--check"]):
        print(f"usage: {COMMAND} [--check]", file=sys.stderr)
        return 64
    stale = []
    for name, page in PAGES.items():
        file, text = HERE / name, page()
        if file.exists() and file.read_text(encoding="utf-8") == text:
            continue
        if arguments:
            stale.append(name)
        else:
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8")
            print(f"wrote docs/{name}")
    for name in stale:
        print(f"docs/{name} is stale; mend it with: {COMMAND}", file=sys.stderr)
    return 1 if stale else 0


def _opening(title: str, source: str) -> list[str]:
    return [f"<!-- Generated from {source} by `{COMMAND}`. Do not edit. -->", "", f"# {title}", ""]


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [columns, ["---"] * len(columns), *rows]
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines] + [""]


def _code(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


# -- events.md


def events() -> str:
    lines = _opening("Events", "hookline.events and the dialects' EFFECTS")
    lines += [
        "Every event hookline knows, in the order of an agent's life. `hookline events` prints the same catalogue.",
        "",
        "An event is named in any spelling below, from Python and from the command line. A configuration file",
        "speaks its own dialect: only the events with a spelling in that dialect can have hooks there.",
        "The other events can be fired; with the dialects there are today, no hook listens to them.",
        "",
        "## Overview",
        "",
        f"A field in **bold** is required. Every event also takes the base fields {_code(BASE_FIELDS)};",
        "none of them is required. *Matches* is the field that tells events of one name apart. *Can be* says what an",
        f"event may come to, apart from {_code(sorted(EVERYWHERE))}, which every event honours. What the hooks of one",
        "dialect may really do is in [its matrix](#what-each-dialect-may-do). The words are in the",
        "[glossary](glossary.md).",
        "",
    ]
    lines += _table(
        ["event", *DIALECTS, "payload", "matches", "can be"],
        (
            [f"[{row.name}](#{row.name.lower()})", *_spelled(row), _fields(row), _matches(row), _can_be(row)]
            for row in CATALOGUE
        ),
    )
    lines += ["## Each event", ""]
    for row in CATALOGUE:
        lines += _section(row)
    lines += [*_base_fields(), *_types(), "## What each dialect may do", ""]
    lines += ["An effect outside its dialect's matrix is dropped, and a notice in the ruling says so.", ""]
    for name in DIALECTS:
        lines += _matrix(name)
    return "\n".join(lines).rstrip() + "\n"


def _spelled(row: Row) -> list[str]:
    return [f"`{row.spellings[name]}`" if name in row.spellings else "" for name in DIALECTS]


def _fields(row: Row) -> str:
    return ", ".join(f"**`{name}`**" if name in row.required else f"`{name}`" for name in row.fields)


def _matches(row: Row) -> str:
    return f"`{row.matches}`" if row.matches else ""


def _can_be(row: Row) -> str:
    return ", ".join(can_be(row))


def _section(row: Row) -> list[str]:
    lines = [f"### {row.name}", "", f"Fires when {row.when}." if _is_clause(row.when) else f"Fires {row.when}.", ""]
    lines += _table(
        ["field", "type", "required"],
        ([f"`{name}`", FIELD_TYPES[name], "yes" if name in row.required else ""] for name in row.fields),
    )
    lines += [f"* Names: {_code(_names(row))}."]
    if row.matches:
        lines += [f"* Matches: `{row.matches}`."]
    lines += [f"* Can be: {_can_be(row)}."] if can_be(row) else []
    for name in DIALECTS:
        if row.name in dialect(name).EFFECTS:
            lines += [f"* Hooks of {name} (`{row.spellings[name]}`) {_may(name, row.name)}."]
    return [*lines, ""]


def _is_clause(when: str) -> bool:
    """Whether "when" goes before it: "a session begins", but "before a tool runs"."""
    return not when.startswith(("before ", "after "))


def _names(row: Row) -> list[str]:
    spellings = (row.name, *row.spellings.values())
    return list(dict.fromkeys(word for spelling in spellings for word in (spelling, snake_case(spelling))))


def _may(name: str, event: str) -> str:
    if event in _background(name):
        return "run in the background and have no say"
    effects = [effect for effect in EFFECTS if effect in dialect(name).EFFECTS[event]]
    return f"may have the effects {_code(effects)}" if effects else "have no effect"


def _background(name: str) -> frozenset[str]:
    return getattr(dialect(name), "BACKGROUND", frozenset())


def _base_fields() -> list[str]:
    meanings = {
        "session_id": 'the session the event belongs to; `""` where it is not given',
        "cwd": "the working directory of the session and of its hooks; the current one where it is not given",
        "timestamp": "when it happened, UTC with milliseconds; now where it is not given",
        "transcript_path": 'the tape, where there is one; else `""`',
    }
    rows = ([f"`{name}`", "string", meanings[name]] for name in BASE_FIELDS)
    return ["## The base fields", "", *_table(["field", "type", "meaning"], rows)]


def _types() -> list[str]:
    rows = ([name, words] for name, (words, _) in TYPES.items())
    return ["## Types", "", "A field has the same type wherever it occurs.", "", *_table(["type", "means"], rows)]


def _matrix(name: str) -> list[str]:
    speaks = dialect(name)
    used = [effect for effect in EFFECTS if any(effect in effects for effects in speaks.EFFECTS.values())]
    rows = []
    for event, effects in speaks.EFFECTS.items():
        marks = ["yes" if effect in effects else "" for effect in used]
        rows.append([f"`{ROWS[event].spellings[name]}`", event, *marks, "yes" if event in _background(name) else ""])
    return [f"### {name}", "", *_table([f"in {name}", "event", *used, "background"], rows)]


# -- cli.md


def cli() -> str:
    lines = _opening("The command line", "hookline.cli")
    lines += ["```text", introduction().rstrip(), "```", ""]
    for verb, (module, _) in VERBS.items():
        parser = import_module(module).parser()
        lines += [f"## hookline {verb}", "", "```text", _settled(parser.format_help()).rstrip(), "```", ""]
        for name, below in _below(parser):
            lines += [f"### hookline {verb} {name}", "", "```text", _settled(below.format_help()).rstrip(), "```", ""]
    lines += ["## Exit codes", "", *_table(["code", "means"], ([str(code), text] for code, text in EXIT_CODES))]
    lines += [
        "2, 3 and 4 come from `fire` alone, and only from the ruling. A mistake on the command line is never 2.",
        "",
        "An error is one message on stderr that begins with `hookline:`; stdout then stays empty, also with `--json`.",
        "Three verbs have something to show first: `trust` without a terminal shows what it would have asked about,",
        "`tape show` and `tape stats` what could be read of a broken tape. With `--json` the latter two, and",
        "`tape verify`, have the error in their object, and nothing is on stderr.",
        "",
        "A process that fails as a hook does not change the exit code, unless `--on-failure` or its own `on_failure`",
        "says so.",
    ]
    return "\n".join(lines).rstrip() + "\n"


def _below(parser: argparse.ArgumentParser) -> Iterable[tuple[str, argparse.ArgumentParser]]:
    """The parsers of a verb's own verbs."""
    for action in parser._actions:  # noqa: SLF001  (argparse has no other way to ask)
        if isinstance(action.choices, dict):
            yield from action.choices.items()


def _settled(text: str) -> str:
    """Python 3.13 shows `--config, -c X` where older ones show `--config X, -c X`; the page has the former."""
    return re.sub(r"^( +)(--[\w-]+) (\S+), (-\w) \3$", r"\1\2, \4 \3", text, flags=re.MULTILINE)


# -- schemas/*.json


def schema(name: str) -> str:
    return json.dumps(schemas()[name], indent=2, ensure_ascii=False) + "\n"


def tape_record() -> str:
    return json.dumps(record_schema(), indent=2, ensure_ascii=False) + "\n"


# -- lifecycle.md


def lifecycle() -> str:
    moments = life.lived()
    lines = _opening("The life of an agent", "a recorded run of hookline.loop, docs/life.py,")
    lines += [
        "Every event of the catalogue, in the order in which the reference loop (`src/hookline/loop.py`) fires it.",
        "The agent has a persona; a person must approve one of its tools; it writes a file, hands a question over to",
        "a subagent, compacts its conversation, and at last runs out of turns, so that it ends with work left. What",
        "each call does is told in [The session](session.md), what is in each event in [Events](events.md).",
        "",
        "## The order",
        "",
        "To the left the event, indented by the calls it is inside of; then the call of the session that fires it,",
        "and the place in the loop that makes the call. Events of the subagent are marked with `*`.",
        "",
        "```text",
        f"{'event':<32} {'session.':<20} Agent.",
        *(_moment(moment, moments[0].session) for moment in moments),
        "```",
        "",
        "## Who fires what",
        "",
    ]
    calls: dict[str, dict[str, None]] = {}
    for moment in moments:
        calls.setdefault(moment.event, {})[moment.call] = None
    lines += _table(
        ["event", "fires", "by"],
        (
            [f"[{row.name}](events.md#{row.name.lower()})", row.when, _code(_called(calls[row.name]))]
            for row in CATALOGUE
        ),
    )
    lines += [
        "`FileEdited` waits for the next boundary of a turn: besides `turn_done`, the first `model` or `tool` call of",
        "a turn delivers what is queued, and so does `close`.",
    ]
    return "\n".join(lines).rstrip() + "\n"


def _moment(moment: life.Moment, first: str) -> str:
    event = "  " * moment.depth + moment.event + ("" if moment.session == first else " *")
    return f"{event:<32} {moment.call:<20} {moment.place}".rstrip()


def _called(calls: Iterable[str]) -> list[str]:
    return ["with hooks.session(...)" if call == "__enter__" else f"session.{call}" for call in calls]


PAGES: dict[str, Callable[[], str]] = {
    "events.md": events,
    "cli.md": cli,
    "lifecycle.md": lifecycle,
    **{f"schemas/{name}.json": partial(schema, name) for name in SCHEMAS},
    "schemas/tape-record.json": tape_record,
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
