"""The stable formats: what is read, what is refused and how, and the schemas that say the same."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline import llm
from hookline.errors import UsageError

SCHEMAS = Path(__file__).parent.parent / "docs" / "schemas"

REQUEST = {
    "model": "m",
    "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hi"}],
    "config": {
        "temperature": 0.5,
        "maxOutputTokens": 100,
        "topP": 0.9,
        "topK": 40,
        "stopSequences": ["END"],
        "candidateCount": 1,
        "presencePenalty": 0.1,
        "frequencyPenalty": 0.2,
    },
    "toolConfig": {"mode": "ANY", "allowedFunctionNames": ["read"]},
}
RESPONSE = {
    "text": "hello",
    "candidates": [
        {
            "content": {"role": "model", "parts": ["hel", "lo"]},
            "finishReason": "STOP",
            "index": 0,
            "safetyRatings": [{"category": "HARM", "probability": "LOW"}],
        }
    ],
    "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 2, "totalTokenCount": 3},
}


@pytest.mark.parametrize(
    ("read", "value"),
    [
        (llm.request, REQUEST),
        (llm.request, {"model": "", "messages": []}),
        (llm.response, RESPONSE),
        (llm.response, {"candidates": []}),
        (llm.tool_config, {"mode": "NONE", "allowedFunctionNames": []}),
        (llm.tool_config, {}),
    ],
)
def test_a_whole_value_comes_back_as_it_was(read, value) -> None:
    """Every field of a format is read, kept, and written under the same name."""
    assert read(value).to_dict() == value


@pytest.mark.parametrize(
    ("read", "value", "kept"),
    [
        (
            llm.request,
            {"model": "m", "messages": [{"role": "user", "content": "x", "id": 7}], "later": 1},
            {"model": "m", "messages": [{"role": "user", "content": "x"}]},
        ),
        (
            llm.request,
            {"model": "m", "messages": [], "config": None, "toolConfig": {"mode": None}},
            {"model": "m", "messages": [], "toolConfig": {}},
        ),
        (llm.request, {"model": "m", "messages": [], "config": {"maxOutputTokens": 10.0}}, None),
        (llm.response, {"candidates": [{"content": {"parts": []}}]}, None),
    ],
)
def test_what_is_let_through(read, value, kept) -> None:
    """Unknown keys and nulls are left out, a whole number may be written as a float, the model's role goes unsaid."""
    done = read(value).to_dict()
    if kept is not None:
        assert done == kept


@pytest.mark.parametrize(
    ("read", "value", "message"),
    [
        (llm.request, [], 'an LLMRequest: it must be an object with "model" and "messages", not a list: []'),
        (llm.request, {"messages": []}, "an LLMRequest: it has no \"model\", which must be a string: {'messages': []}"),
        (
            llm.request,
            {"model": "m", "messages": [{"role": "usr", "content": "x"}]},
            (
                'an LLMRequest: /messages/0/role must be "model" or "system" or "user", not \'usr\'; '
                "did you mean 'user'?"
            ),
        ),
        (
            llm.request,
            {"model": "m", "messages": [{"role": "user", "content": ["x"]}]},
            "an LLMRequest: /messages/0/content must be a string, not a list: ['x']",
        ),
        (
            llm.amendments,
            {"messages": ["hi"]},
            'a hook\'s llm_request: /messages/0 must be an object with "role" and "content", not a string: \'hi\'',
        ),
        (
            llm.amendments,
            {"config": {"temperature": "0.2"}},
            "a hook's llm_request: /config/temperature must be a number, not a string: '0.2'",
        ),
        (
            llm.amendments,
            {"config": {"maxOutputTokens": 1.5}},
            "a hook's llm_request: /config/maxOutputTokens must be a whole number, not a number: 1.5",
        ),
        (
            llm.amendments,
            {"toolConfig": {"allowedFunctionNames": ["a", 1]}},
            "a hook's llm_request: /toolConfig/allowedFunctionNames/1 must be a string, not a number: 1",
        ),
        (
            llm.tool_config,
            {"mode": "any"},
            'a tool config: /mode must be "ANY" or "AUTO" or "NONE", not \'any\'; did you mean \'ANY\'?',
        ),
        (
            llm.tool_config,
            7,
            'a tool config: it must be an object with any of "mode", "allowedFunctionNames", not a number: 7',
        ),
        (
            llm.synthetic,
            {"candidates": [{"content": {}}]},
            (
                'a hook\'s llm_response: /candidates/0/content has no "parts", which must be a list, '
                "and each item a string: {}"
            ),
        ),
        (
            llm.synthetic,
            {"candidates": [{"content": {"parts": ["x"]}, "finishReason": "DONE"}]},
            (
                'a hook\'s llm_response: /candidates/0/finishReason must be "MAX_TOKENS" or "OTHER" or "RECITATION" or '
                '"SAFETY" or "STOP", not \'DONE\''
            ),
        ),
    ],
)
def test_what_is_refused(read, value, message) -> None:
    """A refusal says where, what belongs there and what is there instead."""
    with pytest.raises(UsageError) as raised:
        read(value)
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("content", "text"),
    [("x", "x"), (None, ""), (42, "42"), (1.5, "1.5"), (True, "true"), ({"a": [1]}, '{"a":[1]}'), (["x"], '["x"]')],
)
def test_content_that_is_no_string_becomes_one(content, text) -> None:
    """A hook's message may hold any JSON value; null is no text."""
    assert llm.amendments({"messages": [{"role": "user", "content": content}]}).messages == (llm.Message("user", text),)


@pytest.mark.parametrize(
    ("role", "meant"),
    [
        *((role, role) for role in ("user", "model", "system")),
        *(("assistant", "model"), ("developer", "system"), ("tool", "user"), (None, "user"), (7, "user"), ([], "user")),
    ],
)
def test_roles_are_taken_as_they_are_meant(role, meant) -> None:
    """The words of other formats are understood; any other role is a user's, and so is none."""
    assert llm.amendments({"messages": [{"role": role, "content": "x"}]}).messages == (llm.Message(meant, "x"),)
    assert llm.amendments({"messages": [{"content": "x"}]}).messages == (llm.Message("user", "x"),)


@pytest.mark.parametrize(
    ("answer", "parts"),
    [
        ({"text": "hi"}, [["hi"]]),
        ({"text": "hi", "candidates": []}, []),
        ({"candidates": [{"content": {"parts": ["a", {"text": "b"}, {"text": None}, 3]}}]}, [["a", "b", "", "3"]]),
        ({"candidates": [{"content": {"role": "assistant", "parts": ["a"]}}]}, [["a"]]),
    ],
)
def test_a_hooks_response_is_read_with_patience(answer, parts) -> None:
    """A bare text is a response; a part may be written as the SDK writes it."""
    assert [list(c.content.parts) for c in llm.synthetic(answer).candidates] == parts


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
NEARLY = st.fixed_dictionaries(
    {},
    optional={
        "model": JSON,
        "messages": st.lists(st.fixed_dictionaries({}, optional={"role": JSON, "content": JSON}) | JSON, max_size=3),
        "config": st.fixed_dictionaries({}, optional={"temperature": JSON, "topK": JSON, "stopSequences": JSON}) | JSON,
        "toolConfig": st.fixed_dictionaries({}, optional={"mode": JSON, "allowedFunctionNames": JSON}) | JSON,
        "text": JSON,
        "candidates": st.lists(st.fixed_dictionaries({}, optional={"content": JSON, "index": JSON}) | JSON, max_size=2),
    },
)


@given(NEARLY | JSON)
def test_whatever_a_hook_says_is_read_or_refused(value) -> None:
    """No JSON value makes a reader fail in any other way, and none is changed by being read."""
    before = copy.deepcopy(value)
    for read in (llm.request, llm.response, llm.tool_config, llm.amendments, llm.synthetic):
        try:
            done = read(value)
        except UsageError:
            continue
        again = read(done.to_dict())
        assert again == done
    assert value == before


@pytest.mark.parametrize("name", llm.SCHEMAS)
def test_the_schemas_are_published(name) -> None:
    """Each schema is a file of docs/schemas, names its draft, and lets unknown keys through."""
    published = json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))
    assert published == llm.schemas()[name]
    assert published["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert "additionalProperties" not in json.dumps(published)


def test_the_schemas_name_every_field_as_hooks_do() -> None:
    """The names in the schemas are those of the wire."""
    fields = llm.schemas()["llm-request"]["$defs"]["Config"]["properties"]
    assert set(fields) == set(REQUEST["config"])
    assert {*llm.schemas(), "tape-record"} == {path.stem for path in SCHEMAS.glob("*.json")}


def test_values_are_frozen() -> None:
    """Nobody changes a request that others hold."""
    with pytest.raises(AttributeError):
        llm.request(REQUEST).model = "n"
    assert msgspec.json.decode(msgspec.json.encode(llm.request(REQUEST))) == REQUEST
