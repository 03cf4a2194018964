"""A shell text taken apart: its simple commands, their words, and what they read from. Pure: no shell is asked.

Only what is certain has a value: plain and quoted words, and the variables the caller knows. Whatever
else a shell would make of a word (substitutions, globs, other variables) has none. Where the text can
no longer be followed, the rest of it counts as unread. One pass, whatever the text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

DEEPEST = 40
"""Substitutions inside each other that are followed."""

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(?:\[[^\]\s]*\])?\+?=")
_REDIRECTION = re.compile(r"&>>?|<<<|<<-?|<>|<&|>>|>&|>\||<|>")
_HANDLE = re.compile(r"\d+|\{[A-Za-z_]\w*\}")
_NAME = re.compile(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")
_ARITHMETIC = re.compile(r"\$?\(\([^()'\"`\\${}]*\)\)")
_EMPTY = re.compile(r"\([ \t]*\)")
_ANSI = re.compile(r"((?:[^'\\]|\\.)*)'", re.DOTALL)
_ENDS = frozenset(" \t\n;|&()<>")
_PLAIN = re.compile(r"[^\s;|&()<>\\'\"$`~*?\[{#]+")
_QUOTED = re.compile(r'[^"\\$`]+')


class Word(Struct, frozen=True):
    """One word: where it stands, and its value if that is certain.

    `expanded` says that a variable is in it, `assigns` which variable it would set.
    """

    start: int
    end: int
    value: str | None
    expanded: bool = False
    assigns: str = ""


class Input(Struct, frozen=True):
    """What a command reads: a file, a word given as it is, or the lines of a here-document."""

    kind: Literal["file", "string", "lines"]
    word: Word


class Simple(Struct, frozen=True):
    """One simple command: its words, what it reads from, and the subshell it is in, with the one around that."""

    scope: int
    outer: int
    words: list[Word]
    inputs: list[Input]


class Unread(Exception):
    """From here on the text cannot be read."""


class _Here(Struct, frozen=True):
    """A here-document whose lines are still to come."""

    command: Simple
    ending: str
    literal: bool
    tabs: bool


class Scan:
    """The simple commands of a shell text, also those inside substitutions; `unread` is what could not be followed."""

    def __init__(self, text: str, variables: Mapping[str, str]) -> None:
        self.text, self.variables = text, variables
        self.commands: list[Simple] = []
        self.unread: list[str] = []
        self._at = 0
        self._scopes = [0]
        self._number = 0
        self._depth = 0
        try:
            self._list(0, "")
        except Unread:
            self.unread.append(text[self._at :])

    def _list(self, at: int, closing: str) -> int:
        """Commands up to the closing sign; where they end."""
        text = self.text
        if self._depth > DEEPEST:
            raise Unread
        depth = len(self._scopes)
        if closing:
            self._enter()
        command = self._command()
        due: list[_Here] = []
        test = False
        while at < len(text):
            self._at = at
            sign = text[at]
            if sign == closing and len(self._scopes) == depth + 1:
                if due:
                    raise Unread
                self._scopes.pop()
                return at + 1
            if sign in " \t" or text.startswith("\\\n", at):
                at += 1 if sign in " \t" else 2
            elif sign == "#":
                at = self._comment(at)
            elif not text.startswith(("<(", ">("), at) and (found := _REDIRECTION.match(text, at)):
                at = self._redirected(found, command, due)
            elif sign == "(":
                at = self._opened(at, command, test=test)
                command = self._command()
            elif sign in "\n;|&)":
                at += 1
                if sign == "\n" and due:
                    at = self._lines(at, due)
                if sign == ")" and len(self._scopes) > depth + bool(closing):
                    self._scopes.pop()
                command = self._command()
            else:
                word = self._word(at)
                raw = text[at : word.end]
                if (due and "\n" in raw) or (closing and word.value == "case"):
                    raise Unread  # a here-document in the middle of a word; a ) that closes nothing
                test = raw == "[[" or (test and raw != "]]")
                at = word.end
                if not (text[at : at + 1] in ("<", ">") and _HANDLE.fullmatch(raw)):
                    command.words.append(word)
        if closing or due:
            raise Unread
        return at

    def _comment(self, at: int) -> int:
        """Past a comment. After a parenthesis it may be a word that goes on, and nobody can tell."""
        text = self.text
        if text[max(at - 1, 0) : at] == ")" or text[max(at - 2, 0) : at] == "\\\n":
            raise Unread
        end = text.find("\n", at)
        return len(text) if end < 0 else end

    def _opened(self, at: int, command: Simple, *, test: bool) -> int:
        """Past arithmetic, or into a subshell, a list of values or a function; what else it may be is not read."""
        text = self.text
        if not test and (arithmetic := _ARITHMETIC.match(text, at)):
            return arithmetic.end()
        beside = at > 0 and text[at - 1] not in " \t\n;|&(<>"
        allowed = _EMPTY.match(text, at) or (command.words and command.words[-1].assigns and text[at - 1] == "=")
        if test or text.startswith("((", at) or (beside and not allowed):
            raise Unread
        self._enter()
        return at + 1

    def _enter(self) -> None:
        self._number += 1
        self._scopes.append(self._number)

    def _command(self) -> Simple:
        made = Simple(self._scopes[-1], self._scopes[-2] if len(self._scopes) > 1 else 0, [], [])
        self.commands.append(made)
        return made

    def _redirected(self, found: re.Match[str], command: Simple, due: list[_Here]) -> int:
        """What is written to stays as it is; what is read counts as named."""
        at = found.end()
        while at < len(self.text) and (self.text[at] in " \t" or self.text.startswith("\\\n", at)):
            at += 1 if self.text[at] in " \t" else 2
        word = self._word(at)
        if found[0] in ("<<", "<<-"):
            raw = self.text[word.start : word.end]
            if word.value is None or word.expanded or not raw or "\n" in raw:
                raise Unread
            due.append(_Here(command, word.value, raw != word.value, found[0] == "<<-"))
        elif found[0] in ("<", "<>"):
            command.inputs.append(Input("file", word))
        elif found[0] == "<<<":
            command.inputs.append(Input("string", word))
        elif found[0] == "<&":
            command.inputs.append(Input("file", Word(word.start, word.end, None)))
        return word.end

    def _lines(self, at: int, due: list[_Here]) -> int:
        """The here-documents that begin here; where the last one ends."""
        text = self.text
        for here in due:
            start = at
            while True:
                if at >= len(text):
                    raise Unread
                stop = text.find("\n", at)
                stop = len(text) if stop < 0 else stop
                line = text[at:stop]
                if (line.lstrip("\t") if here.tabs else line) == here.ending:
                    break
                at = stop + 1
            body = text[start:at]
            known = here.literal or not re.search(r"[$`\\]", body)
            if not known and re.search(r"\\\n|\$\(|\$\{|\$\[|`", body):
                self.unread.append(body)
                if "\\\n" in body:
                    raise Unread
            here.command.inputs.append(Input("lines", Word(start, at, body if known else None)))
            at = min(stop + 1, len(text))
        due.clear()
        return at

    def _word(self, at: int) -> Word:
        text, start = self.text, at
        parts: list[str | None] = []
        pattern = False
        while at < len(text):
            sign = text[at]
            if plain := _PLAIN.match(text, at):
                parts.append(plain[0])
                at = plain.end()
            elif text.startswith(("<(", ">("), at):
                at = self._nested(at + 2)
                parts.append(None)
            elif sign in _ENDS:
                break
            elif sign == "\\":
                if at + 1 == len(text):
                    raise Unread
                parts.append("" if text[at + 1] == "\n" else text[at + 1])
                at += 2
            elif sign == "'":
                end = self._find("'", at + 1)
                parts.append(text[at + 1 : end])
                at = end + 1
            elif sign == '"':
                at = self._double(at + 1, parts)
            elif sign in "$`":
                at = self._substituted(at, parts)
            elif sign == "~" and at == start:
                follows = text[at + 1 : at + 2]
                parts.append(self.variables.get("HOME") if not follows or follows in "/ \t\n;|&()<>" else None)
                at += 1
            elif sign == "~" and text[at - 1] in "=:":  # a home in an assignment, and nothing elsewhere
                parts.append(None)
                at += 1
            else:
                pattern = pattern or sign in "*?[{"
                parts.append(sign)
                at += 1
        raw = text[start:at]
        braces = "{" in raw and not ("," in raw or ".." in raw)
        if pattern and raw not in ("[", "[[", "{") and not (braces and not set(raw) & set("*?[")):
            parts.append(None)
        known = [part for part in parts if part is not None]
        expanded = any(sign in raw for sign in "$`~")
        name = _ASSIGNMENT.match(raw)
        value = "".join(known) if len(known) == len(parts) else None
        return Word(start, at, value, expanded, name[1] if name else "")

    def _double(self, at: int, parts: list[str | None]) -> int:
        """What stands between double quotes, into `parts`; where it ends."""
        text = self.text
        while at < len(text):
            sign = text[at]
            if sign == '"':
                return at + 1
            if plain := _QUOTED.match(text, at):
                parts.append(plain[0])
                at = plain.end()
            elif sign == "\\" and text[at + 1 : at + 2] in ("$", "`", '"', "\\", "\n"):
                parts.append("" if text[at + 1] == "\n" else text[at + 1])
                at += 2
            elif sign in "$`":
                at = self._substituted(at, parts, quoted=True)
            else:
                parts.append(sign)
                at += 1
        raise Unread

    def _nested(self, at: int) -> int:
        self._depth += 1
        end = self._list(at, ")")
        self._depth -= 1
        return end

    def _substituted(self, at: int, parts: list[str | None], *, quoted: bool = False) -> int:
        """What begins with a $ or a backtick: a variable we know, or something only the shell knows."""
        text = self.text
        follows = text[at + 1 : at + 2]
        if found := _NAME.match(text, at):
            parts.append(self.variables.get(found[1] or found[2]))
            return found.end()
        if text[at] == "`":
            end = self._find("`", at + 1, plain=True)
            self.unread.append(text[at : end + 1])
        elif text.startswith("$((", at):
            arithmetic = _ARITHMETIC.match(text, at)
            if not arithmetic:
                raise Unread
            end = arithmetic.end() - 1
        elif follows == "(":
            parts.append(None)
            return self._nested(at + 2)
        elif follows == "{":
            end = self._find("}", at + 2, plain=True)
        elif follows == "[":  # arithmetic as it once was
            raise Unread
        elif follows in ("'", '"') and not quoted:
            if follows == '"':
                return self._double(at + 2, parts)
            closing = _ANSI.match(text, at + 2)
            if not closing:
                raise Unread
            end = closing.end() - 1
            if "\\" not in closing[1]:
                parts.append(closing[1])
                return end + 1
        elif follows and (follows.isalnum() or follows in "?@*#!$-_"):
            end = at + 1
        else:
            parts.append("$")
            return at + 1
        parts.append(None)
        return end + 1

    def _find(self, what: str, at: int, *, plain: bool = False) -> int:
        """Where this comes next. Where what is before it must be `plain` and is not, only a shell can tell."""
        end = self.text.find(what, at)
        if end < 0 or (plain and set(self.text[at:end]) & set("'\"`\\${(")):
            raise Unread
        return end
