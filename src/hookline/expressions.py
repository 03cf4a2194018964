"""Event expressions: the patterns of Harn's hooks, compiled to a test of a payload in Harn's own shape.

    exec_*                              a glob on the tool's name
    merge_captain.*                     a glob on the payload's `target`
    tool.args.command =~ '^rm '         a regular expression, found anywhere in a field
    tool.name == "Bash"                 equality; != is its opposite
    tool.args.force                     the field is there and is not false, 0, null or empty

A whole pattern that fits the tool's name always matches, so that a tool called `fs.read` can be named
although a dot otherwise makes a path.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import UNSET

from hookline.compacting import compact
from hookline.matching import BadPattern, globber, pythonic
from hookline.wording import shown

Test = Callable[[dict[str, Any]], bool]

TOOL_NAME = ("tool", "name")
QUOTES = ("'", '"')


def expression(pattern: str) -> Test:
    """A test of payloads. Raises BadPattern for a regular expression that is none."""
    text = pattern.strip()
    if text in ("", "*"):
        return lambda payload: True
    fits, holds = globber(text), _condition(text)

    def test(payload: dict[str, Any]) -> bool:
        target = payload.get("target")
        if fits(_text(payload, TOOL_NAME)) or (isinstance(target, str) and fits(target)):
            return True
        return holds is not None and holds(payload)

    return test


def _condition(text: str) -> Test | None:
    """What an expression asks of a field; None for a plain glob. The first sign of this order decides."""
    for sign in ("=~", "==", "!="):
        left, found, right = text.partition(sign)
        if found:
            return _comparison(_path(left), sign, _unquoted(right), text)
    if "." in text:
        path = _path(text)
        return lambda payload: bool(_value(payload, path))
    return None


def _comparison(path: tuple[str, ...], sign: str, wanted: str, text: str) -> Test:
    if sign == "==":
        return lambda payload: _text(payload, path) == wanted
    if sign == "!=":
        return lambda payload: _text(payload, path) != wanted
    try:
        found = pythonic(wanted)
    except BadPattern as error:
        raise BadPattern(f"{shown(wanted)} in the pattern {shown(text)} is {error}") from None
    return lambda payload: found(_text(payload, path))


def _path(text: str) -> tuple[str, ...]:
    return tuple(text.strip().split("."))


def _value(payload: Any, path: tuple[str, ...]) -> Any:
    """What is at a dotted path; UNSET, which is false, where there is nothing. No path leads into a list."""
    for name in path:
        if not isinstance(payload, dict) or name not in payload:
            return UNSET
        payload = payload[name]
    return payload


def _text(payload: dict[str, Any], path: tuple[str, ...]) -> str:
    """What is at a path as text: a string as it is, nothing as "", anything else as compact JSON."""
    value = _value(payload, path)
    if value is UNSET:
        return ""
    return value if isinstance(value, str) else compact(value).decode()


def _unquoted(text: str) -> str:
    text = text.strip()
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in QUOTES
    return text[1:-1] if quoted else text
