"""The short way through silent handlers comes to what the long way comes to."""

from __future__ import annotations

import asyncio
import copy
import enum
import json
import os
import pickle
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hookline
from hookline import HookError, Hooks, Ruling, UsageError, allow, ask, deny, rewrite
from hookline.registry import REMEMBERED

CALL: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "session_id": "s", "cwd": "/a/../b"}


class Ticking:
    """A clock that goes on by a tenth of a millisecond each time it is looked at."""

    def __init__(self) -> None:
        self.ticks = 0

    def __call__(self) -> float:
        self.ticks += 1
        return 1_700_000_000 + self.ticks / 10_000


def short(hooks: Hooks) -> bool:
    """Whether the next call of Bash takes the short way."""
    return hooks._registry.shortcuts.get("Bash") is not None


def came_to(fire: Callable[[], Ruling]) -> Any:
    """What firing came to, but for the time it took: a ruling, or an error."""
    try:
        told = fire().to_dict()
    except hookline.HooklineError as error:
        return type(error), str(error), repr(error.__cause__)
    for report in told.get("hooks", ()):
        report.pop("duration_ms", None)
    return told


# -- what handlers may do

OURS = {
    "silent": None,
    "allows": allow(),
    "asks": ask("sure?"),
    "denies": deny("no"),
    "rewrites": rewrite(tool_input={"command": "ls -l"}),
    "nonsense": 7,
}
HARNS = {
    "silent": None,
    "denies": {"deny": "no"},
    "rewrites": {"args": {"command": "ls -a"}},
    "reminds": {"body": "mind the gap"},
    "odd": {"deny": None},
    "nonsense": "text",
}
RAISED: dict[str, BaseException] = {"raises": ValueError("broken"), "exits": SystemExit(3)}


def register(hooks: Hooks, number: int, what: tuple[str, str, bool], log: list[Any]) -> None:
    """A handler of this dialect that behaves like this; what it is called with is logged."""
    dialect, behaviour, waits = what

    def handle(payload: dict[str, Any]) -> Any:
        log.append((number, copy.deepcopy(payload)))
        if behaviour in RAISED:
            raise RAISED[behaviour]
        return (OURS if dialect == "ours" else HARNS)[behaviour]

    async def handle_later(payload: dict[str, Any]) -> Any:
        return handle(payload)

    handler = handle_later if waits else handle
    if dialect == "ours":
        hooks.on("PreToolUse", match="Ba*")(handler)
    else:
        hooks.register_tool_hook(pattern="Bash", pre=handler)


BEHAVIOURS = st.one_of(
    *(
        st.tuples(st.just(dialect), st.sampled_from(["silent", "silent", *known, *RAISED]), st.booleans())
        for dialect, known in (("ours", OURS), ("harn", HARNS))
    )
)


@given(st.lists(BEHAVIOURS, max_size=5), st.sampled_from([None, "ask", "deny"]))
def test_all_ways_come_to_the_same(several: list[tuple[str, str, bool]], on_failure: Any) -> None:
    """The same handlers are called once each, with the same payloads, in the same order; the ruling is the same."""
    log: list[Any] = []
    hooks = Hooks(on_failure=on_failure, clock=lambda: 1_700_000_000.5)
    for number, what in enumerate(several):
        register(hooks, number, what, log)
    with tempfile.TemporaryDirectory() as folder, closing(hookline.Tape(Path(folder, "tape"))) as tape:
        ways: dict[str, Callable[[], Ruling]] = {
            "the engine": lambda: hooks.fire("PreToolUse", **CALL, tape=tape, transcript_path=""),
            "first": lambda: hooks.fire("PreToolUse", **CALL),
            "short": lambda: hooks.fire("PreToolUse", **CALL),
            "on a loop": lambda: asyncio.run(hooks.fire_async("PreToolUse", **CALL)),
        }
        found = {}
        for way, fire in ways.items():
            log.clear()
            found[way] = came_to(fire), list(log)
    assert short(hooks)
    assert found == dict.fromkeys(ways, found["the engine"])


PROMPT = {"prompt": "hello", "session_id": "s", "cwd": "/", "timestamp": "t"}
ON_PROMPTS = {"silent": None, "fine": True, "blocks": False, "reminds": {"body": "mind"}, "nonsense": 7}


@given(st.lists(st.tuples(st.sampled_from(["silent", *ON_PROMPTS, *RAISED]), st.booleans()), max_size=4))
def test_other_events_go_the_same_ways(several: list[tuple[str, bool]]) -> None:
    """With a tape the engine conducts each handler; without one it takes over from the first that says something."""
    log: list[int] = []
    hooks = Hooks()

    def handler(number: int, behaviour: str, waits: bool) -> Any:
        def handle(payload: dict[str, Any]) -> Any:
            log.append(number)
            if behaviour in RAISED:
                raise RAISED[behaviour]
            return ON_PROMPTS[behaviour]

        async def handle_later(payload: dict[str, Any]) -> Any:
            await asyncio.sleep(0)
            return handle(payload)

        return handle_later if waits else handle

    for number, (behaviour, waits) in enumerate(several):
        hooks.register_session_hook("user_prompt_submit", handler(number, behaviour, waits))
    with tempfile.TemporaryDirectory() as folder, closing(hookline.Tape(Path(folder, "tape"))) as tape:
        ways: dict[str, Callable[[], Ruling]] = {
            "the engine": lambda: hooks.fire("UserPromptSubmit", **PROMPT, tape=tape),
            "without a tape": lambda: hooks.fire("UserPromptSubmit", **PROMPT),
            "on a loop": lambda: asyncio.run(hooks.fire_async("UserPromptSubmit", **PROMPT)),
        }
        found = {}
        for way, fire in ways.items():
            log.clear()
            found[way] = came_to(fire), list(log)
    assert found == dict.fromkeys(ways, found["the engine"])


def test_handlers_are_timed() -> None:
    """Each handler of an event has its own time, also the silent ones; before a tool only where there is a tape."""
    hooks = Hooks()
    for seconds in (0.0, 0.02, 0.0):
        hooks.on("Stop")(lambda payload, seconds=seconds: time.sleep(seconds))
    hooks.on("Stop")(lambda payload: deny("go on"))
    first, second, third, last = (report.duration_ms for report in hooks.fire("Stop").hooks)
    assert second is not None
    assert second >= 20
    assert None not in (first, third, last)


def test_a_manifest_takes_it_too(tmp_path: Path) -> None:
    """Handlers that a file names are as fast as any."""
    (tmp_path / "guards.py").write_text("def quiet(payload):\n    return None\n")
    (tmp_path / "harn.toml").write_text('[[hooks]]\nevent = "PreToolUse"\nhandler = "guards::quiet"\n')
    hooks = Hooks()
    hooks.load(tmp_path / "harn.toml")
    rulings = [came_to(lambda: hooks.fire("PreToolUse", **CALL)) for _ in range(2)]
    assert short(hooks)
    assert rulings[0] == rulings[1]


@pytest.mark.parametrize(
    "other",
    [
        {"pattern": "tool.args.command =~ 'rm'", "pre": lambda payload: {"deny": "no"}},
        {"pattern": "Bash", "deny": "no"},
    ],
)
def test_a_hook_that_looks_at_the_arguments_is_asked_each_time(other: dict[str, Any]) -> None:
    """What is remembered of a tool never decides what depends on its arguments."""
    hooks = Hooks()
    hooks.on("PreToolUse")(lambda payload: None)
    hooks.register_tool_hook(**other)
    always = "deny" in other
    for command, denied in (("ls", always), ("rm x", True), ("ls", always), ("rm x", True)):
        ruling = hooks.fire("PreToolUse", tool_name="Bash", tool_input={"command": command})
        assert (ruling.decision == "deny") is denied, command


def test_processes_beside_handlers_run_each_time(tmp_path: Path) -> None:
    """A plan with a process in it has no short way."""
    script = tmp_path / "count.sh"
    script.write_text(f"#!/bin/sh\necho x >>{tmp_path}/log\n")
    script.chmod(0o755)
    (tmp_path / "settings.json").write_text(json.dumps({"hooks": {"PreToolUse": [{"path": str(script)}]}}))
    hooks = Hooks()
    hooks.on("PreToolUse")(lambda payload: None)
    hooks.load(tmp_path / "settings.json", "harness")
    for _ in range(3):
        assert hooks.fire("PreToolUse", **CALL | {"cwd": str(tmp_path)}).healthy
    assert (tmp_path / "log").read_text() == "x\n" * 3


# -- what changes between two events


def test_hooks_that_come_and_go_count_from_the_next_event_on() -> None:
    """Registering, also inside a handler, and removing end what was remembered."""
    hooks = Hooks()
    heard: list[str] = []

    def adds(payload: dict[str, Any]) -> None:
        heard.append("adds")
        if len(heard) == 2:
            hooks.register_tool_hook(pattern="Bash", pre=lambda payload: heard.append("added"))

    adding = hooks.register_tool_hook(pattern="Bash", pre=adds)
    for _ in range(3):
        hooks.fire("PreToolUse", **CALL)
    assert heard == ["adds", "adds", "adds", "added"]
    adding.remove()
    heard.clear()
    hooks.fire("PreToolUse", **CALL)
    assert heard == ["added"]
    assert hooks.clear_tool_hooks() == 1
    assert hooks.fire("PreToolUse", **CALL) == Ruling("PreToolUse")


def test_nobody_is_not_remembered_once_somebody_listens() -> None:
    """The silence of a tool nobody cared for ends with the first hook; other sets of hooks keep theirs."""
    quiet, hooks = Hooks(), Hooks()
    for each in (quiet, hooks, quiet, hooks):
        assert each.fire("PreToolUse", **CALL) == Ruling("PreToolUse")
    hooks.on("PreToolUse")(lambda payload: deny("no"))
    assert hooks.fire("PreToolUse", **CALL).decision == "deny"
    assert quiet.fire("PreToolUse", **CALL).decision == "none"


def test_a_relative_directory_is_where_the_host_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that changes its directory is not told the old one."""
    seen: list[str] = []
    hooks = Hooks(clock=lambda: 1.0)
    hooks.on("PreToolUse")(lambda payload: seen.append(payload["cwd"]))
    (tmp_path / "below").mkdir()
    for place in (tmp_path, tmp_path / "below", tmp_path):
        monkeypatch.chdir(place)
        for cwd in ("", ".", "x/.."):
            hooks.fire("PreToolUse", tool_name="Bash", tool_input={}, cwd=cwd)
    assert seen == [str(place) for place in (tmp_path, tmp_path / "below", tmp_path) for _ in range(3)]


def test_directories_and_times_are_those_of_each_event() -> None:
    """Neither is taken over from the event before, and all handlers of one event are told the same."""
    seen: list[tuple[str, str]] = []
    hooks = Hooks(clock=Ticking())
    for _ in range(2):
        hooks.on("PreToolUse")(lambda payload: seen.append((payload["cwd"], payload["timestamp"])))
    for number in range(100):
        hooks.fire("PreToolUse", tool_name="Bash", tool_input={}, cwd=f"/{number % 3}")
    assert seen[::2] == seen[1::2]
    assert [cwd for cwd, _ in seen[::2]] == [f"/{number % 3}" for number in range(100)]
    times = [at for _, at in seen]
    assert times == sorted(times)
    assert len(set(times)) >= 10


def test_the_time_is_that_of_the_clock() -> None:
    """To the millisecond, whichever way is taken."""
    seen: list[str] = []
    now = [0.0]
    hooks = Hooks(clock=lambda: now[0])
    hooks.on("PreToolUse")(lambda payload: seen.append(payload["timestamp"]))
    for now[0] in (0.0, 0.0004, 0.0009, 0.001, 0.0015, 0.002, 0.001, 59.9995, 60.0):
        hooks.fire("PreToolUse", tool_name="Bash", tool_input={}, cwd="/")
    wanted = ("00.000", "00.000", "00.000", "00.001", "00.001", "00.002", "00.001", "59.999", "00.000")
    assert tuple(text[17:23] for text in seen) == wanted


# -- what it must not cost


def test_wrong_calls_are_refused_whichever_way_is_taken() -> None:
    """A mistake of the caller raises on the first event and on every other."""
    hooks = Hooks()
    hooks.register_tool_hook(pattern="*", pre=lambda payload: None)
    for _ in range(2):
        hooks.fire("PreToolUse", **CALL)
        for wrong in (
            {"tool_name": ["Bash"]},
            {"tool_name": None},
            {"tool_input": "ls"},
            {"session_id": 7},
            {"cwd": 7},
            {"toolname": "Bash"},
        ):
            with pytest.raises(UsageError):
                hooks.fire("PreToolUse", **CALL | wrong)
    for name in ("tool_name", "tool_input"):
        with pytest.raises(UsageError, match=f"needs {name}"):
            hooks.fire("PreToolUse", **{key: value for key, value in CALL.items() if key != name})


def test_other_sorts_of_strings_and_paths_are_taken() -> None:
    """What the long way takes is taken afterwards as well."""

    class Name(str):
        __slots__ = ()

    seen: list[Any] = []
    hooks = Hooks()
    hooks.on("PreToolUse")(lambda payload: seen.append((payload["tool_name"], payload["cwd"])))
    for name, cwd in (("Bash", "/x"), (Name("Bash"), "/x"), ("Bash", Path("/x")), (Name("Bash"), Path("/x"))):
        hooks.fire("PreToolUse", tool_name=name, tool_input={}, cwd=cwd)
    assert seen == [("Bash", "/x")] * 4


def test_what_is_remembered_is_bounded() -> None:
    """A host whose tools have ever new names does not fill its memory."""
    hooks = Hooks()
    hooks.on("PreToolUse")(lambda payload: None)
    for each in (hooks, Hooks()):
        for number in range(2 * REMEMBERED + 10):
            each.fire("PreToolUse", tool_name=f"tool{number}", tool_input={})
        assert 0 < len(each._registry.shortcuts) <= REMEMBERED


def test_rulings_that_are_shared_do_not_change() -> None:
    """Nobody can write into the ruling of the next event; a copy of one is a ruling like any other."""
    hooks = Hooks()
    hooks.on("PreToolUse")(lambda payload: None)
    for _ in range(3):
        ruling = hooks.fire("PreToolUse", **CALL)
        rewrites: Any = ruling.rewrites
        assert rewrites == {}
        for change in (
            lambda rewrites=rewrites: rewrites.update(tool_input={}),
            lambda rewrites=rewrites: rewrites.__setitem__("tool_input", {}),
            lambda rewrites=rewrites: rewrites.setdefault("tool_input", {}),
            lambda rewrites=rewrites: rewrites.__ior__({"tool_input": {}}),
        ):
            with pytest.raises(TypeError, match="does not change"):
                change()
        for other in (copy.deepcopy(ruling), pickle.loads(pickle.dumps(ruling))):
            assert (other, other.to_dict(), other.tool_input) == (ruling, ruling.to_dict(), None)


def test_handlers_may_fire_again() -> None:
    """A handler that fires the event it hears is called inside itself, no more often than it asks for."""
    depth: list[int] = []
    hooks = Hooks()

    def again(payload: dict[str, Any]) -> Any:
        depth.append(len(depth))
        if len(depth) % 4:
            hooks.fire("PreToolUse", **CALL)
            return None
        return {"deny": "deep enough"}

    hooks.register_tool_hook(pattern="Bash", pre=again)
    assert [hooks.fire("PreToolUse", **CALL).decision for _ in range(2)] == ["none", "none"]
    assert len(depth) == 8


def test_an_interruption_passes() -> None:
    """Ctrl-C inside a handler ends the fire, the first time and every other time."""

    def interrupted(payload: dict[str, Any]) -> None:
        if payload["tool_input"]:
            raise KeyboardInterrupt

    hooks = Hooks()
    hooks.on("PreToolUse")(interrupted)
    for _ in range(2):
        hooks.fire("PreToolUse", tool_name="Bash", tool_input={})
        with pytest.raises(KeyboardInterrupt):
            hooks.fire("PreToolUse", **CALL)


def test_an_async_handler_inside_a_loop_says_what_to_do() -> None:
    """`fire` inside a running loop cannot await: the error names the way out, each time."""

    async def waits(payload: dict[str, Any]) -> None:
        pass

    hooks = Hooks()
    hooks.on("PreToolUse")(waits)
    hooks.fire("PreToolUse", **CALL)

    async def host() -> None:
        for _ in range(2):
            with pytest.raises(UsageError, match="fire_async"):
                hooks.fire("PreToolUse", **CALL)
            assert (await hooks.fire_async("PreToolUse", **CALL)).healthy

    asyncio.run(host())


def test_threads_fire_while_hooks_come_and_go() -> None:
    """Once a hook is registered every fire that begins hears it, on whatever thread; once it is gone, none."""
    hooks = Hooks()
    hooks.on("PreToolUse")(lambda payload: None)
    wrong: list[str] = []
    guarded, done = threading.Event(), threading.Event()

    def fires() -> None:
        while not done.is_set():
            if guarded.is_set() and hooks.fire("PreToolUse", **CALL).decision != "deny" and guarded.is_set():
                wrong.append("a fire missed the guard")

    threads = [threading.Thread(target=fires) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(300):
        guard = hooks.register_tool_hook(pattern="Bash", deny="no")
        guarded.set()
        hooks.fire("PreToolUse", **CALL)
        guarded.clear()
        guard.remove()
        if hooks.fire("PreToolUse", **CALL).decision != "none":
            wrong.append("a guard outlived its removal")
    done.set()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_an_error_is_not_kept_alive() -> None:
    """What a handler raised, and all it held, is let go with the error."""
    import gc
    import weakref

    class Held:
        pass

    kept: list[weakref.ref[Held]] = []

    def raises(payload: dict[str, Any]) -> None:
        held = Held()
        kept.append(weakref.ref(held))
        raise ValueError("broken")

    hooks = Hooks()
    hooks.register_tool_hook(pattern="Bash", pre=raises)
    for _ in range(3):
        with pytest.raises(HookError):
            hooks.fire("PreToolUse", **CALL)
    gc.collect()
    assert [each() for each in kept] == [None] * 3


def test_the_directory_may_be_gone(tmp_path: Path) -> None:
    """A host whose own directory was removed can still fire."""
    gone = tmp_path / "gone"
    gone.mkdir()
    before = os.getcwd()
    hooks = Hooks()
    hooks.on("PreToolUse")(lambda payload: None)
    os.chdir(gone)
    try:
        gone.rmdir()
        for _ in range(2):
            assert hooks.fire("PreToolUse", tool_name="Bash", tool_input={}).healthy
    finally:
        os.chdir(before)


class Name(enum.StrEnum):
    BASH = "Bash"


@pytest.mark.parametrize("first", ["ls", "rm x"])
@pytest.mark.parametrize("name", [Name.BASH, "Bash"])
def test_a_name_of_another_class_is_no_shortcut(name: str, first: str) -> None:
    """What is planned for the arguments of one call is never taken for the plan of the tool."""
    hooks = Hooks()
    hooks.register_tool_hook(pattern="tool.args.command =~ 'rm'", pre=lambda event: {"deny": "no rm"})
    hooks.register_tool_hook(pattern="*sh", pre=lambda event: None)
    hooks.fire("PreToolUse", tool_name=name, tool_input={"command": first})
    for called in ("Bash", Name.BASH, "Bash"):
        for command, wanted in (("ls", "none"), ("rm x", "deny")):
            ruling = hooks.fire("PreToolUse", tool_name=called, tool_input={"command": command})
            assert ruling.decision == wanted, (called, command)


def test_what_was_forgotten_meanwhile_is_not_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads with more tools than are remembered: each call comes to what its own arguments come to."""
    monkeypatch.setattr("hookline.registry.REMEMBERED", 1)
    monkeypatch.setattr("hookline.registry.FEWEST", 1)
    hooks = Hooks()
    hooks.register_tool_hook(pattern="tool.args.command =~ 'rm'", pre=lambda event: {"deny": "no rm"})
    hooks.register_tool_hook(pattern="sh*", pre=lambda event: None)
    wrong: list[Any] = []

    def fire(who: int) -> None:
        for number in range(300):
            for command, wanted in (("ls", "none"), ("rm", "deny")):
                tool = f"sh{(number * (who + 1)) % 7}"
                ruling = hooks.fire("PreToolUse", tool_name=tool, tool_input={"command": command})
                if ruling.decision != wanted:
                    wrong.append((tool, command, ruling.decision))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=fire, args=(who,)) for who in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert wrong == []
