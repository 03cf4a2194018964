"""What only the tape knows in a replay: texts that were cut before they were masked, grants, interruptions."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hookline
from hookline import Hooks, RecordedInterrupt, TapeError, UsageError, ask, context, deny, rewrite
from hookline.judging import changes
from hookline.replay import replay
from hookline.session import Session
from studio import records, scripts

SECRET = "hunter2222longpassword"


def recorded(hooks: Hooks, tape: Path, host: Callable[[Session, Any], Any], run: Any, **how: Any) -> Any:
    """What a host saw, live, and that it sees it again, with nothing called, to the same bytes; also the tape alone."""
    with hooks.session(id="s", cwd="/", tape=tape, **how) as s:
        seen = host(s, run)
    again = replay(tape)
    assert again.divergence is None, again.divergence
    with Hooks().replay(tape, tape.with_suffix(".copy")) as s:
        played = host(s, None)
    assert tape.with_suffix(".copy").read_bytes() == tape.read_bytes()
    return seen, played


# -- texts that were cut


@pytest.mark.parametrize("dialect", ["harness", "goose", "llxprt"])
@pytest.mark.parametrize(
    "complaint",
    [
        f"cannot log in: password={SECRET} " + "x " * 400,
        "x " * 140 + f"password={SECRET} and so on",
        "x" * 285 + SECRET,
        "é" * 400,
        f"token={SECRET}",
    ],
)
def test_a_long_complaint(dialect: str, complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a long last line whole words are told, no half secret is stored, and the tape is replayed."""
    monkeypatch.setenv("DB_PASSWORD", SECRET)
    (tmp_path / "complaint").write_text(complaint)
    script = tmp_path / "guard.sh"
    script.write_text(f"#!/bin/sh\ncat {tmp_path}/complaint >&2; exit 7\n")
    script.chmod(0o755)
    command = {"type": "command", "command": str(script)}
    config = {
        "harness": {"hooks": {"PreToolUse": [{"path": str(script)}]}},
        "goose": {"hooks": {"pre_tool_use": [{"command": str(script)}]}},
        "llxprt": {"hooks": {"BeforeTool": [{"hooks": [command]}]}},
    }[dialect]
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "config.yaml").write_text(json.dumps(config))
    hooks = Hooks(on_failure="deny")
    hooks.load(tmp_path / ("config.yaml" if dialect == "goose" else "config.json"), dialect)
    reason, _ = recorded(hooks, tmp_path / "t", lambda s, run: s.tool("x", {}, run).reason, None)
    assert "exited with 7" in reason
    for length in range(8, len(SECRET) + 1):
        assert SECRET[:length] not in (tmp_path / "t").read_text(), length


@pytest.mark.parametrize(
    "text",
    [
        f"password={SECRET} " + "x" * 32_760,
        "password=abcd1234 " * 2600,
        "x" * 32_760 + f" password={SECRET}",
        "é" * 16_380 + f" password={SECRET}",
        "x" * 32_750 + f" {SECRET} and so on",
    ],
)
@pytest.mark.parametrize("verdict", [context, deny])
def test_a_text_that_was_cut(verdict: Any, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text beyond what a model gets to read, with a secret in it: its cut is where it was, whatever is masked now."""
    monkeypatch.setenv("DB_PASSWORD", SECRET)
    hooks = Hooks()
    hooks.on("PreToolUse")(lambda payload: verdict(text))

    def host(s: Session, run: Any) -> tuple[str, int]:
        result = s.tool("x", {}, run)
        return result.status, s.turn

    live, played = recorded(hooks, tmp_path / "t", host, lambda given: "ran")
    assert live == played
    assert SECRET[:10] not in (tmp_path / "t").read_text()


def test_what_a_model_reads_next_is_what_it_read(tmp_path: Path) -> None:
    """The cut text goes on into the prompt, and from there into the next request: it fits there, too."""
    hooks = Hooks()
    hooks.on("UserPromptSubmit")(lambda payload: context(f"password={SECRET} " + "x" * 40_000))

    def host(s: Session, run: Any) -> str:
        s.submit("go")
        request = {"model": "m", "messages": [{"role": "system", "content": s.system("base")}]}
        return str(s.model(request, run).response["text"])

    assert recorded(hooks, tmp_path / "t", host, lambda request: {"text": "said"}) == ("said", "said")


def test_a_forged_ruling_is_found_beside_a_masked_text(tmp_path: Path) -> None:
    """Texts are taken from the tape where secrets are masked; decisions are not."""
    hooks = Hooks()
    hooks.on("PreToolUse")(lambda payload: context(f"password={SECRET}"))
    recorded(hooks, tmp_path / "t", lambda s, run: s.tool("x", {}, run).status, lambda given: "ran")
    forged = rechained(tmp_path / "t", lambda r: r["data"].update(decision="deny", reason="no") if r["kind"] == "ruling"
                       and r["data"]["event"] == "PreToolUse" else None)  # fmt: skip
    found = replay(forged).divergence
    assert found is not None
    assert "at /decision expected 'deny', got 'none'" in str(found)


def rechained(tape: Path, change: Callable[[dict[str, Any]], Any]) -> Path:
    """A tape that somebody changed, and whose chain they made anew."""
    from hookline.tape import chained, sealed

    previous, lines = "", []
    for line in tape.read_bytes().splitlines():
        record = json.loads(line)
        change(record)
        del record["hash"]
        bare = json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode()
        previous = chained(previous, bare)
        lines.append(sealed(bare, previous))
    forged = tape.with_name("forged")
    forged.write_bytes(b"".join(lines))
    return forged


# -- grants


def test_a_grant_that_is_masked(tmp_path: Path) -> None:
    """What was granted inside of a tool counts for the same call of the host's, whose secret the tape has not."""
    hooks = Hooks()

    def host(s: Session, run: Any) -> list[str]:
        inner = {"password": SECRET}
        outer = None if run is None else lambda given: s.tool("guarded", inner, run).output
        return [s.tool("outer", {}, outer).output, s.tool("guarded", inner, run).output]

    how: dict[str, Any] = {"deny": ["guarded"], "approve": lambda question: "session"}
    live, played = recorded(hooks, tmp_path / "t", host, lambda given: "ran", **how)
    assert live == played == ["ran", "ran"]
    assert sum(record.kind == "approval" for record in records(tmp_path / "t")) == 1


def test_two_masked_calls_are_two(tmp_path: Path) -> None:
    """Arguments that are the same on the tape, and were not, were asked about twice, and are again."""
    numbers = iter(range(10))
    hooks = Hooks()
    hooks.on("PreToolUse")(lambda payload: rewrite(tool_input={"password": f"secret{next(numbers)}xx"}))
    hooks.on("PreToolUse")(lambda payload: ask("sure?"))

    def host(s: Session, run: Any) -> list[str]:
        return [s.tool("g", {}, run).output for _ in range(2)]

    live, played = recorded(hooks, tmp_path / "t", host, lambda given: "ran", approve=lambda question: "session")
    assert live == played == ["ran", "ran"]
    assert sum(record.kind == "approval" for record in records(tmp_path / "t")) == 2


# -- interruptions


def test_an_interrupted_hook(tmp_path: Path) -> None:
    """Ctrl-C while a handler runs is on the tape, and comes again, to a host that goes on."""
    hooks = Hooks()

    @hooks.on("PreToolUse", match="slow")
    def interrupted(payload: dict[str, Any]) -> None:
        raise KeyboardInterrupt

    def host(s: Session, run: Any) -> list[str]:
        with pytest.raises(KeyboardInterrupt) as raised:
            s.tool("slow", {}, run)
        return [type(raised.value).__name__, s.tool("quick", {}, run).output]

    live, played = recorded(hooks, tmp_path / "t", host, lambda given: "ran")
    assert (live, played) == (["KeyboardInterrupt", "ran"], ["RecordedInterrupt", "ran"])
    [record] = [record for record in records(tmp_path / "t") if record.kind == "hook_raised"]
    assert (record.data["error"], record.data["interrupted"]) == ("KeyboardInterrupt: ", True)
    assert hookline.RecordedInterrupt is RecordedInterrupt


def test_an_interrupted_wave(tmp_path: Path) -> None:
    """Ctrl-C while several processes run: each of them is told as interrupted, and the host goes on."""
    hooks = Hooks()
    entries = [{"type": "command", "command": f": >{tmp_path}/{name}; sleep 30"} for name in "ab"]
    (tmp_path / "s.json").write_text(json.dumps({"hooks": {"BeforeTool": [{"hooks": entries}]}}))
    hooks.load(tmp_path / "s.json", "llxprt")

    def press() -> None:
        while not all((tmp_path / name).exists() for name in "ab"):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    def host(s: Session, run: Any) -> str:
        with pytest.raises(KeyboardInterrupt):
            s.tool("slow", {}, run)
        return s.turn_done("on").event

    threading.Thread(target=press).start()
    assert recorded(hooks, tmp_path / "t", host, None) == ("PostTurn", "PostTurn")
    assert [record.data.get("loud") for record in records(tmp_path / "t") if record.kind == "hook_raised"] == [
        None,
        True,
    ]


def test_a_cancelled_task(tmp_path: Path) -> None:
    """A tool, and a handler, whose task is cancelled: the host's `except CancelledError` is met again."""
    hooks = Hooks()

    @hooks.on("PreToolUse", match="guarded")
    async def slow(payload: dict[str, Any]) -> None:
        await asyncio.sleep(30)

    async def host(s: Session, run: Any) -> list[str]:
        seen = []
        for tool in ("plain", "guarded"):
            task = asyncio.ensure_future(s.tool_async(tool, {}, run))
            await asyncio.sleep(0.05)
            task.cancel()
            try:
                await task
            except asyncio.CancelledError:
                seen.append(f"{tool} cancelled")
        return [*seen, (await s.turn_done_async()).event]

    async def run(given: Any) -> None:
        await asyncio.sleep(30)

    async def within(session: Any, run: Any) -> list[str]:
        async with session as s:
            return await host(s, run)

    live = asyncio.run(within(hooks.session(id="s", cwd="/", tape=tmp_path / "t"), run))
    assert replay(tmp_path / "t").divergence is None
    played = asyncio.run(within(Hooks().replay(tmp_path / "t", tmp_path / "copy"), None))
    assert live == played == ["plain cancelled", "guarded cancelled", "PostTurn"]
    assert (tmp_path / "copy").read_bytes() == (tmp_path / "t").read_bytes()


# -- refusals


@pytest.mark.parametrize("given", [{"v": {None: 1}}, {"k": object()}, "text", 5])
def test_a_call_that_was_refused_is_refused_again(given: Any, tmp_path: Path) -> None:
    """A mistake of the host's left nothing on the tape, and leaves nothing now: the same error again."""

    def host(s: Session, run: Any) -> list[str]:
        with pytest.raises(UsageError) as raised:
            s.tool("x", given, run)
        return [str(raised.value), s.turn_done("on").event]

    live, played = recorded(Hooks(), tmp_path / "t", host, lambda given: "ran")
    assert live == played


# -- judged by the same hooks


def test_the_same_hooks_change_nothing_where_a_secret_is_masked(tmp_path: Path) -> None:
    """What the tape has masked is not told as a change, nor is it told in the clear."""
    config = scripts(tmp_path, guard="echo 'use header Authorization: Bearer abcdef123456zz'")
    hooks = Hooks()
    hooks.load(config)
    recorded(hooks, tmp_path / "t", lambda s, run: s.tool("x", {}, run).status, lambda given: "ran")
    assert not any(changes(str(tmp_path / "t"), hooks))
    (tmp_path / "other").mkdir()
    other = Hooks()
    other.load(scripts(tmp_path / "other", guard="echo 'now Authorization: Bearer zyxwvu987654aa'"))
    [change] = [change for change in changes(str(tmp_path / "t"), other) if change]
    assert "Bearer [masked]" in str(change.to_dict()).replace("Authorization: [masked]", "Bearer [masked]")
    assert "zyxwvu987654aa" not in str(change.to_dict())


def test_a_hook_that_another_settled_was_due(tmp_path: Path) -> None:
    """--plan-only compares what was to run: what did not, because an earlier hook denied, is no change."""
    config = scripts(tmp_path, first="echo no >&2; exit 2", second="true")
    hooks = Hooks()
    hooks.load(config)
    recorded(hooks, tmp_path / "t", lambda s, run: s.tool("x", {}, run).status, None)
    assert not any(changes(str(tmp_path / "t"), hooks, plan_only=True))


def test_an_event_of_another_catalogue_is_told_by_its_record(tmp_path: Path) -> None:
    """A field that is not known any more is the tape's matter, not wrong usage; of many tapes the others are judged."""
    from cli.test_tape_cli import answer, hookline

    recorded(Hooks(), tmp_path / "t", lambda s, run: s.tool("x", {}, run).status, lambda given: "ran")
    odd = rechained(tmp_path / "t", lambda r: r["kind"] == "event" and r["data"]["payload"].update(colour="red"))
    with pytest.raises(TapeError, match=r"forged: record 2: hooks of today cannot be told of it: .*'colour'"):
        list(changes(str(odd), Hooks()))
    quiet = scripts(tmp_path, quiet="true")
    assert hookline("replay", odd, "--against", quiet).returncode == 65
    found = answer("replay", odd, tmp_path / "t", "--against", quiet, code=65)
    assert [each["identical"] for each in found["tapes"]] == [False, True]


@pytest.mark.parametrize("decision", ["maybe", {}, None])
def test_a_decision_that_is_none(decision: Any, tmp_path: Path) -> None:
    """What no hookline has written is bad data, wherever it is read, and told with its record."""
    from cli.test_tape_cli import hookline

    recorded(Hooks(), tmp_path / "t", lambda s, run: s.turn_done().event, None)
    odd = rechained(tmp_path / "t", lambda r: r["data"].update(decision=decision) if r["kind"] == "ruling" else None)
    for words in (("tape", "stats"), ("tape", "show"), ("replay",)):
        done = hookline(*words, odd)
        assert done.returncode == 65
        assert "(record 3, ruling) has a 'decision' that is none of allow, ask, deny, none" in done.stderr


def test_a_tape_is_a_file(tmp_path: Path) -> None:
    """What cannot be read again is refused, at once."""
    os.mkfifo(tmp_path / "fifo")
    for path in ("/dev/null", tmp_path / "fifo"):
        with pytest.raises(TapeError, match=r"is no regular file|cannot be opened"):
            hookline.Tape(path)


def test_an_interruption_that_cannot_be_told(tmp_path: Path) -> None:
    """A tape that can no longer be written must not make a Ctrl-C an error that a host goes on after."""
    hooks, tape = Hooks(), hookline.Tape(tmp_path / "t")

    @hooks.on("Stop")
    def interrupted(payload: dict[str, Any]) -> None:
        tape.close()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hooks.fire("Stop", tape=tape)


def test_the_wrong_way_to_call_is_wrong_again(tmp_path: Path) -> None:
    """An async handler met by a call that blocks, on a loop: the host hears of its mistake, and awaits, both times."""
    hooks = Hooks()

    @hooks.on("PreToolUse")
    async def waits(payload: dict[str, Any]) -> None:
        await asyncio.sleep(0)

    async def host(session: Any, run: Any) -> list[str]:
        async with session as s:
            with pytest.raises(UsageError) as raised:
                s.tool("x", {}, run)
            return [str(raised.value), (await s.tool_async("x", {}, run)).output]

    live = asyncio.run(host(hooks.session(id="s", cwd="/", tape=tmp_path / "t"), lambda given: "ran"))
    assert replay(tmp_path / "t").divergence is None
    played = asyncio.run(host(Hooks().replay(tmp_path / "t", tmp_path / "copy"), None))
    assert live == played
    assert (tmp_path / "copy").read_bytes() == (tmp_path / "t").read_bytes()


@pytest.mark.parametrize(
    "given",
    [
        {"password": [SECRET, "b"]},
        {"cmd": "curl -H 'Authorization: Bearer abcdef1234567890'"},
        {"plain": ["x", {"y": 1}]},
    ],
)
def test_a_reason_that_shows_the_call(given: Any, tmp_path: Path) -> None:
    """JSON in a reason is masked alike with what the session adds after it, and without."""
    hooks = Hooks()
    hooks.on("PreToolUse")(lambda payload: ask("please confirm:\n" + json.dumps(payload["tool_input"])))
    recorded(hooks, tmp_path / "t", lambda s, run: s.tool("Bash", given, run).status, lambda given: "ran")
    assert SECRET not in (tmp_path / "t").read_text()
    assert "abcdef1234567890" not in (tmp_path / "t").read_text()
