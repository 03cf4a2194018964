"""`hookline explain`: what firing an event would do. Runs nothing."""

from __future__ import annotations

import argparse

from hookline.cli import GO_ON, VERBS
from hookline.cli.arguments import Parser, add_event, add_json, loaded, payload
from hookline.cli.arguments import parser as new_parser
from hookline.compacting import compact
from hookline.dialects import dialect
from hookline.hooks import Hooks

EXAMPLES = """\
examples:
  hookline explain SessionStart
  hookline explain PreToolUse --config settings.json --payload '{"tool_name":"Bash","tool_input":{}}'
  hookline explain session_start --config goose=config.yaml --json"""


def parser() -> Parser:
    made = new_parser("explain", VERBS["explain"][1], EXAMPLES)
    add_event(made)
    add_json(made)
    return made


def run(arguments: argparse.Namespace) -> int:
    fields = payload(arguments)
    hooks = loaded(arguments, Hooks(), fields.get("cwd"))
    plan = hooks.explain(arguments.event, **fields)
    headers = [notice for entry in plan.entries for notice in dialect(entry.hook.dialect).about(entry.hook).notices]
    notices = [*hooks.notices, *headers]
    if arguments.json:
        print(compact(plan.to_dict() | {"notices": [notice.to_dict() for notice in notices]}).decode())
    else:
        from hookline.cli.show import show_plan

        show_plan(plan, notices)
    return GO_ON
