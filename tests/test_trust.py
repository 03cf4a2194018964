"""Trust: what a command names, what is covered, that the copies run, and how the record is kept."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookline.model import Call, Command
from hookline.scripts import Ground, Named, pinned
from hookline.shelltext import Scan
from hookline.shellwords import roles
from worlds import TOOL, World


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture
def ground(world: World) -> Ground:
    """A project with a few files, some with awkward names."""
    for path in ("hooks/a.sh", "hooks/b c.sh", "hooks/it's.sh", "x.py", "rules.json"):
        world.script(f"project/{path}")
    world.script("outside.sh")
    return Ground(str(world.project), str(world.home), ("/usr/bin", "/bin"))


def shell(text: str) -> Command:
    return Command(argv=("bash", "-c", text), timeout=1, shell=True)


# -- what a command names

SHELL_CASES = [
    ("hooks/a.sh", "<hooks/a.sh>"),
    ("./hooks/a.sh --flag", "<hooks/a.sh> --flag"),
    ("'hooks/b c.sh' && \"hooks/it's.sh\"", "<hooks/b c.sh> && <hooks/it's.sh>"),
    (r"hooks/b\ c.sh", "<hooks/b c.sh>"),
    ("$LLXPRT_PROJECT_DIR/hooks/a.sh", "<hooks/a.sh>"),
    ('"$GEMINI_PROJECT_DIR"/hooks/a.sh', "<hooks/a.sh>"),
    ('"${CLAUDE_PROJECT_DIR}/hooks/a.sh" x', "<hooks/a.sh> x"),
    ("@@/hooks/a.sh", "<hooks/a.sh>"),
    ("hooks/../hooks/a.sh", "<hooks/a.sh>"),
    ("bash hooks/a.sh rules.json;python3 x.py", "bash <hooks/a.sh> <rules.json>;python3 <x.py>"),
    ("cat | hooks/a.sh | tee log > rules.json 2>&1", "cat | <hooks/a.sh> | tee log > rules.json 2>&1"),
    ("sh < hooks/a.sh", "sh < <hooks/a.sh>"),
    ("X=$(hooks/a.sh) Y=rules.json hooks/a.sh", "X=$(<hooks/a.sh>) Y=<rules.json> <hooks/a.sh>"),
    ('echo "got $(bash hooks/a.sh | wc -l) lines"', 'echo "got $(bash <hooks/a.sh> | wc -l) lines"'),
    ("if true; then hooks/a.sh; else . hooks/a.sh; fi", "if true; then <hooks/a.sh>; else . <hooks/a.sh>; fi"),
    ("(hooks/a.sh) & wait", "(<hooks/a.sh>) & wait"),
    ("run --rules=rules.json", "run --rules=<rules.json>"),
    ("hooks/a.sh # not hooks/a.sh", "<hooks/a.sh> # not hooks/a.sh"),
    ("diff <(hooks/a.sh) rules.json", "diff <(<hooks/a.sh>) <rules.json>"),
    ("hooks/a.sh \\\n  rules.json", "<hooks/a.sh> \\\n  <rules.json>"),
    ("env A=1 timeout 5s hooks/a.sh", "env A=1 timeout 5s <hooks/a.sh>"),
    ("cd hooks && ./a.sh", "cd hooks && <hooks/a.sh>"),
    (
        "cd $LLXPRT_PROJECT_DIR/hooks; sh a.sh < ../rules.json",
        "cd $LLXPRT_PROJECT_DIR/hooks; sh <hooks/a.sh> < <rules.json>",
    ),
    ("(cd hooks; ./a.sh); python3 x.py", "(cd hooks; <hooks/a.sh>); python3 <x.py>"),
    ("X=$(cd hooks && (pwd)) && python3 x.py", "X=$(cd hooks && (pwd)) && python3 <x.py>"),
    ("cd $SOMEWHERE && make && cat rules.json", "cd $SOMEWHERE && make && cat rules.json"),
    ("cd hooks; X=a.sh run --rules=../rules.json", "cd hooks; X=<hooks/a.sh> run --rules=<rules.json>"),
    ("case $1 in a) hooks/a.sh;; *) python3 x.py;; esac", "case $1 in a) <hooks/a.sh>;; *) python3 <x.py>;; esac"),
    ("true", "true"),
    ("echo 'run hooks/a.sh please'", "echo 'run hooks/a.sh please'"),
]


@pytest.mark.parametrize(("text", "wanted"), SHELL_CASES)
def test_words_of_a_shell_text_become_their_copies(world: World, ground: Ground, text: str, wanted: str) -> None:
    """Each word that names a file of the project is replaced, quoted; every other sign stays where it was."""
    command = shell(text.replace("@@", str(world.project)))
    named = Named(command, ground)
    copies = {path: f"<{os.path.relpath(path, world.project)}>" for path in named.paths.values()}
    made = pinned(command, named, copies).argv[-1]
    for mark in copies.values():
        made = made.replace("'" + mark.replace("'", "'\"'\"'") + "'", mark)
    assert (made, named.problem) == (wanted, "")


def test_a_shell_inside_a_shell_is_looked_into(world: World, ground: Ground) -> None:
    """`bash -c` and `eval` take a text of their own; it is put back quoted, and still does what it did."""
    world.script("project/hooks/a.sh", "echo original")
    copy = world.script("copies/a'b.sh", "echo copy $1")
    command = shell("sh -c 'hooks/a.sh one; eval \"hooks/a.sh two\"'")
    named = Named(command, ground)
    made = pinned(command, named, dict.fromkeys(named.paths.values(), str(copy)))
    done = subprocess.run(made.argv, cwd=world.project, capture_output=True, text=True, check=True)
    assert done.stdout == "copy one\ncopy two\n"


ARGV_CASES = [
    (("hooks/a.sh", "rules.json"), ("<hooks/a.sh>", "<rules.json>")),
    (("python3", "-u", "x.py", "--rules=rules.json"), ("python3", "-u", "<x.py>", "--rules=<rules.json>")),
    (("bash", "-c", "hooks/a.sh | cat"), ("bash", "-c", "'<hooks/a.sh>' | cat")),
    (("true", "hooks"), ("true", "hooks")),
    (("hooks", "x"), ("hooks", "x")),
]


@pytest.mark.parametrize(("argv", "wanted"), ARGV_CASES)
def test_words_of_a_command_become_their_copies(
    world: World, ground: Ground, argv: tuple[str, ...], wanted: tuple[str, ...]
) -> None:
    """Without a shell a word is a word. A bare program is one on PATH, whatever the project has of that name."""
    command = Command(argv=argv, timeout=1)
    named = Named(command, ground)
    copies = {path: f"<{os.path.relpath(path, world.project)}>" for path in named.paths.values()}
    assert pinned(command, named, copies).argv == wanted


def test_a_variable_that_names_a_file_is_covered(world: World, ground: Ground) -> None:
    """BASH_ENV and its like are run too."""
    command = Command(argv=("true",), timeout=1, env={"BASH_ENV": "hooks/a.sh", "DIR": str(world.project)})
    named = Named(command, ground)
    assert list(named.paths) == ["hooks/a.sh"]
    assert named.cautions == ["the variable BASH_ENV decides what else is run; what it leads to is not covered"]
    assert pinned(command, named, {f"{world.project}/hooks/a.sh": "COPY"}).env["BASH_ENV"] == "COPY"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("hooks/none.sh", "it names 'hooks/none.sh', and there is no such file in"),
        ("bash none.sh", "it names 'none.sh', and there is no such file in"),
        ("python3 hooks", "it names 'hooks', which is a directory, not a regular file"),
        ("cat fifo", "it names 'fifo', which is a FIFO, not a regular file"),
        ("bash loop.sh", "it names 'loop.sh', which cannot be read: Too many levels of symbolic links"),
        ("cd $SOMEWHERE && ./a.sh", "it changes its directory, and only a shell knows where to"),
        ("cd - && bash a.sh", "it changes its directory, and only a shell knows where to"),
        ("cd /tmp && ./no-such-thing.sh", "it names '/tmp/./no-such-thing.sh', and there is no such file"),
        ("bash /dev/zero", "it names '/dev/zero', which is a device, not a regular file"),
    ],
)
def test_what_cannot_be_copied_cannot_be_trusted(world: World, ground: Ground, text: str, reason: str) -> None:
    """What a command must run has to be there, and has to be a file."""
    os.mkfifo(world.project / "fifo")
    (world.project / "loop.sh").symlink_to("loop.sh")
    assert Named(shell(text), ground).problem.startswith(reason)


@pytest.mark.parametrize(
    "text",
    [
        "$SOMEWHERE/x.sh",
        "${A:-.}/hooks/a.sh",
        "bash hooks/*.sh",
        "`hooks/a.sh`",
        "cat <<E\n$(hooks/a.sh)\nE",
        "sh 'open",
    ],
)
def test_what_only_a_shell_can_know_is_a_caution(ground: Ground, text: str) -> None:
    """Nothing is guessed: a person is told that what this reaches is not covered."""
    named = Named(shell(text), ground)
    assert named.problem == ""
    assert any("only a shell knows" in caution for caution in named.cautions)


def test_scripts_outside_the_project_are_covered_and_programs_are_not(world: World, ground: Ground) -> None:
    """A script is what it does; a program of this machine is only pointed at. `..` leads where it leads."""
    assert Named(shell("../outside.sh"), ground).paths == {"../outside.sh": str(world.base / "outside.sh")}
    assert list(Named(shell("bash ../outside.sh"), ground).paths.values()) == [str(world.base / "outside.sh")]
    assert Named(shell("cat ../outside.sh"), ground).paths == {}
    assert Named(shell(f"/bin/sh {sys.executable}"), ground).paths == {}


@pytest.mark.parametrize(
    "text", ["$(" * 5000, '"' * 999, "a=" * 999, "\\", "$", "${", "<", "<<", "&&", "{ } ! ( )", "~"]
)
def test_no_text_is_too_odd_to_read(ground: Ground, text: str) -> None:
    """Whatever a stranger wrote, looking at it ends, and changes nothing."""
    assert pinned(shell(text), Named(shell(text), ground), {}).argv[-1] == text


@given(st.text(alphabet="ab/.-=_ '\"\\\\$~*?[]{},#;|&<>\n", max_size=12))
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_word_that_is_certain_is_what_bash_makes_of_it(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    """Random texts: where we say we know the words of a single command, bash has the very same ones."""
    home = tmp_path_factory.getbasetemp()  # nothing in it has a name of two letters, so no glob finds anything
    scan = Scan(text, {"HOME": str(home)})
    written = [command for command in scan.commands if command.words]
    plain = not set(text) & set("<>") and len(scan.commands) == 1 and not scan.unread
    if not plain or not written or any(word.value is None for word in written[0].words):
        return
    done = subprocess.run(
        ["bash", "-c", f"printf '%s\\0' x {text}"],
        cwd=home, env={"HOME": str(home)}, capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode().split("\0")[1:-1] == [word.value for word in written[0].words]


def test_roles() -> None:
    """Who is the program, who is run by it, who is a text."""
    assert roles(["A=1", "bash", "-eu", "x"]) == ["word", "program", "word", "script"]
    assert roles(["bash", "-lc", "x", "y"]) == ["program", "word", "text", "word"]
    assert roles(["python3", "-m", "x"]) == ["program", "word", "module"]
    assert roles(["sudo", "-n", "x"]) == ["program", "word", "program"]
    assert roles([None, None]) == ["program", "word"]


# -- running what was trusted


def test_untrusted_hooks_are_skipped_with_the_command_that_helps(world: World) -> None:
    """They are in the list, in the plan and in the ruling; the user's own run."""
    world.llxprt("echo project")
    world.llxprt("echo mine", at="home/.llxprt/settings.json")
    ruling = world.fire()
    why = f"not trusted; run `hookline trust {world.project}`"
    assert [(r.hook, r.status, r.skipped) for r in ruling.hooks] == [
        ("echo project", "skipped", why),
        ("echo mine", "ran", ""),
    ]
    assert world.discover().notices[0].text == f"its hook is skipped, {why}"


def test_a_trusted_hook_runs_the_copy(world: World) -> None:
    """argv[0] of each dialect, and the words of a shell text, lead into the store."""
    for dialect in ("harness", "goose", "llxprt"):
        world.script(f"project/.{dialect}/hooks/x.sh", "echo $0 >&2; exit 2")
    world.harness("hooks/x.sh")
    world.goose(".goose/hooks/x.sh a")
    world.llxprt("$LLXPRT_PROJECT_DIR/.llxprt/hooks/x.sh")
    world.trust()
    assert world.barred() == ["", "", ""]
    for hook in world.discover():
        ran = subprocess.run(
            hook.command.argv, capture_output=True, text=True, check=False, cwd="/", stdin=subprocess.DEVNULL
        )
        assert (ran.returncode, ran.stderr.startswith(f"{world.state}/scripts/")) == (2, True)
    assert world.fire().decision == "deny"


def test_a_copy_is_tight_and_executable_only_if_its_original_was(world: World) -> None:
    """Directories 0700, the record 0600, copies 0500 or 0400: The Harness's interpreters go by that bit."""
    world.script("project/.harness/a.sh")
    world.write("project/.harness/b.py", "print('from b')")
    world.harness("a.sh", "b.py")
    world.trust()
    modes = {
        path.name: stat.S_IMODE(path.lstat().st_mode) for path in world.state.rglob("*") if not path.is_symlink()
    } | {"state": stat.S_IMODE(world.state.stat().st_mode)}
    files = {name: mode for name, mode in modes.items() if name.endswith((".sh", ".py", ".json"))}
    assert sorted(files.values()) == [0o400, 0o500, 0o600]
    assert (files["a.sh"], files["b.py"]) == (0o500, 0o400)
    assert {mode for name, mode in modes.items() if name not in files} == {0o700, 0o600}  # directories, and the lock
    assert world.fire().context == ("ran", "from b")


def test_neighbours_are_where_a_script_looks_for_them(world: World) -> None:
    """Beside it, above it, and also one that came later; what they hold is not covered."""
    world.script(
        "project/.llxprt/hooks/x.sh", 'here=$(dirname "$0"); . "$here/lib.sh"; cat "$here/../../top.txt" >&2; exit 2'
    )
    world.write("project/.llxprt/hooks/lib.sh", "echo lib >&2")
    world.write("project/top.txt", "top")
    world.llxprt(".llxprt/hooks/x.sh")
    world.trust()
    assert world.fire().reason == "lib\ntop"
    world.write("project/.llxprt/hooks/lib.sh", '. "$here/later.sh"')
    world.write("project/.llxprt/hooks/later.sh", "echo later >&2")
    assert world.fire().reason == "later\ntop"


def test_an_interpreter_of_the_project_that_is_a_link_is_pinned_to_its_program(world: World) -> None:
    """`.venv/bin/python` leads to an installed program: the link is kept, not the program copied."""
    (world.project / ".venv/bin").mkdir(parents=True)
    (world.project / ".venv/bin/python").symlink_to(os.path.realpath(sys.executable))
    world.write("project/x.py", "print('{}')")
    world.llxprt(".venv/bin/python x.py")
    [review] = world.trust()
    assert next((s.kind, s.real) for s in review.scripts.values()) == ("program", os.path.realpath(sys.executable))
    assert [r.status for r in world.fire().hooks] == ["ran"]
    (world.project / ".venv/bin/python").unlink()
    (world.project / ".venv/bin/python").symlink_to("/bin/sh")
    [why] = world.barred()
    assert f"changed since it was trusted: {world.project}/.venv/bin/python (led to " in why


def test_the_environment_of_the_user_is_not_the_projects(world: World) -> None:
    """GOOSE_SESSION_START_HOOK comes with every Goose file; a project that is not trusted can neither bar it nor
    take its place."""
    world.write("project/.goose/config.yaml", "hooks: {session_start: [{command: echo project}]}")
    world.environ["GOOSE_SESSION_START_HOOK"] = "echo mine"
    assert world.discover().fire("SessionStart").context == ("mine",)


# -- changes


@pytest.fixture
def trusted(world: World) -> World:
    world.script("project/hooks/x.sh")
    world.script("project/hooks/y.sh")
    world.llxprt("hooks/x.sh", "hooks/y.sh", timeout=5000)
    world.trust()
    assert world.barred() == ["", ""]
    return world


def test_a_changed_configuration_is_asked_again(trusted: World) -> None:
    """Any other byte; all its hooks wait, and the review says what is new."""
    trusted.llxprt("hooks/x.sh", "hooks/z.sh", timeout=6000)
    file, project = f"{trusted.project}/.llxprt/settings.json", trusted.project
    why = f"changed since it was trusted: {file}; run `hookline trust {project}`"
    assert trusted.barred() == [why, why]
    [review] = trusted.reviews()
    assert (review.standing, review.changes) == (
        "changed",
        (
            "changed hook on PreToolUse: 'hooks/x.sh' (timeout was 5 s)",
            "new hook on PreToolUse: 'hooks/z.sh'",
            "removed hook on PreToolUse: 'hooks/y.sh'",
            f"removed file: {project}/hooks/y.sh",
            f"the text of {file}",
        ),
    )
    trusted.trust()
    assert trusted.barred()[0] == ""


def test_a_changed_script_bars_only_its_own_hooks(trusted: World) -> None:
    """And back again when it is what it was."""
    before = (trusted.project / "hooks/x.sh").read_text()
    trusted.script("project/hooks/x.sh", "echo evil")
    first, second = trusted.barred()
    assert (first.startswith(f"changed since it was trusted: {trusted.project}/hooks/x.sh (was "), second) == (True, "")
    [notice] = trusted.discover().notices
    assert str(notice) == f"{trusted.project}/.llxprt/settings.json: 1 of its 2 hooks is skipped, {first}"
    assert notice.text.endswith(f"; run `hookline trust {trusted.project}`")
    [review] = trusted.reviews()
    assert [change.split(" (")[0] for change in review.changes] == [f"changed file: {trusted.project}/hooks/x.sh"]
    (trusted.project / "hooks/x.sh").write_text(before)
    assert trusted.barred() == ["", ""]
    assert trusted.discover().notices == ()


def test_a_lost_or_won_executable_bit_is_a_change(trusted: World) -> None:
    """It decides what runs a script."""
    (trusted.project / "hooks/x.sh").chmod(0o644)
    assert "(may no longer be executed)" in trusted.barred()[0]


def test_a_script_that_vanished(trusted: World) -> None:
    """The copy is still there, but the project no longer has what was trusted."""
    (trusted.project / "hooks/x.sh").unlink()
    assert trusted.barred()[0].startswith("it names 'hooks/x.sh', and there is no such file in")


def test_a_file_that_came_later_is_asked_about(world: World) -> None:
    """A word that named nothing when it was trusted names something now."""
    world.llxprt("cat later.txt")
    world.trust()
    assert world.barred() == [""]
    world.write("project/later.txt", "x")
    [why] = world.barred()
    assert f"it names {world.project}/later.txt, which could not be trusted then" in why


def test_a_file_that_was_named_and_is_gone_is_asked_about(world: World) -> None:
    """Or whoever takes it away for a moment could put another in its place afterwards."""
    data = world.write("project/rules.txt", "x")
    world.llxprt("cat rules.txt")
    world.trust()
    data.unlink()
    [why] = world.barred()
    assert f"changed since it was trusted: 'rules.txt' no longer names {data}" in why


def test_trust_is_for_one_project(trusted: World) -> None:
    """A copy of it elsewhere, byte for byte, is another one."""
    subprocess.run(["cp", "-a", trusted.project, trusted.base / "copy"], check=True)
    assert [bool(hook.barred) for hook in trusted.discover("copy")] == [True, True]


# -- the record


def test_two_writers_do_not_lose_each_others_trust(world: World) -> None:
    """The lock makes read and write one step; every project ends up trusted."""
    projects = [f"p{number}" for number in range(8)]
    for name in projects:
        world.llxprt("true", at=f"{name}/.llxprt/settings.json")

    def trust(name: str) -> int:
        return world.hookline("trust", "--yes", cwd=name).returncode

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(trust, projects)) == [0] * 8
    assert [[hook.barred for hook in world.discover(name)] for name in projects] == [[""]] * 8


def test_two_configurations_of_one_project_are_one_record(world: World) -> None:
    """Trusting a second one keeps the first."""
    world.llxprt("true one")
    world.trust()
    world.goose("true two")
    assert [bool(why) for why in world.barred()] == [True, False]
    world.trust()
    assert world.barred() == ["", ""]
    [file] = (world.state / "trust").iterdir()
    assert [config["dialect"] for config in json.loads(file.read_bytes())["configs"]] == ["goose", "llxprt"]


def test_trust_may_live_elsewhere(world: World) -> None:
    """XDG_STATE_HOME, where it is an absolute path."""
    world.environ["XDG_STATE_HOME"] = str(world.base / "state")
    world.llxprt("true")
    world.trust()
    assert (world.base / "state/hookline/trust").is_dir()
    assert world.barred() == [""]
    world.environ["XDG_STATE_HOME"] = "state"
    assert world.barred() != [""]


def test_firing_after_discovery_looks_at_nothing_of_the_project(trusted: World) -> None:
    """The whole project may go: what was discovered still runs."""
    hooks = trusted.discover()
    for name in ("x.sh", "y.sh"):
        (trusted.project / "hooks" / name).unlink()
    ruling = hooks.fire("PreToolUse", cwd="/", **TOOL)
    assert ([r.status for r in ruling.hooks], ruling.messages) == (["ran", "ran"], ("ran", "ran"))


def test_a_handler_that_no_file_names_cannot_be_trusted(world: World, ground: Ground) -> None:
    """Trust is given to what a file names; a bare callable has no file."""
    assert Named(Call(print, "guards::check"), ground).problem == "it calls guards::check, which no file names"
