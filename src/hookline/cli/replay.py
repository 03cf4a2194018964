"""`hookline replay FILE`: run a tape again, byte for byte, or judge it by the hooks of today."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from hookline.cli import BAD_DATA, GO_ON, VERBS
from hookline.cli.arguments import Parser, add_json, load_named
from hookline.cli.arguments import parser as new_parser
from hookline.compacting import compact
from hookline.errors import Divergence, TapeError, UsageError
from hookline.hooks import Hooks
from hookline.replay import Replay, replay

EXAMPLES = """\
examples:
  hookline replay s1.jsonl                                  the same again, from the tape alone
  hookline replay s1.jsonl --against settings.json          what would change under these hooks; they really run
  hookline replay *.jsonl --against goose=config.yaml --plan-only

exit codes: 0 identical, and nothing would change; 65 not identical, or something would change"""


def parser() -> Parser:
    made = new_parser("replay", VERBS["replay"][1], EXAMPLES)
    made.add_argument("files", metavar="FILE", nargs="+", help="a tape")
    made.add_argument(
        "--against",
        action="append",
        default=[],
        metavar="[DIALECT=]PATH",
        help="judge the recorded events by the hooks of this configuration; may be given many times",
    )
    made.add_argument("--plan-only", action="store_true", help="compare only which hooks would run; none is started")
    made.add_argument("--tape", metavar="COPY", help="write the tape of the replay here (one FILE only)")
    add_json(made)
    return made


def run(arguments: argparse.Namespace) -> int:
    if arguments.plan_only and not arguments.against:
        raise UsageError("--plan-only goes with --against CONFIG")
    if arguments.tape and len(arguments.files) > 1:
        raise UsageError("--tape takes the copy of one tape, not of many")
    replays = [_replayed(file, arguments) for file in arguments.files]
    found, events = _judged(arguments, replays) if arguments.against else ([], 0)
    if arguments.json:
        print(compact(_answer(arguments, replays, found)).decode())
    else:
        _told(arguments, replays, found, events)
    same = all(done.divergence is None for done in replays)
    return GO_ON if same and not found else BAD_DATA


class _Broken(Divergence):
    """A tape that cannot be replayed at all."""


def _replayed(file: str, arguments: argparse.Namespace) -> Replay:
    """How it went. A tape that is broken has an answer too, where there is somebody else to be answered."""
    try:
        return replay(file, arguments.tape)
    except TapeError as error:
        if len(arguments.files) == 1 and (not arguments.json or (arguments.tape and error.line is None)):
            raise
        return _unjudged(error)


def _judged(arguments: argparse.Namespace, replays: list[Replay]) -> tuple[list[tuple[str, Any]], int]:
    """Every change, with the tape it is in, and how many events were judged."""
    from hookline.judging import changes

    hooks = Hooks()
    for named in arguments.against:
        load_named(hooks, named)
    found, events = [], 0
    whole = [number for number, done in enumerate(replays) if not isinstance(done.divergence, _Broken)]
    for number in _watched(whole, quiet=arguments.json):
        file = arguments.files[number]
        try:
            for change in changes(file, hooks, plan_only=arguments.plan_only):
                events += 1
                if change is not None:
                    found.append((file, change))
        except TapeError as error:  # it can be replayed, and not be judged
            if len(replays) == 1 and not arguments.json:
                raise
            replays[number] = _unjudged(error)
    hooks.wait()
    return found, events


def _unjudged(error: TapeError) -> Replay:
    line = error.line or 1
    return Replay(line - 1, _Broken(line, str(error)))


def _watched(files: list[int], *, quiet: bool) -> Any:
    """The files, with a progress bar where a person waits for many."""
    if quiet or len(files) < 2 or not sys.stderr.isatty():
        return files
    from rich.console import Console
    from rich.progress import track

    return track(files, description="judging", console=Console(stderr=True))


def _answer(arguments: argparse.Namespace, replays: list[Replay], found: list[tuple[str, Any]]) -> dict[str, Any]:
    """One tape's answer, or the sum of many with each one's own beside it."""
    from hookline.judging import by_hook

    many = len(replays) > 1
    answer = replays[0].to_dict()
    if many:
        tapes = [{"tape": file} | done.to_dict() for file, done in zip(arguments.files, replays, strict=True)]
        same, records = all(done.divergence is None for done in replays), sum(done.records for done in replays)
        answer = {"identical": same, "records": records, "tapes": tapes}
    if arguments.against:
        answer["changed"] = [({"tape": file} if many else {}) | change.to_dict() for file, change in found]
        answer["by_hook"] = by_hook([change for _, change in found])
    return answer


def _told(arguments: argparse.Namespace, replays: list[Replay], found: list[tuple[str, Any]], events: int) -> None:
    from hookline.wording import harmless

    for file, done in zip(arguments.files, replays, strict=True):
        if done.divergence is None:
            print(f"{file}: identical, {done.records} records.")
        else:
            print(f"{file}: not identical. {harmless(str(done.divergence))}")
    if arguments.against:
        from hookline.cli.timeline import show_changes

        show_changes([change for _, change in found], events, plan_only=arguments.plan_only)
