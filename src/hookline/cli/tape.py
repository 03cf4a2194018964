"""`hookline tape show|verify|stats FILE`: read a tape, prove that nothing was changed, sum it up."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator

from hookline.cli import BAD_DATA, GO_ON, VERBS
from hookline.cli.arguments import Parser, add_json
from hookline.cli.arguments import parser as new_parser
from hookline.compacting import compact
from hookline.errors import TapeError, UsageError
from hookline.events import find
from hookline.tape import Record, Torn, read_whole, repair, verify
from hookline.wording import shown

EXAMPLES = """\
examples:
  hookline tape show s1.jsonl --event PreToolUse --decision deny
  hookline tape verify s1.jsonl
  hookline tape verify s1.jsonl --save-head s1.head
  hookline tape verify s1.jsonl --expect @s1.head   nothing was cut off since; or the hash itself
  hookline tape verify s1.jsonl --repair            mark the line in which its writer died
  hookline tape stats s1.jsonl --json

exit codes: 0 intact, 65 broken (with the line), 64 wrong usage"""


def parser() -> Parser:
    made = new_parser("tape", VERBS["tape"][1], EXAMPLES)
    verbs = made.add_subparsers(dest="what", metavar="show|verify|stats", required=True, parser_class=Parser)
    show = verbs.add_parser("show", help="a readable timeline", allow_abbrev=False)
    show.add_argument("file", metavar="FILE")
    show.add_argument("--event", metavar="EVENT", help="only this event, in any dialect's spelling")
    show.add_argument("--hook", metavar="TEXT", help="only hooks whose name holds this text")
    show.add_argument("--decision", choices=("allow", "ask", "deny", "none"), help="only what came to this decision")
    show.add_argument("--since", metavar="TIME", help="only from this time on, as 2026-01-31T12:00:00 (UTC)")
    show.add_argument("--until", metavar="TIME", help="only up to this time")
    add_json(show)
    check = verbs.add_parser("verify", help="check the whole chain", allow_abbrev=False)
    check.add_argument("file", metavar="FILE")
    check.add_argument("--expect", metavar="HASH|@FILE", help="the hash that the last record must have")
    check.add_argument("--save-head", metavar="FILE", help="write the hash of the last record here, for --expect @FILE")
    check.add_argument("--repair", action="store_true", help="turn a torn last line into a record that says so")
    add_json(check)
    stats = verbs.add_parser("stats", help="what each hook has done", allow_abbrev=False)
    stats.add_argument("file", metavar="FILE")
    add_json(stats)
    return made


def run(arguments: argparse.Namespace) -> int:
    return {"show": _show, "verify": _verify, "stats": _stats}[arguments.what](arguments)


def _show(arguments: argparse.Namespace) -> int:
    """What can be read is shown; a tape that is broken, or does not fit its chain, says so at the end."""
    records = _Readable(_chosen(arguments), arguments.file)
    if arguments.json:
        sys.stdout.write('{"records":[')
        for number, record in enumerate(records):
            sys.stdout.write(("," if number else "") + compact(record).decode())
        error = f',"error":{compact(str(records.error)).decode()}' if records.error else ""
        sys.stdout.write(f"]{error}}}\n")
    else:
        from hookline.cli.timeline import show_records

        show_records(records, apart=bool(arguments.event or arguments.hook or arguments.decision))
    if records.error and not arguments.json:
        raise records.error
    return BAD_DATA if records.error else GO_ON


class _Readable:
    """The records up to the place where a tape cannot be read any further; and what is wrong with it, or its chain."""

    def __init__(self, records: Iterator[Record], file: str) -> None:
        self._records, self._file = records, file
        self.error: TapeError | None = None

    def __iter__(self) -> Iterator[Record]:
        try:
            first = next(self._records, None)
        except TapeError as error:
            if not isinstance(error, Torn):
                raise  # it is no tape at all: nothing is shown
            self.error = error
            return
        try:
            if first is not None:
                yield first
            yield from self._records
            verify(self._file)
        except TapeError as error:
            self.error = error


def _chosen(arguments: argparse.Namespace) -> Iterator[Record]:
    """The records that the filters let through."""
    event = find(arguments.event).name if arguments.event else ""
    since, until = _time(arguments.since, "--since"), _time(arguments.until, "--until")
    for record, _ in read_whole(arguments.file):
        data = record.data
        if event and data.get("event") != event:
            continue
        if arguments.hook and arguments.hook not in str(data.get("handler", "")):
            continue
        if arguments.decision and _decision(record) != arguments.decision:
            continue
        if record.at < since or (until and record.at[: len(until)] > until):
            continue
        yield record


def _decision(record: Record) -> str | None:
    """What a record came to: a ruling, a hook's answer, a veto."""
    data = record.data
    match record.kind:
        case "ruling":
            return str(data["decision"])
        case "hook_vetoed":
            return str(data["decision"] or "deny")
        case "hook_returned":
            word = str(data["result"]).removeprefix("decision_")
            return {"block": "deny"}.get(word, word)
        case _:
            return None


def _time(given: str | None, option: str) -> str:
    if given is None:
        return ""
    if not re.fullmatch(r"\d{4}(-\d\d(-\d\d(T\d\d(:\d\d(:\d\d(\.\d{1,3})?)?)?)?)?)?Z?", given):
        raise UsageError(f"{option} takes a time such as 2026-01-31T12:00 or 2026-01-31 (UTC), not {shown(given)}")
    return given.removesuffix("Z")


def _verify(arguments: argparse.Namespace) -> int:
    expected = _expected(arguments.expect)
    try:
        torn = repair(arguments.file) if arguments.repair else 0
        found = verify(arguments.file, expect=expected)
    except TapeError as error:
        if not arguments.json:
            raise
        where = {} if error.line is None else {"line": error.line}
        print(compact({"intact": False, **where, "reason": str(error)}).decode())
        return BAD_DATA
    if arguments.save_head:
        _save(arguments.save_head, found.head)
    if arguments.json:
        done = {"intact": True, "records": found.records, "head": found.head}
        print(compact(done | ({"repaired_bytes": torn} if torn else {})).decode())
        return GO_ON
    if torn:
        print(f"Repaired: {torn} torn bytes at the end became a record that says so.")
    print(f"Intact: {found.records} records. The last one's hash: {found.head or '(none)'}")
    return GO_ON


def _expected(given: str | None) -> str:
    if given is None:
        return ""
    if given.startswith("@"):
        try:
            with open(given[1:], encoding="utf-8") as file:
                given = file.read()
        except (OSError, UnicodeError) as error:
            why = getattr(error, "strerror", None) or error
            raise UsageError(f"--expect {given}: cannot be read: {why}") from None
    if not given.strip():
        raise UsageError("--expect needs the hash of the last record, as `hookline tape verify` prints it")
    return given.strip()


def _save(path: str, head: str) -> None:
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"{head}\n")
    except OSError as error:
        raise UsageError(f"--save-head {path}: cannot be written: {error.strerror}") from None


def _stats(arguments: argparse.Namespace) -> int:
    from hookline.tallying import tallied

    records = _Readable((record for record, _ in read_whole(arguments.file)), arguments.file)
    found = tallied(records)
    if arguments.json:
        print(compact(found | ({"error": str(records.error)} if records.error else {})).decode())
        return BAD_DATA if records.error else GO_ON
    from hookline.cli.timeline import show_stats

    show_stats(found)
    if records.error:
        raise records.error
    return GO_ON
