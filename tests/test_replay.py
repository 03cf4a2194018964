"""Replay: the same engine on a tape, and the same bytes; alone, and with the host that was recorded."""

from __future__ import annotations

import asyncio
import json
import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from hookline import Divergence, HookError, Hooks, Tape, TapeError, context, remind, rewrite
from hookline.errors import RecordedError
from hookline.replay import replay
from hookline.tape import repair, verify
from studio import OPTIONS, TOOLS, Host, Studio, play, play_async, record, records, request, scripts


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Any], list[str]]:
    """A tape of everything there is, what its host saw, and what it was asked to do; the hooks are gone."""
    folder = tmp_path_factory.mktemp("studio")
    tape = tmp_path_factory.mktemp("tapes") / "tape.jsonl"
    seen, host, studio = record(folder, tape)
    studio.wreck()
    assert os.listdir(folder) == []
    return tape, seen, host.asked


def test_the_recording_has_everything(recorded: tuple[Path, list[Any], list[str]]) -> None:
    """All four dialects and Python, in front and in the background; every decision, failure, kind of record."""
    tape, _, asked = recorded
    all_of_them = records(tape)
    hooks = [r.data for r in all_of_them if "handler" in r.data]
    assert {data["dialect"] for data in hooks} == {"harness", "goose", "llxprt", "harn", "python"}
    assert any(data.get("background") for data in hooks)
    rulings = [r.data for r in all_of_them if r.kind == "ruling"]
    assert {data["decision"] for data in rulings} == {"none", "allow", "ask", "deny"}
    assert any("halt" in data for data in rulings)
    assert {"tool_input", "tool_output", "args", "context", "messages", "reminders"} <= set().union(*rulings)
    results = {data["result"] for data in hooks if "result" in data}
    assert {"failed", "timeout", "deny", "ask", "allow", "block", "decision_allow"} <= results
    assert {r.kind for r in all_of_them} == {
        *("session", "event", "hook_call", "hook_returned", "hook_raised", "hook_skipped", "hook_vetoed", "ruling"),
        *("system_reminder", "message", "model_failed", "tool_call", "tool_result", "tool_refused", "approval"),
        *("compaction", "subagent"),
    }
    assert set(asked) == {"tool", "model", "person", "compactor"}


def test_a_tape_alone_is_replayed_to_the_same_bytes(
    recorded: tuple[Path, list[Any], list[str]], tmp_path: Path
) -> None:
    """Every event goes through the engine again; hooks and their files are not needed, and the copy is identical."""
    tape, _, _ = recorded
    copy = tmp_path / "copy"
    assert replay(tape, copy).to_dict() == {"identical": True, "records": verify(tape).records}
    assert copy.read_bytes() == tape.read_bytes()


def test_a_host_is_replayed_to_the_same_bytes(recorded: tuple[Path, list[Any], list[str]], tmp_path: Path) -> None:
    """The host gets the very same answers, nothing of it is called, and the copy is identical."""
    tape, seen, _ = recorded
    host = Host()
    with Hooks().session(replay=tape, tape=tmp_path / "copy") as s:
        assert play(s, host) == seen
    assert host.asked == []
    assert (tmp_path / "copy").read_bytes() == tape.read_bytes()


def test_registered_hooks_are_not_called(recorded: tuple[Path, list[Any], list[str]], tmp_path: Path) -> None:
    """Whatever is registered now, and whatever options are given: a replay is the recording, and nothing else."""
    tape, seen, _ = recorded
    studio, host = Studio(tmp_path), Host()
    hooks = Hooks()
    studio.register(hooks)
    with hooks.replay(tape, tmp_path / "copy", id="s1") as s:
        assert (s.id, play(s, host)) == ("s1", seen)
    assert studio.calls == host.asked == []


def test_an_async_host(tmp_path: Path) -> None:
    """What was recorded by an async host is replayed by it, and by a tape alone."""
    studio, host = Studio(tmp_path / "w"), Host()
    hooks, tape = studio.hooks(), tmp_path / "tape"

    async def live() -> list[Any]:
        async with hooks.session(tape=tape, approve=host.approve, **OPTIONS) as s:
            return await play_async(s, host)

    async def again() -> list[Any]:
        async with Hooks().session(replay=tape, tape=tmp_path / "copy") as s:
            return await play_async(s, Host())

    seen = asyncio.run(live())
    studio.wreck()
    assert asyncio.run(again()) == seen
    assert (tmp_path / "copy").read_bytes() == tape.read_bytes()
    assert replay(tape).divergence is None


def test_a_tape_from_elsewhere(recorded: tuple[Path, list[Any], list[str]], tmp_path: Path) -> None:
    """A tape that was moved is replayed as it is: the paths in it are those of the machine that recorded it."""
    tape, seen, _ = recorded
    moved = tmp_path / "elsewhere" / "moved.jsonl"
    moved.parent.mkdir()
    moved.write_bytes(tape.read_bytes())
    assert replay(moved).divergence is None
    with Hooks().session(cwd=str(tmp_path), replay=moved, tape=tmp_path / "copy") as s:
        assert s.cwd == records(tape)[0].data["cwd"] != str(tmp_path)
        again = play(s, Host())
    assert again == seen
    assert (tmp_path / "copy").read_bytes() == tape.read_bytes()
    assert str(moved) not in (tmp_path / "copy").read_text()
    assert records(moved)[1].data["transcript_path"] == str(tape)


# -- divergences


@pytest.fixture
def short(tmp_path: Path) -> Path:
    """A short session: a prompt, a tool that is denied, a tool that runs, a model, the end."""
    hooks = Hooks()
    hooks.register_tool_hook(pattern="exec_*", deny="exec is gated")
    with hooks.session(id="s", cwd="/", tape=tmp_path / "short") as s:
        s.submit("hello")
        s.tool("exec_x", {"n": 1}, str)
        s.tool("read", {"path": "a"}, str)
        s.model(request("hi"), lambda given: {"text": "ho"})
    return tmp_path / "short"


def seq_of(tape: Path, kind: str, number: int = 0) -> int:
    return [r.seq for r in records(tape) if r.kind == kind][number]


def diverges(tape: Path, host: Any) -> Divergence:
    with pytest.raises(Divergence) as raised, Hooks().session(replay=tape) as s:
        host(s)
    return raised.value


def test_other_arguments(short: Path) -> None:
    """The first record that would be another is named, with the place, and both values."""

    def host(s: Any) -> None:
        s.submit("hello")
        s.tool("exec_x", {"n": 2}, str)

    found = diverges(short, host)
    assert found.seq == seq_of(short, "event", 2)
    assert str(found) == f"record {found.seq}: event PreToolUse: at /payload/tool_input/n expected 1, got 2"


def test_another_call(short: Path) -> None:
    """A call that was not made then is told with what was."""
    found = diverges(short, lambda s: s.model(request("hi"), str))
    assert found.seq == seq_of(short, "event", 1)
    assert "expected event UserPromptSubmit, got the event BeforeToolSelection" in str(found)


def test_another_prompt(short: Path) -> None:
    """Also a text that differs by one letter."""
    assert "expected 'hello', got 'hullo'" in str(diverges(short, lambda s: s.submit("hullo")))


def test_a_missing_call(short: Path) -> None:
    """Whoever leaves a call out is told by the next one, here the end of the session."""
    found = diverges(short, lambda s: s.submit("hello"))
    assert found.seq == seq_of(short, "event", 2)
    assert "expected event PreToolUse, got the end of the session" in str(found)


def test_calls_after_the_end(tmp_path: Path) -> None:
    """A recording whose writer was killed has an end; whoever goes on beyond it is told."""
    session = Hooks().session(id="s", cwd="/", tape=tmp_path / "cut")
    session.__enter__()
    session.submit("one")
    last = len(records(tmp_path / "cut"))

    def host(s: Any) -> None:
        s.submit("one")
        s.submit("two")

    found = diverges(tmp_path / "cut", host)
    assert (found.seq, "expected the end, got the event UserPromptSubmit" in str(found)) == (last + 1, True)
    session.close()


def test_an_exception_of_the_host(short: Path) -> None:
    """A replay in which the host raises where it did not is a divergence, with the exception behind it."""

    def host(s: Any) -> None:
        s.submit("hello")
        raise ValueError("mine")

    found = diverges(short, host)
    assert isinstance(found.__context__, ValueError)


def test_a_copy_of_a_divergence_ends_where_it_began(short: Path, tmp_path: Path) -> None:
    """What was the same is in the copy, and no more."""
    with pytest.raises(Divergence) as raised, Hooks().session(replay=short, tape=tmp_path / "copy") as s:
        s.submit("other")
    lines = short.read_bytes().splitlines(keepends=True)
    assert (tmp_path / "copy").read_bytes() == b"".join(lines[: raised.value.seq - 1])


def test_a_changed_tape_is_not_replayed(short: Path) -> None:
    """The chain is checked first: an edit is no divergence."""
    short.write_bytes(short.read_bytes().replace(b"exec is gated", b"exec is fined"))
    for go in (replay, lambda tape: Hooks().replay(tape)):
        with pytest.raises(TapeError, match="does not fit the chain"):
            go(short)


def test_the_tape_itself_is_never_written_over(short: Path) -> None:
    """A copy goes to a file of its own: neither the tape nor any other file with something in it."""
    before = short.read_bytes()
    with pytest.raises(TapeError, match="is the tape itself"):
        Hooks().session(replay=short, tape=short)
    (short.parent / "other").write_text("mine")
    with pytest.raises(TapeError, match="is there already"):
        replay(short, short.parent / "other")
    assert (short.read_bytes(), (short.parent / "other").read_text()) == (before, "mine")


def test_a_tape_without_a_session(tmp_path: Path) -> None:
    """Events fired one by one have no host to be driven by; the tape alone is replayed."""
    tape = Tape(tmp_path / "t")
    Hooks().fire("Stop", tape=tape)
    tape.close()
    with pytest.raises(TapeError, match="holds no session that a host could drive"):
        Hooks().replay(tmp_path / "t")
    assert replay(tmp_path / "t").to_dict() == {"identical": True, "records": 2}


# -- what happens inside of something else


def test_a_tool_that_has_a_subagent(tmp_path: Path) -> None:
    """What a tool did with the session passes as it was recorded: the tool is not run, and its answer is known."""

    def host(s: Any) -> list[Any]:
        def delegate(given: Any) -> str:
            with s.subagent("helper") as child:
                child.submit("look")
                inner = child.tool("read", {"path": "x"}, lambda g: "inside").output
            return f"the helper found {inner}"

        return [s.tool("Task", {"what": "look"}, delegate), s.tool("read", {"path": "y"}, str)]

    with Hooks().session(id="s", cwd="/", tape=tmp_path / "t") as s:
        seen = host(s)
    with Hooks().replay(tmp_path / "t", tmp_path / "copy") as s:
        assert host(s) == seen
    assert seen[0].output == "the helper found inside"
    assert (tmp_path / "copy").read_bytes() == (tmp_path / "t").read_bytes()
    assert replay(tmp_path / "t").divergence is None


def test_a_handler_that_fires_events(tmp_path: Path) -> None:
    """Events inside of a hook are told apart from its own: `beside` and `of` say what belongs where."""
    hooks = Hooks()

    def host(s: Any) -> list[Any]:
        return [s.tool("read", {"path": "x"}, str), s.stop("done")]

    with hooks.session(id="s", cwd="/", tape=tmp_path / "t") as s:

        @hooks.on("PreToolUse")
        def looks_around(payload: dict[str, Any]) -> None:
            s.fire("Notification", message="inside")
            s.reminders.inject("from a handler")

        hooks.on("Notification")(lambda payload: None)
        seen = host(s)
    outer, inner = (r for r in records(tmp_path / "t") if r.data.get("event") in ("PreToolUse", "Notification")
                    and r.kind == "event")  # fmt: skip
    assert inner.data["beside"] == outer.seq
    owners = [r.data["of"] for r in records(tmp_path / "t") if "of" in r.data]
    assert owners == [inner.seq] * 3 + [outer.seq] * 2
    with Hooks().replay(tmp_path / "t", tmp_path / "copy") as s:
        assert host(s) == seen
    assert (tmp_path / "copy").read_bytes() == (tmp_path / "t").read_bytes()
    assert replay(tmp_path / "t").divergence is None


def test_events_beside_each_other(tmp_path: Path) -> None:
    """Many threads on one tape: their records are mixed, and the tape alone is replayed all the same."""
    hooks = Hooks()
    meet = threading.Barrier(4)

    @hooks.on("PreToolUse")
    def meets(payload: dict[str, Any]) -> None:
        meet.wait(20)

    hooks.on("PostToolUse")(lambda payload: None)
    tape = Tape(tmp_path / "t")

    def fire(number: int) -> None:
        for _ in range(5):
            hooks.fire("PreToolUse", tool_name=f"T{number}", tool_input={"n": number}, tape=tape)
            hooks.fire("PostToolUse", tool_name=f"T{number}", tool_input={}, tape=tape)

    threads = [threading.Thread(target=fire, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tape.close()
    assert any("of" in r.data for r in records(tmp_path / "t"))
    assert replay(tmp_path / "t", tmp_path / "copy").divergence is None
    assert (tmp_path / "copy").read_bytes() == (tmp_path / "t").read_bytes()


def test_a_writer_that_was_killed_while_a_hook_ran(tmp_path: Path) -> None:
    """The event has no ruling; the tape is continued by another process, and replayed whole."""
    config = scripts(tmp_path, hangs=f"touch {tmp_path}/began; sleep 60", fine="true")
    words = ["fire", "PreToolUse", "-c", str(config), "-p", '{"tool_name":"Bash","tool_input":{}}', "--tape", "t"]
    first = subprocess.Popen([sys.executable, "-m", "hookline", *words], cwd=tmp_path)
    deadline = time.monotonic() + 20
    while not (tmp_path / "began").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    first.send_signal(signal.SIGKILL)
    first.wait()
    assert [r.kind for r in records(tmp_path / "t")] == ["event", "hook_call"]
    (tmp_path / "hangs.sh").write_text("#!/bin/sh\n")
    done = subprocess.run([sys.executable, "-m", "hookline", *words], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0
    assert replay(tmp_path / "t", tmp_path / "copy").to_dict() == {"identical": True, "records": 8}
    assert (tmp_path / "copy").read_bytes() == (tmp_path / "t").read_bytes()


def test_several_sessions_on_one_tape(tmp_path: Path) -> None:
    """A continued tape: a host drives the first session, or that of the id it names; the others pass as they are."""
    for name in ("a", "b"):
        with Hooks().session(id=name, cwd="/", tape=tmp_path / "t") as s:
            s.submit(name)
    for wanted, name in ((None, "a"), ("a", "a"), ("b", "b"), ("nobody", "a")):
        with Hooks().replay(tmp_path / "t", tmp_path / f"copy {wanted}", id=wanted) as s:
            assert (s.id, s.submit(name).status) == (name, "accepted")
        assert (tmp_path / f"copy {wanted}").read_bytes() == (tmp_path / "t").read_bytes()


def test_what_a_tool_raised_is_raised_again(tmp_path: Path) -> None:
    """As a RecordedError that has the exception in one line: the type itself is not on the tape."""

    def fails(given: Any) -> Any:
        raise KeyError("gone")

    with pytest.raises(KeyError), Hooks().session(id="s", cwd="/", tape=tmp_path / "t") as s:
        s.tool("read", {}, fails)
    with pytest.raises(RecordedError, match="KeyError: 'gone'"), Hooks().replay(tmp_path / "t", tmp_path / "c") as s:
        s.tool("read", {}, fails)
    assert (tmp_path / "c").read_bytes() == (tmp_path / "t").read_bytes()


@pytest.mark.parametrize("mask", [True, False, ["canary-[a-z]+"]])
def test_secrets_do_not_keep_a_tape_from_being_replayed(tmp_path: Path, mask: Any) -> None:
    """The host gives its secrets again, or others: what is masked on the tape fits anything; the rest has to fit."""

    def host(s: Any, secret: str, rest: str = "x") -> None:
        s.submit(f"password={secret} {'' if mask is True else 'canary-' + secret} {rest}")
        s.tool("Bash", {"command": f"curl -H 'Authorization: Bearer {secret}'", "token": secret, "n": rest}, str)
        s.tool("Bash", {"body": json.dumps({"password": secret, "a": [1, rest]}, indent=1)}, str)

    with Hooks().session(id="s", cwd="/", tape=tmp_path / "t", mask=mask) as s:
        host(s, "hunterhunter")
    assert ("hunterhunter" in (tmp_path / "t").read_text()) == (mask is False)
    with Hooks().replay(tmp_path / "t", tmp_path / "copy") as s:
        host(s, "hunterhunter")
    assert (tmp_path / "copy").read_bytes() == (tmp_path / "t").read_bytes()
    if mask is not False:
        with Hooks().replay(tmp_path / "t") as s:
            host(s, "otherother")
    assert "expected" in str(diverges(tmp_path / "t", lambda s: host(s, "hunterhunter", "y")))


@pytest.mark.parametrize("new", ["otherother", "hunterhunter"])
@pytest.mark.parametrize("harn", [True, False])
def test_a_secret_that_was_rewritten(tmp_path: Path, new: str, harn: bool) -> None:
    """Both are masked alike on the tape, and still it is known whether there was a rewrite."""
    hooks = Hooks()
    if harn:
        hooks.register_tool_hook(pre=lambda payload: {"args": {"password": new}})
    else:
        hooks.on("PreToolUse")(lambda payload: rewrite(tool_input={"password": new}))
    with hooks.session(id="s", cwd="/", tape=tmp_path / "t") as s:
        s.tool("Login", {"password": "hunterhunter"}, str)
    [ruling] = [r.data for r in records(tmp_path / "t") if r.kind == "ruling" and r.data["event"] == "PreToolUse"]
    assert ("tool_input" in ruling) == (new == "otherother")
    assert replay(tmp_path / "t").divergence is None
    with Hooks().replay(tmp_path / "t", tmp_path / "copy") as s:
        s.tool("Login", {"password": "hunterhunter"}, str)
    assert (tmp_path / "copy").read_bytes() == (tmp_path / "t").read_bytes()


# -- what a recording cannot hold as it was


@pytest.mark.parametrize("event", ["PreToolUse", "SessionStart"])
def test_a_secret_that_is_injected(tmp_path: Path, event: str) -> None:
    """What is left of a masked text is shorter; what was injected counts, alone and with a host."""
    hooks, secret = Hooks(), "password=hunter2222xyz"
    hooks.on(event)(lambda payload: context(secret) | remind(secret))
    hooks.register_session_hook("post_turn", lambda payload: {"body": secret})

    def host(s: Any) -> None:
        s.tool("read", {}, str)
        s.compact(lambda reminders: {"archived_messages": 1, "summary": secret})
        s.turn_done("done")

    with hooks.session(id="s", cwd="/", tape=tmp_path / "t") as s:
        host(s)
    injected = [r.data["injected"] for r in records(tmp_path / "t") if "injected" in r.data]
    assert injected == [2 * len(secret), len(secret)]
    assert "hunter" not in (tmp_path / "t").read_text()
    assert replay(tmp_path / "t").divergence is None
    with Hooks().replay(tmp_path / "t", tmp_path / "copy") as s:
        host(s)
    assert (tmp_path / "copy").read_bytes() == (tmp_path / "t").read_bytes()


NO_JSON = [object(), b"x", {1}, math.nan, (1, 2), {"args": (1,)}, {"args": object()}, Decimal("1.10")]
AS_TEXT = [{"result": Decimal("1.10")}, {"result": date(2026, 1, 1)}, {"result": b"x"}, {"result": (1, {2})},
           {"result": math.nan}, {"result": "\ud800"}]  # fmt: skip


@pytest.mark.parametrize("answer", [*NO_JSON, *AS_TEXT], ids=repr)
@pytest.mark.parametrize("harn", [True, False])
def test_a_handler_that_returned_what_is_no_json(tmp_path: Path, answer: Any, harn: bool) -> None:
    """Loud, reported, or taken for the text that JSON makes of it: the recording is replayed, also by the host."""
    hooks = Hooks()
    if harn:
        before = answer if answer in NO_JSON else None
        hooks.register_tool_hook(pattern="*", pre=lambda payload: before, post=lambda payload: answer)
        hooks.register_session_hook("file_edited", lambda payload: answer)
    else:
        hooks.on("PreToolUse")(lambda payload: answer)
        hooks.on("FileEdited")(lambda payload: remind("x"))

    def host(s: Any) -> list[Any]:
        seen: list[Any] = []
        for call in (lambda: s.tool("read", {}, str), lambda: s.file_edited("x"), lambda: s.turn_done("done")):
            try:
                seen.append(call())
            except HookError as error:
                seen.append((type(error), str(error)))
        return seen

    with hooks.session(id="s", cwd="/", tape=tmp_path / "t") as s:
        seen = host(s)
    assert replay(tmp_path / "t").divergence is None
    with Hooks().replay(tmp_path / "t", tmp_path / "copy") as s:
        assert host(s) == seen
    assert (tmp_path / "copy").read_bytes() == (tmp_path / "t").read_bytes()


def test_a_tape_may_end_after_any_record(tmp_path: Path, recorded: tuple[Path, list[Any], list[str]]) -> None:
    """A writer that was ended in the middle of an event leaves what is replayed as far as it goes, also repaired."""
    lines = recorded[0].read_bytes().splitlines(keepends=True)
    kinds = [record.kind for record in records(recorded[0])]
    seen: Counter[str] = Counter()
    for number, kind in enumerate(kinds, 1):
        seen[kind] += 1
        if seen[kind] > 3:
            continue
        cut = tmp_path / f"{number}"
        cut.write_bytes(b"".join(lines[:number]))
        assert replay(cut).to_dict() == {"identical": True, "records": number}, kind
        cut.write_bytes(b"".join(lines[:number]) + b'{"seq":%d,' % (number + 1))
        repair(cut)
        tape = Tape(cut)
        Hooks().fire("Stop", tape=tape)
        tape.close()
        assert replay(cut, tmp_path / f"{number} copy").to_dict() == {"identical": True, "records": number + 3}, kind
        assert (tmp_path / f"{number} copy").read_bytes() == cut.read_bytes()


def test_a_ruling_that_was_taken_away_is_missed(short: Path) -> None:
    """Only the end of a tape, or a new begin, says that a writer was ended: what goes on has rulings."""
    forged = Tape(short.parent / "forged", mask=False)
    ruling = seq_of(short, "ruling", 2)
    assert records(short)[ruling].kind == "tool_refused"
    for each in records(short):
        if each.seq != ruling:
            forged.append(each.kind, each.said)
    forged.close()
    assert replay(short.parent / "forged").divergence is not None


def test_the_tools_of_the_studio_are_all_told_apart() -> None:
    """Each call of the studio's host is another case, but for the one that was granted before."""
    assert len({json.dumps(tool) for tool in TOOLS}) == len(TOOLS) - 1
