"""The few phrases every message is made of."""

from __future__ import annotations

from collections.abc import Iterable

SHOWN = 80


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word a person most likely meant, as `; did you mean 'x'?`, or nothing."""
    from difflib import get_close_matches

    by_lower = {name.lower(): name for name in known}
    found = get_close_matches(word.lower(), by_lower, n=1, cutoff=0.6)
    return f"; did you mean {by_lower[found[0]]!r}?" if found else ""


def shown(value: object) -> str:
    """A value as it is shown in a message: short, on one line, harmless to a terminal."""
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001  (a foreign __repr__ must not take an error message down with it)
        text = f"<{type(value).__name__}>"
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def told(error: BaseException) -> str:
    """An exception in one line, also one that cannot tell of itself; of one that was recorded the line it had then."""
    if (recorded := getattr(error, "recorded_as", None)) is not None:
        return str(recorded)
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # noqa: BLE001  (a foreign __str__)
        return type(error).__name__


def harmless(text: str) -> str:
    """Text from a hook or a payload without the control characters a terminal would obey."""
    return "".join(c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text)


def kind_of(value: object) -> str:
    """What sort of JSON value this is, in the words of JSON."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list() | tuple():
            return "a list"
        case dict():
            return "an object"
        case _:
            name = type(value).__name__
            return f"{'an' if name[:1] in 'aeiouAEIOU' else 'a'} {name}"


def seconds(value: float) -> str:
    """A duration as people say it."""
    return f"{value * 1000:g} ms" if value < 1 else f"{value:g} s"
