"""The programs that run other things: shells, interpreters, wrappers, builtins, and how they read their words."""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct, field

Role = Literal["program", "script", "module", "text", "code", "word"]
"""What a word is in its command: the program, a file its interpreter runs, a module it looks for, a text for a shell,
the text of a program in another language, or anything else."""


def words_of(text: str) -> frozenset[str]:
    return frozenset(text.split())


SHELLS = re.compile(r"(?:ba|rba|da|z|k|mk|pdk|fi|a|ya|tc|c)?sh|busybox")
INTERPRETERS = re.compile(
    r"python[\d.]*|pypy[\d.]*|node|nodejs|bun|deno|tsx|ts-node|ruby[\d.]*|j?irb|perl[\d.]*|php[\d.]*|lua[\d.]*|luajit"
    r"|Rscript|osascript|tclsh[\d.]*|expect|guile|julia|groovy|scala|elixir|pwsh|[gmn]?awk|sed|gsed|jq|[efz]?grep|rg"
)
KEYWORDS = words_of("if then else elif while until do ! { } fi done esac && ||")
PLAIN = words_of(
    "echo printf test [ true false : cat head tail tee wc sort uniq cut tr date sleep mkdir rmdir touch cp mv rm "
    "ln ls pwd cd pushd popd set shift exit return read wait kill basename dirname realpath readlink seq diff cmp "
    "comm paste fold nl rev tac od xxd base64 md5sum sha1sum sha256sum stat chmod chown mktemp id whoami uname "
    "hostname expr let break continue export unset local declare typeset readonly umask case for select in "
    "getopts mapfile readarray alias hash enable type which jobs logger"
)
"""Programs that do not run their words."""

ARITHMETIC = words_of(
    "test [ [[ let printf read unset declare typeset local export readonly wait getopts mapfile readarray"
)
"""Builtins that may evaluate a substitution inside a quoted word."""

BUILDERS = words_of(
    "make gmake npm npx pnpm yarn bunx just task cargo go gradle gradlew mvn rake tox nox pre-commit lefthook "
    "husky pytest docker docker-compose podman nix nix-shell vim nvim emacs gdb ssh parallel entr tmux screen su "
    "runuser script xvfb-run ld.so cmake ninja bazel ant meson composer dotnet"
)
"""Programs that run what other files, or words we do not read, tell them to."""

RUNNERS = {"uv": "run", "poetry": "run", "pipenv": "run", "hatch": "run", "pdm": "run", "rye": "run", "bundle": "exec"}
"""Programs of a language that run another in the project's own surroundings, after this word."""


class Wrapper(Struct, frozen=True):
    """How a program that runs another reads its words: options with a value, other options, operands of its own."""

    valued: str = ""
    flags: str = ""
    operands: int = 0
    long: frozenset[str] = frozenset()
    joined: bool = False


def _wrapper(valued: str = "", flags: str = "", operands: int = 0, long: str = "", *, joined: bool = False) -> Wrapper:
    return Wrapper(valued, flags, operands, frozenset(long.split()), joined)


WRAPPERS = {
    "env": _wrapper("uCS", "i0v", long="--unset --chdir --split-string"),
    "exec": _wrapper("a", "cl"),
    "command": _wrapper("", "pvV"),
    "builtin": _wrapper(),
    "coproc": _wrapper(),
    "nohup": _wrapper(),
    "setsid": _wrapper("", "cfw"),
    "nice": _wrapper("n", "0123456789", long="--adjustment"),
    "ionice": _wrapper("cnpPu", "t", long="--class --classdata"),
    "chrt": _wrapper("TPD", "abfimorRv", 1),
    "taskset": _wrapper("", "ac", 1),
    "time": _wrapper("fo", "pvaqV", long="--format --output"),
    "timeout": _wrapper("sk", "v", 1, long="--signal --kill-after"),
    "stdbuf": _wrapper("ioe", long="--input --output --error"),
    "sudo": _wrapper("ugUhpCDrtTR", "AbEeHiKklnPSsVv", long="--user --group --host --prompt --chdir --chroot --role"),
    "doas": _wrapper("uCa", "Lns"),
    "chroot": _wrapper("", "", 1),
    "flock": _wrapper("wE", "exsnouF", 1, long="--timeout --wait --conflict-exit-code"),
    "strace": _wrapper("aeoOpPsSuEI", "cCdfFhiknqrtTvVwxyYzZD"),
    "ltrace": _wrapper("aeloOpsuADnxF", "bcCfhiLrStTV"),
    "unshare": _wrapper("SGRw", "imnpuUCTfrcV"),
    "setpriv": _wrapper(),
    "chronic": _wrapper("", "ev"),
    "caffeinate": _wrapper("tw", "dimsu"),
    "arch": _wrapper("de"),
    "xargs": _wrapper(
        "adEILnPs", "0oprtxile",
        long="--arg-file --delimiter --max-args --max-procs --max-chars --process-slot-var",
    ),
    "watch": _wrapper("nq", "bcdegprtwx", long="--interval --equexit", joined=True),
}  # fmt: skip
"""Programs that run the program that follows them."""

QUIET = frozenset(("--version", "--help", "-V", "-h"))
FED = frozenset({"xargs", "find", "parallel"})
MOVING = {"env": re.compile(r"-[iv0]*C|--chd"), "sudo": re.compile(r"-[AbEHKklnPSs]*[DRi]|--ch|--login")}
"""With these the program that follows starts in another directory."""


class Parts(Struct):
    """The part each word plays. `reads` names the program that runs what it reads, `joined` the first of some words
    that make one text together, `moved` that the program starts elsewhere, `last` where the innermost program is,
    `here` that the text runs in the shell itself, `tests` where the last `]]` is."""

    roles: list[Role]
    doubts: list[str] = field(default_factory=list)
    reads: str = ""
    joined: int = -1
    moved: bool = False
    last: int = -1
    here: bool = False
    tests: int = -1

    def doubt(self, text: str) -> None:
        if text not in self.doubts:
            self.doubts.append(text)
