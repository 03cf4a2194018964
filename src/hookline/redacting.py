"""Which variables of an environment are secrets, and an environment without them. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hookline.model import Redaction
from hookline.spotting import shaped
from hookline.telling import LOUD, tells

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

_VARIABLE = re.compile("|".join((*LOUD, "key", "private", "cert")).encode(), re.IGNORECASE)
"""The telling words of masking anywhere in a name, and some that lead to secrets: a hook has to be given those."""


def secret_name(name: bytes) -> bool:
    """Whether a variable of this name is taken for a secret whatever it holds."""
    return name.upper() in BLOCKED or _VARIABLE.search(name) is not None or bool(tells(name.decode("utf-8", "replace")))


def secret_value(value: bytes) -> bool:
    """Whether a value has the shape of a secret."""
    return shaped(value.decode("utf-8", "replace"))


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
