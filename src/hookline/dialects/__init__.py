"""The table of dialects. A new one is one file and one line here; each is imported when it is first needed."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any, cast

from hookline.errors import ConfigError, UsageError
from hookline.model import Dialect
from hookline.parsing import parse
from hookline.wording import nearest, shown

DIALECTS = {
    "harness": "hookline.dialects.harness",
    "goose": "hookline.dialects.goose",
    "llxprt": "hookline.dialects.llxprt",
    "harn": "hookline.dialects.harn",
}
"""The dialects that have configuration files."""

SHAPES: dict[str, type] = {"harn": list}
"""What a file has under `hooks`, where it is no map of events: a dialect that cannot be meant is not even imported."""

OURS = {"python": "hookline.dialects.python"}
"""The language of handlers registered with `@hooks.on`, which is our own."""


@cache
def dialect(name: str) -> Dialect:
    """The dialect of this name."""
    if name in OURS:
        return cast("Dialect", import_module(OURS[name]))
    if name not in DIALECTS:
        hint = nearest(name, DIALECTS) if isinstance(name, str) else ""
        raise UsageError(f"no dialect is called {shown(name)}; there are {', '.join(DIALECTS)}{hint}")
    return cast("Dialect", import_module(DIALECTS[name]))


def recognised(document: Any, file: str) -> Dialect:
    """The one dialect a parsed file is plainly in."""
    claims = _claiming(document)
    if len(claims) == 1:
        return dialect(claims[0])
    found = f"could be {' or '.join(claims)}" if claims else "is not recognised as any dialect's"
    raise ConfigError(
        f"{found}; name its dialect: --config DIALECT={file}, or load({file!r}, dialect=...), "
        f"where the dialect is one of {', '.join(DIALECTS)}",
        file=file,
    )


def _claiming(document: Any) -> list[str]:
    """The dialects a parsed file may be in."""
    hooks = document.get("hooks") if isinstance(document, dict) else None
    likely = [name for name in DIALECTS if isinstance(hooks, SHAPES.get(name, dict))]
    return [name for name in likely if dialect(name).claims(document)]


def taken_for_another(data: bytes, file: str, named: Dialect) -> str:
    """How to name a file that is plainly in another dialect than it was said to be; nothing if it is not."""
    try:
        claims = _claiming(parse(data, file))
    except ConfigError:
        return ""
    if len(claims) != 1 or claims[0] == named.NAME:
        return ""
    return f"it looks like a file of {claims[0]}: name it {claims[0]}={file}, or leave the dialect out"
