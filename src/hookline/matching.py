"""Conditions on an event, compiled once when a hook is loaded.

Patterns come from configuration files, so they run on RE2, whose time is linear in the subject.
A pattern RE2 cannot express (look-around, back-references) runs on `re`, on short subjects only:
on a longer one it counts as a match, because a hook that runs once too often is the lesser harm.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from hookline.errors import UsageError
from hookline.model import BASE_FIELDS, EVERYTHING, REWRITES, Event, Matcher
from hookline.wording import shown

GUARDED_LENGTH = 200
"""The longest subject a pattern outside RE2 is tried on."""

LONGEST_PATTERN = 2000
LARGEST_PROGRAM = 1024 * 1024
"""Bytes RE2 may spend on one pattern."""

FEW = 8
"""A repetition of at most so many is no danger."""

MOST_REPEATS = 3
"""Unbounded repetitions in one pattern outside RE2."""

MOST_STEPS = 100_000_000
"""What `re` may be made to do with one subject: about a second's work."""

GLOB_SIGNS = frozenset("*?[")
SUSPECT = frozenset("|^$()\\[{")
"""What a glob on the name of a tool seldom has."""


class BadPattern(ValueError):
    """A pattern no engine understands; the message says why."""


def _settled(field: str) -> bool:
    """Whether a plan for a value of this field can be remembered: no hook rewrites it, and it is no base field."""
    return field not in (*REWRITES, *BASE_FIELDS, "hook_event_name")


def _looking(field: str, text: str, test: Callable[[Event], bool]) -> Matcher:
    """A matcher of one field."""
    return Matcher(text, test, (field,)) if _settled(field) else Matcher(text, EVERYTHING.fits, rest=test)


def exact(field: str, value: str) -> Matcher:
    """The field is this very value."""
    return _looking(field, f"{field} = {value}", lambda event: bool(event.value(field) == value))


def regex(field: str, pattern: str) -> Matcher:
    """The pattern is found somewhere in the field."""
    found = searcher(pattern)
    return _looking(field, f"{field} ~ {pattern}", lambda event: found(_text(event.value(field))))


def glob(field: str, pattern: str) -> Matcher:
    """The whole field fits the glob."""
    fits = globber(pattern)
    return _looking(field, f"{field} = {pattern}", lambda event: fits(_text(event.value(field))))


def fields(conditions: Mapping[str, Any]) -> Matcher:
    """Every named field equals its value; a list means any of its values; a missing field matches nothing."""
    wanted = [(name, value if isinstance(value, list) else [value]) for name, value in conditions.items()]

    def all_of(wanted: Sequence[tuple[str, list[Any]]]) -> Callable[[Event], bool]:
        return lambda event: all(
            _has(event, name) and any(same(event.value(name), v) for v in values) for name, values in wanted
        )

    text = ", ".join(f"{name} = {' | '.join(map(str, values))}" for name, values in wanted)
    settled = [(name, values) for name, values in wanted if _settled(name)]
    others = [(name, values) for name, values in wanted if not _settled(name)]
    return Matcher(text, all_of(settled), tuple(name for name, _ in settled), all_of(others) if others else None)


def _has(event: Event, name: str) -> bool:
    return event.value(name) is not None or name in event.payload


def same(left: Any, right: Any) -> bool:
    """Equality as JSON means it: 1 is 1.0, but true is not 1."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


@lru_cache(maxsize=1024)
def searcher(pattern: str) -> Callable[[str], bool]:
    """A test that finds the pattern anywhere in a text. Raises BadPattern."""
    if len(pattern) > LONGEST_PATTERN:
        raise BadPattern(f"longer than {LONGEST_PATTERN} characters")
    return _linear(pattern) or _guarded(pattern)


def _linear(pattern: str) -> Callable[[str], bool] | None:
    """The same on RE2; None for what it cannot express."""
    import re2

    options = re2.Options()
    options.log_errors = False  # RE2 would write to our stderr
    options.max_mem = LARGEST_PROGRAM
    try:
        compiled = re2.compile(pattern, options)
    except (re2.error, UnicodeError):
        return None
    return lambda text: compiled.search(_encodable(text)) is not None


def _guarded(pattern: str) -> Callable[[str], bool]:
    import re
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a FutureWarning about a set is not the user's concern
            if _may_explode(pattern):
                raise BadPattern("a regular expression that may take for ever: it repeats a repetition, or too much")
    except (re.error, RecursionError, OverflowError) as error:
        raise BadPattern(f"not a regular expression: {error}") from None

    @cache
    def compiled() -> re.Pattern[str]:  # not before it is needed: of a stranger's file it may take long, for nothing
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return re.compile(pattern)

    return lambda text: len(text) > GUARDED_LENGTH or compiled().search(text) is not None


def pythonic(pattern: str) -> Callable[[str], bool]:
    """The same as `re.search` has it, on subjects of any length. Raises BadPattern.

    Where RE2 cannot say anything else, RE2 is asked. What it cannot express runs on `re`, as long as that takes no
    more than a moment; on a longer subject a UsageError says so: a guess would let somebody through.
    """
    import re
    import warnings

    if len(pattern) > LONGEST_PATTERN:
        raise BadPattern(f"longer than {LONGEST_PATTERN} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compiled, most = re.compile(pattern), _most(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise BadPattern(f"not a regular expression: {error}") from None
    linear = _linear(pattern)
    if linear is None and not most:
        raise BadPattern("a regular expression that may take for ever: it repeats a repetition, or too much")

    def found(text: str) -> bool:
        if linear is not None and (len(text) > most or _told_alike(text)):
            return linear(text)
        if len(text) > most:
            raise UsageError(
                f"the pattern {shown(pattern)} is not tried on {len(text)} characters, which may take for ever; "
                "write it without look-around and back-references"
            )
        return compiled.search(text) is not None

    return found


def _told_alike(text: str) -> bool:
    r"""Whether RE2 and `re` mean the same by `$`, `\w`, `\s` and `\b` in this text."""
    return text.isascii() and not text.endswith("\n") and not any(sign in text for sign in "\v\x1c\x1d\x1e\x1f")


def _most(pattern: str) -> int:
    """The longest subject on which `re` may try this pattern: each unbounded repetition multiplies the ways."""
    if _may_explode(pattern):
        return 0
    from re import _parser as parser  # type: ignore[attr-defined]

    def degree(tree: Any) -> int:
        own, looking = 0, 0
        for operation, argument in tree:
            if operation in (parser.ASSERT, parser.ASSERT_NOT):  # once it was found nobody comes back to it
                looking = max(looking, degree(argument[1]))
            elif operation in (parser.MAX_REPEAT, parser.MIN_REPEAT):
                own += (argument[1] > FEW) + degree(argument[2])
            elif operation is parser.BRANCH:
                own += max(map(degree, argument[1]))
            else:
                own += sum(map(degree, _parts(argument, parser)))
        return max(own, looking)

    tree = parser.parse(pattern)
    anchored = bool(tree) and tree[0] in ((parser.AT, parser.AT_BEGINNING), (parser.AT, parser.AT_BEGINNING_STRING))
    return int(MOST_STEPS ** (1 / max(1, degree(tree) + (not anchored))))


def _may_explode(pattern: str) -> bool:
    """Whether `re`, which tries every way, may need more than a moment on a short subject.

    A repetition of something that repeats, or that has alternatives, takes exponential time; each one
    beside another multiplies the ways by the length of the subject.
    """
    from re import _parser as parser  # type: ignore[attr-defined]

    repeats = {parser.MAX_REPEAT, parser.MIN_REPEAT}
    count = 0

    def walk(tree: Any, inside: bool) -> bool:
        nonlocal count
        for operation, argument in tree:
            if operation in repeats:
                _, most, body = argument
                free = most > FEW
                count += free
                if (inside and free) or walk(body, inside or free):
                    return True
            elif operation in (parser.ASSERT, parser.ASSERT_NOT) and argument[0] < 0 and _varies(argument[1]):
                raise parser.error("look-behind requires fixed-width pattern")
            elif operation is parser.BRANCH:
                if inside or any(walk(part, inside) for part in argument[1]):
                    return True
            elif any(walk(part, inside) for part in _parts(argument, parser)):
                return True
        return False

    return walk(parser.parse(pattern), False) or count > MOST_REPEATS


def _varies(pattern: Any) -> bool:
    shortest, longest = pattern.getwidth()
    return bool(shortest != longest)


def _parts(argument: Any, parser: Any) -> list[Any]:
    """The patterns inside an operation of a parsed expression."""
    if isinstance(argument, parser.SubPattern):
        return [argument]
    return [part for part in argument if isinstance(part, parser.SubPattern)] if isinstance(argument, tuple) else []


def _encodable(text: str) -> str:
    """RE2 works on UTF-8, which has no lone surrogates."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


@lru_cache(maxsize=1024)
def globber(pattern: str) -> Callable[[str], bool]:
    """A test of whole names: `*` any run, `?` one character, `[a-z]` a set, `{a,b}` alternatives.

    Without `*`, `?` or `[` the pattern is a plain name. What cannot be read as a glob (an open
    bracket, a range backwards) falls back to a prefix or suffix test, then to equality; it is never
    an error.
    """
    if pattern == "*":
        return lambda name: True
    if not GLOB_SIGNS & set(pattern):
        return lambda name: name == pattern
    try:
        fits = _linear(f"^(?s:{_translated(pattern)})$")
    except ValueError:
        fits = None
    if fits:
        return fits
    if pattern.endswith("*"):
        return lambda name: name.startswith(pattern[:-1])
    if pattern.startswith("*"):
        return lambda name: name.endswith(pattern[1:])
    return lambda name: name == pattern


def _translated(pattern: str) -> str:
    """A glob as a regular expression. Raises ValueError for what is not a glob."""
    done: list[str] = []
    at = depth = 0
    while at < len(pattern):
        sign = pattern[at]
        at += 1
        if sign == "*":
            done.append(".*")
        elif sign == "?":
            done.append(".")
        elif sign == "[":
            negated = pattern[at : at + 1] in ("!", "^")
            at += negated
            end = pattern.index("]", at + 1)  # a bracket that comes first is itself one of the set
            body = pattern[at:end].replace("\\", "\\\\").replace("[", "\\[").replace("^", "\\^")
            done.append(f"[{'^' if negated else ''}{body}]")
            at = end + 1
        elif sign == "{":
            depth += 1
            done.append("(?:")
        elif sign == "}":
            depth -= 1
            if depth < 0:
                raise ValueError("a brace that was never opened")
            done.append(")")
        elif sign == "," and depth:
            done.append("|")
        else:
            done.append(sign if sign.isalnum() or sign == "_" else f"\\x{{{ord(sign):x}}}")
    if depth:
        raise ValueError("an open brace")
    return "".join(done)


def misread(pattern: str) -> str:
    """What in a glob on a tool's name is not said in a glob, and what to write; nothing if it is a plain one.

    People write a regular expression there, or a rule of another system. It is a glob all the same: no tool fits it.
    """
    if not SUSPECT & set(pattern) and not pattern.startswith((".*", ".+")):
        return ""
    import re

    plain = re.sub(r"\[[!^]?+.[^\]]*\]", "", pattern, flags=re.DOTALL)  # whatever stands in a set is meant
    if "[" in plain:
        return "its [ is never closed; a set is written [a-z]"
    if "|" in plain:
        names = " and ".join(repr(_meant(part)) for part in pattern.split("|"))
        return f"a glob has no '|'; give each name a glob of its own: {names}"
    name, bracket, _ = pattern.partition("(")
    if bracket and name and plain.endswith(")"):
        return f"a glob sees the name of a tool and not its arguments; write {_meant(name)!r}"
    if sign := next((sign for sign in "()\\" if sign in plain), ""):
        return f"a glob has no {sign!r}; it has * for any run of characters, ? for one, and [a-z]"
    if plain.startswith("^") or plain.endswith("$"):
        return f"a glob is the whole name, without ^ and $; write {_meant(pattern)!r}"
    if pattern.startswith((".*", ".+")):
        return f"any run of characters is * alone; write {_meant(pattern)!r}"
    if "{" in pattern and not GLOB_SIGNS & set(pattern):
        return "{a,b} is read as alternatives only where the glob has a *, a ? or a [a-z], too; give each name its own"
    return ""


def _meant(pattern: str) -> str:
    """The glob for what a person wrote as a regular expression, as far as one can guess."""
    for sign, glob in ((".*", "*"), (".+", "*"), ("^", ""), ("$", ""), ("(?:", ""), ("(", ""), (")", "")):
        pattern = pattern.replace(sign, glob)
    return pattern
