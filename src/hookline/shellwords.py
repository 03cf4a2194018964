"""Which word of a command is what: the program, a file that is run, a text for a shell, the text of a program.

The tables say how the shells, the interpreters and the programs that run other programs read their
words. What they do not say is a doubt, in words: nobody is told that something is covered that is not.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from hookline.interpreters import interpreted, run
from hookline.programs import (
    BUILDERS,
    FED,
    INTERPRETERS,
    KEYWORDS,
    MOVING,
    PLAIN,
    QUIET,
    RUNNERS,
    SHELLS,
    WRAPPERS,
    Parts,
    Role,
    Wrapper,
)

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(?:\[[^\]\s]*\])?\+?=")


def roles(words: Sequence[str | None]) -> list[Role]:
    """The part each word of one simple command plays."""
    return parts(words).roles


def parts(words: Sequence[str | None]) -> Parts:
    """What the words of one simple command are, and what about them is in doubt. One pass over them."""
    found = Parts(["word"] * len(words))
    _chain(words, found, "")
    return found


def _chain(words: Sequence[str | None], found: Parts, fed: str) -> None:
    """From one program to the one it runs, to the last."""
    at = 0
    found.tests = max((index for index, word in enumerate(words) if word == "]]"), default=-1)
    while at >= 0:
        at = _begin(words, at)
        if at >= len(words):
            return
        at, fed = _program(words, at, found, fed)


def _begin(words: Sequence[str | None], at: int) -> int:
    """Past keywords and assignments."""
    while at < len(words):
        word = words[at] or ""
        if word == "function" or (word == "coproc" and at + 2 < len(words) and words[at + 2] in KEYWORDS):
            at += 1
        elif word not in KEYWORDS and not _ASSIGNMENT.match(word):
            break
        at += 1
    return at


def _program(words: Sequence[str | None], at: int, found: Parts, fed: str) -> tuple[int, str]:
    """One program and its words; where another begins that it runs, or -1, and who feeds that one."""
    found.roles[at] = "program"
    found.last = at
    word = words[at] or ""
    name = os.path.basename(word)
    if fed and "{}" in word:
        found.doubt(f"{fed} runs what it is given on its input, which is not covered")
        found.roles[at] = "word"
    if name not in WRAPPERS and at <= found.tests:
        return _after(words, words.index("]]", at)), ""
    if name in ("for", "select") and (end := _index(words, "do", at)) >= 0:
        return _after(words, end), ""
    if name in RUNNERS:
        return _runner(words, at, found, name), fed
    if name in WRAPPERS:
        return _wrapped(words, at, found, fed)
    if name in ("find", "fd", "fdfind"):
        return _finding(words, at, found), "find"
    if name in ("source", "."):
        _sourced(words, at + 1, found, name)
    elif name == "eval":
        _together(words, at + 1, found, fed or name)
        found.here = True
    elif name == "trap":
        _trapped(words, at + 1, found)
    elif name in ("mapfile", "readarray", "compgen") and ("-C" in words[at:] or None in words[at:]):
        found.doubt(f"{name} may run one of its words, which is not covered")
    elif name in ("alias", "enable") and at + 1 < len(words):
        found.doubt(f"what {name} puts in the place of other commands is not covered")
    elif SHELLS.fullmatch(name):
        _shell(words, at, found, fed)
    elif INTERPRETERS.fullmatch(name):
        interpreted(words, at, found, name, fed)
    elif name in BUILDERS:
        found.doubt(f"{name} runs what other files or its own words tell it to, which is not covered")
        _perhaps(words, at, found)
    elif name not in PLAIN:
        _perhaps(words, at, found)
    return -1, ""


def _index(words: Sequence[str | None], what: str, at: int) -> int:
    try:
        return words.index(what, at)
    except ValueError:
        return -1


def _after(words: Sequence[str | None], at: int) -> int:
    return at + 1 if at + 1 < len(words) else -1


def _wrapped(words: Sequence[str | None], at: int, found: Parts, fed: str) -> tuple[int, str]:
    """Past the options and operands of a program that runs another."""
    name = os.path.basename(words[at] or "")
    table = WRAPPERS[name]
    begins, at, left = at, at + 1, table.operands
    while at < len(words):
        word = words[at]
        if word is None and left == 0:
            found.doubt(f"only a shell knows all the words of {name}, so what it runs is not covered")
            found.roles[at] = "program"
            _perhaps(words, at, found)
            return -1, ""
        if word == "--" and left == 0:
            at += 1
            break
        if name == "flock" and word in ("-c", "--command"):
            found.roles[at + 1 : at + 2] = ["text"] * len(words[at + 1 : at + 2])
            return -1, ""
        if word and word.startswith("-") and word != "--":
            at = _skipped(words, at, found, table, name)
        elif name in ("env", "sudo", "doas") and _ASSIGNMENT.match(word or ""):
            at += 1
        elif left and word != "--":
            left -= 1
            at += 1
        elif word == "--":
            at += 1
        else:
            break
    used = [word for word in words[begins + 1 : at] if word]
    found.moved = found.moved or name == "chroot" or any(MOVING[name].match(word) for word in used if name in MOVING)
    if name == "env" and any(re.match(r"-[iv0]*S|--split", word) for word in used):
        found.doubt("what env makes of the words after -S is not covered")
    if name == "command" and any(re.fullmatch(r"-p?[vV]", word) for word in used):
        return -1, ""
    if table.joined:
        if at < len(words):
            _together(words, at, found, name)
        return -1, ""
    if name == "xargs":
        replaces = any(re.match(r"-[0oprtx]*[Ii]|--replace", word) for word in used)
        fed = "xargs -I" if replaces else "xargs"
        if replaces:
            found.doubt("xargs puts what it is given on its input into what it runs, which is not covered")
    if at >= len(words):
        if fed:
            found.doubt(f"{fed} runs what it is given on its input, which is not covered")
        return -1, ""
    return at, fed


def _skipped(words: Sequence[str | None], at: int, found: Parts, table: Wrapper, name: str) -> int:
    """Past one option, and its value. One that is not known may have a value or not: that is a doubt."""
    word = words[at] or ""
    if word.startswith("--"):
        if word in table.long:
            return at + 2
        if ("=" not in word and not re.fullmatch(r"--[a-z-]+", word)) or (
            "=" not in word and name not in ("env", "sudo", "timeout", "xargs", "nice", "stdbuf", "watch", "time")
        ):
            found.doubt(f"{name} has an option {word} that is not known here, so what it runs may not be covered")
        return at + 1
    for place, letter in enumerate(word[1:], 1):
        if letter in table.valued:
            return at + (1 if word[place + 1 :] else 2)
        if name == "xargs" and letter in "Iiel":
            break
        if letter not in table.flags:
            found.doubt(f"{name} has an option {word} that is not known here, so what it runs may not be covered")
            break
    return at + 1


def _runner(words: Sequence[str | None], at: int, found: Parts, name: str) -> int:
    found.doubt(f"{name} goes by other files of the project, which are not covered")
    at = _index(words, RUNNERS[name], at) + 1
    if at == 0:
        return -1
    while at < len(words) and (words[at] or "").startswith("-"):
        at += 1
    if at < len(words) and "/" not in (words[at] or "/") and re.search(r"\.\w+$", words[at] or ""):
        found.roles[at] = "script"
        return -1
    return at if at < len(words) else -1


def _finding(words: Sequence[str | None], at: int, found: Parts) -> int:
    """What `find` runs: all but the last such command are looked at here."""
    starts = [
        index + 1
        for index in range(at + 1, len(words))
        if words[index] in ("-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch")
    ]
    if not starts:
        if None in words[at:]:
            found.doubt("only a shell knows all the words of find, so what it runs is not covered")
        return -1
    found.moved = found.moved or _index(words, "-execdir", at) >= 0 or _index(words, "-okdir", at) >= 0
    for start, limit in zip(starts, [*(begin - 1 for begin in starts[1:]), len(words)], strict=True):
        end = next((index for index in range(start, limit) if words[index] in (";", "+")), limit)
        segment = words[start:end]
        inner = Parts(["word"] * len(segment))
        _chain(segment, inner, "find")
        found.roles[start:end] = inner.roles
        for text in inner.doubts:
            found.doubt(text)
        found.moved = found.moved or inner.moved
    return -1


def _sourced(words: Sequence[str | None], at: int, found: Parts, name: str) -> None:
    if at < len(words) and words[at] == "--":
        at += 1
    if at < len(words) and (words[at] or "").startswith("-"):
        found.doubt(f"{name} has an option that is not known here, so what it runs may not be covered")
    elif at < len(words):
        found.roles[at] = "script"


def _together(words: Sequence[str | None], at: int, found: Parts, name: str) -> None:
    """Words that make one text for a shell, as eval has them."""
    if at < len(words) and words[at] == "--":
        at += 1
    if at >= len(words):
        if name in FED:
            found.doubt(f"{name} runs what it is given on its input, which is not covered")
        return
    found.joined = at
    found.roles[at:] = ["text"] * (len(words) - at)


def _trapped(words: Sequence[str | None], at: int, found: Parts) -> None:
    if at < len(words) and words[at] == "--":
        at += 1
    if at < len(words) and not (words[at] or "x").startswith("-"):
        found.roles[at] = "text"


def _shell(words: Sequence[str | None], begins: int, found: Parts, fed: str) -> None:
    """Mark what a shell runs: its first operand, or the text after all the options where -c is one of them."""
    name = os.path.basename(words[begins] or "")
    text = stdin = False
    at = begins + 1
    if name == "busybox":
        if at < len(words) and SHELLS.fullmatch(words[at] or ""):
            name, at = words[at] or "", at + 1
        else:
            found.doubt("busybox runs one of its words, which is not covered")
            return
    while at < len(words):
        word = words[at]
        if word is None:
            break
        if word in ("-", "--"):
            at += 1
            break
        if word in ("--rcfile", "--init-file"):
            if at + 1 < len(words):
                found.roles[at + 1] = "script"
            at += 2
        elif word.startswith("--"):
            if name not in ("bash", "sh", "dash"):
                found.doubt(f"{name} has an option {word} that is not known here, so what it runs may not be covered")
            if word in QUIET:
                return
            at += 1
        elif re.match(r"[-+].", word):
            text = text or (word[0] == "-" and "c" in word)
            stdin = stdin or (word[0] == "-" and "s" in word)
            if name not in ("bash", "sh", "dash") and not re.fullmatch(r"-[ceilxu]+", word):
                found.doubt(f"{name} has an option {word} that is not known here, so what it runs may not be covered")
            at += 1 + word.count("o") + word.count("O")
        else:
            break
    if at < len(words) and (text or not stdin):
        run(words, at, found, "text" if text else "script", fed)
    elif fed:
        found.doubt(f"{fed} gives {name} what it is to run, which is not covered")
    elif not text:
        found.reads = name


def _perhaps(words: Sequence[str | None], at: int, found: Parts) -> None:
    """A program nobody knows may run a shell or an interpreter among its words: look for the first."""
    for index in range(at + 1, len(words)):
        name = os.path.basename(words[index] or "")
        if name in ("eval", "xargs", "env") or SHELLS.fullmatch(name) or INTERPRETERS.fullmatch(name):
            found.doubt(f"{os.path.basename(words[at] or 'it')} may run {name}, and what that runs may not be covered")
            if SHELLS.fullmatch(name):
                inner = Parts(["word"] * (len(words) - index))
                _shell(words[index:], 0, inner, "")
                for offset, role in enumerate(inner.roles):
                    if role == "text":
                        found.roles[index + offset] = "text"
            return
