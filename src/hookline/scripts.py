"""The script files a command names: which they are, what is in them, and the command that runs copies instead.

A command names a file with its program, with what an interpreter runs, and with any other word or
variable that is the path of a regular file inside the project. Nothing is executed here.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Mapping
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from hookline.handlers import Later
from hookline.model import Call, Command
from hookline.programs import Role, words_of
from hookline.rewriting import Visitor, rewritten, rewritten_words
from hookline.shellwords import parts
from hookline.wording import shown

LARGEST_SCRIPT = 4 * 1024 * 1024
SUFFIXES = (".sh", ".bash", ".zsh", ".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".rb", ".pl", ".php", ".lua", ".awk")
PROJECT_VARIABLES = ("LLXPRT_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR", "PWD")
LEADING = words_of(
    "PATH LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT GCONV_PATH DYLD_INSERT_LIBRARIES DYLD_LIBRARY_PATH BASH_ENV ENV "
    "SHELLOPTS BASHOPTS PS4 PROMPT_COMMAND CDPATH IFS ZDOTDIR FPATH PYTHONPATH PYTHONHOME PYTHONSTARTUP "
    "PYTHONBREAKPOINT NODE_OPTIONS NODE_PATH RUBYOPT RUBYLIB PERL5OPT PERL5LIB PERL5DB LUA_INIT LUA_PATH "
    "LUA_CPATH AWKPATH AWKLIBPATH PHPRC JAVA_TOOL_OPTIONS MAKEFLAGS MAKEFILES GIT_SSH GIT_SSH_COMMAND "
    "GIT_EXTERNAL_DIFF GIT_PAGER GIT_EDITOR GIT_CONFIG_GLOBAL GIT_CONFIG_COUNT GIT_DIR EDITOR VISUAL PAGER "
    "LESSOPEN HOME"
)
"""Variables with which a hook can be made to run other things than its command says."""

NATIVE = (b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"\xca\xfe\xba\xbe")
"""How a program for the machine itself begins."""

MOST_CAUTIONS = 32
MOST_NAMES = 64
"""Of one command, or of one word: what is worth saying to a person."""

KINDS = {
    stat.S_ISFIFO: "a FIFO",
    stat.S_ISDIR: "a directory",
    stat.S_ISCHR: "a device",
    stat.S_ISBLK: "a device",
    stat.S_ISSOCK: "a socket",
    stat.S_ISLNK: "a link",
}


class Ground(Struct, frozen=True):
    """What names are relative to: the project's real path, the home directory, where programs are installed."""

    project: str
    home: str
    installed: tuple[str, ...] = ()

    def inside(self, path: str) -> bool:
        return path == self.project or path.startswith(self.project.rstrip("/") + "/")


class Script(Struct, frozen=True):
    """One named file. `path` is its own name in its real directory, `real` what it leads to.

    A `script` is covered by its content. A `program` is one installed outside the project: only which
    file it is is covered.
    """

    path: str
    real: str
    kind: Literal["script", "program"] = "script"
    digest: str = ""
    executable: bool = False


class Unusable(Exception):
    """A named file that cannot be trusted, with the reason."""


class Named(Visitor):
    """What one command names, as it is when it is looked at; a second look asks the first one, not the disk.

    `problem` says why the command cannot be trusted at all, `cautions` what is not covered.
    """

    def __init__(self, action: Command | Call, ground: Ground) -> None:
        self.ground = ground
        self.paths: dict[str, str] = {}
        self.problem = ""
        self.cautions: list[str] = []
        self._seen: dict[tuple[str, Role], str] = {}
        if isinstance(action, Call):
            self._handler(action)
            return
        for text in (*action.argv, *action.env, *action.env.values()):
            if not is_text(text):
                self.problem = f"{shown(text)} holds half a character (a lone surrogate), which no program can be given"
                return
        _walked(action, ground, self)
        for name, value in action.env.items():
            self.assigned(name, value)

    def _handler(self, action: Call) -> None:
        """A Python handler names the file it is in; one that is imported by its name is not the project's."""
        later = action.handler
        if not isinstance(later, Later):
            self.problem = f"it calls {action.label}, which no file names"
        elif later.path is None:
            self.caution(f"the module {shown(later.module)} is imported from where Python finds it; it is not covered")
        else:
            self.word(later.path, "script")

    def word(self, value: str, role: Role) -> str | None:
        if role == "module":
            self._module(value)
        if role == "module" or not value or "\0" in value or (role == "program" and "/" not in value):
            return None
        if (value, role) not in self._seen:
            self._seen[value, role] = path = self._located(value, role)
            if path:
                self.paths[value] = path
            elif role == "word" and value.endswith(SUFFIXES) and not value.startswith("-"):
                self.caution(f"{shown(value)} is not there now; whatever is there later is not covered")
        return None

    def _located(self, value: str, role: Role) -> str:
        try:
            return located(value, role, self.ground)
        except Unusable as reason:
            self.problem = self.problem or str(reason)
            return ""

    def _module(self, value: str) -> None:
        """A module of the project that Python would find by the directory it happens to be in."""
        at = os.path.join(self.ground.project, *value.split(".")[:1])
        if any(os.path.lexists(at + end) for end in (".py", "/__main__.py", "/__init__.py", ".pyc", ".so")):
            self.problem = self.problem or (
                f"it runs the module {shown(value)} of the project by its name, and which file that is depends on the "
                "working directory; name the file itself, as in `python3 tools/check.py`"
            )

    def assigned(self, name: str, value: str | None) -> None:
        if name.startswith("BASH_FUNC_"):
            self.problem = self.problem or (
                f"the variable {shown(name)} puts a function in the place of a command; write what it does into the "
                "command itself"
            )
        elif name == "PATH":
            self._searched(value)
        elif name == "BASH_ENV" and value:
            self.word(value, "script")
        if name in LEADING:
            self.caution(f"the variable {name} decides what else is run; what it leads to is not covered")

    def _searched(self, value: str | None) -> None:
        """A PATH that leads into the project, or nobody knows where to, makes every bare name a file of the project."""
        mend = "leave PATH as it is, and name what it runs by its path, as in ./bin/check"
        if value is None:
            self.problem = self.problem or f"it changes PATH, and only a shell knows to what; {mend}"
            return
        for entry in value.split(":"):
            if not os.path.isabs(entry):
                self.problem = self.problem or (
                    f"it puts {shown(entry)} on PATH, which is another directory wherever it runs; {mend}"
                )
            elif self.ground.inside(entry) or self.ground.inside(os.path.realpath(entry)):
                self.problem = self.problem or (
                    f"it puts {shown(entry)} of the project on PATH, so what it runs by name is not covered; {mend}"
                )

    def phrase(self, value: str) -> None:
        names = re.split(r"[\s;|&()<>'\"`=,]+", value, maxsplit=MOST_NAMES)
        for name in names if len(names) > 1 else ():
            at = os.path.join(self.ground.project, name)
            if name and len(name) < 1024 and "\0" not in name and os.path.isfile(at) and self.ground.inside(at):
                self.caution(f"{shown(name)} is named inside {shown(value)}; what is done with it there is not covered")

    def doubt(self, text: str) -> None:
        self.caution(text)

    def deep(self, raw: str) -> None:
        self.problem = self.problem or f"it has texts inside texts, too many to look into: {shown(raw[:200])}"

    def lost(self, raw: str, role: Role) -> None:
        if role in ("program", "script"):
            self.problem = self.problem or (
                f"it changes its directory, and only a shell knows where to, so nobody knows what {shown(raw)} is; "
                "name it from the project, as in $LLXPRT_PROJECT_DIR/..."
            )
        elif "/" in raw or raw.endswith(SUFFIXES):
            self.caution(f"it changes its directory, and only a shell knows where to, so {shown(raw)} is not covered")

    def unknown(self, raw: str, role: Role) -> None:
        whole = raw.strip('"')  # what is inside of a substitution is looked at itself
        if role != "word" or ("/" in raw and not (whole.startswith("$(") and whole.endswith(")"))):
            raw = raw[:200]
            self.caution(f"only a shell knows what {shown(raw)} is, so what it names is not covered")

    def caution(self, text: str) -> None:
        if len(self.cautions) >= MOST_CAUTIONS:
            text = "and more of the same: this is not a command a person can look through"
        if text not in self.cautions:
            self.cautions.append(text)


class _Pinning(Visitor):
    def __init__(self, named: Named, copies: Mapping[str, str]) -> None:
        self.named, self.copies = named, copies

    def word(self, value: str, role: Role) -> str | None:
        if role == "program" and "/" not in value:
            return None
        return self.copies.get(self.named.paths.get(value, ""))


def pinned(action: Command | Call, named: Named, copies: Mapping[str, str]) -> Command | Call:
    """The action with the copy of each file, by its path, in the place of the file."""
    if isinstance(action, Command):
        return _walked(action, named.ground, _Pinning(named, copies))
    later = action.handler
    if isinstance(later, Later) and later.path is not None:
        return replace(action, handler=later.moved(copies[named.paths[later.path]]))
    return action


def _walked(command: Command, ground: Ground, visitor: Visitor) -> Command:
    variables = dict.fromkeys(PROJECT_VARIABLES, ground.project) | {"HOME": ground.home}
    if ground.installed:
        variables["PATH"] = ":".join(ground.installed)
    env = {name: visitor.word(value, "word") or value for name, value in command.env.items()}
    if command.fault or not command.argv:
        return command
    argv = command.argv
    if command.shell:
        argv = (*argv[:-1], rewritten(argv[-1], variables, visitor))
    else:
        argv = rewritten_words(argv, variables, visitor)
    return replace(command, argv=argv, env=env)


def is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def located(value: str, role: Role, ground: Ground) -> str:
    """The file a word names, or nothing. Raises Unusable where it must be a file of a sort we can copy."""
    at = os.path.join(ground.project, value)
    must = role in ("program", "script")
    try:
        facts = os.stat(at)
    except (FileNotFoundError, NotADirectoryError):
        if must:
            raise Unusable(
                f"it names {shown(value)}, and there is no such file in {ground.project}; relative names are those of "
                "the project, wherever a hook is fired"
            ) from None
        return ""
    except (OSError, ValueError) as error:
        if not must and getattr(error, "errno", None) is None:
            return ""
        raise Unusable(f"it names {shown(value)}, which cannot be read: {_reason(error)}") from None
    if must and os.path.normpath(at).startswith(("/dev/fd/", "/dev/std", "/proc/")):
        raise Unusable(f"it names {shown(value)}, which is {_kind(facts.st_mode)} or another thing each time, not a "
                       "regular file")  # fmt: skip
    directory, name = os.path.split(at.rstrip("/"))
    path = os.path.join(os.path.realpath(directory), name)
    ours = ground.inside(path) or ground.inside(os.path.realpath(at))
    if name in ("", ".", "..") or (stat.S_ISDIR(facts.st_mode) and not must):
        return ""
    if not must and not ours:
        return ""
    if not stat.S_ISREG(facts.st_mode):
        raise Unusable(f"it names {shown(value)}, which is {_kind(facts.st_mode)}, not a regular file")
    return "" if not ours and _installed(path, ground) else path


def read_script(path: str, ground: Ground) -> tuple[Script, bytes]:
    """A named file and its content, read once. Raises Unusable."""
    real = os.path.realpath(path)
    if not is_text(path + real):
        raise Unusable(f"{shown(path)} has a name, or leads to one, that is not UTF-8; rename it")
    if not ground.inside(real) and _installed(real, ground):
        return Script(path, real, "program"), b""
    data, facts = contents(real, os.O_NOFOLLOW)  # what is said to be behind a link is what is read
    script = Script(path, real, "script", digest(data), bool(facts.st_mode & 0o111))
    interpreter(script, data, ground)
    return script, data


def interpreter(script: Script, data: bytes, ground: Ground) -> str:
    """The program of the project that a script's first line leads to, by a link out of it. Raises Unusable.

    The kernel goes by that line, so a file of the project there would run whatever it has become.
    """
    if not script.executable or not data.startswith(b"#!"):
        return ""
    line = os.fsdecode(data[2:512].split(b"\n")[0].rstrip(b"\r"))
    words = [*(word for word in line.split() if word != "-S"), script.path]
    found = parts(words)
    for word, role in zip(words[:-1], found.roles, strict=False):
        if (role == "program" and "/" not in word) or role not in ("program", "script", "module", "text"):
            continue
        if role in ("program", "script") and os.path.isabs(word):
            if not ground.inside(os.path.normpath(word)) and not ground.inside(os.path.realpath(word)):
                continue
            if not ground.inside(os.path.realpath(word)):
                return word
        raise Unusable(
            f"{script.path} begins with {shown(line)}, which runs {shown(word)} of whatever directory or project it is "
            "in; let it name an installed program, as in #!/bin/sh or #!/usr/bin/env python3"
        )
    return ""


def contents(path: str, flags: int = 0) -> tuple[bytes, os.stat_result]:
    """The bytes of a regular file of reasonable size, and the facts about it. Never waits. Raises Unusable."""
    try:
        before = os.stat(path, follow_symlinks=not flags & os.O_NOFOLLOW)  # opening a device may already do something
        if not stat.S_ISREG(before.st_mode):
            raise Unusable(f"{path} is {_kind(before.st_mode)}, not a regular file")
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY | flags)
    except (OSError, ValueError) as error:
        raise Unusable(f"{path} cannot be read: {_reason(error)}") from None
    try:
        facts = os.fstat(fd)
        if not stat.S_ISREG(facts.st_mode):
            raise Unusable(f"{path} is {_kind(facts.st_mode)}, not a regular file")
        with os.fdopen(fd, "rb", closefd=False) as stream:
            data = stream.read(LARGEST_SCRIPT + 1)
    except OSError as error:
        raise Unusable(f"{path} cannot be read: {_reason(error)}") from None
    finally:
        os.close(fd)
    if len(data) > LARGEST_SCRIPT:
        raise Unusable(f"{path} is larger than {LARGEST_SCRIPT // 1024 // 1024} MiB")
    return data, facts


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def identity(*parts: object) -> str:
    """A short name for something, made of all that tells it apart."""
    return hashlib.sha256(b"\0".join(os.fsencode(str(part)) for part in parts)).hexdigest()[:32]


def _installed(real: str, ground: Ground) -> bool:
    """Whether a file outside the project is a program of this machine: it is where programs are, or it is native."""
    if os.path.dirname(real) in ground.installed or os.path.dirname(os.path.realpath(real)) in ground.installed:
        return True
    try:
        fd = os.open(real, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.read(fd, 4) in NATIVE
    except OSError:
        return False
    finally:
        os.close(fd)


def _kind(mode: int) -> str:
    return next((words for test, words in KINDS.items() if test(mode)), "of an unknown sort")


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
