"""What an interpreter is given to run: a file, a module, or the text of a program."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hookline.programs import QUIET, Parts, Role, words_of

HARMLESS = re.compile(r"jq|[efz]?grep|rg|g?sed|[gmn]?awk")
"""Of these, a text that runs nothing else can be told from one that does."""

VALUED = {
    "python": "WX",
    "node": "rC",
    "ruby": "CEFIrTWXx",
    "perl": "",
    "php": "cdfgz",
    "lua": "l",
    "awk": "vFifl",
    "sed": "lf",
    "grep": "ABCmdDf",
    "jq": "L",
    "other": "",
}
"""The short options of an interpreter that take a value, by family; the long ones below."""

LONG = words_of(
    "--require --import --loader --experimental-loader --env-file --conditions --input-type --assign "
    "--field-separator --file --include --load --context --after-context --before-context --max-count --exclude "
    "--include-dir --indent --line-length --type --glob --check-hash-based-pycs"
)
CODE = {"python": "c", "node": "ep", "ruby": "e", "perl": "eE", "php": "rBRE", "lua": "e", "sed": "e", "grep": "e"}
CODE |= {"awk": "e", "other": "ce"}
LONG_CODE = frozenset(("--eval", "--print", "--expression", "--regexp", "--source"))
LOADS = frozenset(("-r", "--require", "--import", "--loader", "--experimental-loader", "--include", "--load", "-l"))
LOADERS = {"perl": "MmIdxS", "ruby": "rICXS", "node": "r", "lua": "l", "awk": "ilE"}
FILES = frozenset(("-f", "--file", "--from-file"))

_PLACE = r"(?:\d+|\$|/[^/\\\n]*/)"
_SED = re.compile(
    rf"(?:{_PLACE}(?:,{_PLACE})?)?\s*!?\s*"
    r"(?:[pdqhHgGxnND=]|[sy]([/|#,:@])(?:(?!\1)[^\\\n]|\\.)*\1(?:(?!\1)[^\\\n]|\\.)*\1[gpiI\d]*)?"
)
"""One command of sed that runs nothing and writes no file."""


def run(words: Sequence[str | None], at: int, found: Parts, role: Role, fed: str) -> None:
    """Mark what is run, unless that is made of what somebody feeds in."""
    found.roles[at] = role
    if fed and ("{}" in (words[at] or "") or fed == "xargs -I"):
        found.doubt(f"{fed} puts what it finds or reads into what it runs, which is not covered")
        found.roles[at] = "text" if role == "text" else "word"


def _family(name: str) -> str:
    if name == "rg":
        return "grep"
    for family in ("python", "node", "ruby", "perl", "php", "lua"):
        if name.startswith(family) or (family, name[:4]) in (("python", "pypy"), ("node", "tsx"), ("node", "ts-n")):
            return family
    return next((family for family in ("awk", "sed", "grep", "jq") if name.endswith(family)), "other")


def interpreted(words: Sequence[str | None], begins: int, found: Parts, name: str, fed: str) -> None:
    """Mark what an interpreter runs: the text it is given, a module, or its first operand."""
    family = _family(name)
    at, known, quiet = begins + 1, False, False
    while at < len(words):
        word = words[at]
        if word is None:
            if not known:
                break
            at += 1
            continue
        if word == "--":
            at += 1
            break
        if not word.startswith("-") or word == "-":
            if known or (name in ("bun", "deno") and word == "run"):
                at += 1
                continue
            break
        quiet = quiet or word in QUIET
        option = _long if word.startswith("--") or word in FILES else _cluster
        at, code = option(words, at, found, name)
        known = known or code
        if code and family == "python":
            return
    if known:
        return
    if at < len(words) and words[at] != "-":
        if family in ("awk", "sed", "grep", "jq"):
            _coded(words, at, found, name)
        elif name in ("bun", "deno") and not re.search(r"[./]", words[at] or "."):
            found.doubt(f"{name} goes by other files of the project, which are not covered")
        else:
            run(words, at, found, "script", fed)
    elif fed:
        found.doubt(f"{fed} gives {name} what it is to run, which is not covered")
    elif not quiet and family not in ("awk", "sed", "grep", "jq"):
        found.reads = name


def _long(words: Sequence[str | None], at: int, found: Parts, name: str) -> tuple[int, bool]:
    """Past one long option, or -f, and its value; whether that says what is run."""
    word, family = words[at] or "", _family(name)
    option, sign, _ = word.partition("=")
    if option in LONG_CODE:
        _coded(words, at if sign else at + 1, found, name)
        return at + (1 if sign else 2), True
    if family == "jq" and option in ("--arg", "--argjson", "--slurpfile", "--rawfile"):
        return at + 3, False
    if option in FILES and family in ("awk", "sed", "grep", "jq", "php"):
        if sign:
            found.doubt(f"what {name} reads with {option} is not covered; write it as two words")
        elif at + 1 < len(words):
            found.roles[at + 1] = "word" if family == "grep" else "script"
        return at + (1 if sign else 2), True
    if name == "rg" and option == "--pre":
        found.doubt("what rg runs with --pre is not covered")
    if option in LOADS and family in ("node", "awk", "other"):
        _loaded(words, at, found, name)
    return at + (2 if word in LONG or (family == "jq" and word == "--indent") else 1), False


def _cluster(words: Sequence[str | None], at: int, found: Parts, name: str) -> tuple[int, bool]:
    """Past one word of short options; whether a text or a module was among them."""
    word, family = words[at] or "", _family(name)
    inline = CODE.get(family, "")
    for place, letter in enumerate(word[1:], 1):
        rest = word[place + 1 :]
        if letter in inline:
            _coded(words, at if rest else at + 1, found, name)
            return at + (1 if rest else 2), True
        if family == "python" and letter == "m":
            if not rest and at + 1 < len(words):
                found.roles[at + 1] = "module"
            found.doubt(f"{name} -m takes its module from the working directory or from where it is installed, "
                        "which is not covered")  # fmt: skip
            return at + 1, True
        if letter in LOADERS.get(family, ""):
            if family == "node" and not rest:
                _loaded(words, at, found, name)
            else:
                found.doubt(f"what {name} loads with {word[:2]} is not covered")
        if letter == "f" and family in ("awk", "sed", "php", "jq"):
            if rest:
                found.doubt(f"what {name} reads with -f is not covered; write it as two words")
            elif at + 1 < len(words):
                found.roles[at + 1] = "script"
            return at + (1 if rest else 2), True
        if letter == "i" and family in ("perl", "sed", "ruby"):
            return at + 1, False
        if letter in VALUED.get(family, ""):
            return at + (1 if rest else 2), False
        if family == "perl" and letter in "MmIFCDx0":
            if letter == "0":
                continue
            return at + 1, False
    return at + 1, False


def _loaded(words: Sequence[str | None], at: int, found: Parts, name: str) -> None:
    """What is loaded before anything else: a file where it looks like one."""
    word = words[at] or ""
    if "=" not in word and at + 1 < len(words) and re.match(r"[./].*\.\w+$", words[at + 1] or ""):
        found.roles[at + 1] = "script"
    else:
        found.doubt(f"what {name} loads with {word.split('=')[0]} is not covered")


def _coded(words: Sequence[str | None], at: int, found: Parts, name: str) -> None:
    """The text of a program. It is no file; whether it runs others can be told for the simplest only."""
    if at >= len(words):
        return
    found.roles[at] = "code"
    text = words[at] or ""
    if words[at] is not None and HARMLESS.fullmatch(name):
        if name == "jq" or name.endswith("grep") or name == "rg":
            return
        if name.endswith("awk") and not re.search(r"system|getline|@|(?<!\|)\|(?!\|)", text):
            return
        if name.endswith("sed") and len(text) < 1000 and _simple_sed(text):
            return
    found.doubt(f"what the text given to {name} loads or runs is not covered")


def _simple_sed(text: str) -> bool:
    return bool(_SED.fullmatch(text)) or all(_SED.fullmatch(piece.strip()) for piece in re.split(r"[;\n]", text))
