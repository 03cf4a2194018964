"""Planning: who runs, together with whom, who does not, and why."""

from __future__ import annotations

from msgspec.structs import replace

from hookline.matching import fields
from hookline.model import Command, Event, Hook, Source
from hookline.planning import plan, planned
from hookline.registry import Registry

EVENT = Event("PreToolUse", {"tool_name": "Bash", "tool_input": {}})


def hook(name: str, dialect: str = "harness", **options) -> Hook:
    return Hook(name, "PreToolUse", dialect, Source("f", f"/{name}"), Command((name,), 1.0), **options)


def shape(hooks: list[Hook]) -> list[tuple[str, int | str]]:
    registry = Registry()
    registry.add(hooks)
    planned = plan(registry.of("PreToolUse"), EVENT)
    return [(e.hook.name, e.skipped or ("background" if e.background else e.wave)) for e in planned.entries]


def test_sequential_hooks_have_a_wave_each() -> None:
    """Hooks run in the order they were loaded, one after another."""
    assert shape([hook("a"), hook("b", "goose"), hook("c")]) == [("a", 0), ("b", 1), ("c", 2)]


def test_parallel_hooks_of_one_dialect_share_a_wave() -> None:
    """Neighbours of a parallel dialect run together; another dialect between them divides them."""
    a, b, d = (hook(name, "p", parallel=True) for name in "abd")
    assert shape([a, b, hook("c"), d]) == [("a", 0), ("b", 0), ("c", 1), ("d", 2)]


def test_one_sequential_hook_makes_its_dialect_sequential() -> None:
    """A single hook that wants to run alone makes the others of its dialect wait; a skipped one does not count."""
    a, b, c = hook("a", "p", parallel=True), hook("b", "p"), hook("c", "p", parallel=True)
    assert shape([a, b, c]) == [("a", 0), ("b", 1), ("c", 2)]
    assert shape([a, replace(b, barred="off"), c]) == [("a", 0), ("b", "off"), ("c", 0)]


def test_every_skip_has_its_reason() -> None:
    """Barred, unmatched, duplicate and fallback hooks stay in the plan, and say why they do not run."""
    matcher = fields({"tool_name": "Edit"})
    found = shape(
        [
            hook("off", barred="disabled by hooksConfig"),
            hook("edit", matcher=matcher),
            hook("first", dedupe="x"),
            hook("again", dedupe="x"),
            hook("other", "goose", dedupe="x"),
            hook("legacy", "goose", fallback=True),
            hook("later", background=True),
        ]
    )
    assert found == [
        ("off", "disabled by hooksConfig"),
        ("edit", "no match: tool_name = Edit"),
        ("first", 0),
        ("again", "duplicate of first (f#/first)"),
        ("other", 1),
        ("legacy", "only used where goose has no other PreToolUse hook"),
        ("later", "background"),
    ]


def test_a_skipped_first_is_no_reason_to_skip_the_second() -> None:
    """Duplicates are counted after filtering: the first that really runs is the one that stays."""
    unmatched = hook("a", dedupe="x", matcher=fields({"tool_name": "Edit"}))
    assert shape([unmatched, hook("b", dedupe="x")]) == [("a", "no match: tool_name = Edit"), ("b", 0)]


def test_two_fallbacks_alone_run_once() -> None:
    """The same fallback from two files runs where its dialect has nothing else."""
    legacy = hook("legacy", "goose", fallback=True, dedupe="L")
    assert shape([legacy, legacy])[0] == ("legacy", 0)
    assert "duplicate" in str(shape([legacy, legacy])[1][1])


def test_priorities_sort_a_dialect_among_its_own_places() -> None:
    """A dialect's priorities change the order of its own hooks and of nobody else's."""
    low, high = hook("low", "p", priority=4), hook("high", "p", priority=1)
    assert [name for name, _ in shape([low, hook("x"), high])] == ["high", "x", "low"]


def test_events_nobody_listens_to_have_their_own_plans() -> None:
    """A remembered plan never speaks of another event."""
    registry = Registry()
    for name in ("Stop", "SessionEnd"):
        assert planned(registry.of(name), Event(name, {})).event == name


def test_a_plan_as_json() -> None:
    """A plan says of every hook whether it runs, when, or why not."""
    registry = Registry()
    registry.add([hook("a"), hook("b", barred="off"), hook("c", background=True)])
    rows = plan(registry.of("PreToolUse"), EVENT).to_dict()["hooks"]
    common = {"dialect": "harness", "timeout": 1.0}
    assert rows == [
        {"hook": "a", "source": "f#/a", "argv": ["a"], "runs": True, "wave": 0, **common},
        {"hook": "b", "source": "f#/b", "argv": ["b"], "runs": False, "skipped": "off", **common},
        {"hook": "c", "source": "f#/c", "argv": ["c"], "runs": True, "background": True, **common},
    ]
