"""The catalogue."""

from __future__ import annotations

import pytest

from hookline.dialects import DIALECTS, dialect
from hookline.errors import UsageError
from hookline.events import CATALOGUE, EFFECTS, FIELD_TYPES, ROWS, TYPES, checked, find, snake_case, spellings

NAMES = [
    "SessionStart",
    "UserPromptSubmit",
    "BeforeToolSelection",
    "BeforeModel",
    "AfterModel",
    "PermissionAsked",
    "PermissionReplied",
    "PreToolUse",
    "PostToolUse",
    "FileEdited",
    "PostTurn",
    "PreCompact",
    "PostCompact",
    "Notification",
    "SubagentStop",
    "Stop",
    "SessionIdle",
    "SessionError",
    "SessionEnd",
    "PreStep",
    "PostStep",
    "OnApprovalRequested",
    "OnHandoffEmitted",
    "OnPersonaPaused",
    "OnPersonaResumed",
    "OnBudgetThreshold",
    "PreFinish",
    "OnUnsettledDetected",
    "PostFinish",
]


def test_there_are_29_events() -> None:
    """The catalogue holds exactly the 29 events, once each, in the order of a session."""
    assert [row.name for row in CATALOGUE] == NAMES


@pytest.mark.parametrize("row", CATALOGUE, ids=lambda row: row.name)
def test_a_row_is_complete(row) -> None:
    """Each field has a type, each effect a word, each required field is a field, the matcher's field exists."""
    assert set(row.fields) <= set(FIELD_TYPES)
    assert row.required <= set(row.fields)
    assert row.effects <= set(EFFECTS)
    assert row.matches in ("", *row.fields)
    assert row.surface in ("tool", "step", "session")
    assert row.when


def test_no_type_is_listed_for_nothing() -> None:
    """Every field type is of a field that some event has."""
    assert {name for row in CATALOGUE for name in row.fields} == set(FIELD_TYPES)
    assert set(FIELD_TYPES.values()) == set(TYPES)


@pytest.mark.parametrize(
    ("named", "event"),
    [
        ("PreToolUse", "PreToolUse"),
        ("pre_tool_use", "PreToolUse"),
        ("BeforeTool", "PreToolUse"),
        ("before_tool", "PreToolUse"),
        ("session_stop", "SessionEnd"),
        ("stop", "Stop"),
        ("AfterAgent", "Stop"),
        ("prompt_submit", "UserPromptSubmit"),
        ("BeforeAgent", "UserPromptSubmit"),
        ("PreCompress", "PreCompact"),
        ("error", "SessionError"),
        (" Stop ", "Stop"),
        ("on_budget_threshold", "OnBudgetThreshold"),
    ],
)
def test_any_spelling_finds_its_event(named: str, event: str) -> None:
    """An event may be named in any dialect's spelling and in snake_case."""
    assert find(named).name == event


def test_spellings_are_unambiguous() -> None:
    """No word means two events, in whatever dialect or case it is written."""
    words: dict[str, str] = {}
    for row in CATALOGUE:
        for word in {row.name, *row.spellings.values()}:
            for spelled in {word, snake_case(word)}:
                assert words.setdefault(spelled, row.name) == row.name


@pytest.mark.parametrize("wrong", ["PreTolUse", "pretooluse", "", "💥", None, 7])
def test_an_unknown_event_is_an_error_that_helps(wrong) -> None:
    """The nearest name is suggested, or the way to the list."""
    with pytest.raises(UsageError, match=r"did you mean|hookline events"):
        find(wrong)


def test_the_two_flat_dialects_have_their_events() -> None:
    """The Harness has six events, Goose five, and the matrix of each dialect covers just these."""
    assert len(spellings("harness")) == 6
    assert len(spellings("goose")) == 5
    for name in DIALECTS:
        assert set(dialect(name).EFFECTS) == set(spellings(name).values())
        for event, effects in dialect(name).EFFECTS.items():
            assert effects <= ROWS[event].effects


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        ({}, "needs tool_input and tool_name"),
        ({"tool_name": "Bash"}, "needs tool_input"),
        ({"tool_name": "Bash", "tool_inputs": {}}, "did you mean 'tool_input'"),
        ({"tool_name": 3, "tool_input": {}}, "tool_name must be a string, not a number: 3"),
        ({"tool_name": "Bash", "tool_input": "ls"}, "tool_input must be an object, not a string: 'ls'"),
        ({"tool_name": "Bash", "tool_input": [], "mcp": {}}, "tool_input must be an object, not a list"),
    ],
)
def test_a_wrong_payload_says_how_to_mend_it(payload, words: str) -> None:
    """Missing, unknown and mistyped fields are told apart."""
    with pytest.raises(UsageError, match=words):
        checked(ROWS["PreToolUse"], payload)


def test_a_boolean_is_not_a_number() -> None:
    """JSON tells true from 1, and so do we."""
    with pytest.raises(UsageError, match="a whole number, not a boolean"):
        checked(ROWS["SessionIdle"], {"iteration": True})
    assert checked(ROWS["SessionIdle"], {"iteration": 1}) == {"iteration": 1}
    assert checked(ROWS["OnBudgetThreshold"], {"pct": 80.5}) == {"pct": 80.5}


def test_tool_input_may_be_null() -> None:
    """A call without arguments is a call."""
    payload = {"tool_name": "Bash", "tool_input": None}
    assert checked(ROWS["PreToolUse"], payload) == payload
