"""The words of a shell text, where they stand in it, and what part they play. Pure: nothing is expanded by a shell.

Only what is certain has a value: plain and quoted words, and the variables the caller knows. Whatever
else a shell would make of a word (substitutions, globs, other variables) has none.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

Role = Literal["program", "script", "text", "word"]
"""What a word is in its command: the program, a file its interpreter runs, a text for a shell, or anything else."""

SHELLS = re.compile(r"(?:ba|da|z|k|fi|a)?sh")
INTERPRETERS = re.compile(r"python[\d.]*|pypy[\d.]*|node|nodejs|bun|deno|tsx|ruby|perl|php|lua|Rscript|osascript|awk")
PREFIXES = frozenset({"env", "exec", "command", "nohup", "setsid", "nice", "time", "timeout", "sudo", "stdbuf", "uv"})
"""Programs that run the program that follows them."""

KEYWORDS = frozenset({"if", "then", "else", "elif", "while", "until", "do", "!", "{", "&&", "||"})
INLINE = frozenset({"-c", "-e", "-m", "-p", "-E", "--eval", "--print", "-"})
"""Options of interpreters after which no script follows."""

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_OPTION_VALUE = re.compile(r"-{0,2}[\w.-]+=")
_REDIRECTION = re.compile(r"&>>?|<<<|<<-?|<>|<&|>>|>&|>\||<|>")
_NAME = re.compile(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")
_ENDS = frozenset(" \t\n;|&()<>")


class Word(Struct, frozen=True):
    """One word: where it stands, and its value if that is certain. `expanded` says that a variable is in it."""

    start: int
    end: int
    value: str | None
    expanded: bool = False


class Simple(Struct, frozen=True):
    """One simple command: its words, what it reads from, and the subshell it is in, with the one around that."""

    scope: int
    outer: int
    words: list[Word]
    inputs: list[Word]


class Visitor:
    """Is shown every word, and may put another in its place."""

    def word(self, value: str, role: Role) -> str | None:
        """What to put in the place of this word; None leaves it."""
        raise NotImplementedError

    def unknown(self, raw: str, role: Role) -> None:
        """A word, or a part of the text, that only a shell can read."""

    def lost(self, raw: str, role: Role) -> None:
        """A relative path, after the text has changed its directory nobody knows where to."""


def roles(words: Sequence[str | None]) -> list[Role]:
    """The part each word of one simple command plays."""
    found: list[Role] = ["word"] * len(words)
    at = 0
    while at < len(words) and (words[at] in KEYWORDS or _ASSIGNMENT.match(words[at] or "")):
        at += 1
    if at == len(words):
        return found
    found[at] = "program"
    name = os.path.basename(words[at] or "")
    if name in PREFIXES:
        at += 1
        while at < len(words) and re.match(r"-|[\d.]+[smhd]?$|[A-Za-z_]\w*=|run$", words[at] or ""):
            at += 1
        return found[:at] + roles(words[at:])
    if name in ("source", ".") and at + 1 < len(words):
        found[at + 1] = "script"
    elif SHELLS.fullmatch(name) or INTERPRETERS.fullmatch(name):
        _operand(words, at + 1, found, shell=bool(SHELLS.fullmatch(name)))
    elif name == "eval":
        found[at + 1 :] = ["text"] * (len(words) - at - 1)
    return found


def _operand(words: Sequence[str | None], at: int, found: list[Role], *, shell: bool) -> None:
    """Mark what an interpreter runs: its first operand, or the text after a shell's -c."""
    role: Role = "script"
    for index in range(at, len(words)):
        word = words[index] or ""
        if shell and re.match(r"-[a-z]*c", word):
            role = "text"
        elif not shell and word in INLINE:
            return
        elif not word.startswith("-") and word != "run":
            found[index] = role
            return


def rewritten(text: str, variables: Mapping[str, str], visitor: Visitor) -> str:
    """A shell text in which the visitor has put other words in the place of some."""
    scan = _Scan(text, variables)
    edits: list[tuple[int, int, str]] = []
    places: dict[int, str | None] = {0: ""}
    for command in scan.commands:
        here = places.setdefault(command.scope, places.get(command.outer))
        values = [word.value for word in command.words]
        parts = roles(values)
        for word, role in zip(command.words, parts, strict=True):
            edits += _edit(text, _from(here, text, word, role, visitor), role, variables, visitor)
        for word in command.inputs:
            edits += _edit(text, _from(here, text, word, "word", visitor), "word", variables, visitor)
        places[command.scope] = _moved(here, values, parts)
    for raw in scan.unread:
        visitor.unknown(raw, "text")
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def rewritten_words(words: Sequence[str], variables: Mapping[str, str], visitor: Visitor) -> tuple[str, ...]:
    """The same for a command that is words already."""
    made = []
    for word, role in zip(words, roles(words), strict=True):
        if role == "text":
            made.append(rewritten(word, variables, visitor))
            continue
        new = visitor.word(word, role)
        head = _OPTION_VALUE.match(word)
        if new is None and head and role == "word":
            part = visitor.word(word[head.end() :], role)
            new = None if part is None else head[0] + part
        made.append(word if new is None else new)
    return tuple(made)


def _moved(here: str | None, values: Sequence[str | None], parts: Sequence[Role]) -> str | None:
    """The directory after a command, relative to the one the text begins in; None where nobody knows."""
    at = parts.index("program") if "program" in parts else len(values)
    if at == len(values) or values[at] not in ("cd", "pushd", "popd"):
        return here
    targets = [value for value in values[at + 1 :] if value is None or not value.startswith("-")]
    target = targets[0] if len(targets) == 1 else None
    if target is None or values[at] == "popd":
        return None
    return target if os.path.isabs(target) else None if here is None else os.path.join(here, target)


def _from(here: str | None, text: str, word: Word, role: Role, visitor: Visitor) -> Word:
    """A word as a path from where the text is by now. What cannot be a path, or needs no directory, stays."""
    value = word.value
    if here == "" or value is None or os.path.isabs(value) or role == "text":
        return word
    if role == "program" and "/" not in value:
        return word
    if here is None:
        visitor.lost(text[word.start : word.end], role)
        return replace(word, value="")
    head = _OPTION_VALUE.match(value) if role == "word" else None
    if value.startswith("-") and not head:
        return word
    start = head.end() if head else 0
    return replace(word, value=value[:start] + os.path.join(here, value[start:]))


def _edit(
    text: str, word: Word, role: Role, variables: Mapping[str, str], visitor: Visitor
) -> list[tuple[int, int, str]]:
    if word.value is None:
        visitor.unknown(text[word.start : word.end], role)
        return []
    if role == "text" and not word.expanded:
        inner = rewritten(word.value, variables, visitor)
        return [(word.start, word.end, shlex.quote(inner))] if inner != word.value else []
    if role == "text":
        visitor.unknown(text[word.start : word.end], role)
        return []
    new = visitor.word(word.value, role)
    if new is not None:
        return [(word.start, word.end, shlex.quote(new))]
    head = _OPTION_VALUE.match(text, word.start, word.end)
    if head and role == "word" and word.value.startswith(head[0]):
        part = visitor.word(word.value[len(head[0]) :], role)
        if part is not None:
            return [(head.end(), word.end, shlex.quote(part))]
    return []


class _Unread(Exception):
    """From here on the text cannot be read."""


class _Scan:
    """A shell text taken apart: simple commands, also those inside substitutions, and what they read from."""

    def __init__(self, text: str, variables: Mapping[str, str]) -> None:
        self.text, self.variables = text, variables
        self.commands: list[Simple] = []
        self.unread: list[str] = []
        self._here = False
        self._at = 0
        self._scopes = [0]
        self._number = 0
        try:
            self._list(0, "")
        except (_Unread, RecursionError):
            self.unread.append(text[self._at :])

    def _list(self, at: int, closing: str) -> int:
        """Commands up to the closing sign; where they end."""
        text = self.text
        depth = len(self._scopes)
        if closing:
            self._enter()
        command = self._command()
        while at < len(text):
            self._at = at
            sign = text[at]
            redirection = _REDIRECTION.match(text, at)
            if sign == closing and len(self._scopes) == depth + 1:
                self._scopes.pop()
                return at + 1
            if text.startswith("\\\n", at):
                at += 2
            elif sign in " \t":
                at += 1
            elif sign == "#":
                at = (text + "\n").index("\n", at)
            elif text.startswith(("<(", ">("), at):
                at = self._list(at + 2, ")")
            elif redirection:
                at = self._redirected(redirection, command)
            elif sign in "\n;|&()":
                if sign == "\n" and self._here:
                    raise _Unread
                if sign == "(":
                    self._enter()
                elif sign == ")" and len(self._scopes) > depth + bool(closing):
                    self._scopes.pop()
                command = self._command()
                at += 1
            else:
                word = self._word(at)
                command.words.append(word)
                at = word.end
        if closing:
            raise _Unread
        return at

    def _enter(self) -> None:
        self._number += 1
        self._scopes.append(self._number)

    def _command(self) -> Simple:
        made = Simple(self._scopes[-1], self._scopes[-2] if len(self._scopes) > 1 else 0, [], [])
        self.commands.append(made)
        return made

    def _redirected(self, found: re.Match[str], command: Simple) -> int:
        """What is written to stays as it is; what is read counts as named."""
        at = found.end()
        while at < len(self.text) and self.text[at] in " \t":
            at += 1
        if found[0] in ("<<", "<<-"):
            self._here = True
        word = self._word(at)
        if found[0] == "<":
            command.inputs.append(word)
        return word.end

    def _word(self, at: int) -> Word:
        text, start = self.text, at
        parts: list[str | None] = []
        pattern = False
        while at < len(text) and text[at] not in _ENDS:
            sign = text[at]
            if sign == "\\":
                if at + 1 == len(text):
                    raise _Unread
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
        return Word(start, at, "".join(known) if len(known) == len(parts) else None, expanded)

    def _double(self, at: int, parts: list[str | None]) -> int:
        """What stands between double quotes, into `parts`; where it ends."""
        text = self.text
        while at < len(text):
            sign = text[at]
            if sign == '"':
                return at + 1
            if sign == "\\" and text[at + 1 : at + 2] in ("$", "`", '"', "\\", "\n"):
                parts.append("" if text[at + 1] == "\n" else text[at + 1])
                at += 2
            elif sign in "$`":
                at = self._substituted(at, parts, quoted=True)
            else:
                parts.append(sign)
                at += 1
        raise _Unread

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
            end = self._find("))", at + 3, plain=True) + 1
        elif follows == "(":
            parts.append(None)
            return self._list(at + 2, ")")
        elif follows == "{":
            end = self._find("}", at + 2, plain=True)
        elif follows == "[":  # arithmetic as it once was
            raise _Unread
        elif follows in ("'", '"') and not quoted:
            if follows == '"':
                return self._double(at + 2, parts)
            closing = re.compile(r"(?:[^'\\]|\\.)*'", re.DOTALL).match(text, at + 2)
            if not closing:
                raise _Unread
            end = closing.end() - 1
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
            raise _Unread
        return end
