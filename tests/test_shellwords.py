"""What a command runs: every way to run a file is pinned, a problem, or at least a caution; never silent."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hookline.model import Command
from hookline.scripts import Ground, Named, pinned
from hookline.shellwords import parts, roles
from worlds import TOOL, World


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path)
    for name in ("evil.sh", "evil", "sub/conf", "bin/check", "evilmod.py"):
        made.script(f"project/{name}", "echo good")
    return made


@pytest.fixture
def ground(world: World) -> Ground:
    return Ground(str(world.project), str(world.home), ("/usr/bin", "/bin"))


def named(text: str, ground: Ground, **env: str) -> Named:
    return Named(Command(argv=("bash", "-c", text), timeout=1, shell=True, env=env), ground)


def rewritten(text: str, ground: Ground, copy: str) -> tuple[Command, Named]:
    command = Command(argv=("bash", "-c", text), timeout=1, shell=True)
    found = Named(command, ground)
    made = pinned(command, found, dict.fromkeys(found.paths.values(), copy))
    assert isinstance(made, Command)
    return made, found


COVERED = [
    "bash -o pipefail -c './evil.sh; true'",
    "bash -O extglob -c './evil.sh; true'",
    "bash -eo pipefail -c './evil.sh; true'",
    "bash 2>/dev/null -c './evil.sh; true'",
    "timeout -s KILL 5 bash -c './evil.sh; true'",
    "timeout --signal KILL -k 1 5 ./evil.sh",
    "env -u X bash -c './evil.sh; true'",
    "exec -a n bash -c './evil.sh; true'",
    "echo | xargs sh -c './evil.sh; true'",
    "echo | xargs -n 1 -P 2 ./evil.sh",
    "trap './evil.sh; true' EXIT",
    "find . -maxdepth 0 -exec sh -c './evil.sh; true' \\;",
    "find . -maxdepth 0 -exec true \\; -exec ./evil.sh {} +",
    "cat <(true)#; ./evil.sh",
    "bash <<< ./evil.sh",
    "bash -s <<< 'source ./evil.sh'",
    "bash <> evil.sh",
    "bash 0< evil.sh",
    "bash +B -c './evil.sh; true'",
    "bash -Ec '. ./evil.sh'",
    "builtin eval './evil.sh; true'",
    "eval . ./evil.sh",
    "eval bash evil.sh",
    "eval 'cd sub'; ../evil.sh",
    "command cd sub; ../evil.sh",
    "bash <<'E'\n./evil.sh\nE",
    "bash <<E\n./evil.sh\nE",
    "cat <<E >/dev/null\ntext\nE\n./evil.sh",
    "function f { bash -c './evil.sh; true'; }; f",
    "if [[ 1 ]] then bash -c './evil.sh; true'; fi",
    "if { true; } then bash -c './evil.sh; true'; fi",
    "set -- 1; for x do bash -c './evil.sh; true'; done",
    "X=$(date) bash -c './evil.sh; true'",
    "((1)); ./evil.sh",
    "echo $((1)); ./evil.sh",
    "$'./evil.sh'",
    "time -p ./evil.sh",
    "nice -n 5 nohup ./evil.sh",
    "((1 #)); ./evil.sh",
    'a=(./evil.sh); "${a[0]}"',
    "cd sub; bash -c '../evil.sh; true'",
]


@pytest.mark.parametrize("text", COVERED)
def test_what_is_run_is_run_from_its_copy(world: World, ground: Ground, text: str) -> None:
    """However a script is reached, the copy runs and the file in the project does not."""
    copy = world.script("copy.sh", "echo copy")
    made, found = rewritten(text, ground, str(copy))
    assert found.problem == ""
    world.script("project/evil.sh", f"touch {world.base}/owned; echo evil")
    done = subprocess.run(
        made.argv, cwd=world.project, capture_output=True, text=True, check=False, timeout=10, stdin=subprocess.DEVNULL
    )
    assert "copy" in done.stdout, (made.argv, done)
    assert not (world.base / "owned").exists()


@pytest.mark.parametrize(
    "text",
    [
        "cat evil* | bash",
        'cat "$(echo .)/evil.sh" | bash',
        "bash",
        "cat evil.sh | sh -s x",
        "echo evil.sh | xargs bash",
        "ls | xargs -I{} {}",
        "ls | xargs env",
        "find . -name '*.sh' -exec bash {} \\;",
        "find . -exec {} \\;",
        "python3 -m pytest",
        "python3 -c 'import evilmod'",
        "perl -e 'do \"./evil\"'",
        "awk 'BEGIN { system(\"./evil.sh\") }'",
        "sed '1e ./evil.sh' /dev/null",
        "make check",
        "npm run check",
        "uv run pytest",
        "watch $X",
        "parallel ./evil.sh ::: 1",
        "foo bash -c './evil.sh; true'",
        "foo 'a ./evil.sh b'",
        "env -S 'bash evil.sh'",
        "strace -Q bash evil.sh",
        "alias ls=./evil.sh",
        "let 'a[$(./evil.sh)]=1'",
        "x='a[$(./evil.sh)]'; echo $((x))",
        "[[ a =~ ( #) ]]; ./evil.sh",
        "a=(x)#; ./evil.sh",
        "a=(x)\\\n#; ./evil.sh",
        "echo $((true); ./evil.sh #))\n)",
        "echo $(case x in x) bash -c './evil.sh; true';; esac)",
        "bash <<E\n$(echo ./evil.sh)\nE",
        "mapfile -C './evil.sh;' -c 1 a",
        "node --require=./evil.sh -e 1",
        "LD_PRELOAD=./x.so true",
        "export PYTHONPATH=.",
        "bash $OPTIONS -c './evil.sh; true'",
        "`echo ./evil.sh`",
    ],
)
def test_what_is_not_identified_is_a_caution(ground: Ground, text: str) -> None:
    """A shell, an interpreter or a wrapper that runs what nobody could name is never silent."""
    found = named(text, ground)
    assert found.problem or found.cautions


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("PATH=./bin:/usr/bin:/bin; check", "it puts './bin' on PATH"),
        ("PATH=./bin:$PATH check", "it puts './bin' on PATH"),
        ("export PATH=$PWD/bin:$PATH; check", "of the project on PATH"),
        ("env PATH=bin check", "it puts 'bin' on PATH"),
        ("PATH+=:./bin; check", "it puts './bin' on PATH"),
        ("PATH=; check", "it puts '' on PATH"),
        ("unset PATH; check", "it changes PATH, and only a shell knows to what"),
        ("PATH=$(pwd)/bin:$PATH; check", "it changes PATH, and only a shell knows to what"),
        ("read PATH < evil; check", "it changes PATH, and only a shell knows to what"),
        ("for PATH in ./bin; do check; done", "it changes PATH, and only a shell knows to what"),
        ("bash conf", "it names 'conf', and there is no such file in"),
        (". conf", "it names 'conf', and there is no such file in"),
        ("sh < conf", "it names 'conf', and there is no such file in"),
        ("BASH_ENV=conf bash -c true", "it names 'conf', and there is no such file in"),
        ("python3 -m evilmod", "it runs the module 'evilmod' of the project by its name"),
        ("python3 -um evilmod.x", "it runs the module 'evilmod.x' of the project by its name"),
        ("env -C sub ./conf", "it changes its directory"),
        ("find sub -execdir ./evil.sh \\;", "it changes its directory"),
        ("source /dev/stdin < evil.sh", "it names '/dev/stdin'"),
        ("eval " * 40 + "true", "it has texts inside texts"),
    ],
)
def test_what_depends_on_where_it_is_fired_cannot_be_trusted(ground: Ground, text: str, reason: str) -> None:
    """A bare name through another PATH, or a file of an unknown directory: the sentence says so."""
    assert reason in named(text, ground).problem


def test_a_path_of_installed_programs_is_fine(ground: Ground) -> None:
    """PATH may be set to what is outside the project; that is a caution."""
    found = named('PATH="/opt/x/bin:$PATH" check', ground)
    assert (found.problem, found.cautions) == (
        "",
        ["the variable PATH decides what else is run; what it leads to is not covered"],
    )


def test_a_function_in_the_environment_cannot_be_trusted(ground: Ground) -> None:
    """bash imports BASH_FUNC_x%% as a command of that name."""
    assert (
        "puts a function in the place of a command"
        in named("echo", ground, **{"BASH_FUNC_echo%%": "() { :; }"}).problem
    )


@pytest.mark.parametrize(
    "text",
    [
        "awk '/foo/ {print}' /dev/null",
        "awk -F/ '{print $1}' /dev/null",
        "perl -pe 's/a/b/'",
        "perl -ne 's/a/b/; print' /dev/null",
        "perl -i.bak -lane 'print $F[0]/2' x",
        "ruby -e 'puts 1/2'",
        "python3 -c 'print(1/2)'",
        "node -e '1/2'",
        "node -p /x/.source",
        "sed -n '/a/p'",
        "sed -e 's/a/b/' -e '/x/d'",
        "sed 's/;/x/'",
        "jq '.a/.b'",
        "jq -r --arg a b '.a/.b' /dev/null",
        "grep '/x'",
        "grep -A 3 -e /x /dev/null",
        "bash -i < /dev/null",
    ],
)
def test_a_program_text_is_no_file(ground: Ground, text: str) -> None:
    """Harmless one-liners can be trusted."""
    assert named(text, ground).problem == ""


@pytest.mark.parametrize(
    "text",
    ["sed -n '/a/p'", "sed 's/a/b/g'", "awk '/a/ || /b/'", "jq .a/.b", "grep /x", "bash evil.sh"],
)
def test_what_runs_nothing_else_has_no_caution(ground: Ground, text: str) -> None:
    """A caution that is always there is read by nobody."""
    assert named(text, ground).cautions == []


def test_a_pattern_that_is_also_a_file_stays(ground: Ground) -> None:
    """The first word of grep is what it looks for."""
    assert named("grep evil.sh /dev/null", ground).paths == {}


def test_half_a_character_is_a_problem(world: World) -> None:
    """JSON may hold a lone surrogate; no program can be given one, and no record can keep one."""
    world.llxprt("echo \ud800", "true", name="a\ud800")
    done = world.hookline("trust", "--yes")
    assert (done.returncode, "half a character (a lone surrogate)" in done.stdout) == (65, True)
    assert [bool(why) for why in world.barred()] == [True, False]


def test_no_chain_is_too_long(world: World) -> None:
    """Fifteen hundred wrappers around a program are read like one."""
    world.llxprt("env " * 1500 + "./evil.sh")
    assert world.hookline("trust", "--yes").returncode == 0
    assert roles(["env"] * 1500 + ["x"]) == ["program"] * 1501


@pytest.mark.parametrize(
    "piece",
    ["env ", "eval ", "( ", "$(", "for do ", "]] ", "cd a;", "# x\n", "cat <<E\n", "./evil.sh;", "find -exec ",
     "flock f ", "uv run ",
     "'a' ", "$x ", "xargs ", "x.sh ", "[[ ", "bash <<< x;", "read PATH;", "foo 'a b' \n", "\\", '"', "a=("],
)  # fmt: skip
def test_a_long_text_takes_little_work(ground: Ground, piece: str) -> None:
    """Twice the text takes about twice the calls of functions, for whatever is repeated."""

    def work(size: int) -> int:
        calls = 0

        def count(frame: object, event: str, argument: object) -> None:
            nonlocal calls
            calls += event in ("call", "c_call")

        sys.setprofile(count)
        try:
            named(piece * (size // len(piece)), ground)
        finally:
            sys.setprofile(None)
        return calls

    small, large = work(1 << 11), work(1 << 15)
    assert large < small * 16 * 2, (small, large)


def test_a_relative_name_is_the_projects_wherever_it_is_fired(world: World) -> None:
    """`bash evil` fired in a subdirectory that has its own runs the copy of the project's."""
    world.llxprt("bash evil")
    world.goose("sh evil")
    world.trust()
    world.script("project/sub/evil", f"touch {world.base}/owned")
    ruling = world.discover().fire("PreToolUse", cwd=str(world.project / "sub"), **TOOL)
    assert [report.status for report in ruling.hooks] == ["ran", "ran"]
    assert not (world.base / "owned").exists()


@pytest.mark.parametrize(
    "line",
    ["#!./interp", "#!/bin/sh ./interp", "#!/usr/bin/env ./interp", "#!/usr/bin/env -S sh x", "#!PROJECT/interp"],
)
def test_a_first_line_that_leads_into_the_project_cannot_be_trusted(world: World, line: str) -> None:
    """The kernel would run whatever is there by then."""
    world.script("project/interp")
    world.write("project/.harness/x", f"{line.replace('PROJECT', str(world.project))}\n", mode=0o755)
    world.harness("x")
    [review] = world.reviews()
    assert "let it name an installed program" in review.problems[0]


def test_a_first_line_that_leads_out_by_a_link_is_a_caution(world: World) -> None:
    """As in the scripts of a virtual environment."""
    (world.project / "python").symlink_to("/bin/sh")
    world.write("project/x", f"#!{world.project}/python\n", mode=0o755)
    world.llxprt("./x")
    [review] = world.reviews()
    assert (review.problems, len(review.hooks[0].cautions)) == ([], 1)


def test_doubts_are_in_words() -> None:
    """What is not known about a wrapper is said, with its name."""
    assert parts(["strace", "-Q", "x"]).doubts == [
        "strace has an option -Q that is not known here, so what it runs may not be covered"
    ]


# -- against bash itself

FRONT = [
    "",
    "",
    "X=1 ",
    "X=$(true) ",
    "! ",
    "time ",
    "env ",
    "env -u X ",
    "exec ",
    "command ",
    "builtin ",
    "nohup ",
    "nice ",
    "timeout 5 ",
    "timeout -s KILL 5 ",
    "echo | xargs ",
    "exec -a n ",
    "2>/dev/null ",
    "{ ",
    "(",
    "if ",
    "coproc ",
    "function f { ",
    "f() { ",
    "[[ a ]] && ",
    "((1)) && ",
    "eval ",
    "true <(true)#; ",
    "true #; ",
    "a=(1)#; ",
    "case x in x) ",
    "for x in 1; do ",
    "cat <<E\nx\nE\n",
    "cd sub; ",
    "trap ",
    "find . -maxdepth 0 -exec ",
    "$(",
    'echo "$(',
    "<(",
    "\\\n",
    "sh -c ",
    "stdbuf -o0 ",
    "setsid -w ",
    "PATH=.:$PATH ",
    "[[ a =~ ( #) ]]; ",
]
CORE = [
    "./evil.sh",
    ". ./evil.sh",
    "source ./evil.sh",
    "bash evil.sh",
    "bash -c './evil.sh; true'",
    "bash -c ./evil.sh",
    "bash -eo pipefail -c './evil.sh; true'",
    "sh -ec './evil.sh'",
    "eval ./evil.sh",
    "eval '. ./evil.sh'",
    "bash < evil.sh",
    "bash <<< ./evil.sh",
    "bash -s <<< './evil.sh'",
    "cat evil.sh | bash",
    "cat evil* | bash",
    "'./evil.sh; true'",
    "../project/evil.sh",
    "evil.sh",
    "$PWD/evil.sh",
    "./ev''il.sh",
    "bash <<'E'\n./evil.sh\nE\n",
    "bash +B evil.sh",
    "sh -c '\"$0\"' ./evil.sh",
    "xargs -a names bash",
    "python3 -c 'import os; os.system(\"./evil.sh\")'",
    "awk 'BEGIN{system(\"./evil.sh\")}'",
    "sed '1e ./evil.sh' names",
    "bash <> evil.sh",
    "bash -- evil.sh",
]
BACK = [
    "",
    "",
    "",
    " x",
    "; true",
    " | cat",
    " \\;",
    " EXIT",
    ")",
    ')"',
    "; }",
    "; }; f",
    "; fi",
    "; then true; fi",
    ";; esac",
    "; done",
    " 2>&1",
    " # x",
    "#x",
    " &\nwait",
    " && true",
    " <<E\nx\nE\n",
]


def test_bash_runs_nothing_we_have_not_seen(world: World, ground: Ground) -> None:
    """Random texts of these pieces, given to bash with the copies in place: the project's file runs only where a
    person was told, or where the hook cannot be trusted at all."""
    chance = random.Random(int(os.environ.get("HOOKLINE_FUZZ", "7")))
    copy = world.script("copy.sh", "exit 0")
    world.write("project/names", "evil.sh\n")
    world.script("project/evil.sh", f"touch {world.base}/owned")
    ran, seen = 0, set()
    while ran < 500:
        fronts = "".join(chance.choices(FRONT, k=chance.choice((0, 1, 1, 2, 3))))
        text = fronts + chance.choice(CORE) + "".join(chance.choices(BACK, k=chance.choice((0, 1, 1, 2))))
        if text in seen:
            continue
        seen.add(text)
        made, found = rewritten(text, ground, str(copy))
        if found.problem or found.cautions:
            continue
        ran += 1
        subprocess.run(
            ["timeout", "3", *made.argv], cwd=world.project, capture_output=True, check=False, stdin=subprocess.DEVNULL
        )
        assert not (world.base / "owned").exists(), (text, made.argv[-1])
    assert shutil.which("bash")
