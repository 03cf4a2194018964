"""What the verbs have in common: their parser, the configurations they name, the payload they are given."""

from __future__ import annotations

import argparse
import os
import re
import sys
from typing import Any, NoReturn

import msgspec

from hookline.dialects import DIALECTS
from hookline.errors import ConfigError, UsageError
from hookline.events import find
from hookline.hooks import Hooks
from hookline.reading import BEYOND, BOM, NOT_JSON, json_value
from hookline.wording import kind_of, nearest, shown

SYNONYMS = {
    "tool_arguments": "tool_input",
    "tool_result": "tool_output",
    "tool_response": "tool_output",
    "prompt_text": "prompt",
    "prompt_response": "response",
    "last_assistant_message": "response",
    "mcp_context": "mcp",
}
"""What the payloads of the dialects call a field, and what we call it."""

EXAMPLE = '{"tool_name":"Bash","tool_input":{}}'


class Parser(argparse.ArgumentParser):
    """argparse, except that a usage error is ours to report: argparse would exit with 2, which means denied."""

    def error(self, message: str) -> NoReturn:
        said = self._meant(message)
        raise UsageError(f"{said}\n{self.format_usage().rstrip()}\n`{self.prog} --help` says more")

    def _meant(self, message: str) -> str:
        """The complaint of argparse, with what a person most likely meant."""
        what, _, words = message.partition("unrecognized arguments: ")
        if what or not words:
            return _choice(message)
        hints = []
        for word in words.split():
            if word.startswith("-"):
                hints.append(nearest(word.partition("=")[0], self.options()))
            elif "--config" in self.options() and word.endswith((".json", ".yaml", ".yml", ".toml")):
                hints.append(f"; did you mean --config {word}?")
            elif "--payload" in self.options() and word.startswith(("{", "@")):
                hints.append(f"; did you mean --payload {shown(word)}?")
        return f"{message}{next(filter(None, hints), '')}"

    def options(self) -> list[str]:
        """Every option, also those of the verbs below this one."""
        below = [made for action in self._actions for made in _parsers(action)]
        return [*self._option_string_actions, *(name for made in below for name in made.options())]


def _parsers(action: argparse.Action) -> list[Parser]:
    choices = action.choices.values() if isinstance(action.choices, dict) else ()
    return [made for made in choices if isinstance(made, Parser)]


def _choice(message: str) -> str:
    """`invalid choice: 'shw' (choose from 'show', 'stats')`, and which of them is near."""
    found = re.search(r"invalid choice: '([^']*)' \(choose from (.*)\)", message)
    return message + nearest(found[1], [word.strip(" '") for word in found[2].split(",")]) if found else message


class _Help(argparse.RawDescriptionHelpFormatter):
    """As wide as the terminal. argparse would import half the library to learn that, before anybody asks for help."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_columns() - 2)


def _columns() -> int:
    named = os.environ.get("COLUMNS", "")
    if named.isdecimal() and int(named) > 0:
        return int(named)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno() if sys.__stdout__ else 1).columns or 80
    except (ValueError, OSError):
        return 80


def parser(verb: str, summary: str, examples: str) -> Parser:
    return Parser(
        prog=f"hookline {verb}",
        description=summary[0].upper() + summary[1:] + ".",
        epilog=examples,
        formatter_class=_Help,
        allow_abbrev=False,
    )


def add_configs(to: Parser) -> None:
    to.add_argument(
        "--config",
        "-c",
        action="append",
        default=[],
        metavar="[DIALECT=]PATH",
        help=f"a configuration file; may be given many times. DIALECT is one of {', '.join(DIALECTS)}, "
        "and is recognised from the content where it is left out. Without any, the files of this project and "
        "of this user are found (`hookline list --where`)",
    )
    to.add_argument("--root", metavar="DIR", help="the directory that relative hook paths of The Harness belong to")


def add_event(to: Parser) -> None:
    to.add_argument("event", metavar="EVENT", help="an event in any dialect's spelling, or in snake_case")
    add_configs(to)
    to.add_argument(
        "--payload",
        "-p",
        default="{}",
        metavar="JSON|@FILE|-",
        help="the event's fields as a JSON object: as it is, from a file, or from standard input",
    )
    to.add_argument("--cwd", metavar="DIR", help="the session's working directory (default: this one)")
    to.add_argument("--session", metavar="ID", help="the session's id")


def add_json(to: Parser) -> None:
    to.add_argument("--json", action="store_true", help="print exactly one JSON object")


def loaded(arguments: argparse.Namespace, hooks: Hooks, cwd: str | None = None) -> Hooks:
    """The hooks of every --config, in the order given; without one, those the project and the user have."""
    if not arguments.config:
        if arguments.root is not None:
            raise UsageError("--root goes with --config: the files that are found have their own roots")
        hooks.discover(cwd or ".")
    for named in arguments.config:
        load_named(hooks, named, root=arguments.root)
    return hooks


def load_named(hooks: Hooks, named: str, *, root: str | None = None) -> None:
    """Load what `[DIALECT=]PATH` names."""
    dialect, path = _split(named)
    hooks.load(path, dialect, root=root)


def _split(named: str) -> tuple[str | None, str]:
    """`goose=config.yaml` -> its parts. A file whose own name holds `=` is still found by that name."""
    word, sign, path = named.partition("=")
    if not sign or "/" in word or (word not in DIALECTS and os.path.exists(named)):
        return None, named
    if not path:
        raise ConfigError("names no file; write DIALECT=PATH", file=named)
    return word, path


def payload(arguments: argparse.Namespace) -> dict[str, Any]:
    """The fields of the event: --payload, --cwd and --session together."""
    given = _in_our_words(_document(arguments.payload))
    _same_event(given, arguments.event)
    if arguments.cwd is not None:
        if not os.path.isdir(arguments.cwd):
            raise UsageError(f"--cwd {shown(arguments.cwd)} is not a directory")
        given["cwd"] = arguments.cwd
    if arguments.session is not None:
        given["session_id"] = arguments.session
    return given


def _document(text: str) -> dict[str, Any]:
    where = "--payload"
    if text == "-":
        where = "--payload from standard input"
        if sys.stdin.isatty():
            print("hookline: reading the payload from the terminal; end it with Ctrl-D", file=sys.stderr)
        data = sys.stdin.buffer.read()
    elif text.startswith("@"):
        where = f"--payload {text}"
        try:
            with open(text[1:], "rb") as file:
                data = file.read()
        except OSError as error:
            raise UsageError(f"{where}: cannot be read: {error.strerror}") from None
    else:
        data = os.fsencode(text)
    if not data.strip():
        raise UsageError(f"{where} is empty; it takes a JSON object such as {EXAMPLE}")
    document = json_value(data.decode("utf-8", "replace").removeprefix(BOM).strip())
    if document is NOT_JSON or document is BEYOND:
        raise UsageError(f"{where} {_not_json(data)}; it got {shown(data[:60].decode('utf-8', 'replace'))}")
    if not isinstance(document, dict):
        raise UsageError(f"{where} must be a JSON object, not {kind_of(document)}: {shown(document)}")
    return document


def _not_json(data: bytes) -> str:
    """What is wrong with a payload, in the words of the parser."""
    try:
        msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        quotes = " (JSON has double quotes only)" if data.lstrip(b"{[ \n").startswith(b"'") else ""
        return f"is not JSON: {error}{quotes}"
    return "is nested too deep, or has too long a number"


def _in_our_words(given: dict[str, Any]) -> dict[str, Any]:
    """People paste the payloads their hooks get; a field that a dialect calls otherwise is taken for ours."""
    named = {SYNONYMS.get(name, name): value for name, value in given.items() if SYNONYMS.get(name, name) not in given}
    named |= {name: value for name, value in given.items() if name not in SYNONYMS}
    if named.get("session_id", "") is None:
        del named["session_id"]
    return named


def _same_event(given: dict[str, Any], event: str) -> None:
    """People paste the payloads their hooks get, which name their event; it has to be the one that is fired."""
    for key in ("hook_event_name", "event"):
        named = given.pop(key, None)
        if named is not None and find(named).name != find(event).name:
            raise UsageError(f"the payload's {key} is {shown(named)}, but the event fired is {event}")
