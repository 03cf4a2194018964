"""Where secrets are in a text: by their shape, or by what stands before them. Pure.

A row of SHAPES or NAMED is tried only where one of its hints is, and there its pattern has to begin. A row of WORDS
says which word tells of a secret; what follows it is the same for all of them. So a text costs what looking for hints
costs, and a little for each one that is found. Patterns are compiled when their hint is met first.

A pattern never goes back over what it has passed: whatever the text, it takes no longer than its length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from hookline.telling import KEYED, OPEN

MASK = "[masked]"
_NOT_MASKED = r"(?!\[masked\])"

Span = tuple[int, int]


class Row(NamedTuple):
    """One sort of secret: the hints (in small letters) where its pattern begins, and what stands right before them.

    The secret is the named group that took part, or else all of it.
    """

    what: str
    hints: tuple[str, ...]
    pattern: str
    before: str = ""


SHAPES = (
    Row(
        "a private key",
        ("-----begin",),
        r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY[A-Z ]{0,40}-----"
        r"(?:[^\"'\\-]++|\\++[nrt]|-(?!----))*+(?:-----END [A-Z ]{0,40}KEY[A-Z ]{0,40}-----)?",
    ),
    Row("a JSON web token", ("eyj",), r"(?<![\w-])eyJ[\w-]{8,}+\.[\w-]{8,}+\.[\w-]{8,}"),
    Row("user and password in an address", ("://",), r"://(?P<user>[^\s/:@'\"\\]*+:[^\s/?#'\"\\]+)(?=@)"),
    Row(
        "a password with a slash in an address",
        ("://",),
        r"(?<!http)(?<!https)://"
        r"(?P<user>[^\s/:@'\"\\]{0,100}+:(?!\d{1,5}[/?#])(?:[^\s'\"\\@]{0,100}+@){0,2}[^\s'\"\\@]{1,100}+)(?=@)",
    ),
    Row(
        "a token in an address",
        ("://",),
        rf"(?:(?<=https)|(?<=http))://(?P<token>{_NOT_MASKED}[^\s/:@'\"\\]{{6,}}+)(?=@)",
    ),
    Row("a hook of Slack", ("hooks.slack.com/services/",), r"hooks\.slack\.com/services/(?P<path>[\w/]{8,})"),
    Row("a webhook", ("/api/webhooks/",), r"/api/webhooks/(?P<path>[\w/-]{16,})"),
    Row("a token of GitHub", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"\bgh[pousr]_\w{20,}"),
    Row("a fine token of GitHub", ("github_pat_",), r"\bgithub_pat_\w{20,}"),
    Row("a token of GitLab", ("glpat-",), r"\bglpat-[\w-]{16,}"),
    Row("a token of Slack", ("xox",), r"\bxox[abeprs]-[\w-]{10,}"),
    Row("a token of npm", ("npm_",), r"\bnpm_\w{30,}"),
    Row("a token of PyPI", ("pypi-",), r"\bpypi-[\w-]{30,}"),
    Row("a token of Hugging Face", ("hf_",), r"\bhf_\w{20,}"),
    Row("a key of AWS", ("akia", "asia"), r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    Row("a key of Google", ("aiza",), r"\bAIza[\w-]{30,}"),
    Row("a token of Google", ("ya29.",), r"\bya29\.[\w-]{20,}"),
    Row("a key of OpenAI", ("sk-",), r"\bsk-[\w-]{16,}"),
    Row("a key of Stripe", ("sk_", "rk_", "pk_"), r"\b(?:sk|rk|pk)_(?:live|test)_\w{10,}"),
    Row(
        "a bearer token",
        ("bearer",),
        r"(?i:\bbearer)\s++(?![A-Z]?[a-z]{1,16}[.,]?(?![\w.~+/=-]))(?P<bearer>[\w.~+/=-]{6,})",
    ),
    Row("basic authorization", ("basic ",), r"(?i:\bbasic) (?P<basic>[A-Za-z0-9+/]{6,}+={1,2}(?!\w))"),
)

_WORD = rf"{_NOT_MASKED}[^\s\"'\\]+"
_HEADER = rf"\\*+[\"']?\s*+[:=]\s*+\\*+[\"']?(?P<header>{_NOT_MASKED}[^\s\"'\\][^\r\n\"'\\]*)"
_FLAG = r"--(?:\w+-)*\Z"
_OF_FLAG = r"--(?:\w+-)*\w*\Z"

NAMED = (
    Row("a header", ("authorization", "cookie"), rf"(?i:authorization|cookie){_HEADER}"),
    Row(
        "a line of a .netrc",
        ("login",),
        rf"\blogin\s{{1,9}}\S{{1,100}}\s{{1,9}}password\s{{1,9}}(?P<word>{_WORD})",
    ),
    Row(
        "a last line of a .netrc",
        ("password",),
        rf"password[ \t]{{1,9}}(?P<word>{_NOT_MASKED}(?=[A-Za-z]{{0,99}}[^\sA-Za-z])[^\s\"'\\]+)(?m:[ \t]{{0,9}}$)",
        r"(?m:^)[ \t]{0,9}\Z",
    ),
    Row(
        "a user of curl",
        ("-u",),
        rf"(?:(?<=\s)-u|(?<=\s-)-user)[ =]?[\"']?(?!\d+:\d)[\w.@+-]{{1,64}}:(?P<word>{_WORD})",
    ),
    Row(
        "a password for mysql",
        ("mysql", "sshpass", "login"),
        rf"\b(?:mysql\w{{0,6}}|sshpass|login)\b(?:(?!\s-p)[^\n|;&]){{0,60}}+\s-p ?[\"']?(?P<word>{_WORD})",
    ),
    Row(
        "a signature in an address",
        ("sig=", "signature=", "key="),
        rf"(?i:(?:(?<=[?&])|(?<=[?&]x-amz-))(?:sig|signature|key)=(?P<query>{_NOT_MASKED}[^\s&#\"'\\]{{6,}}))",
    ),
    Row("a flag for authorization", ("auth",), rf"(?i:auth)[ =][\"']?(?P<word>{_WORD})", _FLAG),
)

WORDS = (
    Row("a password", ("pass",), r"pass(?:word|wd|phrase|code)s?|(?<=pg)pass|(?<![a-z])pass(?=\s*=)"),
    Row("a pwd", ("pwd",), r"(?<![a-z])pwd(?!\W{1,4}/)"),
    Row("a secret", ("secret",), r"secrets?"),
    Row("a token", ("token",), r"token(?!s)|(?<![a-z_])tokens(?=\s*=\s*(?!\d+\b))"),
    Row("a credential", ("credential",), r"credentials?"),
    Row("a connection string", ("connection",), r"connection[_-]?string"),
    Row(
        "a key",
        ("key",),
        rf"(?<=[a-z_-])(?:{'|'.join(f'(?<={word})|(?<={word}[_-])' for word in KEYED)})keys?"
        rf"|(?-i:(?<=[A-Z0-9]_){''.join(f'(?<!{word.upper()}_)' for word in OPEN)}KEY)",
    ),
    Row("a short word", ("dsn", "jwt", "otp"), r"(?<![a-z])(?:dsn|jwt|otp)"),
)
"""Words that tell of a secret after them, whatever their case."""

_TYPE = (
    r"(?:str|string|bytes|int|integer|float|bool|boolean|number|any|object|unknown|optional|union|list)"
    r"(?=[\s;,)\]}|?\[<=]|$)"
)
"""The type of a value, in a program."""

_NO_VALUE = rf"\[masked\]|[\[{{(]|(?:true|false|null|none|undefined)\b|{_TYPE}|await\s|[a-z_][a-z_.]{{0,60}}\(\)"
_SIGN = rf":\s*+{_TYPE}(?:\[[\w., |]{{0,60}}\])?[\w. |]{{0,40}}+=(?=\s*+[\"'])|:=|=>|[:=]"
_VALUE = (
    r"\"(?!\")(?P<double>[^\"\\\n]*+(?:\\.[^\"\\\n]*+)*+)\""
    r"|'(?!')(?P<single>[^'\"\\\n]*+(?:\\.[^'\"\\\n]*+)*+)'"
    r"|(?P<run>\\++)(?P<sign>[\"'])(?P<escaped>"
    # up to the same sign after no more backslashes; what has more stands in a text that is inside of this one
    r"(?:[^\\\n\"']++|(?!(?P=sign))[\"']|(?P=run)\\++[\"']|\\++(?![\"'])|\\++(?!(?P=sign))[\"'])++)"
    rf"|[\"']?(?P<bare>(?!{_NO_VALUE})[^\s\"',;&}}\])\\]{{4,}})"
)
FOLLOWING = (
    rf"(?i)(?:[_-]?(?:value|header|hash))?+(?:\\*+[\"']?\]?\s*+(?:{_SIGN})\s*+(?:{_VALUE})"
    rf"|>(?P<element>{_NOT_MASKED}[^<>\r\n]{{1,2000}}+)(?=</))"
)
"""What stands after a word of WORDS: `password=…`, `"api_key": "…"`, `<password>…</password>`."""

IN_FLAG = rf"[ =][\"']?(?P<word>{_WORD})"
"""What stands after one that ends a flag: `--api-key …`."""

_IN_JSON = ("cred", "auth", 'otp"', "otp\\", 'pin"', "pin\\", "masked")
"""Hints for what a key of JSON tells, inside of a text; the other words for it are among those of WORDS."""

_NEAR = 120
"""How far before a hint is looked for what has to stand before it."""

Pairs = tuple[tuple[str, Row], ...]


def _by_hint(*rows: Row) -> Pairs:
    return tuple((hint, row) for row in rows for hint in row.hints)


_SHAPES, _ADDRESSES = _by_hint(*SHAPES), _by_hint(*(row for row in SHAPES if "://" in row.hints))
_ROWS, _WORDS = _by_hint(*SHAPES, *NAMED), _by_hint(*WORDS)
_pattern = cache(re.compile)  # not at import: most fires have no tape


@cache
def hints() -> tuple[str, ...]:
    """A text without any of these holds no secret we know. Most are of that kind, and are looked through quickly."""
    every = {hint for row in (*SHAPES, *NAMED, *WORDS) for hint in row.hints} | {*_IN_JSON}
    return tuple(sorted(hint for hint in every if not any(other in hint for other in every - {hint})))


def hinted(text: str) -> bool:
    """Whether a text may hold a secret, or say so of what is below it."""
    lowered = text.lower()
    return any(hint in lowered for hint in hints())


def spots(text: str) -> Iterator[Span]:
    """Where there are secrets in a text, in no order; they may overlap."""
    lowered = _lowered(text)
    yield from _of_rows(_ROWS, text, lowered)
    for hint, row in _hinted(_WORDS, lowered):
        yield from _after_words(row, hint, text, lowered)


def shaped(text: str) -> bool:
    """Whether a text has something with the shape of a secret in it."""
    return any(True for _ in _of_rows(_SHAPES, text, _lowered(text)))


def addressed(text: str) -> bool:
    """Whether an address in a text says who may use it."""
    return any(True for _ in _of_rows(_ADDRESSES, text, _lowered(text)))


def _of_rows(pairs: Pairs, text: str, lowered: str) -> Iterator[Span]:
    for hint, row in _hinted(pairs, lowered):
        match, at = _pattern(row.pattern).match, lowered.find(hint)
        while at >= 0:
            span = _secret(match(text, at))
            if span and row.before and not _stands_before(row.before, text, at):
                span = None
            if span:
                yield span
            at = lowered.find(hint, max(at + 1, span[1] if span else 0))


def _after_words(row: Row, hint: str, text: str, lowered: str) -> Iterator[Span]:
    match, follows, in_flag = (_pattern(each).match for each in (f"(?i:{row.pattern})", FOLLOWING, IN_FLAG))
    at = lowered.find(hint)
    while at >= 0:
        span = None
        if word := match(text, at):
            span = _secret(follows(text, word.end()))
            if not span and (span := _secret(in_flag(text, word.end()))) and not _stands_before(_OF_FLAG, text, at):
                span = None
            if span:
                yield span
        at = lowered.find(hint, max(at + 1, span[1] if span else 0))


def _hinted(pairs: Pairs, lowered: str) -> list[tuple[str, Row]]:
    """The hints there are in a text, with their rows."""
    return [pair for pair in pairs if pair[0] in lowered]


def _stands_before(pattern: str, text: str, at: int) -> bool:
    return _pattern(pattern).search(text, max(0, at - _NEAR), at) is not None


def _secret(found: re.Match[str] | None) -> Span | None:
    if found is None:
        return None
    start, end = found.span(found.lastgroup) if found.lastgroup else found.span()
    return (start, end) if end > start else None


def _lowered(text: str) -> str:
    """The text in small letters, each where it was: only one letter becomes two of them."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else text.replace("\u0130", "I").lower()
