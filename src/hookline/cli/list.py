"""`hookline list`: the hooks there are, and what they say of themselves. Runs nothing."""

from __future__ import annotations

import argparse

from hookline.cli import GO_ON, VERBS
from hookline.cli.arguments import Parser, add_configs, add_json, loaded
from hookline.cli.arguments import parser as new_parser
from hookline.dialects import dialect
from hookline.hooks import Hooks
from hookline.model import About, Hook, compact

EXAMPLES = """\
examples:
  hookline list --config settings.json
  hookline list --config harness=settings.json --config goose=config.yaml --json"""


def parser() -> Parser:
    made = new_parser("list", VERBS["list"][1], EXAMPLES)
    add_configs(made)
    add_json(made)
    return made


def run(arguments: argparse.Namespace) -> int:
    hooks = loaded(arguments, Hooks())
    described = [(hook, dialect(hook.dialect).about(hook)) for hook in hooks]
    notices = [*hooks.notices, *(notice for _, about in described for notice in about.notices)]
    if arguments.json:
        rows = [_row(hook, about) for hook, about in described]
        print(compact({"hooks": rows, "notices": [notice.to_dict() for notice in notices]}).decode())
    else:
        from hookline.cli.show import show_hooks

        show_hooks(described, notices)
    return GO_ON


def _row(hook: Hook, about: About) -> dict[str, object]:
    row = {
        "hook": hook.name,
        "event": hook.event,
        "dialect": hook.dialect,
        "source": str(hook.source),
        "argv": list(hook.action.argv),
        "timeout": hook.action.timeout,
        "matcher": hook.matcher.text,
        "background": hook.background,
        "title": about.title,
        "description": about.text,
        "barred": hook.barred,
        "on_failure": hook.on_failure,
    }
    return {key: value for key, value in row.items() if value not in ("", None, False)}
