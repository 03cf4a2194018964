"""Secrets that are known, found in a text however often they were escaped. Pure.

    canaryömläut   canary\\u00f6ml\\u00e4ut   canary\\\\u00f6ml\\\\u00e4ut   canary\\xf6ml\\xe4ut

A secret that is printed as JSON, or as JSON in JSON, is spelled with backslashes. Escaping puts backslashes before a
sign, or a letter or a number in its place. Both the secret and the text are *folded*: without the backslashes, with the
signs that were meant. One that was escaped is in the folded text, however deep.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from functools import cache

Spans = list[tuple[int, int]]

_LETTERS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_HEX = "[0-9a-fA-F]"


@cache
def _escape() -> re.Pattern[str]:
    """A run of backslashes, and what it makes of the sign after it. Each group is one way to name a sign."""
    pair = rf"u(?P<high>[dD][89abAB]{_HEX}{{2}})\\+u(?P<low>[dD][c-fC-F]{_HEX}{{2}})"
    code = rf"u(?P<u>{_HEX}{{4}})|u\{{(?P<braced>{_HEX}{{1,6}})\}}|U(?P<long>{_HEX}{{8}})|x(?P<x>{_HEX}{{2}})"
    return re.compile(rf"\\+(?:{pair}|{code}|(?P<letter>[bfnrt])|(?P<sign>[\"'/])|)")


def _meant(found: re.Match[str]) -> str:
    name = found.lastgroup
    if name is None:
        return ""
    text: str = found[name]
    if name == "sign":
        return text
    if name == "letter":
        return _LETTERS[text]
    if name == "low":
        return chr(0x10000 + ((int(found["high"], 16) - 0xD800) << 10) + int(text, 16) - 0xDC00)
    number = int(text, 16)
    return chr(number) if number <= 0x10FFFF and number != ord("\\") else ""


def folded(text: str) -> str:
    """A text without its backslashes, with what they meant."""
    return _escape().sub(_meant, text) if "\\" in text else text


@cache
def _coded() -> re.Pattern[bytes]:
    return re.compile(rb"\\[uUx][0-9a-fA-F{]")


class Known:
    """Secrets that are known. It is true if there are any."""

    def __init__(self, values: Iterable[str]) -> None:
        self._values = sorted({value for value in values if value}, key=len, reverse=True)
        folds = {fold for value in self._values for fold in _folds(value)}
        self._folds = sorted(filter(None, folds), key=len, reverse=True)
        self._cores = [_core(value) for value in self._values]

    def __bool__(self) -> bool:
        return bool(self._values)

    def suspected(self, line: bytes) -> bool:
        """Whether one of them may be in this JSON: the part of it that is never escaped is, or signs have numbers."""
        if any(core in line for core in self._cores):
            return True
        return self.__bool__() and _coded().search(line) is not None

    def spans(self, text: str) -> Spans:
        """Where they are in a text."""
        found = [span for value in self._values for span in _occurrences(value, text)]
        if self._values and "\\" in text:
            fold = _Fold(text)
            found += [fold.unfolded(span) for value in self._folds for span in _occurrences(value, fold.text)]
        return found


class _Fold:
    """A folded text that knows where its signs were."""

    def __init__(self, text: str) -> None:
        pieces: list[str] = []
        self._steps: list[tuple[int, int, int]] = []  # from here on: where it was; one escape, if it has an end
        size = at = 0
        for found in _escape().finditer(text):
            start, end = found.span()
            if start > at:
                self._steps.append((size, at, 0))
                pieces.append(text[at:start])
                size += start - at
            if sign := _meant(found):
                self._steps.append((size, start, end))
                pieces.append(sign)
                size += 1
            at = end
        if at < len(text):
            self._steps.append((size, at, 0))
            pieces.append(text[at:])
        self.text = "".join(pieces)
        self._starts = [step[0] for step in self._steps]

    def unfolded(self, span: tuple[int, int]) -> tuple[int, int]:
        return self._place(span[0])[0], self._place(span[1] - 1)[1]

    def _place(self, index: int) -> tuple[int, int]:
        start, at, end = self._steps[bisect_right(self._starts, index) - 1]
        return (at, end) if end else (at + index - start, at + index - start + 1)


def _folds(value: str) -> tuple[str, str]:
    """A secret as it is in a folded text; also where its bytes were spelled, as in b'\\xc3\\xb6'."""
    fold = folded(value)
    return fold, fold.encode("utf-8", "surrogatepass").decode("latin-1")


def _core(value: str) -> bytes:
    """The longest part of a secret that no JSON escapes."""
    return max(re.findall(r"[A-Za-z0-9_.-]+", value), key=len, default="").encode()


def _occurrences(value: str, text: str) -> Iterable[tuple[int, int]]:
    at = text.find(value)
    while at >= 0:
        yield at, at + len(value)
        at = text.find(value, at + len(value))
