"""Hooks, as a host holds them: real configurations, real processes, many at once, every mistake a caller can make."""

from __future__ import annotations

import asyncio
import json
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from hookline import ConfigError, Hooks, Report, Ruling, Tape, UsageError, background, tape
from hookline.dialects import DIALECTS

LS = {"tool_name": "Bash", "tool_input": {"command": "ls"}}
PATIENCE = 20.0
WAIT_FOR = 'while [ ! -e "$1" ]; do sleep 0.01; done'


class Project:
    """A directory with scripts and configurations that hooks are loaded from."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def script(self, name: str, body: str) -> str:
        file = self.path / name
        file.write_text(f"#!/bin/sh\n{body}\n")
        file.chmod(0o755)
        return name

    def harness(self, name: str = "settings.json", /, **events: list[dict[str, Any]]) -> Path:
        file = self.path / name
        file.write_text(json.dumps({"hooks": events}))
        return file

    def goose(self, name: str = "config.yaml", /, **events: list[dict[str, Any]]) -> Path:
        return self.harness(name, **events)  # JSON is YAML

    def fire(self, hooks: Hooks, event: str = "PreToolUse", **payload: Any) -> Ruling:
        if event == "PreToolUse":
            payload = LS | payload
        return hooks.fire(event, **{"cwd": str(self.path), **payload})

    def lines(self, name: str) -> list[str]:
        file = self.path / name
        return file.read_text().splitlines() if file.exists() else []


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def loaded(*files: Path, **options: Any) -> Hooks:
    hooks = Hooks(environ={}, **options)
    for file in files:
        hooks.load(file, strict=True)
    return hooks


def commands(*words: str) -> list[dict[str, Any]]:
    return [{"command": word} for word in words]


def paths(*names: str) -> list[dict[str, Any]]:
    return [{"path": name} for name in names]


def eventually(condition: Callable[[], bool]) -> bool:
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


# -- loading


def test_loading_returns_the_hooks_it_added(project: Project) -> None:
    """Every load adds to the end, in file order; `Hooks` is the ordered collection of all of them."""
    hooks = Hooks(environ={})
    first = hooks.load(project.harness(Stop=paths("b", "a"), SessionStart=paths("c")))
    second = hooks.load(project.goose(session_start=commands("d")))
    assert [hook.name for hook in first] == ["b", "a", "c"]
    assert [hook.name for hook in second] == ["d"]
    assert (list(hooks), len(hooks), hooks.notices) == (first + second, 4, ())


def test_strict_raises_what_would_be_noticed(project: Project) -> None:
    """With strict every notice is in the error, with its place, and nothing of the file is loaded."""
    file = project.harness(Stop=[{"path": 7}, {"path": "a", "timeout": 3}, {"path": "b"}], Stopp=[])
    hooks = Hooks(environ={})
    with pytest.raises(ConfigError) as caught:
        hooks.load(file, "harness", strict=True)
    assert str(caught.value).splitlines() == [
        f"{file}#/hooks/Stop/0/path: path must be a non-empty string, not a number 7; this hook is skipped",
        f"{file}#/hooks/Stop/1/timeout: timeout is in milliseconds here: 3 is 3 ms; was it meant in seconds?",
        f"{file}#/hooks/Stopp: no event is called 'Stopp'; did you mean 'Stop'?",
    ]
    assert (len(hooks), hooks.notices) == (0, ())
    assert [hook.name for hook in hooks.load(file, "harness")] == ["a", "b"]
    assert "\n".join(map(str, hooks.notices)) == str(caught.value)


def test_a_named_dialect_reads_the_file_its_way(project: Project) -> None:
    """Naming the dialect overrides what the content looks like; what does not fit is noticed."""
    file = project.goose(session_start=commands("a"))
    hooks = Hooks(environ={})
    assert hooks.load(file, "harness") == []
    assert "no event is called 'session_start'; did you mean 'SessionStart'?" in str(hooks.notices[0])


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"hooks": {}}, "is not recognised as any dialect's; name its dialect: --config DIALECT="),
        (
            {"hooks": {"Stop": [{"path": "a"}], "session_start": [{"command": "a"}]}},
            "could be harness or goose; name its dialect: --config DIALECT=",
        ),
    ],
)
def test_a_file_of_no_certain_dialect_says_how_to_name_it(project: Project, document: Any, words: str) -> None:
    """Neither nothing nor too much is guessed at."""
    file = project.path / "hooks.json"
    file.write_text(json.dumps(document))
    with pytest.raises(ConfigError) as caught:
        Hooks().load(file)
    assert str(caught.value).startswith(f"{file}: {words}")
    assert str(caught.value).endswith(f"where the dialect is one of {', '.join(DIALECTS)}")


# -- mistakes of the caller


@pytest.mark.parametrize(
    ("event", "payload", "message"),
    [
        ("PreTolUse", LS, "no event is called 'PreTolUse'; did you mean 'PreToolUse'?"),
        ("nonsense at all", {}, "no event is called 'nonsense at all'; `hookline events` lists them all"),
        (7, {}, "no event is called 7; `hookline events` lists them all"),
        ("PreToolUse", {}, "PreToolUse needs tool_input and tool_name; its fields are "),
        ("UserPromptSubmit", {}, "UserPromptSubmit needs prompt; its fields are prompt, system?, session_id?, cwd?"),
        ("PreToolUse", {**LS, "tool_nam": 1}, "PreToolUse has no field 'tool_nam'; did you mean 'tool_name'?"),
        ("Stop", {"sesion_id": "s"}, "Stop has no field 'sesion_id'; did you mean 'session_id'?"),
        ("Stop", {"zzz": 1}, "Stop has no field 'zzz'; its fields are prompt?, response?, stop_hook_active?"),
        ("PreToolUse", {**LS, "tool_input": "ls"}, "PreToolUse: tool_input must be an object, not a string: 'ls'"),
        ("PreToolUse", {**LS, "tool_name": None}, "PreToolUse: tool_name must be a string, not null: None"),
        ("Stop", {"stop_hook_active": 1}, "Stop: stop_hook_active must be true or false, not a number: 1"),
        ("Stop", {"session_id": 7}, "session_id must be a string, not a number: 7"),
        ("Stop", {"cwd": None}, "cwd must be a string, not null: None"),
    ],
)
def test_misuse_raises_at_once(project: Project, event: Any, payload: dict[str, Any], message: str) -> None:
    """An unknown event or field, a missing field and a wrong type raise a sentence that says what to write instead."""
    hooks = loaded(project.harness(PreToolUse=paths("x"), Stop=paths("x"), UserPromptSubmit=paths("x")))
    for call in (hooks.fire, hooks.explain):
        with pytest.raises(UsageError) as caught:
            call(event, **payload)
        assert str(caught.value).startswith(message)
    with pytest.raises(UsageError) as caught:
        asyncio.run(hooks.fire_async(event, **payload))
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("event", "payload"),
    [
        ("PreTolUse", LS),
        ("PreToolUse", {}),
        ("PreToolUse", {**LS, "tool_nam": 1}),
        ("PreToolUse", {**LS, "tool_input": "ls"}),
        ("Stop", {"stop_hook_active": 1}),
        ("SessionIdle", {"iteration": True}),
        ("Stop", {"session_id": 7}),
        ("Stop", {"timestamp": None}),
    ],
)
def test_misuse_raises_also_where_nobody_listens(event: str, payload: dict[str, Any]) -> None:
    """Whether an event is fired as it should be does not depend on who listens today."""
    with pytest.raises(UsageError) as alone:
        Hooks().fire(event, **payload)
    heard = Hooks()
    for name in ("PreToolUse", "Stop", "SessionIdle"):
        heard.on(name)(lambda payload: None)
    with pytest.raises(UsageError) as among:
        heard.fire(event, **payload)
    assert str(alone.value) == str(among.value)


@pytest.mark.parametrize(
    ("said", "is_really"),
    [
        ("harness", "goose/config.yaml"),
        ("goose", "harness/settings.json"),
        ("llxprt", "harness/settings.json"),
        ("goose", "llxprt/settings.json"),
        ("harn", "llxprt/settings.json"),
        ("harness", "harn/harn.toml"),
    ],
)
def test_a_file_of_another_dialect(said: str, is_really: str) -> None:
    """Where the named dialect does not fit, and another one's does, both the error and the notices say which."""
    file = Path(__file__).parent.parent / "examples" / is_really
    other = is_really.partition("/")[0]
    hint = f"it looks like a file of {other}: name it {other}={file}, or leave the dialect out"
    hooks = Hooks()
    try:
        hooks.load(file, dialect=said)
    except ConfigError as error:
        said_last = str(error).rpartition("; ")[2]
    else:
        said_last = str(hooks.notices[-1]).removeprefix(f"{file}: ")
    assert (said_last, len(hooks)) == (hint, 0)


def test_a_file_that_is_broken_or_empty_is_no_other_dialects(project: Project) -> None:
    """Nobody is sent elsewhere for a mistake in a file of the dialect that was named."""
    broken, empty = project.path / "broken.json", project.harness("empty.json")
    broken.write_text('{"hooks": ')
    hooks = Hooks()
    with pytest.raises(ConfigError) as caught:
        hooks.load(broken, dialect="harness")
    hooks.load(empty, dialect="goose")
    assert "looks like" not in "".join(map(str, [caught.value, *hooks.notices]))


def test_what_is_printed_of_hooks(project: Project) -> None:
    """How many there are, of which dialects; of a value, what it says and no more."""
    hooks = loaded(project.harness(PreToolUse=paths("a", "b")), project.goose(pre_tool_use=commands("c")))
    assert (repr(hooks), repr(Hooks())) == ("<Hooks: 3 (2 of harness, 1 of goose)>", "<Hooks: 0>")
    assert repr(Hooks().fire("Stop")) == "Ruling(event='Stop')"


def test_nothing_is_built_for_nobody() -> None:
    """An event nobody listens to does not even ask what time it is; its ruling is that of hooks with no opinion."""
    hooks = Hooks(clock=lambda: pytest.fail("nobody wants to know"))
    hooks.on("Stop")(lambda payload: None)
    for ruling in (hooks.fire("PreToolUse", **LS), asyncio.run(hooks.fire_async("PreToolUse", **LS))):
        assert ruling.to_dict() == {"event": "PreToolUse", "decision": "none", "healthy": True}
        assert list(ruling.hooks) == []


def test_values_of_subclasses_are_values() -> None:
    """A field may be a str or a dict of the host's own class, as it may be a plain one."""

    class Name(str):
        __slots__ = ()

    class Input(dict[str, Any]):
        pass

    seen: list[Any] = []
    hooks = Hooks()
    hooks.on("PreToolUse", match="Bash")(lambda payload: seen.append(payload["tool_input"]))
    hooks.fire("PreToolUse", tool_name=Name("Bash"), tool_input=Input(command="ls"), session_id=Name("s"))
    assert seen == [{"command": "ls"}]


def test_what_is_not_json_cannot_be_sent(project: Project) -> None:
    """A payload no hook could be given is the caller's mistake, in the foreground and in the background."""
    project.script("h.sh", "exit 0")
    hooks = loaded(project.harness(PreToolUse=paths("h.sh")), project.goose(post_tool_use=commands("sh h.sh")))
    for event in ("PreToolUse", "PostToolUse"):
        with pytest.raises(UsageError, match="a payload must be made of JSON values: "):
            hooks.fire(event, tool_name="t", tool_input={"a": object()}, cwd=str(project.path))


@pytest.mark.parametrize("value", ["allow", "", 0, False, "Deny"])
def test_on_failure_is_ask_or_deny(project: Project, value: Any) -> None:
    """Anything else raises, for the whole and for one file."""
    message = r'on_failure must be "ask", "deny" or None, not '
    with pytest.raises(UsageError, match=message):
        Hooks(on_failure=value)
    with pytest.raises(UsageError, match=message):
        Hooks().load(project.harness(Stop=paths("x")), on_failure=value)


@pytest.mark.parametrize(
    ("dialect", "entry", "cwd", "why"),
    [
        ("harness", "missing.sh", "", "cannot start 'DIR/missing.sh': there is no such file"),
        ("harness", "folder", "", "cannot start 'DIR/folder': it is a directory"),
        ("harness", "plain", "", "cannot start 'DIR/plain': no permission to execute it; run `chmod +x` on it"),
        ("harness", "lost", "", "cannot start 'DIR/lost': its interpreter '/no/interpreter' does not exist"),
        ("harness", "bare", "", "cannot start 'DIR/bare': it has no shebang; begin it with a line such as #!/bin/sh"),
        ("harness", "good", "no/where", "cannot start: the working directory 'DIR/no/where' does not exist"),
        ("harness", "good", "plain", "cannot start: the working directory 'DIR/plain' is not a directory"),
        ("goose", "no-such-program-of-ours", "", "cannot start: 'no-such-program-of-ours' is not installed"),
        ("goose", "./missing.sh", "", "cannot start 'DIR/./missing.sh': there is no such file"),
        ("goose", "sh 'x", "", "cannot start: the command \"sh 'x\" has an open ' quote"),
    ],
)
def test_a_hook_that_cannot_start_says_why(project: Project, dialect: str, entry: str, cwd: str, why: str) -> None:
    """It never raises: the hook failed, the operation goes on, and the notice says where, what and what to do."""
    project.script("good", "exit 2")
    (project.path / "plain").write_text("#!/bin/sh\n")
    (project.path / "folder").mkdir()
    for name, text in {"lost": "#!/no/interpreter\n", "bare": "exit 2\n"}.items():
        (project.path / name).write_text(text)
        (project.path / name).chmod(0o755)
    hooks = Hooks(environ={})
    if dialect == "harness":
        hooks.load(project.harness(PreToolUse=paths(entry)))
    else:
        hooks.load(project.goose(pre_tool_use=commands(entry)))
    ruling = project.fire(hooks, cwd=str(project.path / cwd))
    assert (ruling.decision, ruling.healthy, ruling.hooks[0].status) == ("none", False, "failed")
    [notice] = ruling.notices
    text = str(notice).replace(str(project.path), "DIR")
    assert text.startswith(f"{ruling.hooks[0].source}: {entry} {why}".replace(str(project.path), "DIR"))
    assert text.endswith("; it goes on without its opinion")


# -- firing


def test_hooks_run_in_the_order_they_were_loaded(project: Project) -> None:
    """File after file, entry after entry, dialects mixed; each sees its own payload; one ruling comes of it."""
    for name in "abcd":
        project.script(f"{name}.sh", f'{{ printf "{name} "; cat; echo; }} >>log; echo {name}')
    hooks = loaded(
        project.harness("1.json", SessionStart=paths("b.sh")),
        project.goose("2.yaml", session_start=commands("sh a.sh", "sh d.sh")),
        project.harness("3.json", SessionStart=paths("c.sh", "b.sh")),
    )
    ruling = project.fire(hooks, "session_start", session_id="s", timestamp="t")
    assert ruling.context == ("b", "a", "d", "c", "b")
    assert [report.source for report in ruling.hooks] == [
        f"{project.path}/1.json#/hooks/SessionStart/0",
        f"{project.path}/2.yaml#/hooks/session_start/0",
        f"{project.path}/2.yaml#/hooks/session_start/1",
        f"{project.path}/3.json#/hooks/SessionStart/0",
        f"{project.path}/3.json#/hooks/SessionStart/1",
    ]
    goose = '{"event":"session_start","session_id":"s"}'
    harness = (
        '{"session_id":"s","transcript_path":"","hook_event_name":"SessionStart",'
        f'"cwd":"{project.path}","timestamp":"t"}}'
    )
    assert project.lines("log") == [f"b {harness}", f"a {goose}", f"d {goose}", f"c {harness}", f"b {harness}"]


def test_each_dialect_reads_its_own_answers(project: Project) -> None:
    """The same script blocks in The Harness by exit 2 and fails in Goose; the strictest verdict is the ruling."""
    project.script("two.sh", 'echo "two $0" >>log; echo reason >&2; exit 2')
    project.script("ask.sh", """echo '{"decision":"require_approval","reason":"sure?"}'""")
    goose = project.goose(pre_tool_use=commands("sh two.sh", "sh ask.sh"))
    assert project.fire(loaded(goose)).decision == "ask"
    ruling = project.fire(loaded(goose, project.harness(PreToolUse=paths("two.sh"))))
    assert (ruling.decision, ruling.reason, ruling.healthy) == ("deny", "reason", False)
    assert [(r.status, r.decision) for r in ruling.hooks] == [("failed", None), ("ran", "ask"), ("ran", "deny")]


def test_a_deny_keeps_the_later_hooks_from_running(project: Project) -> None:
    """Hooks behind a deny leave no trace, and the ruling says who settled it."""
    project.script("no.sh", "echo never >&2; exit 2")
    project.script("later.sh", "echo ran >>log")
    hooks = loaded(
        project.harness(PreToolUse=paths("no.sh", "later.sh")), project.goose(pre_tool_use=commands("sh later.sh"))
    )
    ruling = project.fire(hooks)
    assert [report.skipped for report in ruling.hooks] == ["", "settled by no.sh", "settled by no.sh"]
    assert project.lines("log") == []


def test_every_call_is_judged_alone(project: Project) -> None:
    """Neither a block nor a context of one call is left in the next."""
    project.script(
        "h.sh", """grep -q bad && echo '{"decision":"block","reason":"bad","context_injection":"bad"}'; exit 0"""
    )
    hooks = loaded(project.goose(pre_tool_use=commands("sh h.sh"), prompt_submit=commands("sh h.sh")))
    calls = [project.fire(hooks, tool_input={"command": word}) for word in ("bad", "good", "bad")]
    assert [(ruling.decision, ruling.reason) for ruling in calls] == [("deny", "bad"), ("none", ""), ("deny", "bad")]
    turns = [project.fire(hooks, "UserPromptSubmit", prompt=word) for word in ("bad", "good")]
    assert [ruling.context for ruling in turns] == [("bad",), ()]


def test_ask_is_left_to_the_host(project: Project) -> None:
    """`fire` asks nobody: it returns the question, and the later hooks have run."""
    project.script("ask.sh", """echo '{"decision":"ask","message":"push?"}'""")
    project.script("later.sh", "echo ran >>log")
    ruling = project.fire(loaded(project.harness(PreToolUse=paths("ask.sh", "later.sh"))))
    assert (ruling.decision, ruling.reason, project.lines("log")) == ("ask", "push?", ["ran"])


def test_on_failure_on_three_levels(project: Project) -> None:
    """The entry's own word goes before the file's, and the file's before that of the whole."""
    project.script("fails.sh", "exit 9")
    plain = project.harness("plain.json", PreToolUse=paths("fails.sh"))
    asks = project.harness("asks.json", PreToolUse=[{"path": "fails.sh", "on_failure": "ask"}])

    def decided(file: Path, whole: Any = None, of_file: Any = None) -> str:
        hooks = Hooks(on_failure=whole)
        hooks.load(file, on_failure=of_file)
        return project.fire(hooks).decision

    assert decided(plain) == "none"
    assert decided(plain, whole="deny") == "deny"
    assert decided(plain, whole="deny", of_file="ask") == "ask"
    assert decided(plain, whole="ask", of_file="deny") == "deny"
    assert decided(asks, whole="deny", of_file="deny") == "ask"
    assert decided(asks) == "ask"


def test_nothing_runs_twice(project: Project) -> None:
    """A hook that fails, times out or kills itself has run once, and the next one once."""
    project.script("fails.sh", "echo fails >>log; exit 1")
    project.script("hangs.sh", "echo hangs >>log; exec sleep 60")
    project.script("dies.sh", "echo dies >>log; kill -9 $$")
    entries = [{"path": "fails.sh"}, {"path": "hangs.sh", "timeout": 500}, {"path": "dies.sh"}]
    ruling = project.fire(loaded(project.harness(PreToolUse=entries)))
    assert project.lines("log") == ["fails", "hangs", "dies"]
    assert [r.error for r in ruling.hooks] == ["exited with 1", "timed out after 500 ms", "was killed by SIGKILL"]


def test_no_hook_costs_nothing(project: Project) -> None:
    """Where nothing matches there is no thread and no payload, not even of values that could not be one."""
    hooks = loaded(
        project.harness(PreToolUse=[{"path": "x", "matcher": {"tool_name": "Write"}}]),
        project.goose(post_tool_use=[{"command": "x", "tool_name": "Write"}]),
    )
    before = threading.active_count()
    for event in ("PreToolUse", "PostToolUse"):
        ruling = hooks.fire(event, tool_name="Bash", tool_input={"a": object()})
        assert [report.status for report in ruling.hooks] == ["skipped"]
    assert Hooks().fire("SessionEnd") == Ruling("SessionEnd")
    assert threading.active_count() == before


def test_base_fields(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a word of the host: this directory, the time, no session, no transcript. A path may be a Path."""
    project.script("h.sh", "cat >seen")
    hooks = loaded(project.harness(Stop=paths("h.sh")), clock=lambda: 1_700_000_000.5)
    monkeypatch.chdir(project.path)
    hooks.fire("Stop")
    assert json.loads((project.path / "seen").read_text()) == {
        "session_id": "",
        "transcript_path": "",
        "hook_event_name": "Stop",
        "cwd": os.getcwd(),
        "timestamp": "2023-11-14T22:13:20.500Z",
    }
    hooks.fire("Stop", cwd=project.path, transcript_path=project.path / "t")
    assert json.loads((project.path / "seen").read_text())["transcript_path"] == str(project.path / "t")


def test_the_environment_of_the_host_is_inherited(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hook sees the host's variables as they are when it runs."""
    project.script("h.sh", 'echo "$HOST_WORD"')
    hooks = loaded(project.goose(session_start=commands("sh h.sh")))
    for word in ("one", "two"):
        monkeypatch.setenv("HOST_WORD", word)
        assert project.fire(hooks, "SessionStart").context == (word,)


@pytest.mark.parametrize(
    ("event", "name"),
    [
        ("PreToolUse", "PreToolUse"),
        ("pre_tool_use", "PreToolUse"),
        ("BeforeTool", "PreToolUse"),
        ("before_tool", "PreToolUse"),
    ],
)
def test_every_spelling_fires_the_same_event(project: Project, event: str, name: str) -> None:
    """An event may be named as any dialect spells it, and in snake_case."""
    project.script("h.sh", "echo hi")
    ruling = loaded(project.harness(PreToolUse=paths("h.sh"))).fire(event, cwd=str(project.path), **LS)
    assert (ruling.event, ruling.context) == (name, ("hi",))


def test_a_real_tape(project: Project) -> None:
    """What happened is on the tape, in order, the chain holds, and hooks are told where it is."""
    project.script("h.sh", "cat >seen; echo no >&2; exit 2")
    project.script("bg.sh", "exit 4")
    hooks = loaded(project.harness(PreToolUse=paths("h.sh", "h.sh")), project.goose(session_stop=commands("sh bg.sh")))
    kept = Tape(str(project.path / "tape.jsonl"))
    ruling = project.fire(hooks, tape=kept)
    hooks.fire("SessionEnd", tape=kept, cwd=str(project.path))
    hooks.wait()
    kept.close()
    records = list(tape.read(kept.path))
    assert [record.kind for record in records] == [
        "event",
        "hook_call",
        "hook_returned",
        "hook_vetoed",
        "hook_skipped",
        "ruling",
        "event",
        "ruling",
        "hook_call",
        "hook_returned",
    ]
    assert records[5].data == ruling.to_dict()
    assert (records[9].data["result"], records[9].data["raw"]["exit_code"]) == ("failed", 4)
    assert tape.verify(kept.path).records == 10
    assert json.loads((project.path / "seen").read_text())["transcript_path"] == kept.path


# -- explaining


def test_explaining_runs_nothing(project: Project) -> None:
    """The plan has every hook considered, in order, with its wave, its place or the reason it would not run."""
    project.script("h.sh", "echo ran >>log")
    harness = project.harness(
        PreToolUse=[{"path": "h.sh", "matcher": {"tool_name": "Write"}}, {"path": "h.sh", "timeout": 3000}]
    )
    goose = project.goose(pre_tool_use=[{"command": "sh h.sh", "tool_name": "Ba"}], post_tool_use=commands("sh h.sh"))
    hooks = loaded(harness, goose)
    common = {"hook": "h.sh", "dialect": "harness", "argv": [f"{project.path}/h.sh"]}
    assert hooks.explain("PreToolUse", **LS).to_dict() == {
        "event": "PreToolUse",
        "hooks": [
            {
                **common,
                "source": f"{harness}#/hooks/PreToolUse/0",
                "runs": False,
                "skipped": "no match: tool_name = Write",
                "matcher": "tool_name = Write",
                "timeout": 5.0,
            },
            {**common, "source": f"{harness}#/hooks/PreToolUse/1", "runs": True, "wave": 0, "timeout": 3.0},
            {
                "hook": "sh h.sh",
                "dialect": "goose",
                "source": f"{goose}#/hooks/pre_tool_use/0",
                "runs": True,
                "wave": 1,
                "matcher": "tool_name ~ Ba",
                "argv": ["sh", "h.sh"],
                "timeout": 10.0,
            },
        ],
    }
    [later] = hooks.explain("PostToolUse", **LS).entries
    assert (later.runs, later.background, later.wave) == (True, True, -1)
    hooks.wait()
    assert project.lines("log") == []


def test_what_is_explained_is_what_is_fired(project: Project) -> None:
    """The reports of a ruling are the entries of the plan, in the same order."""
    project.script("h.sh", "exit 0")
    hooks = loaded(
        project.harness(PreToolUse=[*paths("h.sh"), {"path": "h.sh", "matcher": {"tool_name": "x"}}]),
        project.goose(pre_tool_use=commands("sh h.sh")),
    )
    entries = hooks.explain("PreToolUse", **LS).entries
    reports = project.fire(hooks).hooks
    assert [(str(e.hook.source), e.skipped) for e in entries] == [(r.source, r.skipped) for r in reports]


# -- Goose's variable


def test_the_legacy_variable_is_a_last_resort(project: Project) -> None:
    """GOOSE_SESSION_START_HOOK runs once, however many Goose files are loaded, and not where one of them has a hook."""
    project.script("h.sh", 'echo "$1"')
    environ = {"GOOSE_SESSION_START_HOOK": "sh h.sh legacy"}
    one = project.goose("1.yaml", session_stop=commands("true"))
    two = project.goose("2.yaml", prompt_submit=commands("true"))
    own = project.goose("3.yaml", session_start=commands("sh h.sh own"))
    other = project.harness(SessionStart=[{"path": "h.sh", "args": ["harness"]}])
    hooks = Hooks(environ=environ)
    for file in (other, one, two):
        hooks.load(file)
    ruling = project.fire(hooks, "SessionStart")
    assert ruling.context == ("harness", "legacy")
    assert [r.skipped for r in ruling.hooks][2].startswith("duplicate of sh h.sh legacy")
    hooks.load(own)
    assert project.fire(hooks, "SessionStart").context == ("harness", "own")
    unset = Hooks(environ={})
    unset.load(one)
    assert project.fire(unset, "SessionStart").hooks == ()


# -- the background


def test_background_hooks_never_delay(project: Project) -> None:
    """`fire` returns while its fire-and-forget hook is held up by what the host does only afterwards."""
    project.script("h.sh", f"{WAIT_FOR}; echo done >>log")
    ended: list[Report] = []
    hooks = loaded(project.goose(post_tool_use=commands("sh h.sh go")), on_background=ended.append)
    ruling = hooks.fire("PostToolUse", cwd=str(project.path), **LS)
    assert [(r.status, r.decision) for r in ruling.hooks] == [("background", None)]
    assert (ruling.decision, ruling.healthy, ended) == ("none", True, [])
    (project.path / "go").touch()
    hooks.wait()
    assert project.lines("log") == ["done"]
    assert [(r.status, r.exit_code) for r in ended] == [("ran", 0)]


def test_background_hooks_keep_their_order(project: Project) -> None:
    """Within a session they run one after another, event by event, hook by hook, failures and all."""
    project.script("h.sh", 'echo "start $1" >>log; sleep 0.02; echo "end $1" >>log; exit 1')
    ended: list[Report] = []
    hooks = loaded(project.goose(session_stop=commands("sh h.sh a", "sh h.sh b")), on_background=ended.append)
    for _ in range(2):
        hooks.fire("SessionEnd", session_id="s", cwd=str(project.path))
    hooks.wait("s")
    assert project.lines("log") == ["start a", "end a", "start b", "end b"] * 2
    assert [(r.hook, r.error) for r in ended] == [("sh h.sh a", "exited with 1"), ("sh h.sh b", "exited with 1")] * 2


def test_sessions_do_not_wait_for_each_other(project: Project) -> None:
    """One session's background is not behind another's: the first can only end when the second has run."""
    project.script("h.sh", f'if grep -q \'"first"\'; then {WAIT_FOR}; else touch "$1"; fi')
    hooks = loaded(project.goose(session_stop=commands("sh h.sh second-ran")))
    hooks.fire("SessionEnd", session_id="first", cwd=str(project.path))
    hooks.fire("SessionEnd", session_id="second", cwd=str(project.path))
    hooks.wait("second")
    assert (project.path / "second-ran").exists()
    hooks.wait()


def test_a_background_hook_gets_the_payload_of_its_moment(project: Project) -> None:
    """What the host does to its values after `fire` does not reach a hook that has not started yet."""
    project.script("h.sh", f"{WAIT_FOR}; cat >>log; echo >>log")
    hooks = loaded(project.goose(post_tool_use=commands("sh h.sh go")))
    arguments = {"command": "ls", "list": [1]}
    for _ in range(2):
        hooks.fire("PostToolUse", tool_name="t", tool_input=arguments, cwd=str(project.path))
    arguments["command"] = "changed"
    arguments["list"].append(2)  # type: ignore[attr-defined]
    (project.path / "go").touch()
    hooks.wait()
    seen = [json.loads(line)["tool_arguments"] for line in project.lines("log")]
    assert seen == [{"command": "ls", "list": [1]}] * 2


def test_too_much_in_the_background_is_said(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the limit a hook is skipped, with a notice, in the ruling that would have started it."""
    monkeypatch.setattr(background, "MOST", 2)
    project.script("h.sh", f"touch started; {WAIT_FOR}; echo ran >>log")
    hooks = loaded(project.goose(session_stop=commands("sh h.sh go")))
    fire = lambda: hooks.fire("SessionEnd", session_id="s", cwd=str(project.path))  # noqa: E731
    assert fire().hooks[0].status == "background"
    assert eventually((project.path / "started").exists)
    assert [fire().hooks[0].status for _ in range(2)] == ["background", "background"]
    ruling = fire()
    why = "too many background hooks are waiting"
    assert [(r.status, r.skipped) for r in ruling.hooks] == [("skipped", why)]
    assert [n.text for n in ruling.notices] == [f"sh h.sh go was not run: {why}"]
    other = hooks.fire("SessionEnd", session_id="t", cwd=str(project.path))
    assert other.hooks[0].status == "background"
    (project.path / "go").touch()
    hooks.wait()
    assert project.lines("log") == ["ran"] * 4


def test_a_callback_that_raises_strands_nothing(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error of an on_background callback is the thread's to report; what waits behind it still runs."""
    reported: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", reported.append)
    project.script("h.sh", "echo ran >>log")

    def explode(report: Report) -> None:
        raise RuntimeError(report.hook)

    hooks = loaded(project.goose(session_stop=commands("sh h.sh", "sh h.sh")), on_background=explode)
    for _ in range(2):
        hooks.fire("SessionEnd", cwd=str(project.path))
    hooks.wait()
    assert project.lines("log") == ["ran"] * 4
    assert [(args.exc_type, str(args.exc_value)) for args in reported] == [(RuntimeError, "sh h.sh")] * 4


# -- many at once


def test_many_threads_fire_at_once(project: Project) -> None:
    """Each of many concurrent calls gets the ruling of its own event, and every hook has run once for each."""
    project.script(
        "h.sh", """session=$(sed 's/.*"session_id":"\\([^"]*\\)".*/\\1/'); echo "$session" >>log; echo "$session" """
    )
    hooks = loaded(project.harness(UserPromptSubmit=paths("h.sh")), project.goose(prompt_submit=commands("sh h.sh")))

    def one(session: str) -> tuple[str, ...]:
        ruling = hooks.fire("UserPromptSubmit", prompt="p", session_id=session, cwd=str(project.path))
        assert ruling.healthy
        return ruling.context

    sessions = [f"s{i}" for i in range(40)]
    with ThreadPoolExecutor(8) as pool:
        contexts = list(pool.map(one, sessions))
    assert contexts == [(session, session) for session in sessions]
    assert sorted(project.lines("log")) == sorted(sessions * 2)


def test_threads_really_run_beside_each_other(project: Project) -> None:
    """Two calls whose hooks wait for each other both end."""
    project.script(
        "h.sh", "read -r line; case $line in *first*) touch a; set b;; *) touch b; set a;; esac; " + WAIT_FOR
    )
    hooks = loaded(project.harness(UserPromptSubmit=paths("h.sh")))
    with ThreadPoolExecutor(2) as pool:
        rulings = list(pool.map(lambda text: project.fire(hooks, "UserPromptSubmit", prompt=text), ["first", "second"]))
    assert [ruling.healthy for ruling in rulings] == [True, True]


def test_loading_beside_firing(project: Project) -> None:
    """Hooks may be added while others fire: every ruling is of a whole number of files."""
    project.script("h.sh", "echo x")
    file = project.harness(SessionStart=paths("h.sh", "h.sh"))
    hooks = Hooks()
    with ThreadPoolExecutor(4) as pool:
        fired = [pool.submit(project.fire, hooks, "SessionStart") for _ in range(6) if hooks.load(file)]
        counts = [len(future.result().context) for future in fired]
    assert all(count % 2 == 0 and count <= 12 for count in counts)
    assert len(hooks) == 12


# -- on an event loop


def test_async_gives_the_same_ruling(project: Project) -> None:
    """`fire_async` comes to what `fire` comes to, but for the time it took."""
    project.script("ask.sh", """echo '{"decision":"ask","message":"q"}'""")
    project.script("fails.sh", "echo oops >&2; exit 1")
    project.script("text.sh", "cat")
    hooks = loaded(
        project.harness(PreToolUse=paths("ask.sh", "fails.sh", "text.sh", "missing.sh")),
        project.goose(pre_tool_use=commands("sh ask.sh", "sh fails.sh")),
    )
    happened = {**LS, "cwd": str(project.path), "timestamp": "t"}

    def timeless(ruling: Ruling) -> dict[str, Any]:
        found = ruling.to_dict()
        for report in found["hooks"]:
            del report["duration_ms"]
        return found

    wanted = timeless(hooks.fire("PreToolUse", **happened))
    assert timeless(asyncio.run(hooks.fire_async("PreToolUse", **happened))) == wanted
    assert (wanted["decision"], wanted["healthy"]) == ("ask", False)


def test_the_event_loop_goes_on(project: Project) -> None:
    """While hooks run the loop does other things, such as that which lets them end, and other events."""
    project.script("h.sh", f"touch started; {WAIT_FOR}; echo done")
    hooks = loaded(project.harness(SessionStart=[{"path": "h.sh", "args": ["go"], "timeout": PATIENCE * 1000}]))

    async def host() -> list[Ruling]:
        fired = [asyncio.create_task(hooks.fire_async("SessionStart", cwd=str(project.path))) for _ in range(3)]
        while not (project.path / "started").exists():
            await asyncio.sleep(0.005)
        assert not any(task.done() for task in fired)
        (project.path / "go").touch()
        return await asyncio.gather(*fired)

    assert [ruling.context for ruling in asyncio.run(host())] == [("done",)] * 3


def test_background_hooks_on_an_event_loop(project: Project) -> None:
    """`fire_async` does not wait for fire-and-forget hooks either."""
    project.script("h.sh", f"{WAIT_FOR}; echo done >>log")
    hooks = loaded(project.goose(session_stop=commands("sh h.sh go")))
    ruling = asyncio.run(hooks.fire_async("SessionEnd", cwd=str(project.path)))
    assert ([r.status for r in ruling.hooks], project.lines("log")) == (["background"], [])
    (project.path / "go").touch()
    hooks.wait()
    assert project.lines("log") == ["done"]


def test_a_tape_is_a_tape() -> None:
    """A path is no tape: whoever fires single events opens it, and closes it."""
    hooks = Hooks()
    with pytest.raises(UsageError, match=r"tape takes a hookline\.Tape, not a string: 'z'"):
        hooks.fire("Stop", tape="z")
