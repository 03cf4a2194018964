"""Values as compact JSON on one line, the way every hook and every tape gets them."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct, to_builtins

from hookline.errors import UsageError
from hookline.wording import kind_of


def compact(value: Any) -> bytes:
    """A value as compact JSON on one line, the way every hook and every tape gets it."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return msgspec.json.encode(_without_surrogates(value))
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"a payload must be made of JSON values: {_strange(value) or error}") from None


def _strange(value: Any, place: str = "") -> str:
    """Where in a value something is that is no JSON, and what."""
    try:
        if isinstance(value, dict):
            found = (_strange(item, f"{place}/{key}") for key, item in value.items())
            return next(filter(None, found), "")
        if isinstance(value, list | tuple):
            return next(filter(None, (_strange(item, f"{place}/{at}") for at, item in enumerate(value))), "")
        msgspec.json.encode(value)
    except RecursionError:
        return "it is nested too deeply, or holds itself"
    except (TypeError, ValueError):
        return f"at {place} is {kind_of(value)}" if place else f"{kind_of(value)} is none"
    return ""


def as_json(value: Any) -> Any:
    """A value as a tape has it; one that is no JSON as it is."""
    try:
        return msgspec.json.decode(compact(value))
    except (UsageError, msgspec.DecodeError, RecursionError):
        return value


def _without_surrogates(value: Any) -> Any:
    """Half a UTF-16 pair has no place in UTF-8; it becomes U+FFFD, as every decoder would make it."""
    if isinstance(value, Struct):
        value = to_builtins(value)
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_surrogates(item) for item in value]
    return value
