"""What tools, models, people, compactors and handlers do to a session while they run is there again in a replay."""

from __future__ import annotations

import asyncio
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookline import Hooks, UsageError, deny, remind
from hookline.errors import RecordedError, RecordedInterrupt
from hookline.kinds import KINDS
from hookline.replay import replay
from hookline.session import Session
from insiders import HOW, PROGRAM, Live, Program, play
from studio import records, request


def programs(depth: int = 2) -> st.SearchStrategy[Program]:
    inner = programs(depth - 1) if depth else st.just([])
    answers = st.sampled_from(["", "", "remind", "context", "ask", "halt", "deny"])
    inputs = st.fixed_dictionaries(
        {"answer": answers, "inside": inner, "approver": inner, "says": st.sampled_from([True, False, "session"])}
    )
    names = st.sampled_from(["Bash", "guarded"])
    keys = st.sampled_from([None, "one"])
    return st.lists(
        st.one_of(
            st.tuples(st.just("edit"), st.sampled_from(["a.py", "b.py"])),
            st.tuples(st.just("inject"), st.sampled_from(["x", "y"]), keys, st.sampled_from([None, 1, 3])),
            st.tuples(st.just("clear")),
            st.tuples(st.just("notify"), answers, inner),
            st.tuples(st.just("tool"), names, inputs, inner),
            st.tuples(st.just("model"), inner),
            st.tuples(st.just("compact"), inner),
            st.tuples(st.just("turn")),
            st.tuples(st.just("submit"), st.sampled_from(["one", "two"])),
            st.tuples(st.just("stop")),
            st.tuples(st.just("step"), inner),
            st.tuples(st.just("subagent"), inner),
        ),
        max_size=4 if depth else 2,
    )


def recorded_and_replayed(folder: Path, host: Callable[[Session, Live], Any], **how: Any) -> Any:
    """What a host saw, live; and that it sees it again, with nothing called, to the same bytes."""
    live, tape, copy = Live(), folder / "tape", folder / "copy"
    with live.hooks.session(tape=tape, approve=live.approves, **HOW | how) as s:
        live.sessions = [s]
        seen = host(s, live)
    again = Live()
    with Hooks().replay(tape, copy) as s:
        assert host(s, again) == seen
    assert again.ran == 0, "a replay called something"
    assert copy.read_bytes() == tape.read_bytes()
    assert replay(tape).divergence is None
    return seen


@settings(max_examples=150, deadline=None)
@given(programs())
def test_whatever_happens_inside_is_there_again(program: Program) -> None:
    """Edits, reminders, events, calls and subagents, inside of anything that a replay does not call."""
    with tempfile.TemporaryDirectory() as folder:
        recorded_and_replayed(Path(folder), lambda s, live: play(s, program, live))


def test_a_program_of_everything(tmp_path: Path) -> None:
    """The one that the old tape was made of, too."""
    recorded_and_replayed(tmp_path, lambda s, live: play(s, PROGRAM, live))
    assert len(told(tmp_path / "tape")) >= 5


# -- one by one


def told(tape: Path) -> list[dict[str, Any]]:
    return [record.data for record in records(tape) if record.kind == "within"]


def test_an_edit_of_a_tool_is_told_again(tmp_path: Path) -> None:
    """A tool that writes a file and says so: FileEdited comes with the next turn, in a replay, too."""

    def host(s: Session, live: Live) -> None:
        s.tool("Write", {}, live.runs([("edit", "a.py")]))
        s.turn_done()

    recorded_and_replayed(tmp_path, host)
    assert told(tmp_path / "tape") == [{"session_id": "s", "edits": [{"path": "a.py", "metadata": None}]}]
    assert [r.data["payload"] for r in records(tmp_path / "tape") if r.data.get("event") == "FileEdited"
            and r.kind == "event"] == [{"path": "a.py", "metadata": None}]  # fmt: skip


def test_a_tool_that_does_nothing_leaves_no_trace(tmp_path: Path) -> None:
    """Nothing is written where nothing was changed: not by a plain tool, not by what a host does between its calls."""

    def host(s: Session, live: Live) -> None:
        s.file_edited("a.py")
        s.reminders.inject("x")
        s.tool("Bash", {}, live.runs([]))
        s.tool("Bash", {}, live.runs([("inject", "y", None, None), ("clear",), ("inject", "x", None, None)]))
        s.turn_done()

    recorded_and_replayed(tmp_path, host)
    assert [list(each) for each in told(tmp_path / "tape")] == [["session_id", "reminders", "since"]]
    answers = [record.data for record in records(tmp_path / "tape") if record.kind == "tool_result"]
    assert ["since" in data for data in answers] == [False, True]


def test_what_was_undone_is_undone_again(tmp_path: Path) -> None:
    """An event inside of a tool left a reminder, and the tool cleared it: it is not there afterwards."""

    def host(s: Session, live: Live) -> int:
        s.tool("Bash", {}, live.runs([("notify", "", [("inject", "x", None, None)]), ("clear",)]))
        return len(s.reminders)

    assert recorded_and_replayed(tmp_path, host) == 0


def test_a_handler_that_reminds_twice(tmp_path: Path) -> None:
    """One reminder it injects, one it answers with: both have the ids they had."""

    def host(s: Session, live: Live) -> list[Any]:
        s.notify("look", details={"answer": "remind", "inside": [("inject", "x", None, None)]})
        return [reminder.id for reminder in s.reminders]

    assert len(set(recorded_and_replayed(tmp_path, host))) == 2


def test_threads_of_a_tool_are_its_own(tmp_path: Path) -> None:
    """A tool that edits on many threads tells of all its edits."""

    def host(s: Session, live: Live) -> list[str]:
        def run(given: Any) -> str:
            with ThreadPoolExecutor(4) as pool:
                list(pool.map(s.file_edited, "abcd"))
            return "edited"

        s.tool("Write", {}, run)
        s.turn_done()
        return []

    recorded_and_replayed(tmp_path, host)
    edited = [r.data["payload"]["path"] for r in records(tmp_path / "tape") if r.data.get("event") == "FileEdited"
              and r.kind == "event"]  # fmt: skip
    assert sorted(edited) == ["a", "b", "c", "d"]


def test_answers_inside_of_answers(tmp_path: Path) -> None:
    """A model that calls a model, an approver that asks, a compactor that compacts: each has its own answer."""
    inner = [("model", [("model", [])]), ("tool", "guarded", {"a": 1, "approver": [("tool", "guarded", {}, [])]}, [])]

    def host(s: Session, live: Live) -> list[Any]:
        return play(s, [("model", inner), ("compact", [("compact", inner)]), *inner], live)

    seen = recorded_and_replayed(tmp_path, host)
    assert [result.response["text"] for result in seen[0:1]] == ["said 2"]


def test_another_session_inside_is_not_told_of(tmp_path: Path) -> None:
    """What a tool does with a session that has a tape of its own, or none, is no matter of this one."""

    def host(s: Session, live: Live) -> str:
        def run(given: Any) -> str:
            for other_tape in (None, tmp_path / "other"):
                with Hooks().session(id="other", cwd="/", tape=other_tape) as other:
                    other.file_edited("x")
                    other.tool("read", {}, lambda given: other.file_edited("y") or "text")
            return "done"

        return s.tool("Task", {}, run).output

    recorded_and_replayed(tmp_path, host)
    assert told(tmp_path / "tape") == []
    assert [data["session_id"] for data in told(tmp_path / "other")] == ["other"]
    assert replay(tmp_path / "other").divergence is None


def test_edits_that_nobody_could_be_told_of_are_refused() -> None:
    """What is no JSON is refused where it is said, not where it would be needed."""
    with Hooks().session() as s, pytest.raises(UsageError, match="JSON values"):
        s.file_edited("a.py", metadata=object())


def test_secrets_inside_are_masked(tmp_path: Path) -> None:
    """What a tool told of its secrets is masked in what is kept of it, and the tape is replayed all the same."""
    secret = "hunter22hunter22"

    def host(s: Session, run: Any) -> None:
        s.tool("Write", {}, run)
        s.model(request(s.system()), lambda request: {"text": "said"})
        s.turn_done()

    with Hooks().session(id="s", cwd="/", tape=tmp_path / "tape") as s:

        def run(given: Any) -> str:
            s.file_edited("a.py", {"password": secret})
            s.reminders.inject(f"the token={secret} is in use", dedupe_key="k")
            return "ran"

        host(s, run)
        assert secret in s.system()
    assert secret not in (tmp_path / "tape").read_text()
    assert told(tmp_path / "tape")[0]["masked"] == ["/reminders/0/body", "/edits/0/metadata/password"]
    with Hooks().replay(tmp_path / "tape", tmp_path / "copy") as s:
        host(s, None)
    assert (tmp_path / "copy").read_bytes() == (tmp_path / "tape").read_bytes()


# -- on an event loop


def test_async_hosts(tmp_path: Path) -> None:
    """The same on a loop, where handlers, tools and models await."""
    hooks, called = Hooks(), []

    async def host(s: Session) -> list[Any]:
        async def run(given: Any) -> str:
            called.append("tool")
            s.file_edited("a.py")
            await asyncio.create_task(inject())
            await s.notify_async("inside")
            return "ran"

        async def inject() -> None:
            s.reminders.inject("from a task")

        async def call(given: Any) -> dict[str, Any]:
            called.append("model")
            with s.subagent("helper") as child:
                await child.tool_async("read", {}, lambda given: child.file_edited("b.py") or "text")
            return {"text": "said"}

        seen: list[Any] = [await s.tool_async("Write", {}, run), await s.model_async(request("x"), call)]
        return [*seen, (await s.turn_done_async()).to_dict(), [*s.reminders], s.system()]

    @hooks.on("Notification")
    async def handles(payload: dict[str, Any]) -> Any:
        called.append("handler")
        session.reminders.inject("from a handler", dedupe_key="k")
        await asyncio.sleep(0)
        return remind("answered")

    async def live() -> list[Any]:
        nonlocal session
        async with hooks.session(id="s", cwd="/", tape=tmp_path / "tape") as session:
            return await host(session)

    async def again() -> list[Any]:
        async with Hooks().replay(tmp_path / "tape", tmp_path / "copy") as s:
            return await host(s)

    session: Any = None
    seen = asyncio.run(live())
    assert called == ["tool", "handler", "model"]
    assert [reminder.body for reminder in seen[3]] == ["from a task", "from a handler", "answered"]
    assert asyncio.run(again()) == seen
    assert called == ["tool", "handler", "model"]
    assert (tmp_path / "copy").read_bytes() == (tmp_path / "tape").read_bytes()


def test_tools_side_by_side_do_not_tell_of_each_other(tmp_path: Path) -> None:
    """Calls that overlap are no part of each other: their tape stays small, and alone it is replayed."""

    async def host() -> None:
        async with Hooks().session(id="s", cwd="/", tape=tmp_path / "tape") as s:

            async def run(given: Any) -> str:
                await asyncio.sleep(0.001)
                return "x" * 1000

            await asyncio.gather(*(s.tool_async("Bash", {"n": n}, run) for n in range(10)))

    asyncio.run(host())
    assert told(tmp_path / "tape") == []
    assert replay(tmp_path / "tape").divergence is None


# -- what raises


def failing(error: BaseException) -> Callable[[Any], Any]:
    def fails(given: Any) -> Any:
        raise error

    return fails


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda s, what: s.tool("Bash", {}, what), "tool_result"),
        (lambda s, what: s.model(request("x"), what), "model_failed"),
        (lambda s, what: s.compact(what), "compaction_failed"),
    ],
)
def test_what_failed_fails_again(tmp_path: Path, call: Callable[[Session, Any], Any], kind: str) -> None:
    """An exception, nonsense and an interruption are each on the tape, and a replay goes on, or ends, as they did."""

    def host(s: Session, *, live: bool) -> list[str]:
        seen = []
        for what in (failing(ValueError("broken")), lambda given: object(), failing(KeyboardInterrupt())):
            with pytest.raises(BaseException) as raised:
                call(s, what if live else None)
            assert isinstance(raised.value, (RecordedError, RecordedInterrupt)) is not live
            seen.append(str(raised.value) if not live else f"{type(raised.value).__name__}: {raised.value}")
        return seen

    with Hooks().session(id="s", cwd="/", tape=tmp_path / "tape") as s:
        seen = host(s, live=True)
    found = [record.data for record in records(tmp_path / "tape") if record.kind == kind]
    assert [data.get("interrupted", False) for data in found] == [False, False, True]
    with Hooks().replay(tmp_path / "tape", tmp_path / "copy") as s:
        assert host(s, live=False) == seen
    assert (tmp_path / "copy").read_bytes() == (tmp_path / "tape").read_bytes()


def test_an_interrupted_host_is_replayed_to_its_end(tmp_path: Path) -> None:
    """Ctrl-C in a tool ends the session with an error, and again in a replay."""

    def host(s: Session, run: Any) -> None:
        s.submit("go")
        s.tool("Bash", {}, run)

    with pytest.raises(KeyboardInterrupt), Hooks().session(id="s", cwd="/", tape=tmp_path / "tape") as s:
        host(s, failing(KeyboardInterrupt()))
    with pytest.raises(RecordedInterrupt), Hooks().replay(tmp_path / "tape", tmp_path / "copy") as s:
        host(s, None)
    assert (tmp_path / "copy").read_bytes() == (tmp_path / "tape").read_bytes()


def test_a_handler_that_changes_things_and_fails(tmp_path: Path) -> None:
    """What it did before it raised stays done."""
    hooks = Hooks()

    def host(s: Session) -> list[Any]:
        with pytest.raises(Exception, match="broken"):
            s.submit("one")
        s.turn_done()
        return [[*s.reminders], s.system()]

    with hooks.session(id="s", cwd="/", tape=tmp_path / "tape") as s:

        def fails(payload: dict[str, Any]) -> None:
            s.reminders.inject("before it broke")
            s.file_edited("a.py")
            raise ValueError("broken")

        hooks.register_session_hook("user_prompt_submit", fails)
        seen = host(s)
    with Hooks().replay(tmp_path / "tape", tmp_path / "copy") as s:
        assert host(s) == seen
    assert (tmp_path / "copy").read_bytes() == (tmp_path / "tape").read_bytes()


def test_a_policy_that_was_lifted_inside_stays_lifted(tmp_path: Path) -> None:
    """A grant that an agent's helper was given inside of a tool counts for the rest of the session."""

    def host(s: Session, live: Live) -> list[Any]:
        given = {"path": "x", "says": "session"}
        delegated = [("subagent", [("tool", "guarded", given, [])])]
        return [s.tool("Task", {}, live.runs(delegated)), s.tool("guarded", given, live.runs([]))]

    seen = recorded_and_replayed(tmp_path, host)
    assert [result.status for result in seen] == ["ok", "ok"]
    assert sum(record.kind == "approval" for record in records(tmp_path / "tape")) == 1


def test_a_denied_stop_inside_counts(tmp_path: Path) -> None:
    """What Stop hooks are told of earlier denials is the same again."""
    hooks = Hooks()
    hooks.on("Stop")(lambda payload: deny("the tests are red"))

    def host(s: Session, *, live: bool) -> list[Any]:
        run = (lambda given: s.stop("inside").reason) if live else None
        return [s.tool("Task", {}, run), s.stop("done").to_dict()["decision"]]  # type: ignore[arg-type]

    with hooks.session(id="s", cwd="/", tape=tmp_path / "tape") as s:
        seen = host(s, live=True)
    with Hooks().replay(tmp_path / "tape", tmp_path / "copy") as s:
        assert host(s, live=False) == seen
    events = [r.data["payload"] for r in records(tmp_path / "tape") if r.kind == "event" and r.data["event"] == "Stop"]
    assert [payload["stop_hook_active"] for payload in events] == [False, True]


def test_a_watcher_on_a_thread_of_the_host(tmp_path: Path) -> None:
    """Edits told from a thread of the host's, beside all calls, are told in their order and leave no trace but that."""
    with Hooks().session(id="s", cwd="/", tape=tmp_path / "tape") as s:
        watcher = threading.Thread(target=lambda: [s.file_edited(str(number)) for number in range(20)])
        watcher.start()
        watcher.join()
        s.turn_done()
    assert told(tmp_path / "tape") == []
    events = [
        r.data["payload"] for r in records(tmp_path / "tape") if r.kind == "event" and "path" in r.data["payload"]
    ]
    assert [payload["path"] for payload in events] == [str(number) for number in range(20)]


def test_all_of_a_memory_has_its_field() -> None:
    """What a session remembers, and what a record of it may hold, are the same: nothing is forgotten in silence."""
    with Hooks().session() as s:
        remembered = s._memory().keys()
    assert remembered == {name.removesuffix("?") for name in KINDS["within"].fields}
