"""Planning: who runs, together with whom, who does not, and why."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from hookline.matching import fields
from hookline.model import Command, Event, Hook, Matcher, Source
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


# -- what is remembered


def counted(text: str, says: dict[str, bool]) -> tuple[Matcher, list[str]]:
    """A matcher that looks at the arguments, too, and how often it was asked."""
    asked: list[str] = []

    def rest(event: Event) -> bool:
        command = event.payload["tool_input"]["command"]
        asked.append(command)
        return says[command]

    return Matcher(text, lambda event: event.value("tool_name") == "Bash", ("tool_name",), rest), asked


def bash(command: str, tool: str = "Bash") -> Event:
    return Event("PreToolUse", {"tool_name": tool, "tool_input": {"command": command}})


def test_what_depends_on_more_is_asked_each_time() -> None:
    """The plan is the one of what the hook says now; it is made once for each answer, and nobody else is asked."""
    matcher, asked = counted("x", {"ls": False, "rm": True})
    registry = Registry()
    registry.add([hook("always"), hook("some", matcher=matcher), hook("edit", matcher=fields({"tool_name": "Edit"}))])
    listeners = registry.of("PreToolUse")
    plans = {command: planned(listeners, bash(command)) for command in ("ls", "rm")}
    assert [[e.hook.name for e in p.entries if e.runs] for p in plans.values()] == [["always"], ["always", "some"]]
    asked.clear()
    for command in ("rm", "ls", "rm", "rm"):
        assert planned(listeners, bash(command)) is plans[command]
    assert asked == ["rm", "ls", "rm", "rm"]
    assert [e.hook.name for e in planned(listeners, bash("rm", "Edit")).entries if e.runs] == ["always", "edit"]
    assert asked == ["rm", "ls", "rm", "rm"]


def test_what_is_planned_is_what_was_said() -> None:
    """A matcher that changes its mind meanwhile, as one that fires once does, never leaves a wrong plan behind."""
    answers = iter([True, False, True])
    matcher = Matcher("once", lambda event: True, (), lambda event: next(answers))
    registry = Registry()
    registry.add([hook("once", matcher=matcher)])
    runs = [planned(registry.of("PreToolUse"), EVENT).entries[0].runs for _ in range(3)]
    assert runs == [True, False, True]


def test_values_nobody_could_remember() -> None:
    """A field that is a list, or a number where a name should be, is looked at each time, and never mixed up."""
    registry = Registry()
    registry.add([hook("one", matcher=fields({"mcp": 1})), hook("true", matcher=fields({"mcp": True}))])
    listeners = registry.of("PreToolUse")
    found = []
    for value in (1, True, 1.0, [1], None):
        event = Event("PreToolUse", {"tool_name": "x", "tool_input": {}, "mcp": value})
        found.append([e.hook.name for e in planned(listeners, event).entries if e.runs])
    assert found == [["one"], ["true"], ["one"], [], []]


def test_many_plans_of_many_hooks_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host with thousands of hooks and ever new tools keeps so many reports, and no more."""
    monkeypatch.setattr("hookline.registry.REPORTS", 10_000)
    registry = Registry()
    registry.add([hook(f"h{n}", matcher=fields({"tool_name": f"T{n}"})) for n in range(200)])
    listeners = registry.of("PreToolUse")
    for number in range(120):
        planned(listeners, bash("ls", f"T{number}"))
    assert 0 < len(listeners.known) * len(listeners) <= 10_000


def test_what_is_missing_is_not_none() -> None:
    """A matcher that tells them apart is asked about each, whichever comes first."""
    matcher = fields({"mcp": [None, {"server": "x"}]})
    for first in ({"mcp": None}, {}):
        registry = Registry()
        registry.add([hook("h", matcher=matcher)])
        for more, runs in ((first, "mcp" in first), ({"mcp": None}, True), ({}, False)):
            event = Event("PreToolUse", {"tool_name": "x", "tool_input": {}, **more})
            assert planned(registry.of("PreToolUse"), event).entries[0].runs is runs
