"""The typed payloads are those of the catalogue, and those the dialects really send."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Sequence
from typing import Any, NotRequired, get_args, get_origin, get_type_hints

import pytest

from hookline import harn_payloads, names, payloads, registering, registering_harn
from hookline.dialects import harn, python
from hookline.events import CATALOGUE, FIELD_TYPES, Row, find
from hookline.model import BASE_FIELDS, Event, Hook
from hookline.reminders import KEYS
from hookline.signatures import ReminderSpec

TYPES = {
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": float,
    "object": dict[str, Any],
    "object or null": dict[str, Any] | None,
    "strings": Sequence[str],
    "list": Sequence[Any],
    "any": Any,
}
"""The catalogue's words for types, and ours."""

VALUES = {
    "string": "text",
    "boolean": True,
    "integer": 7,
    "number": 7.5,
    "object": {"name": "audit", "args": []},
    "object or null": {},
    "strings": [],
    "list": [],
    "any": "text",
}
HARN = [row for row in CATALOGUE if "harn" in row.spellings]
SESSION = [row for row in HARN if row.surface == "session"]
STEP = [row for row in HARN if row.surface == "step"]
HARN_ONLY = {"tool", "result", "target", "session", "step"}
"""Keys that only Harn has, or has in a shape of its own."""


def typed(module: Any, row: Row) -> Any:
    return getattr(module, row.name)


def hints(payload: Any) -> dict[str, Any]:
    """Key -> type, without its NotRequired."""
    found = get_type_hints(payload, include_extras=True)
    return {key: get_args(hint)[0] if get_origin(hint) is NotRequired else hint for key, hint in found.items()}


def sent(dialect: Any, row: Row, fields: Sequence[str]) -> set[str]:
    """The keys of what a hook gets for an event with these fields."""
    event = Event(row.name, {name: VALUES[FIELD_TYPES[name]] for name in fields}, session_id="s", cwd="/")
    hook: Any = Hook
    return set(dialect.encode(hook, event))


@pytest.mark.parametrize("row", CATALOGUE, ids=lambda row: row.name)
def test_every_event_has_its_payload(row: Row) -> None:
    """Exactly the fields of the row, each of its type, the base fields and the event's own name."""
    payload = typed(payloads, row)
    assert payload.__required_keys__ == {"event", *BASE_FIELDS, *row.required}
    assert payload.__optional_keys__ == set(row.fields) - row.required
    types = hints(payload)
    assert {name: types[name] for name in row.fields} == {name: TYPES[FIELD_TYPES[name]] for name in row.fields}
    assert get_args(types["event"]) == (row.name,)


@pytest.mark.parametrize("row", CATALOGUE, ids=lambda row: row.name)
def test_our_own_dialect_sends_it(row: Row) -> None:
    """With the required fields only, exactly the required keys; with all fields, all keys."""
    payload = typed(payloads, row)
    assert sent(python, row, sorted(row.required)) == payload.__required_keys__
    assert sent(python, row, row.fields) == payload.__required_keys__ | payload.__optional_keys__


@pytest.mark.parametrize("row", HARN, ids=lambda row: row.name)
def test_harn_sends_its_own_shape(row: Row) -> None:
    """The same of Harn's payloads; what it takes over from the catalogue has the same type."""
    payload = typed(harn_payloads, row)
    assert sent(harn, row, sorted(row.required)) == payload.__required_keys__
    assert sent(harn, row, row.fields) == payload.__required_keys__ | payload.__optional_keys__
    types = hints(payload)
    assert get_args(types["event"]) == (row.name,)
    taken_over = types.keys() & set(row.fields) - HARN_ONLY
    assert {name: types[name] for name in taken_over} == {name: TYPES[FIELD_TYPES[name]] for name in taken_over}


def test_the_parts_of_harns_payloads_are_as_typed() -> None:
    """The tool, its result, the step and the session have exactly the keys that are sent."""
    called = Event("PostToolUse", {"tool_name": "Bash", "tool_input": {}, "tool_output": "done"}, session_id="s")
    stepped = Event("PreStep", {"persona": "p", "step": {"name": "audit"}}, session_id="s")
    hook: Any = Hook
    found = harn.encode(hook, called) | harn.encode(hook, stepped)
    parts = {"session": "Session", "tool": "Tool", "result": "Result", "step": "Step"}
    for key, name in parts.items():
        assert found[key].keys() == getattr(harn_payloads, name).__required_keys__


def test_no_payload_is_of_no_event() -> None:
    """Nothing is typed that the catalogue does not have."""
    for module, rows in ((payloads, CATALOGUE), (harn_payloads, HARN)):
        with_event = {name for name, thing in vars(module).items() if "event" in getattr(thing, "__annotations__", {})}
        assert with_event == {row.name for row in rows}


def test_every_spelling_is_a_name() -> None:
    """A type checker knows an event by every word that `find` takes for it, and by no other."""
    from hookline.events import _NAMES

    for row in CATALOGUE:
        assert set(get_args(getattr(names, row.name))) == {word for word, found in _NAMES.items() if found is row}
    assert all(find(word) is row for row in CATALOGUE for word in get_args(getattr(names, row.name)))


@pytest.mark.parametrize(
    ("module", "function", "rows"),
    [
        (registering, "on", CATALOGUE),
        (registering_harn, "register_session_hook", SESSION),
        (registering_harn, "on_session", SESSION),
        (registering_harn, "register_persona_hook", STEP),
        (registering_harn, "on_persona", STEP),
        (registering_harn, "register_step_hook", STEP),
        (registering_harn, "on_step", STEP),
    ],
)
def test_every_event_has_its_overload(module: Any, function: str, rows: Sequence[Row]) -> None:
    """Each way to register knows the events it takes by name, every one with its own payload, and any string last."""
    defined = [
        node
        for node in ast.walk(ast.parse(inspect.getsource(module)))
        if isinstance(node, ast.FunctionDef) and node.name == function and node.decorator_list
    ]
    events = [next(arg for arg in node.args.args if arg.arg == "event") for node in defined]
    assert [ast.unparse(event.annotation or event) for event in events] == [*(f"names.{r.name}" for r in rows), "str"]
    for node, row in zip(defined, rows, strict=False):
        mentioned = {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}
        steps = {"PreStep": "BeforeStep", "PostStep": "AfterStep"}
        assert mentioned == {row.name}
        assert f".{row.name}" in ast.unparse(node).replace("names.", "") or steps[row.name] in ast.unparse(node)


def test_a_reminder_has_the_keys_of_reminders() -> None:
    """The typed spec is the one that is validated."""
    assert set(ReminderSpec.__annotations__) == set(KEYS)
    assert ReminderSpec.__required_keys__ == {"body"}
