"""What a secret looks like, by the name it goes by and by its shape, and how it is kept out of a tape. Pure.

Masking changes what is stored, never what hooks get. What is masked already stays as it is and counts as masked,
so that masking twice changes nothing. A text that is JSON stays JSON.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from typing import Any

import msgspec

from hookline.errors import UsageError

MASK = "[masked]"

SHORTEST = 8
"""The value of an environment variable that is shorter is looked for nowhere else: it would be found in any text."""

LOUD = (
    *("password", "passwd", "passphrase", "passcode", "secret", "token", "credential", "creds", "auth"),
    *("authorization", "pgpass"),
)
"""Words that tell of a secret where a name ends with them. Redaction looks for them anywhere in a variable's name."""

QUIET = frozenset({"pass", "pwd", "cred", "cookie", "bearer", "dsn", "jwt", "otp", "pin"})
"""Words that tell of one where they stand alone."""

KEYED = (
    *("api", "access", "private", "secret", "encryption", "signing", "session", "ssh", "master", "account"),
    *("client", "service", "storage", "shared", "deploy", "license", "hmac", "auth"),
)
"""What a key is the key of, where it is a secret. In capitals (STRIPE_KEY) any other is one, too, but for OPEN."""

OPEN = ("public", "primary", "foreign", "sort", "partition", "cache", "dedupe", "idempotency", "group")
COUNTED = frozenset({"max", "min", "total", "input", "output", "prompt", "completion", "num", "used", "reasoning"})
BESIDE = frozenset({"value", "header", "hash", "text", "raw", "plain", "base64", "b64", "hex"})
"""What may stand after such a word: `token_value` is a token, `token_count` is none."""

STRUCTURE = frozenset(
    {"event", "decision", "kind", "handler", "hook", "dialect", "surface", "status", "source", "result", "role"}
)
_PLAIN_NAME = r"[\w:.*]{1,80}"

TEXTS, ALL = 1, 2


@lru_cache(maxsize=4096)
def tells(name: str) -> int:
    """Whether what goes by this name is a secret whatever it looks like: ALL of it, or only TEXTS (not its numbers)."""
    words = [word.lower() for word in _pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+").findall(name[-200:])]
    while len(words) > 1 and (words[-1] in BESIDE or words[-1].isdigit()):
        words.pop()
    if not words:
        return 0
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last == "tokens":
        return 0 if before in COUNTED else TEXTS
    if last in ("auth", "pass"):
        return TEXTS
    one = last.removesuffix("s")
    if {last, one} & QUIET or last.endswith(LOUD) or one.endswith(LOUD) or (before, one) == ("connection", "string"):
        return ALL
    if one == "key":
        return ALL if before in KEYED or (before and name.isupper() and before not in OPEN) else 0
    return ALL if one.endswith("key") and one[:-3] in KEYED else 0


def _leads(name: str, value: str) -> bool:
    """Whether an address of this name holds who may use it: DATABASE_URL, say."""
    return "://" in value and "@" in value and name.lower().endswith(("url", "uri", "dsn"))


_SHAPES = (
    r"-----BEGIN [A-Z ]*PRIVATE KEY[A-Z ]*-----(?:[^\"'\\-]|\\+[nrt]|-(?!----))*(?:-----END [A-Z ]*KEY[A-Z ]*-----)?",
    r"(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}",  # a JSON web token
    r"(?<=://)[^\s/:@'\"\\]*:[^\s/?#'\"\\]+(?=@)",  # user and password in an address
    r"(?<=://)(?<!http://)(?<!https://)[^\s/:@'\"\\]{0,100}:(?!\d{1,5}[/?#])[^\s'\"\\]{1,100}(?=@)",
    r"(?:(?<=https://)|(?<=http://))(?!\[masked\])[^\s/:@'\"\\]{6,}(?=@)",  # a token alone
    r"(?<=hooks\.slack\.com/services/)[\w/]{8,}|(?<=/api/webhooks/)[\w/-]{16,}",
    r"\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}",
    r"\bxox[abeprs]-[\w-]{10,}|\bnpm_\w{30,}|\bpypi-[\w-]{30,}|\bhf_\w{20,}",
    r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bAIza[\w-]{30,}|\bya29\.[\w-]{20,}",
    r"\bsk-[\w-]{16,}|\b(?:sk|rk|pk)_(?:live|test)_\w{10,}",
)
_SHAPE = "|".join(_SHAPES)
_BEARER = r"\bbearer\s+(?P<bearer>[\w.~+/=-]{6,})|\bBasic (?P<basic>[A-Za-z0-9+/]{6,}={1,2}(?!\w))"

_TOLD = (
    r"pass(?:word|wd|phrase|code)s?|pgpass|(?<![a-z])pwd(?!\W{1,4}/)|secrets?|token|credentials?|connection[_-]?string"
    rf"|(?:{'|'.join(KEYED)})[_-]?keys?|(?-i:(?<=[A-Z0-9]_){''.join(f'(?<!{word.upper()}_)' for word in OPEN)}KEY)"
    r"|(?<![a-z])(?:dsn|jwt|otp)|(?<![a-z])pass(?=\s*=)|(?<![a-z_])tokens(?=\s*=\s*(?!\d+\b))"
)
_VALUE = (
    r"\"(?P<double>(?:[^\"\\\n]|\\.)+)\""
    r"|'(?P<single>[^'\"\\\n]+)'"
    r"|(?P<quote>\\+[\"'])(?P<escaped>.+?)(?=(?P=quote))"
    r"|[\"']?(?P<bare>(?!\[masked\]|[\[{(]|(?:true|false|null|none)\b)[^\s\"',;&}\])\\]{4,})"
)
_NAMED = (
    rf"(?i:(?:{_TOLD})(?:[_-]?(?:value|header|hash))?\\*[\"']?\s*(?::=|=>|[:=])\s*(?:{_VALUE}))"
    rf"|(?i:(?:{_TOLD})>(?P<element>(?!\[masked\])[^<>\r\n]{{1,2000}})(?=</))"
    r"|\blogin\s{1,9}\S{1,100}\s{1,9}password\s{1,9}(?P<netrc>(?!\[masked\])[^\s\"'\\]+)"
    r"|(?m:^[ \t]{0,9}password[ \t]{1,9}(?P<line>(?!\[masked\])(?=[A-Za-z]{0,99}[^\sA-Za-z])[^\s\"'\\]+)[ \t]{0,9}$)"
    r"|(?<=\s)(?:-u|--user)[ =]?[\"']?(?!\d+:\d)[\w.@+-]{1,64}:(?P<user>(?!\[masked\])[^\s\"'\\]+)"
    r"|\b(?:mysql\w{0,6}|sshpass|login)\b[^\n|;&]{0,60}?\s-p ?[\"']?(?P<short>(?!\[masked\])[^\s\"'\\]+)"
    r"|(?i:[?&](?:sig|signature|key|x-amz-signature)=(?P<query>(?!\[masked\])[^\s&#\"'\\]{6,}))"
    rf"|(?i:--(?:\w+-)*(?:{_TOLD}|auth)[ =][\"']?(?P<flag>(?!\[masked\])[^\s\"'\\]+))"
    r"|(?i:(?:authorization|cookie)\\*[\"']?\s*[:=]\s*\\*[\"']?(?P<header>(?!\[masked\])[^\s\"'\\][^\r\n\"'\\]*))"
    rf"|(?i:{_BEARER})"
)
"""`password=…`, `"api_key": "…"`, `--token …`, `Authorization: …` inside a longer text: what stands after the sign."""

_HINTS = (
    *("pass", "pwd", "secret", "token", "key", "cred", "auth", "cookie", "bearer", "basic ", "dsn", "connection"),
    *("://", "eyj", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xox", "npm_", "pypi-", "hf_"),
    *("jwt", 'otp"', "otp\\", "otp=", "otp:", 'pin"', "pin\\", " -u", "--user", " -p", "sig=", "signature="),
    *("akia", "asia", "aiza", "ya29", "sk-", "sk_", "rk_", "pk_", "masked"),
)
"""A text without any of these holds no secret we know; most texts are of that kind, and are looked through quickly."""
_pattern = cache(re.compile)  # not at import: most fires have no tape


@cache
def _hinted() -> Callable[[bytes], object]:
    """What looks for a hint in a line; with RE2, which is quicker, if somebody has paid for its import already."""
    pattern = b"|".join(re.escape(hint.encode()) for hint in _HINTS)
    found: Callable[[bytes], object] = sys.modules.get("re2", re).compile(pattern).search
    return found


class Masking:
    """Masks secrets in JSON values: all text below a telling key, and the telling part of any other text.

    `patterns` are regular expressions for more of them; of one with a group `secret` only that part is masked.
    `values` are secrets that are known, wherever they turn up.
    """

    def __init__(self, patterns: Iterable[str] = (), *, values: Iterable[str] = ()) -> None:
        if isinstance(patterns, str):
            raise UsageError("mask takes a list of patterns, such as [r'internal-\\d+'], not one text")
        self._added = [_compiled(pattern) for pattern in patterns]
        self._always = bool(self._added)
        known = sorted({value for value in values if value}, key=len, reverse=True)
        self._known = [msgspec.json.encode(value)[1:-1] for value in known]
        if known:
            self._added.insert(0, re.compile("|".join(map(re.escape, known))))

    def suspects(self, line: bytes) -> bool:
        """Whether this JSON may hold a secret: it is worth a closer look."""
        return self._always or _hinted()(line.lower()) is not None or any(value in line for value in self._known)

    def masked(self, value: Any) -> tuple[Any, list[str]]:
        """The value without its secrets, and where they were, as JSON pointers."""
        places: list[str] = []
        return self._value(value, "", 0, places), places

    def record(self, data: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
        """The data of a record without its secrets; what holds the record together stays, whatever it looks like."""
        places: list[str] = []
        kept = {key: self._value(value, f"/{key}", _telling(key, value, 0), places) for key, value in data.items()}
        return _restored(kept, data, places, ""), places

    def _value(self, value: Any, pointer: str, telling: int, places: list[str]) -> Any:
        """One frame for each level: what could be written as JSON can be masked, too."""
        if isinstance(value, str):
            done = MASK if telling and value else self.text(value)
            if done != value or MASK in value:
                places.append(pointer)
            return done
        if isinstance(value, dict):
            kept: dict[str, Any] = {}
            for key, item in value.items():
                name = self._key(str(key), kept)
                place = f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}"
                if MASK in name:
                    places.append(place)
                kept[name] = self._value(item, place, _telling(key, item, telling), places)
            return kept
        if isinstance(value, list | tuple):
            items = []
            for index, item in enumerate(value):
                items.append(self._value(item, f"{pointer}/{index}", telling, places))
            return items
        if telling == ALL and isinstance(value, int | float) and not isinstance(value, bool):
            places.append(pointer)
            return MASK
        return value

    def _key(self, key: str, taken: dict[str, Any]) -> str:
        name = key if key in STRUCTURE else self.text(key)
        while name in taken:  # two secrets as keys: neither field may go
            name += "'"
        return name

    def text(self, text: str) -> str:
        """The text without its secrets."""
        lowered = text.lower()
        if not self._added and not any(hint in lowered for hint in _HINTS):
            return text
        if (whole := self._json(text)) is not None:
            return whole
        if "\n{" not in text and "\n[" not in text:
            return self._plain(text)
        done, plain = "", ""
        for line in text.splitlines(keepends=True):  # JSON may stand in lines of its own
            json = self._json(line)
            done, plain = (done, plain + line) if json is None else (done + self._plain(plain) + json, "")
        return done + self._plain(plain)

    def _json(self, text: str) -> str | None:
        """JSON stays JSON: its values are masked, and it is written anew only if there was something to mask."""
        if text.lstrip()[:1] not in ("{", "["):
            return None
        try:
            value = msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return None
        kept, _ = self.masked(value)
        return text if kept == value else msgspec.json.encode(kept).decode() + text[len(text.rstrip()) :]

    def _plain(self, text: str) -> str:
        for _ in range(4):  # what was masked may bring to light what stands beside it
            before = text
            for pattern in self._added:
                text = MASK.join(pattern.sub(_without, piece) for piece in text.split(MASK))
            text = _pattern(_SHAPE).sub(MASK, _pattern(_NAMED).sub(_without, text))
            if text == before:
                break
        return text


def _without(found: re.Match[str]) -> str:
    """A match with its secret masked: the named part that took part in it, or all of it."""
    names = [name for name, part in found.groupdict().items() if part is not None and name != "quote"]
    start, end = found.span(names[0]) if names else found.span()
    if start == end:
        return found[0]
    whole, begin = found[0], found.start()
    return whole[: start - begin] + MASK + whole[end - begin :]


def shaped(text: str) -> bool:
    """Whether a text has something with the shape of a secret in it."""
    return _pattern(_SHAPE).search(text) is not None or _pattern(f"(?i){_BEARER}").search(text) is not None


def _telling(key: object, value: Any, above: int) -> int:
    """What a key says of the value below it."""
    name = str(key)
    return max(above, tells(name), TEXTS if isinstance(value, str) and _leads(name, value) else 0)


def _restored(kept: Any, data: Any, places: list[str], pointer: str) -> Any:
    """What holds a record together, put back: the plain names of events, hooks and decisions."""
    for key in ("raw", "reminder", "hooks") if not pointer else ():
        below = kept.get(key)
        if isinstance(below, dict):
            kept[key] = _restored(below, data[key], places, f"/{key}")
        elif isinstance(below, list):
            pairs = enumerate(zip(below, data[key], strict=True))
            kept[key] = [_restored(new, old, places, f"/{key}/{n}") for n, (new, old) in pairs]
    if not isinstance(kept, dict):
        return kept
    for key in STRUCTURE & kept.keys():
        value = data[key]
        if kept[key] != value and isinstance(value, str) and _is_plain(value):
            kept[key] = value
            places.remove(f"{pointer}/{key}")
    return kept


def _is_plain(name: str) -> bool:
    return MASK not in name and _pattern(_PLAIN_NAME).fullmatch(name) is not None and not shaped(name)


def told(environ: Mapping[str, str]) -> list[str]:
    """The values of an environment that are secrets by the names of their variables; paths are none."""
    return [
        value
        for name, value in environ.items()
        if len(value) >= SHORTEST
        and name != "PWD"
        and not value.startswith(("/", "~", "."))
        and (tells(name) or _leads(name, value))
    ]


def masking(mask: bool | Iterable[str], environ: Mapping[str, str]) -> Masking | None:
    """What a caller chose: True, the patterns to add, or False for no masking at all."""
    if mask is False:
        return None
    return Masking(() if mask is True else mask, values=told(environ))


def filled(now: Any, recorded: Any, telling: int = 0) -> Any:
    """A value made again, with what the recording masked taken from there, wherever the rest is the same."""
    if isinstance(recorded, str):
        if recorded == MASK and telling == ALL and isinstance(now, int | float) and not isinstance(now, bool):
            return recorded
        return recorded if isinstance(now, str) and MASK in recorded and _fits(now, recorded) else now
    if isinstance(recorded, dict) and isinstance(now, dict) and len(recorded) == len(now):
        pairs = zip(now.items(), recorded.items(), strict=True)
        return {filled(key, old): filled(item, was, max(telling, tells(key))) for (key, item), (old, was) in pairs}
    if isinstance(recorded, list) and isinstance(now, list) and len(recorded) == len(now):
        return [filled(item, was, telling) for item, was in zip(now, recorded, strict=True)]
    return now


def _fits(now: str, recorded: str) -> bool:
    """Whether a text can be what was masked: the same around the masks, or the same JSON, in every line."""
    if MASK not in recorded:
        return now == recorded
    if _around(now, recorded.split(MASK)):
        return True
    try:
        was = msgspec.json.decode(recorded)
        return bool(filled(msgspec.json.decode(now), was) == was)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        pass
    lines, masked = now.splitlines(keepends=True), recorded.splitlines(keepends=True)
    return len(lines) == len(masked) > 1 and all(map(_fits, lines, masked))


def _around(now: str, pieces: list[str]) -> bool:
    """Whether a text has these pieces in their order, the first at its begin, the last at its end."""
    first, *middle, last = pieces
    at, end = len(first), len(now) - len(last)
    if not now.startswith(first) or not now.endswith(last) or end < at:
        return False
    for piece in middle:
        found = now.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except (re.error, TypeError) as error:
        raise UsageError(f"mask: {pattern!r} is no regular expression: {error}") from None
