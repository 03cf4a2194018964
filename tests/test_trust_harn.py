"""A project's own Python handlers: nothing is imported before trust, and what was checked is what runs."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

from worlds import World

MANIFEST = '[[hooks]]\nevent = "PreToolUse"\nhandler = "guards::gate"\n'
GUARDS = """from pathlib import Path
Path({marker!r}).touch()
import sibling
def gate(payload):
    return {{"deny": sibling.WHY}}
"""

FOREIGN = """from pathlib import Path
Path({marker!r}).touch()
def gate(payload):
    return None
"""


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path)
    (made.project / "harn.toml").write_text(MANIFEST)
    (made.project / "guards.py").write_text(GUARDS.format(marker=str(tmp_path / "marker")))
    (made.project / "sibling.py").write_text('WHY = "by the sibling"\n')
    return made


def fired(world: World) -> tuple[str, str, str]:
    ruling = world.discover().fire("PreToolUse", tool_name="x", tool_input={})
    return ruling.decision, ruling.reason, ruling.hooks[0].skipped


def test_nothing_is_imported_before_trust(world: World, tmp_path: Path) -> None:
    """Discovering, listing and firing an untrusted manifest imports none of its files."""
    decision, _, skipped = fired(world)
    assert decision == "none"
    assert skipped.startswith("not trusted; run `hookline trust")
    assert not (tmp_path / "marker").exists()
    world.trust()
    assert not (tmp_path / "marker").exists()


def test_a_trusted_handler_runs(world: World) -> None:
    """Once trusted, the handler runs from its copy and still finds what stands beside it."""
    world.trust()
    assert fired(world) == ("deny", "by the sibling", "")


def test_a_changed_handler_does_not_run(world: World, tmp_path: Path) -> None:
    """A change of the file means asking again; the changed file is never imported."""
    world.trust()
    (world.project / "guards.py").write_text(FOREIGN.format(marker=str(tmp_path / "foreign")))
    decision, _, skipped = fired(world)
    assert decision == "none"
    assert skipped.startswith("changed since it was trusted: ")
    assert not (tmp_path / "foreign").exists()


def test_a_handler_swapped_after_discovery_does_not_run(world: World, tmp_path: Path) -> None:
    """What was checked is what runs, although it is imported only when it is first called."""
    world.trust()
    hooks = world.discover()
    (world.project / "guards.py").write_text(FOREIGN.format(marker=str(tmp_path / "foreign")))
    assert hooks.fire("PreToolUse", tool_name="x", tool_input={}).reason == "by the sibling"
    assert not (tmp_path / "foreign").exists()


def test_planted_bytecode_does_not_run(world: World, tmp_path: Path) -> None:
    """Compiled code that a project leaves where Python would look for it is not looked at."""
    world.trust()
    [copy] = [path for path in world.state.rglob("guards.py") if not path.is_symlink()]
    evil = tmp_path / "evil.py"
    evil.write_text(FOREIGN.format(marker=str(tmp_path / "foreign")))
    code = compile(evil.read_text(), "guards.py", "exec")
    facts = copy.stat()
    import importlib._bootstrap_external as bootstrap

    data = bootstrap._code_to_timestamp_pyc(code, int(facts.st_mtime), facts.st_size)
    cached = Path(importlib.util.cache_from_source(str(world.project / "guards.py")))
    cached.parent.mkdir(exist_ok=True)
    cached.write_bytes(data)
    os.utime(world.project / "guards.py", (facts.st_mtime, facts.st_mtime))
    assert fired(world)[1] == "by the sibling"
    assert not (tmp_path / "foreign").exists()


def test_a_module_from_elsewhere_is_not_covered(world: World) -> None:
    """A handler of an installed module can be trusted, with a caution: its file is not the project's."""
    (world.project / "harn.toml").write_text('[[hooks]]\nevent = "PreToolUse"\nhandler = "json::dumps"\n')
    [review] = world.reviews()
    assert review.hooks[0].problem == ""
    assert "is imported from where Python finds it; it is not covered" in review.hooks[0].cautions[0]
