"""`hookline fire`: fire an event and print the ruling."""

from __future__ import annotations

import argparse

from msgspec.structs import replace

from hookline.cli import ASK, DENIED, GO_ON, HALTED, VERBS
from hookline.cli.arguments import Parser, add_event, add_json, loaded, payload
from hookline.cli.arguments import parser as new_parser
from hookline.hooks import Hooks
from hookline.model import Notice, Report, Ruling, Source, compact
from hookline.tape import Tape

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
    made.add_argument(
        "--on-failure",
        choices=("ask", "deny"),
        help="what a hook that fails comes to (default: the operation goes on, with a notice)",
    )
    add_json(made)
    return made


def run(arguments: argparse.Namespace) -> int:
    ended: list[Report] = []
    fields = payload(arguments)
    hooks = loaded(arguments, Hooks(on_failure=arguments.on_failure, on_background=ended.append), fields.get("cwd"))
    tape = Tape(arguments.tape) if arguments.tape else None
    try:
        ruling = hooks.fire(arguments.event, tape=tape, **fields)
        hooks.wait()
    finally:
        if tape:
            tape.close()
    ruling = with_background(ruling, ended)
    ruling = replace(ruling, notices=hooks.notices + ruling.notices)
    if arguments.json:
        print(compact(ruling.to_dict()).decode())
    else:
        from hookline.cli.show import show_ruling

        show_ruling(ruling)
    return exit_code(ruling)


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
