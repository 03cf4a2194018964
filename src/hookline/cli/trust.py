"""`hookline trust`: show exactly what a project's own hooks would run, ask, and remember the answer. Runs nothing."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from typing import Any

from hookline.cli import BAD_DATA, GO_ON, VERBS
from hookline.cli.arguments import Parser, add_json
from hookline.cli.arguments import parser as new_parser
from hookline.compacting import compact
from hookline.discovery import Discovery, home_of, project_of, standing, surveyed
from hookline.errors import ConfigError, UsageError
from hookline.scripts import Ground
from hookline.state import Record, Refused, State
from hookline.tape import iso
from hookline.trust import Review, review
from hookline.wording import harmless, shown

EXAMPLES = """\
examples:
  hookline trust
  hookline trust ~/src/project --yes
  hookline trust --json
  hookline trust --revoke
  hookline trust --list

A project's own hooks run only after this. Trust covers the configuration file and the script files it
names; when one of them changes, it is asked again. `--json` without `--yes` shows and records nothing.

exit codes: 0 all of it is trusted, 65 some of it is not, 64 wrong usage, 78 the record cannot be kept"""


def parser() -> Parser:
    made = new_parser("trust", VERBS["trust"][1], EXAMPLES)
    made.add_argument(
        "directory", metavar="DIR", nargs="?", help="the project, or a directory in it (default: this one)"
    )
    made.add_argument("--yes", action="store_true", help="do not ask")
    what = made.add_mutually_exclusive_group()
    what.add_argument("--revoke", action="store_true", help="trust this project no longer, and remove the copies")
    what.add_argument("--list", action="store_true", help="list everything that is trusted")
    add_json(made)
    return made


def run(arguments: argparse.Namespace) -> int:
    if arguments.list:
        return _list(arguments)
    directory = "." if arguments.directory is None else arguments.directory
    if arguments.revoke:
        return _revoke(directory, as_json=arguments.json)
    if not os.path.isdir(directory):
        raise UsageError(f"{shown(directory)} is not a directory; name the directory of the project")
    found = surveyed(directory, os.environ)
    return _trust(found, arguments)


def _trust(found: Discovery, arguments: argparse.Namespace) -> int:
    configs = [finding.config for finding in found.findings if finding.config]
    odd = [notice for notice, finding in _oddities(found) if finding == "project"]
    if found.project is None or not configs:
        sentence = f"{found.project or shown(arguments.directory or '.')} has no hooks of its own."
        return _answer({"project": found.project, "configs": [], "notices": odd}, arguments, sentence)
    ground, state, record, refusal = standing(found.project, os.environ)
    if refusal:
        _usable(state, ground)
    reviews = [review(config, ground, record) for config in configs]
    pending = [made for made in reviews if made.standing != "trusted"]
    problems = [problem for made in reviews for problem in made.problems]
    report = {
        "project": ground.project,
        "configs": [made.to_dict() for made in reviews],
        "recorded": False,
        **({"notices": odd} if odd else {}),
    }
    code = BAD_DATA if problems else GO_ON
    if not pending:
        return _answer(report | {"recorded": True}, arguments, f"{ground.project} is trusted already.", code, problems)
    if arguments.json and not arguments.yes:
        return _answer(report, arguments, "", BAD_DATA)
    if not arguments.json:
        _show(pending)
    if not arguments.yes and not _agreed(ground.project, len(pending)):
        return _answer(report, arguments, "Nothing was trusted.", BAD_DATA)
    at = iso(time.time())
    data = {digest: content for made in pending for digest, content in made.data.items()}
    state.keep(ground, [made.trusted(at) for made in pending], data)
    return _answer(report | {"recorded": True}, arguments, f"{ground.project} is trusted.", code, problems)


def _oddities(found: Discovery) -> list[tuple[str, str]]:
    return [
        (f"{finding.path}: {finding.why}", finding.place.level)
        for finding in found.findings
        if finding.why and finding.status != "read already"
    ]


def _usable(state: State, ground: Ground) -> None:
    """A damaged record may be written anew; a directory that cannot be believed may not be used at all."""
    try:
        state.check(ground)
    except Refused as reason:
        raise ConfigError(str(reason)) from None


def _show(reviews: list[Review]) -> None:
    from hookline.cli.show import show_review

    for made in reviews:
        show_review(made.to_dict())
    sys.stdout.flush()


def _agreed(project: str, count: int) -> bool:
    if not sys.stdin.isatty():
        raise UsageError("there is no terminal to ask on; look at the above, then run `hookline trust --yes`")
    what = "this configuration" if count == 1 else f"these {count} configurations"
    print(harmless(f"Trust {what} of {project}? [y/N] "), end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _answer(
    report: dict[str, Any],
    arguments: argparse.Namespace,
    sentence: str,
    code: int = GO_ON,
    problems: Sequence[str] = (),
) -> int:
    if arguments.json:
        print(compact(report).decode())
        return code
    for notice in report.get("notices", ()):
        print(harmless(f"note: {notice}"))
    if problems:
        sentence += " These hooks are not, and stay skipped:\n" + "\n".join(f"  {problem}" for problem in problems)
    print(harmless(sentence))
    return code


def _revoke(directory: str, *, as_json: bool) -> int:
    """By the project a directory is in, or, where that is gone, by its path."""
    state = State(os.environ, home_of(os.environ))
    named = os.path.realpath(directory)
    project = project_of(directory, os.environ) or named
    revoked = state.revoke(project) or state.revoke(named)
    if as_json:
        print(compact({"project": project, "revoked": revoked}).decode())
    else:
        print(harmless(f"{project} is no longer trusted." if revoked else f"{project} was not trusted."))
    return GO_ON


def _list(arguments: argparse.Namespace) -> int:
    if arguments.directory is not None:
        raise UsageError("--list lists everything that is trusted, so it takes no directory")
    state = State(os.environ, home_of(os.environ))
    found = list(state.records())
    rows = [row for record in found if isinstance(record, Record) for row in _rows(record)]
    notices = [record for record in found if isinstance(record, str)]
    if arguments.json:
        print(compact({"trusted": rows, "notices": notices}).decode())
    else:
        from hookline.cli.show import show_records

        show_records(rows, notices)
    return GO_ON


def _rows(record: Record) -> list[dict[str, Any]]:
    return [
        {
            "project": record.project,
            "file": config.file,
            "dialect": config.dialect,
            "digest": config.digest,
            "hooks": len(config.hooks),
            "scripts": len(config.scripts),
            "at": config.at,
        }
        for config in record.configs
    ]
