"""`hookline list`: the hooks there are, and what they say of themselves. Runs nothing."""

from __future__ import annotations

import argparse
import os

from hookline.cli import GO_ON, VERBS
from hookline.cli.arguments import Parser, add_configs, add_json, loaded
from hookline.cli.arguments import parser as new_parser
from hookline.compacting import compact
from hookline.dialects import dialect
from hookline.errors import UsageError
from hookline.hooks import Hooks
from hookline.model import About, Hook

EXAMPLES = """\
examples:
  hookline list
  hookline list --where
  hookline list --config settings.json
  hookline list --config harness=settings.json --config goose=config.yaml --json"""


def parser() -> Parser:
    made = new_parser("list", VERBS["list"][1], EXAMPLES)
    add_configs(made)
    made.add_argument(
        "--where", action="store_true", help="list the places where files are looked for, and what was found there"
    )
    add_json(made)
    return made


def run(arguments: argparse.Namespace) -> int:
    if arguments.where:
        return _where(arguments)
    hooks = loaded(arguments, Hooks())
    described = [(hook, dialect(hook.dialect).about(hook)) for hook in hooks]
    notices = [*hooks.notices, *(notice for _, about in described for notice in about.notices)]
    if arguments.json:
        rows = [_row(hook, about) for hook, about in described]
        print(compact({"hooks": rows, "notices": [notice.to_dict() for notice in notices]}).decode())
    else:
        from hookline.cli.show import show_hooks

        show_hooks(described, notices, found=not arguments.config)
    return GO_ON


def _where(arguments: argparse.Namespace) -> int:
    from hookline.discovery import discovered

    if arguments.config:
        raise UsageError("--where is about the files that are found, so it does not go with --config")
    discovery = discovered(".", os.environ)
    if arguments.json:
        places = [finding.to_dict() for finding in discovery.findings]
        print(compact({"project": discovery.project, "places": places}).decode())
    else:
        from hookline.cli.show import show_places

        show_places(discovery.project, [finding.to_dict() for finding in discovery.findings])
    return GO_ON


def _row(hook: Hook, about: About) -> dict[str, object]:
    row = {
        "hook": hook.name,
        "event": hook.event,
        "dialect": hook.dialect,
        "source": str(hook.source),
        **hook.action.to_dict(),
        "matcher": hook.matcher.text,
        "background": hook.background,
        "title": about.title,
        "description": about.text,
        "barred": hook.barred,
        "on_failure": hook.on_failure,
    }
    return {key: value for key, value in row.items() if value not in ("", None, False)}
