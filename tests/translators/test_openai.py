"""The OpenAI chat format: what hooks see of a request, and what their answers make of it."""

from __future__ import annotations

import copy
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline import llm
from hookline.errors import UsageError
from hookline.translators.openai import request_from_hook, request_to_hook, response_from_hook, response_to_hook

IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iQ=="}}
CALLS = [{"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}]
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "a.txt"}
TOOLS = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in ("ls", "rm", "cat")]


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def said(*pairs: tuple[str, str]) -> list[dict[str, str]]:
    return [{"role": role, "content": words} for role, words in pairs]


def request(*messages: Any, **fields: Any) -> dict[str, Any]:
    return {"model": "m", "messages": list(messages)} | fields


def seen(given: dict[str, Any]) -> list[dict[str, str]]:
    return request_to_hook(given)["messages"]


WORDS = st.text(alphabet="ab ", max_size=4)
CONTENT = st.none() | WORDS | st.lists(WORDS.map(text) | st.sampled_from([IMAGE, {"type": "refusal"}]), max_size=4)
MESSAGES = (
    st.fixed_dictionaries(
        {"role": st.sampled_from(["system", "developer", "user"]), "content": CONTENT}, optional={"name": WORDS}
    )
    | st.fixed_dictionaries({"role": st.just("assistant"), "content": CONTENT}, optional={"tool_calls": st.just(CALLS)})
    | st.just(RESULT)
)
CHOICES = [
    *("auto", "none", "required"),
    {"type": "function", "function": {"name": "ls"}},
    {"type": "custom", "custom": {"name": "ls"}},
    {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [TOOLS[0], TOOLS[1]]}},
    {"type": "something_newer"},
]
REQUESTS = st.fixed_dictionaries(
    {"model": WORDS, "messages": st.lists(MESSAGES, max_size=6)},
    optional={
        "temperature": st.floats(0, 2),
        "max_tokens": st.integers(1, 9),
        "max_completion_tokens": st.integers(1, 9),
        "top_p": st.floats(0, 1),
        "top_k": st.integers(1, 9),
        "stop": st.none() | WORDS | st.lists(WORDS, max_size=2),
        "n": st.integers(1, 2),
        "presence_penalty": st.floats(-1, 1),
        "frequency_penalty": st.floats(-1, 1),
        "tools": st.just(TOOLS),
        "tool_choice": st.sampled_from(CHOICES),
        "seed": st.integers(),
        "stream": st.booleans(),
    },
)
ANSWERS = st.lists(
    st.fixed_dictionaries({"role": st.sampled_from(["user", "model", "system"]), "content": WORDS}), max_size=5
)


def hidden(given: dict[str, Any]) -> list[Any]:
    """Everything of the messages that a hook cannot see, in order."""
    found: list[Any] = []
    for message in given["messages"]:
        content = message["content"]
        found += [RESULT] if message is RESULT else []
        found += message.get("tool_calls", [])
        found += [part for part in content if part["type"] != "text"] if isinstance(content, list) else []
    return found


@given(REQUESTS)
def test_there_and_back_is_the_same_request(given) -> None:
    """A request that no hook changed comes back as the very same object, and what hooks saw is an LLMRequest."""
    hook_request = request_to_hook(given)
    assert llm.request(hook_request).to_dict() == hook_request
    assert request_from_hook(hook_request, given) is given
    assert request_from_hook({}, given) is given


@given(REQUESTS, ANSWERS)
def test_the_model_is_told_what_the_hook_said(given, answer) -> None:
    """Hooks see afterwards exactly what they answered; nothing they cannot see is lost; no input is changed."""
    before = copy.deepcopy((given, answer))
    after = request_from_hook({"messages": answer}, given)
    assert seen(after) == ([message for message in answer if message["content"]] if answer else seen(given))
    assert hidden(after) == hidden(given)
    assert after | {"messages": 0} == given | {"messages": 0}
    assert (given, answer) == before


@given(REQUESTS, st.data())
def test_an_edit_changes_one_message(given, data) -> None:
    """One message edited: all others are the same objects, and the one keeps everything but its text."""
    shown = seen(given)
    if not shown:
        return
    shown[data.draw(st.integers(0, len(shown) - 1))]["content"] += "!"
    after = request_from_hook({"messages": shown}, given)
    pairs = zip(given["messages"], after["messages"], strict=True)
    [(old, new)] = [pair for pair in pairs if pair[0] is not pair[1]]
    assert new | {"content": 0} == old | {"content": 0}
    assert type(new["content"]) is type(old["content"])


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ({"role": "system", "content": "x"}, said(("system", "x"))),
        ({"role": "developer", "content": "x"}, said(("system", "x"))),
        ({"role": "user", "content": "x"}, said(("user", "x"))),
        ({"role": "assistant", "content": "x", "tool_calls": CALLS}, said(("model", "x"))),
        ({"role": "assistant", "content": None, "tool_calls": CALLS}, []),
        ({"role": "assistant", "tool_calls": CALLS}, []),
        ({"role": "user", "content": [text("a"), IMAGE, text("b")]}, said(("user", "ab"))),
        ({"role": "user", "content": [IMAGE]}, []),
        ({"role": "user", "content": ""}, []),
        (RESULT, []),
        ({"role": "function", "name": "ls", "content": "x"}, []),
        (SimpleNamespace(role="assistant", content="x"), said(("model", "x"))),
    ],
)
def test_what_hooks_see_of_a_message(message, shown) -> None:
    """Texts only, in three roles; messages of tools are not shown."""
    assert seen(request(message)) == shown


@pytest.mark.parametrize(
    ("message", "answer", "after"),
    [
        ({"role": "user", "content": "a", "name": "n"}, ("user", "b"), {"role": "user", "content": "b", "name": "n"}),
        ({"role": "developer", "content": "a"}, ("system", "b"), {"role": "developer", "content": "b"}),
        ({"role": "user", "content": "a"}, ("model", "a"), {"role": "assistant", "content": "a"}),
        (
            {"role": "user", "content": [text("a"), IMAGE, text("b")]},
            ("user", "aB"),
            {"role": "user", "content": [text("a"), IMAGE, text("B")]},
        ),
        ({"role": "user", "content": [text("a"), IMAGE]}, ("user", ""), {"role": "user", "content": [IMAGE]}),
        (
            {"role": "assistant", "content": "a", "tool_calls": CALLS},
            ("model", ""),
            {"role": "assistant", "content": None, "tool_calls": CALLS},
        ),
        (
            {"role": "assistant", "content": [text("a")], "tool_calls": CALLS},
            ("model", ""),
            {"role": "assistant", "content": None, "tool_calls": CALLS},
        ),
    ],
)
def test_what_an_answer_makes_of_a_message(message, answer, after) -> None:
    """The text and the role change; everything else of the message stays."""
    assert request_from_hook({"messages": said(answer)}, request(message)) == request(after)


def test_a_new_message_stays_out_of_tool_calls() -> None:
    """It comes after the results of the calls before it."""
    talk = [{"role": "assistant", "content": "look", "tool_calls": CALLS}, RESULT, {"role": "user", "content": "so?"}]
    after = request_from_hook({"messages": said(("model", "look"), ("system", "new"), ("user", "so?"))}, request(*talk))
    assert after["messages"] == [*talk[:2], {"role": "system", "content": "new"}, talk[2]]


@pytest.mark.parametrize(
    ("fields", "answer", "after"),
    [
        ({}, {"maxOutputTokens": 5}, {"max_completion_tokens": 5}),
        ({"max_tokens": 9}, {"maxOutputTokens": 5}, {"max_tokens": 5}),
        ({"max_completion_tokens": 9}, {"maxOutputTokens": 5}, {"max_completion_tokens": 5}),
        ({"temperature": 1.0, "seed": 3}, {"topP": 0.5}, {"temperature": 1.0, "seed": 3, "top_p": 0.5}),
        ({"temperature": 1.0}, {"temperature": None}, {"temperature": 1.0}),
        ({"temperature": 1.0}, {"temperature": 0}, {"temperature": 0}),
        ({"stop": "END"}, {"stopSequences": ["END"]}, {"stop": "END"}),
        ({"stop": "END"}, {"stopSequences": ["X", "Y"]}, {"stop": ["X", "Y"]}),
        ({}, {"candidateCount": 2, "presencePenalty": 1, "frequencyPenalty": -1}, None),
        ({}, {"topK": 5}, {}),
        ({"top_k": 9}, {"topK": 5}, {"top_k": 5}),
    ],
)
def test_config_fields(fields, answer, after) -> None:
    """Each field under its name here; what the answer leaves out keeps its value."""
    if after is None:
        after = {"n": 2, "presence_penalty": 1.0, "frequency_penalty": -1.0}
    assert request_from_hook({"config": answer}, request(**fields)) == request(**after)


LS, RM = ({"type": "function", "function": {"name": name}} for name in ("ls", "rm"))


@pytest.mark.parametrize(
    ("choice", "shown"),
    [
        ("auto", {"mode": "AUTO"}),
        ("required", {"mode": "ANY"}),
        ("none", {"mode": "NONE"}),
        (LS, {"mode": "ANY", "allowedFunctionNames": ["ls"]}),
        (CHOICES[5], {"mode": "AUTO", "allowedFunctionNames": ["ls", "rm"]}),
        (CHOICES[6], None),
        (None, None),
    ],
)
def test_what_hooks_see_of_a_tool_choice(choice, shown) -> None:
    """A mode, and the names it is limited to; nothing where the request says nothing."""
    assert request_to_hook(request(tools=TOOLS, tool_choice=choice)).get("toolConfig") == shown


@pytest.mark.parametrize(
    ("before", "answer", "after"),
    [
        (None, {"mode": "NONE"}, "none"),
        (None, {"mode": "ANY"}, "required"),
        ("required", {"mode": "AUTO"}, "auto"),
        (None, {"mode": "ANY", "allowedFunctionNames": ["ls"]}, LS),
        (
            None,
            {"allowedFunctionNames": ["ls"]},
            {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [LS]}},
        ),
        (
            "required",
            {"allowedFunctionNames": ["ls", "rm"]},
            {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [LS, RM]}},
        ),
        ("required", {"allowedFunctionNames": []}, "none"),
        (CHOICES[6], {"mode": "ANY"}, "required"),
    ],
)
def test_a_tool_config_becomes_a_tool_choice(before, answer, after) -> None:
    """The mode and the names; the definitions stay, all of them."""
    given = request(tools=TOOLS, **({"tool_choice": before} if before else {}))
    assert request_from_hook({"toolConfig": answer}, given) == given | {"tool_choice": after}


def test_the_model() -> None:
    """Another model is taken over; an empty or missing one is not."""
    assert request_from_hook({"model": "n"}, request()) == request() | {"model": "n"}
    assert request_from_hook({"model": ""}, request()) == request()


def test_nonsense_is_refused() -> None:
    """An answer that cannot be understood raises, and says what belongs there."""
    with pytest.raises(UsageError, match="/messages must be a list"):
        request_from_hook({"messages": {}}, request())


# -- responses

USAGE = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3, "completion_tokens_details": {"x": 1}}


def response(*choices: tuple[Any, str | None], **fields: Any) -> dict[str, Any]:
    made = [
        {"index": n, "message": {"role": "assistant", "content": content}, "finish_reason": reason}
        for n, (content, reason) in enumerate(choices)
    ]
    return {"id": "r1", "object": "chat.completion", "created": 9, "model": "m", "choices": made} | fields


def test_what_hooks_see_of_a_response() -> None:
    """One candidate per choice, the text of the first, three counts."""
    assert response_to_hook(response(("a", "stop"), (None, "length"), usage=USAGE)) == {
        "text": "a",
        "candidates": [
            {"content": {"role": "model", "parts": ["a"]}, "finishReason": "STOP", "index": 0},
            {"content": {"role": "model", "parts": []}, "finishReason": "MAX_TOKENS", "index": 1},
        ],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 2, "totalTokenCount": 3},
    }
    assert response_to_hook({}) == {"candidates": []}


@pytest.mark.parametrize(
    ("reason", "shown", "after"),
    [
        ("stop", "STOP", "stop"),
        ("length", "MAX_TOKENS", "length"),
        ("content_filter", "SAFETY", "content_filter"),
        ("tool_calls", "STOP", "stop"),
        ("function_call", "STOP", "stop"),
        ("something_newer", "OTHER", "stop"),
        (None, None, "stop"),
    ],
)
def test_finish_reasons(reason, shown, after) -> None:
    """Each reason has one of five words; without its tool calls a response has simply stopped."""
    base = response(("a", reason))
    hook_response = response_to_hook(base)
    assert llm.response(hook_response).to_dict() == hook_response
    assert hook_response["candidates"][0].get("finishReason") == shown
    assert response_from_hook(hook_response, base) == response(("a", after))


@pytest.mark.parametrize("reason", ["STOP", "MAX_TOKENS", "SAFETY", "RECITATION", "OTHER"])
def test_every_reason_of_a_hook_has_a_word_here(reason) -> None:
    """What a hook may say is understood by every client."""
    answer = {"candidates": [{"content": {"parts": ["x"]}, "finishReason": reason}]}
    finish = response_from_hook(answer)["choices"][0]["finish_reason"]
    assert finish in ("stop", "length", "content_filter")


def test_a_response_is_made_of_text_only() -> None:
    """Tool calls are gone; ids and what else was counted stay; no input is changed."""
    base = response(("a", "tool_calls"), usage=USAGE, system_fingerprint="f")
    base["choices"][0]["message"]["tool_calls"] = CALLS
    before = copy.deepcopy(base)
    answer = {"candidates": [{"content": {"parts": ["b", "c"]}}], "usageMetadata": {"totalTokenCount": 7}}
    after = response_from_hook(answer, base)
    assert after == response(("bc", "stop"), usage=USAGE | {"total_tokens": 7}, system_fingerprint="f")
    assert base == before


def test_a_response_out_of_nothing() -> None:
    """A bare text has every field that clients require."""
    assert response_from_hook({"text": "no"}) == response(("no", "stop")) | {
        "id": "hookline",
        "created": 0,
        "model": "",
    }
