"""The benchmark measures and reports; what it finds depends on the machine and is not tested."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
CONTENDERS = {
    "static": [
        "floor",
        "subprocess.run",
        "asyncio",
        "hooks.fire",
        "hooks.fire_async",
        "the process runner alone",
    ],
    "wave": ["floor, eight at once", "asyncio, gathered", "wave of eight", "the process runner alone"],
    "bash": ["bare bash", "subprocess.run", "hooks.fire"],
    "resident": ["small process", "500 MB process"],
    "cold": ["python -c pass", "hookline fire"],
    "nobody": ["a plain call", "hooks.fire, a tool", "hooks.fire, a prompt"],
    "handler": [
        "a plain call",
        "hooks.fire, a handler of ours",
        "hooks.fire, a handler of Harn",
        "hooks.fire, of a prompt",
        "hooks.fire, of a step",
        "hooks.fire, after a tool",
    ],
    "further": [
        "a plain call",
        "one more of ours",
        "one more of Harn",
        "one more of a prompt",
        "one more of a step",
        "one more after a tool",
    ],
    "pluggy": [
        "pluggy",
        "pluggy, monitored",
        "hooks.fire, a handler of ours",
        "hooks.fire, a handler of Harn",
    ],
    "many": ["one registered hook", "1000 registered hooks"],
    "after": ["one hook after tools", "1000 hooks after tools"],
    "steps": ["one hook of a step", "1000 hooks of steps"],
    "async": ["fire_async, a sync handler", "fire_async, an async handler"],
    "record": [
        "a bare write",
        "a record, without masking",
        "a record",
        "a bare write and fsync",
        "a record with fsync",
    ],
    "mask": [
        "prose without a hint",
        "prose with ten hints",
        "prose with a secret",
        "a program full of hints",
    ],
    "verify": ["100,000 records a second", "verify, each record", "read, each record"],
    "replay": ["live, on a tape", "replay, each event"],
}
GOALS = {
    "static": 1.5,
    "wave": 1.35,
    "bash": 1.10,
    "resident": 1.10,
    "cold": 5.0,
    "nobody": 10,
    "handler": 30,
    "further": 8,
    "pluggy": 0.5,
    "many": 1.5,
    "after": 1.5,
    "steps": 1.5,
    "async": 1.5,
    "record": None,
    "mask": 5.0,
    "verify": 1.0,
    "replay": None,
}


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bench", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )


def test_every_comparison_is_measured_and_judged() -> None:
    done = bench("--blocks", "2", "--json")
    assert done.returncode == 0, done.stderr
    comparisons = {each["name"]: each for each in json.loads(done.stdout)["comparisons"]}
    assert {name: [c["name"] for c in each["contenders"]] for name, each in comparisons.items()} == CONTENDERS
    assert {name: each["at_most"] for name, each in comparisons.items()} == GOALS
    for each in comparisons.values():
        assert each["reached"] in (each["at_most"] is not None and each["ratio"] <= each["at_most"], None)
        for contender in each["contenders"]:
            assert 0 < contender["median_us"] <= contender["p95_us"]


def test_the_table_says_what_is_reached() -> None:
    done = bench("--blocks", "2", "bash", "resident", "nobody")
    assert done.returncode == 0, done.stderr
    for word in (
        "median ms",
        "p95 ms",
        "ratio",
        "at most",
        "bare bash",
        "subprocess.run",
        "hooks.fire",
        "500 MB process",
        "median us",
        "a plain call",
    ):
        assert word in done.stdout
    judged = [line for line in done.stdout.splitlines() if "reached" in line or "needs C floor" in line]
    assert len(judged) == 3


@pytest.mark.parametrize("wrong", [["statik"], ["--blocks", "1"], ["--blocks", "many"]])
def test_wrong_usage_is_refused(wrong: list[str]) -> None:
    assert bench(*wrong).returncode == 2


def inprocess() -> Any:
    sys.path.insert(0, str(ROOT))
    try:
        from bench import inprocess
    finally:
        sys.path.remove(str(ROOT))
    return inprocess


def test_a_task_or_a_timer_is_noticed() -> None:
    """The comparison of async handlers ends where one costs a task, or a timer."""
    import asyncio

    from hookline import Hooks

    async def in_a_task(payload: dict[str, Any]) -> None:
        await asyncio.create_task(asyncio.sleep(0.001))

    hooks = Hooks()
    assert asyncio.run(inprocess()._scheduled(hooks)) == []
    hooks.on("PreToolUse")(in_a_task)
    assert asyncio.run(inprocess()._scheduled(hooks)) == ["a task", "a timer"]


def test_hooks_that_do_not_run_are_noticed() -> None:
    """An event that does not run as many handlers as it should measures nothing."""
    from hookline import Hooks

    with pytest.raises(RuntimeError, match="not the hooks that were meant"):
        inprocess().fires("nobody", Hooks(), 1)


def test_the_hooks_get_as_many_bytes_as_the_floor_writes(tmp_path: Path) -> None:
    sys.path.insert(0, str(ROOT))
    try:
        from bench.contenders import EVENT, INPUT, SESSION, event_for
    finally:
        sys.path.remove(str(ROOT))
    from hookline import Hooks

    script = tmp_path / "count.sh"
    script.write_text('#!/bin/sh\n[ "$(wc -c)" -eq "$1" ]\n')
    script.chmod(0o755)
    config = tmp_path / "settings.json"
    config.write_text(json.dumps({"hooks": {EVENT: [{"path": str(script), "args": [str(INPUT)]}]}}))
    hooks = Hooks()
    (hook,) = hooks.load(config, "harness")
    ruling = hooks.fire(EVENT, session_id=SESSION, **event_for(hook).payload)
    assert ruling.hooks[0].exit_code == 0
