"""The script files a command names: which they are, what is in them, and the command that runs copies instead.

A command names a file with its program, with what an interpreter runs, and with any other word or
variable that is the path of a regular file inside the project. Nothing is executed here.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Mapping
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from hookline.handlers import Later
from hookline.model import Call, Command
from hookline.shellwords import Role, Visitor, rewritten, rewritten_words
from hookline.wording import shown

LARGEST_SCRIPT = 4 * 1024 * 1024
SUFFIXES = (".sh", ".bash", ".zsh", ".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".rb", ".pl", ".php", ".lua", ".awk")
PROJECT_VARIABLES = ("LLXPRT_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR", "PWD")
LEADING = (
    *("PATH", "LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "BASH_ENV", "ENV", "PYTHONPATH"),
    *("PYTHONSTARTUP", "NODE_OPTIONS", "NODE_PATH", "RUBYOPT", "PERL5OPT", "PERL5LIB", "GIT_SSH_COMMAND"),
)
"""Variables with which a hook can be made to run other things than its command says."""

NATIVE = (b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"\xca\xfe\xba\xbe")
"""How a program for the machine itself begins."""

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
        if isinstance(action, Call):
            self._handler(action)
            return
        _walked(action, ground, self)
        for name in action.env:
            if name in LEADING:
                self.caution(f"the variable {name} decides what else is run; what it leads to is not covered")

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
        if value and "\0" not in value and not (role == "program" and "/" not in value):
            try:
                path = located(value, role, self.ground)
            except Unusable as reason:
                self.problem = self.problem or str(reason)
            else:
                if path:
                    self.paths[value] = path
                elif role == "word" and value.endswith(SUFFIXES) and not value.startswith("-"):
                    self.caution(f"{shown(value)} is not there now; whatever is there later is not covered")
        return None

    def lost(self, raw: str, role: Role) -> None:
        if role in ("program", "script"):
            self.problem = self.problem or (
                f"it changes its directory, and only a shell knows where to, so nobody knows what {shown(raw)} is; "
                "name it from the project, as in $LLXPRT_PROJECT_DIR/..."
            )
        elif "/" in raw or raw.endswith(SUFFIXES):
            self.caution(f"it changes its directory, and only a shell knows where to, so {shown(raw)} is not covered")

    def unknown(self, raw: str, role: Role) -> None:
        if role != "word" or ("/" in raw and not raw.startswith(("$(", '"$('))):  # what is inside is looked at itself
            self.caution(f"only a shell knows what {shown(raw)} is, so what it names is not covered")

    def caution(self, text: str) -> None:
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
    env = {name: visitor.word(value, "word") or value for name, value in command.env.items()}
    if command.fault or not command.argv:
        return command
    argv = command.argv
    if command.shell:
        argv = (*argv[:-1], rewritten(argv[-1], variables, visitor))
    else:
        argv = rewritten_words(argv, variables, visitor)
    return replace(command, argv=argv, env=env)


def located(value: str, role: Role, ground: Ground) -> str:
    """The file a word names, or nothing. Raises Unusable where it must be a file of a sort we can copy."""
    at = os.path.join(ground.project, value)
    must = role in ("program", "script")
    try:
        facts = os.stat(at)
    except (FileNotFoundError, NotADirectoryError):
        if must and ("/" in value or value.endswith(SUFFIXES)):
            raise Unusable(f"it names {shown(value)}, and there is no such file in {ground.project}") from None
        return ""
    except (OSError, ValueError) as error:
        if not must and getattr(error, "errno", None) is None:
            return ""
        raise Unusable(f"it names {shown(value)}, which cannot be read: {_reason(error)}") from None
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
    if not ground.inside(real) and _installed(real, ground):
        return Script(path, real, "program"), b""
    data, facts = contents(real, os.O_NOFOLLOW)  # what is said to be behind a link is what is read
    return Script(path, real, "script", digest(data), bool(facts.st_mode & 0o111)), data


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
