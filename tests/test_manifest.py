"""harn.toml: handlers named by a file, found beside it, in its exports, or by import."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hookline import ConfigError, Hooks, Ruling, Tape, UsageError
from hookline.dialects import harn, recognised
from hookline.model import Call, Loaded
from hookline.parsing import parse
from hookline.tape import read

TOOL = {"tool_name": "exec_run", "tool_input": {"command": "ls"}}
GUARDS = """
def no(event):
    return {"deny": "no " + event["tool"]["name"]}

def nothing(event):
    return None
"""


class Project:
    """A directory with a manifest and Python files beside it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)

    def write(self, name: str, text: str) -> Path:
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def manifest(self, text: str, **files: str) -> Path:
        for name, content in files.items():
            self.write(f"{name}.py", content)
        return self.write("harn.toml", text)

    def entry(self, event: str = "PreToolUse", handler: str = "guards::no", **more: str) -> str:
        lines = {"event": event, "handler": handler, **more}
        return "[[hooks]]\n" + "".join(f"{key} = '''{value}'''\n" for key, value in lines.items())

    def read(self) -> Loaded:
        """What the dialect makes of the manifest, without loading it into anything."""
        file = str(self.root / "harn.toml")
        return harn.read(parse((self.root / "harn.toml").read_bytes(), file), file, environ={})

    def load(self, **options: Any) -> Hooks:
        hooks = Hooks()
        hooks.load(self.root / "harn.toml", **options)
        return hooks

    def fire(self, event: str = "PreToolUse", **payload: Any) -> Ruling:
        return self.load().fire(event, **(payload or TOOL))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "project")


@pytest.fixture(autouse=True)
def _nothing_stays() -> Iterator[None]:
    """Loading handlers leaves the path, and the modules anybody else can see, as they were."""
    path, modules = list(sys.path), set(sys.modules)
    yield
    assert sys.path == path
    foreign = ("guards", "helpers", "rules", "audit", "policy")
    assert [name for name in set(sys.modules) - modules if name.partition(".")[0] in foreign] == []


def complaint(project: Project, **options: Any) -> str:
    with pytest.raises(ConfigError) as caught:
        project.load(**options)
    return str(caught.value)


# -- where handlers are found


def test_a_file_beside_the_manifest(project: Project) -> None:
    """`guards::no` is the function `no` of guards.py beside harn.toml; its name is the hook's."""
    project.manifest(project.entry(), guards=GUARDS)
    ruling = project.fire()
    assert (ruling.decision, ruling.reason) == ("deny", "no exec_run")
    [report] = ruling.hooks
    assert (report.hook, report.dialect, report.source) == (
        "guards::no",
        "harn",
        f"{project.root}/harn.toml#/hooks/0",
    )


def test_a_file_in_a_directory(project: Project) -> None:
    """A dotted module is a file in a directory beside the manifest."""
    project.manifest(project.entry(handler="hooks.guards::no"), **{"hooks/guards": GUARDS})
    assert project.fire().decision == "deny"


def test_exports(project: Project) -> None:
    """`[exports]` maps a module's name to its file, and comes before a file of that name; `::` may be in a name."""
    text = '[exports]\nguards = "lib/real.py"\n"ns::policy" = "lib/real.py"\n\n'
    text += project.entry() + project.entry(handler="ns::policy::no")
    project.manifest(text, guards="raise RuntimeError('the wrong one')", **{"lib/real": GUARDS})
    assert [hook.name for hook in project.load()] == ["guards::no", "ns::policy::no"]
    assert project.fire().reason == "no exec_run"


def test_an_importable_module(project: Project) -> None:
    """What is neither exported nor beside the manifest is imported by its name."""
    project.manifest(project.entry("SessionStart", "json::loads") + project.entry("SessionEnd", "os.path::abspath"))
    hooks = project.load()
    assert [hook.name for hook in hooks] == ["json::loads", "os.path::abspath"]


def test_the_root(project: Project, tmp_path: Path) -> None:
    """With `root=` files are looked for there."""
    project.manifest(project.entry())
    Project(tmp_path / "elsewhere").write("guards.py", GUARDS)
    assert "guards cannot be found: there is no guards.py" in complaint(project)
    assert len(project.load(root=tmp_path / "elsewhere")) == 1


@pytest.mark.parametrize("body", ["async def no(event):\n    return {'deny': 'async'}", "no = lambda e: {'deny': 'x'}"])
def test_every_sort_of_handler(project: Project, body: str) -> None:
    """A handler may be async, or anything that can be called."""
    project.manifest(project.entry(), guards=body)
    assert project.fire().decision == "deny"


# -- what is imported, and when


def test_reading_imports_nothing(project: Project) -> None:
    """The dialect reads a manifest without importing a thing: only `Hooks.load`, whose caller names the file, does."""
    ran = project.root / "ran"
    project.manifest(project.entry(), guards=f"open({str(ran)!r}, 'w').close()\n{GUARDS}")
    loaded = project.read()
    assert [hook.name for hook in loaded.hooks] == ["guards::no"]
    assert harn.about(loaded.hooks[0]).text == ""
    assert not ran.exists()
    project.load()
    assert ran.exists()


def test_strict_comes_before_importing(project: Project) -> None:
    """A manifest that strictness refuses has nothing of it imported."""
    ran = project.root / "ran"
    project.manifest(project.entry(patern="x"), guards=f"open({str(ran)!r}, 'w').close()\n{GUARDS}")
    assert "unknown key 'patern', ignored; did you mean 'pattern'?" in complaint(project, strict=True)
    assert not ran.exists()
    assert len(project.load()) == 1


def test_a_handler_of_a_barred_hook_is_not_imported(project: Project) -> None:
    """What never runs need not be there."""
    project.manifest(project.entry("WorkerSpawned", "nowhere::at_all"))
    assert len(project.load()) == 1


def test_a_late_handler_is_imported_when_it_is_called(project: Project) -> None:
    """A hook that was read and not loaded imports its handler at its first call."""
    project.manifest(project.entry(), guards=GUARDS)
    [hook] = project.read().hooks
    assert isinstance(hook.action, Call)
    assert hook.action.handler({"tool": {"name": "x"}}) == {"deny": "no x"}


def test_handlers_of_one_file_share_it(project: Project) -> None:
    """Two entries of one module get the same module: what one keeps, the other sees."""
    text = "seen = []\n\ndef first(event):\n    seen.append(1)\n\ndef second(event):\n    return {'deny': str(seen)}\n"
    project.manifest(project.entry(handler="guards::first") + project.entry(handler="guards::second"), guards=text)
    assert project.fire().reason == "[1]"


def test_a_changed_file_is_another_module(project: Project) -> None:
    """A manifest that is loaded again sees its handlers as they are now."""
    project.manifest(project.entry(), guards="def no(event):\n    return {'deny': 'old'}\n")
    assert project.fire().reason == "old"
    project.write("guards.py", "def no(event):\n    return {'deny': 'newer'}\n")
    assert project.fire().reason == "newer"


# -- what stands beside a handler


def test_siblings_can_be_imported(project: Project) -> None:
    """A handler's file imports what lies beside it, modules and packages, by its plain name."""
    project.write("rules/__init__.py", "from rules.words import WORD")
    project.write("rules/words.py", "WORD = 'forbidden'")
    guards = "import helpers\nfrom rules import WORD\n\ndef no(event):\n    return {'deny': helpers.loud(WORD)}\n"
    project.manifest(project.entry(), guards=guards, helpers="def loud(text):\n    return text.upper()\n")
    assert project.fire().reason == "FORBIDDEN"


def test_two_projects_with_the_same_names(tmp_path: Path) -> None:
    """Each project's `guards` and `helpers` are its own, also when both are loaded."""
    hooks = Hooks()
    for name in ("one", "two"):
        made = Project(tmp_path / name)
        guards = "import helpers\n\ndef no(event):\n    return {'reminder': {'body': helpers.NAME}}\n"
        made.manifest(made.entry(), guards=guards, helpers=f"NAME = {name!r}")
        hooks.load(made.root / "harn.toml")
    assert [one["body"] for one in hooks.fire("PreToolUse", **TOOL).reminders] == ["one", "two"]


def test_handler_files_share_a_sibling(project: Project) -> None:
    """Two files that import the same sibling get the same one, and one of them may be a handler's file itself."""
    keeps = "import helpers\n\ndef keep(event):\n    helpers.kept.append(1)\n"
    guards = (
        "import audit, helpers\n\ndef no(event):\n    return {'deny': f'{helpers.kept} {audit.helpers is helpers}'}\n"
    )
    text = project.entry(handler="audit::keep") + project.entry()
    project.manifest(text, audit=keeps, guards=guards, helpers="kept = []")
    assert project.fire().reason == "[1] True"


def test_a_module_of_the_host_stays_the_hosts(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sibling does not take the place of a module the host has under the same name, nor the other way round."""
    own = type(sys)("helpers")
    monkeypatch.setitem(sys.modules, "helpers", own)
    guards = "import helpers\n\ndef no(event):\n    return {'deny': helpers.NAME}\n"
    project.manifest(project.entry(), guards=guards, helpers="NAME = 'the sibling'")
    assert project.fire().reason == "the sibling"
    assert sys.modules["helpers"] is own


def test_a_failed_import_leaves_nothing(project: Project) -> None:
    """A handler's file that raises, or exits, is an error of the entry, and leaves no half of a module behind."""
    before = set(sys.modules)
    for line, words in {"raise ValueError('x')": "ValueError: x", "import sys; sys.exit(3)": "SystemExit: 3"}.items():
        project.manifest(project.entry(), guards=f"import helpers\n{line}", helpers="")
        assert f"/harn.toml#/hooks/0: guards cannot be imported: {words}" in complaint(project)
    assert [name for name in set(sys.modules) - before if "guards" in name] == []


# -- what is wrong with a manifest


@pytest.mark.parametrize(
    ("handler", "message"),
    [
        ("guards::nope", "guards has no function 'nope'; did you mean 'no'?"),
        ("missing::no", "missing cannot be found: there is no missing.py beside the manifest, no 'missing' in [ex"),
        ("a.missing::no", "a.missing cannot be found: there is no a/missing.py beside the manifest, "),
        ("wanting::no", "wanting cannot be imported: ModuleNotFoundError: No module named 'missing'"),
        ("guards::WORD", "guards::WORD must be a function of one argument, the payload, not 'x'"),
        ("guards::two", "guards::two is called with one argument, the payload, but two(a, b) in /"),
        ("broken::no", "broken cannot be imported: SyntaxError"),
        ("gone::no", "gone cannot be imported: FileNotFoundError"),
        ("odd::no", "odd cannot be imported: ImportError: "),
    ],
)
def test_a_handler_that_is_not_there(project: Project, handler: str, message: str) -> None:
    """A handler that cannot be had is an error when the manifest is loaded; it names the entry, nothing is added."""
    guards = GUARDS + "\nWORD = 'x'\n\ndef two(a, b):\n    pass\n"
    exports = '[exports]\ngone = "gone.py"\nodd = "odd.txt"\n\n'
    project.write("odd.txt", "")
    files = {"guards": guards, "broken": "def (", "wanting": "import missing"}
    project.manifest(exports + project.entry() + project.entry(handler=handler), **files)
    hooks = Hooks()
    with pytest.raises(ConfigError) as caught:
        hooks.load(project.root / "harn.toml")
    error = caught.value
    assert str(error).startswith(f"{project.root}/harn.toml#/hooks/1: {message}")
    assert (error.file, error.pointer) == (f"{project.root}/harn.toml", "/hooks/1")
    assert len(hooks) == 0


@pytest.mark.parametrize(
    ("entry", "notice"),
    [
        ('event = "PreToolUse"', "#/hooks/0: handler is missing; this hook is skipped"),
        ('handler = "guards::no"', "#/hooks/0: event is missing; this hook is skipped"),
        ('event = ""\nhandler = "guards::no"', "#/hooks/0/event: event must be a non-empty string"),
        ('event = 5\nhandler = "guards::no"', "#/hooks/0/event: event must be a non-empty string, not a number 5"),
        (
            'event = "PreToolUs"\nhandler = "guards::no"',
            "#/hooks/0/event: no event is called 'PreToolUs'; skipped; did you mean 'PreToolUse'?",
        ),
        (
            'event = "user_prompt_submit"\nhandler = "guards::no"',
            "#/hooks/0/event: no event is called 'user_prompt_submit'; skipped; did you mean 'UserPromptSubmit'?",
        ),
        ('event = "Stop"\nhandler = "guards::no"', "#/hooks/0/event: no event is called 'Stop'; skipped"),
        (
            'event = "PreToolUse"\nhandler = "guards.no"',
            "#/hooks/0/handler: expected <module>::<function>, not 'guards.no'; skipped",
        ),
        ('event = "PreToolUse"\nhandler = "::no"', "#/hooks/0/handler: expected <module>::<function>"),
        ('event = "PreToolUse"\nhandler = "guards::"', "#/hooks/0/handler: expected <module>::<function>"),
        (
            'event = "PreToolUse"\nhandler = "guards::no"\npattern = 5',
            "#/hooks/0/pattern: pattern must be a string, not a number 5; skipped",
        ),
        (
            'event = "PreToolUse"\nhandler = "guards::no"\npattern = "tool.name =~ ["',
            "#/hooks/0/pattern: '[' in the pattern 'tool.name =~ [' is not a regular expression: ",
        ),
    ],
)
def test_a_bad_entry(project: Project, entry: str, notice: str) -> None:
    """What is wrong with one entry is a notice with its place; the others stay. `strict` makes it an error."""
    project.manifest(f"[[hooks]]\n{entry}\n\n{project.entry(handler='guards::nothing')}", guards=GUARDS)
    hooks = project.load()
    assert [hook.name for hook in hooks] == ["guards::nothing"]
    [said] = hooks.notices
    assert str(said).startswith(f"{project.root}/harn.toml{notice}")
    assert complaint(project, strict=True).startswith(f"{project.root}/harn.toml{notice}")


def test_entries_that_are_no_tables(project: Project) -> None:
    """A list of something else is noticed item by item."""
    project.manifest("hooks = [5, {event = 'PreToolUse', handler = 'guards::no'}]\n", guards=GUARDS)
    hooks = project.load()
    assert [hook.name for hook in hooks] == ["guards::no"]
    assert [str(notice.source) for notice in hooks.notices] == [f"{project.root}/harn.toml#/hooks/0"]


@pytest.mark.parametrize("exports", ["exports = 5\n", "exports = ['a']\n", "[exports]\nguards = 5\n\n"])
def test_bad_exports(project: Project, exports: str) -> None:
    """Exports that map nothing to files are ignored with a notice."""
    project.manifest(exports + project.entry(), guards=GUARDS)
    hooks = project.load()
    assert [str(notice.source) for notice in hooks.notices] == [f"{project.root}/harn.toml#/exports"]
    assert hooks.fire("PreToolUse", **TOOL).decision == "deny"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[hooks]\nevent = 'PreToolUse'\n", "hooks must be a list: write [[hooks]]"),
        ("[[hooks]\n", "is not valid TOML"),
        ("  \n", "is empty"),
    ],
)
def test_a_manifest_that_is_none(project: Project, text: str, message: str) -> None:
    """What is wrong with the whole file is an error."""
    project.manifest(text)
    assert message in complaint(project, dialect="harn")


def test_a_manifest_without_hooks(project: Project) -> None:
    """A package without hooks is fine, and noticed."""
    project.manifest("[package]\nname = 'x'\n")
    hooks = project.load(dialect="harn")
    assert (len(hooks), [notice.text for notice in hooks.notices]) == (
        0,
        ["has no [[hooks]], so it configures nothing"],
    )


def test_other_tables_are_left_alone(project: Project) -> None:
    """A manifest is a package's: what is not about hooks is not our concern."""
    project.manifest(f"[package]\nname = 'x'\n\n[dependencies]\ny = '1'\n\n{project.entry()}", guards=GUARDS)
    assert project.load(strict=True).notices == ()


# -- what it is recognised by


def test_it_is_recognised(project: Project) -> None:
    """A list of hooks with handlers is plainly Harn's; a table of lists is not."""
    assert recognised({"hooks": [{"event": "x", "handler": "a::b"}]}, "f").NAME == "harn"
    for other in ({}, {"hooks": {}}, {"hooks": []}, {"hooks": [{"command": "x"}]}, [], None):
        assert not harn.claims(other)


# -- events and patterns


@pytest.mark.parametrize("event", harn.ELSEWHERE)
def test_events_that_never_happen_here(project: Project, event: str) -> None:
    """Events of workers and agent turns are taken, without a notice, and listed as skipped: no such event here."""
    project.manifest(project.entry(event), guards=GUARDS)
    hooks = project.load(strict=True)
    assert [(hook.event, hook.barred) for hook in hooks] == [(event, "no such event here")]
    with pytest.raises(UsageError, match="no event is called"):
        hooks.fire(event)


def test_they_are_listed(project: Project) -> None:
    """`hookline list` shows such a hook with the reason why it never runs."""
    project.manifest(project.entry("WorkerFailed") + project.entry(), guards=GUARDS)
    words = [sys.executable, "-m", "hookline", "list", "--config", str(project.root / "harn.toml"), "--json"]
    done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=project.root)
    assert '"no such event here"' in done.stdout
    assert '"WorkerFailed"' in done.stdout


@pytest.mark.parametrize("event", sorted(harn.EFFECTS))
def test_every_event(project: Project, event: str) -> None:
    """A manifest can name all twenty-three events of Harn's that happen here."""
    project.manifest(project.entry(event, "guards::nothing"), guards=GUARDS)
    assert [hook.event for hook in project.load(strict=True)] == [event]


@pytest.mark.parametrize(
    ("event", "pattern", "payload", "matches"),
    [
        ("PreToolUse", "exec_*", TOOL, True),
        ("PreToolUse", "fetch_*", TOOL, False),
        ("PreToolUse", "tool.args.command =~ ^ls", TOOL, True),
        ("PostToolUse", "exec_*", {**TOOL, "tool_output": "x"}, True),
        ("PostToolUse", "*", {**TOOL, "tool_error": "x"}, False),
        ("PreStep", "merge_captain.admin_*", {"persona": "merge_captain", "step": {"name": "admin_merge"}}, True),
        ("PreStep", "merge_captain.admin_*", {"persona": "merge_captain", "step": {"name": "audit"}}, False),
        ("PreStep", "audit", {"persona": "", "step": {"name": "audit"}}, True),
        ("PreStep", "persona == 'x'", {"persona": "x", "step": {"name": "audit"}}, True),
        ("OnBudgetThreshold", "persona == 'x'", {"persona": "x", "pct": 5}, True),
        ("UserPromptSubmit", "prompt =~ secret", {"prompt": "a secret"}, True),
        ("SessionStart", "*", {}, True),
    ],
)
def test_patterns(project: Project, event: str, pattern: str, payload: dict[str, Any], matches: bool) -> None:
    """A pattern is an event expression, for every event; a step is found by its target."""
    project.manifest(project.entry(event, "guards::nothing", pattern=pattern), guards=GUARDS)
    [report] = project.load().fire(event, **payload).hooks
    assert report.status == ("ran" if matches else "skipped")


def test_a_pattern_that_fits_no_tool(project: Project) -> None:
    """A name that is written as a regular expression is noticed, at its place; an expression is left alone."""
    fine = [project.entry(pattern=pattern) for pattern in ("exec_*", "tool.args.command =~ '^(a|b)'")]
    project.manifest("".join([*fine, project.entry(pattern="Bash|Write")]), guards=GUARDS)
    hooks = project.load()
    place = f"{project.root}/harn.toml#/hooks/2/pattern"
    why = "a glob has no '|'; give each name a glob of its own: 'Bash' and 'Write'"
    text = f"{place}: the pattern 'Bash|Write' fits no tool: {why}"
    assert ([str(notice) for notice in hooks.notices], len(hooks)) == ([text], 3)
    assert complaint(project, strict=True) == text


def test_the_order_of_the_file(project: Project) -> None:
    """Entries run in file order, before what is registered afterwards, and can be cleared like anything else."""
    text = "".join(
        project.entry(handler=f"guards::{name}") + project.entry("PostTurn", f"guards::{name}") for name in "ab"
    )
    guards = "".join(f"def {name}(event):\n    return {{'body': {name!r}}}\n" for name in "ab")
    project.manifest(text, guards=guards)
    hooks = project.load()
    hooks.register_tool_hook(pre=lambda event: {"body": "c"})
    assert [one["body"] for one in hooks.fire("PreToolUse", **TOOL).reminders] == ["a", "b", "c"]
    assert (hooks.clear_tool_hooks(), hooks.clear_session_hooks(), len(hooks)) == (3, 2, 0)


def test_the_tape_has_the_handlers_string(project: Project, tmp_path: Path) -> None:
    """On the tape a manifest's hook is called by its handler's string."""
    project.manifest(project.entry("UserPromptSubmit", "guards::block"), guards="def block(event):\n    return False\n")
    tape = Tape(str(tmp_path / "tape.jsonl"))
    try:
        project.load().fire("UserPromptSubmit", prompt="x", tape=tape)
    finally:
        tape.close()
    found = [(r.kind, r.data["handler"]) for r in read(tape.path) if r.kind.startswith("hook_")]
    assert found == [(kind, "guards::block") for kind in ("hook_call", "hook_returned", "hook_vetoed")]


def test_the_command_line(project: Project) -> None:
    """`hookline fire --config harn.toml` runs the handlers; a denial is exit code 2."""
    project.manifest(project.entry(), guards=GUARDS)
    words = [sys.executable, "-m", "hookline", "fire", "PreToolUse", "--config", "harn.toml"]
    payload = '{"tool_name":"exec_run","tool_input":{}}'
    done = subprocess.run([*words, "--payload", payload], capture_output=True, text=True, check=False, cwd=project.root)
    assert (done.returncode, done.stderr) == (2, "")
    assert "no exec_run" in done.stdout
