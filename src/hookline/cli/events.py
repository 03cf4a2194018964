"""`hookline events`: the catalogue."""

from __future__ import annotations

import argparse

from hookline.cli import GO_ON, VERBS
from hookline.cli.arguments import Parser, add_json
from hookline.cli.arguments import parser as new_parser
from hookline.compacting import compact
from hookline.events import CATALOGUE, FIELD_TYPES, Row, find
from hookline.model import BASE_FIELDS

EXAMPLES = """\
examples:
  hookline events
  hookline events BeforeTool"""


def parser() -> Parser:
    made = new_parser("events", VERBS["events"][1], EXAMPLES)
    made.add_argument("event", metavar="EVENT", nargs="?", help="only this one, in any dialect's spelling")
    add_json(made)
    return made


def run(arguments: argparse.Namespace) -> int:
    rows = [find(arguments.event)] if arguments.event else CATALOGUE
    if arguments.json:
        print(compact({"base_fields": BASE_FIELDS, "events": [_row(row) for row in rows]}).decode())
    else:
        from hookline.cli.show import show_events

        show_events(rows)
    return GO_ON


def _row(row: Row) -> dict[str, object]:
    return {
        "event": row.name,
        "snake_case": row.snake,
        "when": row.when,
        "surface": row.surface,
        "fields": [{"name": n, "type": FIELD_TYPES[n], "required": n in row.required} for n in row.fields],
        "matches": row.matches,
        "effects": sorted(row.effects),
        "spellings": row.spellings,
    }
