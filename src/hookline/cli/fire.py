"""`hookline fire`: fire an event and print the ruling."""

from __future__ import annotations

import argparse
import sys
from contextlib import redirect_stdout
from typing import Any

from msgspec.structs import replace

from hookline.cli import ASK, DENIED, GO_ON, HALTED, VERBS, told
from hookline.cli.arguments import Parser, add_event, add_json, loaded, payload
from hookline.cli.arguments import parser as new_parser
from hookline.compacting import compact
from hookline.errors import UsageError
from hookline.hooks import Hooks
from hookline.model import Notice, Report, Ruling, Source
from hookline.tape import Durability, Tape

EXAMPLES = """\
examples:
  hookline fire SessionStart
  hookline fire PreToolUse --config harness=settings.json --config goose=config.yaml \\
      --payload '{"tool_name":"Bash","tool_input":{"command":"rm -rf /"}}'
  hookline fire prompt_submit --config config.yaml --payload @prompt.json --json

exit codes: 0 go on, 2 denied, 3 ask, 4 halted, 64 wrong usage, 65 bad data, 78 bad configuration"""


def parser() -> Parser:
    made = new_parser("fire", VERBS["fire"][1], EXAMPLES)
    add_event(made)
    made.add_argument("--tape", metavar="FILE", help="append everything that happens to this tape")
    made.add_argument("--fsync", action="store_true", help="let every record of the tape survive a loss of power")
    made.add_argument(
        "--mask",
        action="append",
        metavar="PATTERN",
        help="mask what fits this regular expression, too, in the tape; may be given many times",
    )
    made.add_argument("--no-masking", action="store_true", help="keep secrets as they are in the tape")
    made.add_argument(
        "--on-failure",
        choices=("ask", "deny"),
        help="what a hook that fails comes to (default: the operation goes on, with a notice)",
    )
    add_json(made)
    return made


def run(arguments: argparse.Namespace) -> int:
    fields = payload(arguments)
    with redirect_stdout(sys.stderr):  # what a Python handler prints is not the answer
        ruling = _fired(arguments, fields)
    return told(exit_code(ruling), lambda: _show(ruling, as_json=arguments.json))


def _fired(arguments: argparse.Namespace, fields: dict[str, Any]) -> Ruling:
    ended: list[Report] = []
    hooks = loaded(arguments, Hooks(on_failure=arguments.on_failure, on_background=ended.append), fields.get("cwd"))
    tape = _tape(arguments)
    try:
        ruling = hooks.fire(arguments.event, tape=tape, **fields)
        hooks.wait()
    finally:
        if tape:
            tape.close()
    ruling = with_background(ruling, ended)
    return replace(ruling, notices=hooks.notices + ruling.notices)


def _show(ruling: Ruling, *, as_json: bool) -> None:
    if as_json:
        print(compact(ruling.to_dict()).decode())
    else:
        from hookline.cli.show import show_ruling

        show_ruling(ruling)


def _tape(arguments: argparse.Namespace) -> Tape | None:
    if not arguments.tape:
        given = {"--fsync": arguments.fsync, "--mask": arguments.mask, "--no-masking": arguments.no_masking}
        if alone := [name for name, value in given.items() if value]:
            raise UsageError(f"{' and '.join(alone)} {'go' if len(alone) > 1 else 'goes'} with --tape FILE")
        return None
    if arguments.mask and arguments.no_masking:
        raise UsageError("--mask adds to the masking that --no-masking turns off")
    durability: Durability = "fsync" if arguments.fsync else "flush"
    return Tape(arguments.tape, durability=durability, mask=not arguments.no_masking and (arguments.mask or True))


def with_background(ruling: Ruling, ended: list[Report]) -> Ruling:
    """The call has waited for its background hooks, so it can say what became of them."""
    in_order = iter(ended)  # they run in plan order, one after another
    hooks = tuple(next(in_order, r) if r.status == "background" else r for r in ruling.hooks)
    failed = [r for r in ended if r.status != "ran"]
    notices = tuple(Notice(f"{r.hook} {r.error}, in the background", _source(r)) for r in failed)
    return replace(ruling, hooks=hooks, healthy=ruling.healthy and not failed, notices=ruling.notices + notices)


def _source(report: Report) -> Source:
    file, _, pointer = report.source.partition("#")
    return Source(file, pointer)


def exit_code(ruling: Ruling) -> int:
    if ruling.decision == "deny":
        return DENIED
    if ruling.halt:
        return HALTED
    return ASK if ruling.decision == "ask" else GO_ON
