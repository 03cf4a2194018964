"""Which names tell of a secret, whatever stands beside them: `password`, `apiKey`, `STRIPE_KEY`. Pure."""

from __future__ import annotations

import re
from functools import cache, lru_cache

LOUD = (
    *("password", "passwd", "passphrase", "passcode", "secret", "token", "credential", "creds", "auth"),
    *("authorization", "pgpass"),
)
"""Words that tell of a secret where a name ends with them. Redaction looks for them anywhere in a variable's name."""

QUIET = frozenset({"pass", "pwd", "cred", "cookie", "bearer", "dsn", "jwt", "otp"})
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

TEXTS, CODES, ALL = 1, 2, 3
"""How much of what is below a name is secret: its texts, also its numbers of four digits or more, also all numbers."""


@cache
def _words() -> re.Pattern[str]:
    return re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


@lru_cache(maxsize=4096)
def tells(name: str) -> int:
    """Whether what goes by this name is a secret whatever it looks like: TEXTS, CODES, ALL of it, or nothing (0)."""
    words = [word.lower() for word in _words().findall(name[-200:])]
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
    if one == "pin":  # that of a card has four digits; that of a chip has two
        return CODES
    if {last, one} & QUIET or last.endswith(LOUD) or one.endswith(LOUD) or (before, one) == ("connection", "string"):
        return ALL
    if one == "key":
        return ALL if before in KEYED or (before and name.isupper() and before not in OPEN) else 0
    return ALL if one.endswith("key") and one[:-3] in KEYED else 0


def counts(telling: int, number: float) -> bool:
    """Whether a number is a secret where a name tells so much."""
    return telling == ALL or (telling == CODES and abs(number) >= 1000)
