"""What a secret looks like, by its name and by its shape, and how it is kept out of an environment or a tape. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from hookline.model import Redaction

KEPT = frozenset(
    b"PATH HOME SHELL USER LOGNAME LANG LANGUAGE LC_ALL LC_CTYPE TERM COLORTERM TMPDIR TZ PWD HOSTNAME "
    b"XDG_RUNTIME_DIR XDG_CONFIG_HOME XDG_STATE_HOME XDG_DATA_HOME XDG_CACHE_HOME DISPLAY HOOKLINE_RUN_ID".split()
)
"""Variables no program does without; they are never taken for secrets."""

BLOCKED = frozenset(
    b"DATABASE_URL MONGODB_URI REDIS_URL POSTGRES_URL MYSQL_URL AMQP_URL SENTRY_DSN GOOGLE_CLOUD_PROJECT "
    b"GOOGLE_CLOUD_ACCOUNT GCLOUD_PROJECT CLIENT_ID FIREBASE_PROJECT_ID SSH_AUTH_SOCK".split()
)
"""Variables that hold secrets, or lead to them, though their names do not say so."""

MASK = "[masked]"

_VARIABLE = re.compile(rb"TOKEN|SECRET|PASSWORD|PASSWD|KEY|AUTH|CREDENTIAL|CREDS|PRIVATE|CERT", re.IGNORECASE)

_WORDS = r"pass(?:word|wd|phrase)?|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credentials?|creds|auth"
_KEY = re.compile(
    rf"(?:^|[_.\- ])(?:{_WORDS}|authorization|cookie|bearer|client[_-]?secret|connection[_-]?string|dsn)s?$"
    r"|(?<=[a-z0-9])(?:Password|Passwd|Secret|Token|ApiKey|AccessKey|PrivateKey|Credentials?|Auth)$"
    r"|^(?:apikey|accesskey|privatekey|clientsecret|accesstoken|refreshtoken|idtoken|sessiontoken)$",
    re.IGNORECASE,
)
"""Names of fields whose text is a secret whatever it looks like. `max_tokens` and `author` are none."""

_SHAPES = (
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
    r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}",  # a JSON web token
    r"(?<=://)[^\s/:@'\"]+:[^\s/@'\"]+(?=@)",  # user and password in an address
    r"\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}",
    r"\bxox[abeprs]-[\w-]{10,}|\bnpm_\w{30,}|\bpypi-[\w-]{30,}|\bhf_\w{20,}",
    r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bAIza[\w-]{30,}|\bya29\.[\w-]{20,}",
    r"\bsk-[\w-]{16,}|\b(?:sk|rk|pk)_(?:live|test)_\w{10,}",
    r"(?<=\bBearer )[\w.~+/=-]{6,}|(?<=\bBasic )[A-Za-z0-9+/=]{8,}",
)
_TOLD = r"pass(?:word|wd|phrase)|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credentials?"
_NAMED = (
    rf"(?i)(?<![a-z])(?:{_TOLD})\\*[\"']?\s*[:=]\s*\\*[\"']?(?P<secret>(?!\[masked\])[^\s\"',;&}}\\]{{4,}})"
    rf"|--(?:\w+-)*(?:{_TOLD}|auth)s?[ =](?P<flag>(?!\[masked\])[^\s\"']+)"
)
"""`password=…`, `"api_key": "…"`, `--token …` inside a longer text: what stands after the sign."""

_HINTS = (
    *("pass", "pwd", "secret", "token", "key", "cred", "auth", "bearer", "basic ", "://", "eyj", "begin "),
    *("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xox", "npm_", "pypi-", "hf_"),
    *("akia", "asia", "aiza", "ya29", "sk-", "sk_", "rk_", "pk_"),
)
"""A text without any of these holds no secret we know; most texts are of that kind, and are looked through quickly."""


def secret_name(name: bytes) -> bool:
    """Whether a variable of this name is taken for a secret whatever it holds."""
    return name.upper() in BLOCKED or _VARIABLE.search(name) is not None


def secret_value(value: bytes) -> bool:
    """Whether a value has the shape of a secret."""
    return MASKING.shaped(value.decode("utf-8", "replace"))


def redacted(environ: Mapping[bytes, bytes], redaction: Redaction) -> dict[bytes, bytes]:
    """An environment without its secrets.

    An allowed name outweighs what names say, never what a value looks like. On a build server of GitHub
    (GITHUB_SHA is set) only what is known to be harmless, or allowed, stays.
    """
    allowed = {name.encode().upper() for name in redaction.allowed}
    blocked = {name.encode().upper() for name in redaction.blocked}
    strict = b"GITHUB_SHA" in environ

    def stays(name: bytes, value: bytes) -> bool:
        if name.upper() in KEPT:
            return True
        if secret_value(value):
            return False
        if name.upper() in allowed:
            return True
        return not strict and name.upper() not in blocked and not secret_name(name)

    return {name: value for name, value in environ.items() if stays(name, value)}


class Masking:
    """Masks secrets in JSON values: text under a telling key wholly, the telling part of any other text.

    What is masked already stays as it is and counts as masked, so that masking twice changes nothing.
    """

    def __init__(self, patterns: Iterable[str] = ()) -> None:
        self._shape = re.compile("|".join(_SHAPES), re.DOTALL)
        self._named = re.compile(_NAMED)
        self._added = [re.compile(pattern) for pattern in patterns]

    def shaped(self, text: str) -> bool:
        return self._shape.search(text) is not None

    def masked(self, value: Any) -> tuple[Any, list[str]]:
        """The value without its secrets, and where they were, as JSON pointers."""
        places: list[str] = []
        return self._value(value, "", "", places), places

    def _value(self, value: Any, pointer: str, key: str, places: list[str]) -> Any:
        if isinstance(value, str):
            done = self._text(value, key)
            if done is not value or MASK in value:
                places.append(pointer)
            return done
        if isinstance(value, dict):
            return {
                name: self._value(item, f"{pointer}/{_escaped(name)}", str(name), places)
                for name, item in value.items()
            }
        if isinstance(value, list | tuple):
            return [self._value(item, f"{pointer}/{index}", key, places) for index, item in enumerate(value)]
        return value

    def _text(self, text: str, key: str) -> str:
        if key and text and _KEY.search(key):
            return text if text == MASK else MASK
        done = text
        for pattern in self._added:
            done = pattern.sub(MASK, done)
        lowered = done.lower()
        if any(hint in lowered for hint in _HINTS):
            done = self._named.sub(_without_secret, self._shape.sub(MASK, done))
        return text if done == text else done


def _without_secret(found: re.Match[str]) -> str:
    secret = found["secret"] or found["flag"]
    return found[0][: len(found[0]) - len(secret)] + MASK


def _escaped(key: object) -> str:
    return str(key).replace("~", "~0").replace("/", "~1")


MASKING = Masking()
