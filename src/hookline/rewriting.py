"""A command with other words in the place of some: every word is shown to a visitor, with the part it plays.

Texts for a shell are looked into, also those inside each other, and the directory they are in by then is
kept track of. Nothing is expanded by a shell, and nothing is executed.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence

from hookline.programs import ARITHMETIC, PLAIN, SHELLS, Parts, Role
from hookline.shelltext import Input, Scan, Simple, Word
from hookline.shellwords import parts

DEEPEST = 12
LARGEST = 2 * 1024 * 1024
"""Texts inside texts that are looked into, and how much there may be of them all."""

LONGEST_PLACE = 4096
DECLARES = frozenset(("export", "declare", "typeset", "local", "readonly"))
SETS = frozenset(("read", "readarray", "mapfile", "printf", "unset", "getopts", "declare", "typeset", "local"))
"""Builtins that set a variable: as in an assignment, or by its name."""

_OPTION_VALUE = re.compile(r"-{0,2}[\w.-]+=")
_SUBSTITUTION = re.compile(r"\$\(|`|\$\{|<\(|\$\[")

Edits = list[tuple[int, int, str]]


class Visitor:
    """Is shown every word, and may put another in its place."""

    def word(self, value: str, role: Role) -> str | None:
        """What to put in the place of this word; None leaves it."""
        return None

    def unknown(self, raw: str, role: Role) -> None:
        """A word, or a part of the text, that only a shell can read."""

    def lost(self, raw: str, role: Role) -> None:
        """A relative path, after the text has changed its directory nobody knows where to."""

    def assigned(self, name: str, value: str | None) -> None:
        """A variable is set, to this if that is known."""

    def phrase(self, value: str) -> None:
        """A word of a program that may take it for more than one word."""

    def doubt(self, text: str) -> None:
        """What may be run and is not looked at, in words."""

    def deep(self, raw: str) -> None:
        """A text inside so many others that it is not looked into."""


def rewritten(text: str, variables: Mapping[str, str], visitor: Visitor) -> str:
    """A shell text in which the visitor has put other words in the place of some."""
    return _Walk(variables, visitor).text(text, "", 0)[0]


def rewritten_words(words: Sequence[str], variables: Mapping[str, str], visitor: Visitor) -> tuple[str, ...]:
    """The same for a command that is words already."""
    walk = _Walk(variables, visitor)
    found = parts(words)
    walk.told(found)
    if found.reads:
        visitor.doubt(_reading(found.reads))
    here = None if found.moved else ""
    made: list[str] = []
    for index, (word, role) in enumerate(zip(words, found.roles, strict=True)):
        if index == found.joined:
            inner = walk.text(" ".join(words[index:]), here, 1)[0]
            return (*made, *(words[index:] if inner == " ".join(words[index:]) else (inner,)))
        name, sign, value = word.partition("=")
        if role == "word" and sign and index < found.last and name.isidentifier():
            visitor.assigned(name, value)
        elif role == "word" and index > found.last and words[found.last] not in PLAIN:
            visitor.phrase(word)
        if role == "text":
            made.append(walk.text(word, here, 1)[0])
            continue
        if role == "code":
            made.append(word)
            continue
        placed = walk.placed(word, word, role, here)
        new = visitor.word(placed, role)
        head = _OPTION_VALUE.match(word)
        if new is None and head and role == "word":
            part = visitor.word(word[head.end() :], role)
            new = None if part is None else head[0] + part
        made.append(word if new is None else new)
    return tuple(made)


def _reading(name: str) -> str:
    return f"{name} runs what it is given on its input, which is not covered"


class _Walk:
    def __init__(self, variables: Mapping[str, str], visitor: Visitor) -> None:
        self.variables, self.visitor = variables, visitor
        self.left = LARGEST

    def text(self, text: str, here: str | None, depth: int) -> tuple[str, str | None]:
        """One text that begins in this directory: what it becomes, and the directory it ends in."""
        self.left -= len(text)
        if depth > DEEPEST or self.left < 0:
            self.visitor.deep(text)
            return text, None
        scan = Scan(text, self.variables)
        edits: Edits = []
        places: dict[int, str | None] = {0: here}
        for command in scan.commands:
            if not command.words and not command.inputs:
                continue
            now = places.setdefault(command.scope, places.get(command.outer))
            edits += self._command(text, command, now, depth, places)
        for raw in scan.unread:
            self.visitor.unknown(raw, "text")
        pieces, at = [], 0
        for start, end, new in sorted(edits):
            if start < at:
                continue
            pieces += [text[at:start], new]
            at = end
        return "".join((*pieces, text[at:])), places[0]

    def _command(
        self, text: str, command: Simple, here: str | None, depth: int, places: dict[int, str | None]
    ) -> Edits:
        values = [_valued(word) for word in command.words]
        found = parts(values)
        self.told(found)
        inside = None if found.moved else here
        program = values[found.last] if found.last >= 0 else ""
        edits: Edits = []
        for index, (word, role) in enumerate(zip(command.words, found.roles, strict=True)):
            raw = text[word.start : word.end]
            if word.assigns and role == "word":
                if index < found.last or program not in PLAIN or program in DECLARES:
                    self.visitor.assigned(word.assigns, self._value(word))
            elif role == "word" and word.value:
                if program in SETS or values[0] in ("for", "select"):
                    self.visitor.assigned(word.value, None)
                if program not in PLAIN:
                    self.visitor.phrase(word.value)
            late = role in ("word", "code") and (program in ARITHMETIC or word.assigns)
            if late and _SUBSTITUTION.search(word.value or ""):
                self.visitor.unknown(raw, "text")
            if index == found.joined:
                made, after = self._joined(text, command.words[index:], inside, depth)
                edits += made
                if found.here:
                    places[command.scope] = after
                break
            if role == "text" and word.value is not None and not word.expanded:
                inner = self.text(word.value, inside, depth + 1)[0]
                edits += [(word.start, word.end, shlex.quote(inner))] if inner != word.value else []
            elif role == "text" or (word.value is None and role != "code"):
                self.visitor.unknown(raw, role)
            elif role != "code":
                edits += self._edit(text, word, role, inside)
        edits += self._read(text, command.inputs, found, here, depth)
        if not found.here:
            places[command.scope] = _moved(here, values, found)
        return edits

    def told(self, found: Parts) -> None:
        for text in found.doubts:
            self.visitor.doubt(text)

    def _value(self, word: Word) -> str | None:
        """What a variable is set to."""
        if word.value is None:
            return None
        name, _, value = word.value.partition("=")
        return self.variables.get(word.assigns, "") + value if name.endswith("+") else value

    def _joined(self, text: str, words: Sequence[Word], here: str | None, depth: int) -> tuple[Edits, str | None]:
        """The words of eval, which are one text."""
        if any(word.value is None or word.expanded for word in words):
            self.visitor.unknown(text[words[0].start : words[-1].end], "text")
            return [], None
        whole = " ".join(word.value or "" for word in words)
        inner, after = self.text(whole, here, depth + 1)
        if inner == whole:
            return [], after
        first, *rest = words
        return [(first.start, first.end, shlex.quote(inner)), *((word.start, word.end, "") for word in rest)], after

    def _read(self, text: str, inputs: Sequence[Input], found: Parts, here: str | None, depth: int) -> Edits:
        """What a command reads from. Where it runs that, it is a script, or a text."""
        edits: Edits = []
        covered = False
        for given in inputs:
            word = given.word
            raw = text[word.start : word.end]
            if given.kind == "file":
                if word.value is None:
                    self.visitor.unknown(raw, "script" if found.reads else "word")
                elif word.value == "/dev/null":
                    covered = True
                else:
                    covered = True
                    edits += self._edit(text, word, "script" if found.reads else "word", here)
            elif found.reads:
                if word.value is None or (word.expanded and given.kind == "string"):
                    self.visitor.unknown(raw, "text")
                elif SHELLS.fullmatch(found.reads):
                    covered = True
                    inner = self.text(word.value, here, depth + 1)[0]
                    if inner != word.value:
                        edits.append((word.start, word.end, shlex.quote(inner) if given.kind == "string" else inner))
            elif word.value is None and given.kind == "string":
                self.visitor.unknown(raw, "word")
        if found.reads and not covered:
            self.visitor.doubt(_reading(found.reads))
        return edits

    def placed(self, value: str, raw: str, role: Role, here: str | None) -> str:
        """A word as a path from where the text is by now. What cannot be a path, or needs no directory, stays."""
        if here == "" or os.path.isabs(value) or (role == "program" and "/" not in value):
            return value
        if here is None:
            self.visitor.lost(raw, role)
            return ""
        head = _OPTION_VALUE.match(value) if role == "word" else None
        if value.startswith("-") and not head:
            return value
        start = head.end() if head else 0
        return value[:start] + os.path.join(here, value[start:])

    def _edit(self, text: str, word: Word, role: Role, here: str | None) -> Edits:
        value = self.placed(word.value or "", text[word.start : word.end], role, here)
        new = self.visitor.word(value, role)
        if new is not None:
            return [(word.start, word.end, shlex.quote(new))]
        head = _OPTION_VALUE.match(text, word.start, word.end)
        if head and role == "word" and value.startswith(head[0]):
            part = self.visitor.word(value[len(head[0]) :], role)
            if part is not None:
                return [(head.end(), word.end, shlex.quote(part))]
        return []


def _valued(word: Word) -> str | None:
    return f"{word.assigns}=" if word.value is None and word.assigns else word.value


def _moved(here: str | None, values: Sequence[str | None], found: Parts) -> str | None:
    """The directory after a command, relative to the one the text begins in; None where nobody knows."""
    at = found.last
    if at < 0 or values[at] not in ("cd", "pushd", "popd"):
        return here
    targets = [value for value in values[at + 1 :] if value is None or not value.startswith("-") or value == "-"]
    target = targets[0] if len(targets) == 1 else None
    if target is None or target == "-" or values[at] == "popd":
        return None
    place = target if os.path.isabs(target) else None if here is None else os.path.join(here, target)
    return place if place is None or len(place) < LONGEST_PLACE else None
