"""The benchmark measures and reports; what it finds depends on the machine and is not tested."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

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
}
GOALS = {"static": 1.5, "wave": 1.35, "bash": 1.10, "resident": 1.10, "cold": 5.0}


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
        assert each["reached"] in ((each["ratio"] <= each["at_most"]), None)
        for contender in each["contenders"]:
            assert 0 < contender["median_us"] <= contender["p95_us"]


def test_the_table_says_what_is_reached() -> None:
    done = bench("--blocks", "2", "bash", "resident")
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
    ):
        assert word in done.stdout
    judged = [line for line in done.stdout.splitlines() if "reached" in line or "needs C floor" in line]
    assert len(judged) == 2


@pytest.mark.parametrize("wrong", [["statik"], ["--blocks", "1"], ["--blocks", "many"]])
def test_wrong_usage_is_refused(wrong: list[str]) -> None:
    assert bench(*wrong).returncode == 2


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
