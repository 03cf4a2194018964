"""The Anthropic messages format: what hooks see of a request, and what their answers make of it."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline import llm
from hookline.errors import UsageError
from hookline.translators.anthropic import request_from_hook, request_to_hook, response_from_hook, response_to_hook

IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iQ=="}}
USE = {"type": "tool_use", "id": "t1", "name": "ls", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "a.txt"}
THINKING = {"type": "thinking", "thinking": "hm", "signature": "s"}
TOOLS = [{"name": name, "input_schema": {"type": "object"}} for name in ("ls", "rm", "cat")]


def text(words: str, **fields: Any) -> dict[str, Any]:
    return {"type": "text", "text": words} | fields


def user(*content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content[0] if isinstance(content[0], str) else list(content)}


def assistant(*content: Any) -> dict[str, Any]:
    return user(*content) | {"role": "assistant"}


def said(*pairs: tuple[str, str]) -> list[dict[str, str]]:
    return [{"role": role, "content": words} for role, words in pairs]


def request(*messages: Any, **fields: Any) -> dict[str, Any]:
    return {"model": "m", "max_tokens": 10, "messages": list(messages)} | fields


def seen(given: dict[str, Any]) -> list[dict[str, str]]:
    return request_to_hook(given)["messages"]


def unordered(messages: list[dict[str, str]]) -> list[tuple[str, str]]:
    return sorted((message["role"], message["content"]) for message in messages)


WORDS = st.text(alphabet="ab ", max_size=4)
TEXTS = WORDS.map(text) | WORDS.map(lambda words: text(words, cache_control={"type": "ephemeral"}))
BLOCKS = st.lists(TEXTS | st.sampled_from([IMAGE, USE, RESULT, THINKING]), max_size=4)
MESSAGES = st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant"]), "content": WORDS | BLOCKS})
REQUESTS = st.fixed_dictionaries(
    {"model": WORDS, "max_tokens": st.integers(1, 9), "messages": st.lists(MESSAGES, max_size=6)},
    optional={
        "system": WORDS | st.lists(TEXTS, max_size=3),
        "temperature": st.floats(0, 1),
        "top_p": st.floats(0, 1),
        "top_k": st.integers(1, 9),
        "stop_sequences": st.lists(WORDS, max_size=2),
        "tools": st.just(TOOLS),
        "tool_choice": st.sampled_from(
            [
                *({"type": kind} for kind in ("auto", "any", "none", "something_newer")),
                {"type": "tool", "name": "ls", "disable_parallel_tool_use": True},
            ]
        ),
        "thinking": st.just({"type": "enabled", "budget_tokens": 1024}),
        "metadata": st.just({"user_id": "u"}),
    },
)
SPOKEN = st.lists(st.fixed_dictionaries({"role": st.sampled_from(["user", "model"]), "content": WORDS}), max_size=5)
SYSTEM = st.lists(st.fixed_dictionaries({"role": st.just("system"), "content": WORDS}), max_size=2)


def hidden(given: dict[str, Any]) -> list[Any]:
    """Every block that a hook cannot see, in order."""
    contents = (message["content"] for message in given["messages"])
    return [block for blocks in contents if isinstance(blocks, list) for block in blocks if block["type"] != "text"]


@given(REQUESTS)
def test_there_and_back_is_the_same_request(given) -> None:
    """A request that no hook changed comes back as the very same object, and what hooks saw is an LLMRequest."""
    hook_request = request_to_hook(given)
    assert llm.request(hook_request).to_dict() == hook_request
    assert request_from_hook(hook_request, given) is given
    assert request_from_hook({}, given) is given


@given(REQUESTS, SYSTEM, SPOKEN)
def test_the_model_is_told_what_the_hook_said(given, system, spoken) -> None:
    """Hooks see afterwards what they answered, all system texts in one; nothing hidden is lost, no input changed."""
    answer = system + spoken
    before = copy.deepcopy((given, answer))
    after = request_from_hook({"messages": answer}, given)
    if answer:
        shown = seen(after)
        instructions = [message["content"] for message in shown if message["role"] == "system"]
        heard = [message for message in shown if message["role"] != "system"]
        wanted = [message for message in spoken if message["content"]]
        assert unordered(heard) == unordered(wanted)
        if RESULT not in hidden(given):  # what is new keeps clear of tool calls and their results
            assert heard == wanted
        assert "".join(instructions).replace("\n\n", "") == "".join(message["content"] for message in system)
    assert hidden(after) == hidden(given)
    untouched = {"messages": 0, "system": 0}
    assert after | untouched == given | untouched
    assert (given, answer) == before


@given(REQUESTS, st.data())
def test_an_edit_changes_one_message(given, data) -> None:
    """One message edited: all others are the same objects, and the one keeps every block and what stands beside it."""
    shown = seen(given)
    if not shown:
        return
    place = data.draw(st.integers(0, len(shown) - 1))
    shown[place]["content"] += "!"
    after = request_from_hook({"messages": shown}, given)
    pairs = [(given.get("system"), after.get("system")), *zip(given["messages"], after["messages"], strict=True)]
    [(old, new)] = [pair for pair in pairs if pair[0] is not pair[1]]
    old, new = (old, new) if shown[place]["role"] == "system" else (old["content"], new["content"])
    assert type(old) is type(new)
    if isinstance(old, list):
        assert [block | {"text": 0} for block in new] == [block | {"text": 0} for block in old]


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (request(user("x")), said(("user", "x"))),
        (request(assistant(THINKING, text("x"), USE)), said(("model", "x"))),
        (request(user(RESULT)), []),
        (request(user(text("a"), IMAGE, text("b"))), said(("user", "ab"))),
        (request(user("x"), system="s"), said(("system", "s"), ("user", "x"))),
        (request(user("x"), system=[text("s"), text("t")]), said(("system", "st"), ("user", "x"))),
        (request(user("x"), system=""), said(("user", "x"))),
    ],
)
def test_what_hooks_see_of_messages(given, shown) -> None:
    """Texts only; the system prompt comes first."""
    assert seen(given) == shown


S = text("s", cache_control={"type": "ephemeral"})


@pytest.mark.parametrize(
    ("given", "answer", "after"),
    [
        (request(user("a")), said(("user", "b")), request(user("b"))),
        (request(user("a")), said(("model", "a")), request(assistant("a"))),
        (request(user("a")), said(("user", "a"), ("model", "b")), request(user("a"), assistant("b"))),
        (
            request(user(text("a"), IMAGE, text("b"))),
            said(("user", "aB")),
            request(user(text("a"), IMAGE, text("B"))),
        ),
        (request(user(text("a"), IMAGE)), said(("user", "")), request(user(IMAGE))),
        (
            request(user("a"), assistant(THINKING, text("b"), USE), user(RESULT)),
            said(("user", "a")),
            request(user("a"), assistant(THINKING, USE), user(RESULT)),
        ),
        (
            request(user("a"), assistant(text("b"), USE), user(RESULT, text("c"))),
            said(("user", "a"), ("model", "b"), ("user", "new"), ("user", "c")),
            request(user("a"), user("new"), assistant(text("b"), USE), user(RESULT, text("c"))),
        ),
        (request(user("a"), system="s"), said(("system", "t"), ("user", "a")), request(user("a"), system="t")),
        (request(user("a"), system="s"), said(("user", "a")), request(user("a"))),
        (request(user("a")), said(("system", "s"), ("user", "a")), request(user("a"), system="s")),
        (
            request(user("a"), system="s"),
            said(("system", "s"), ("user", "a"), ("system", "t")),
            request(user("a"), system="s\n\nt"),
        ),
        (
            request(user("a"), system=[S]),
            said(("system", "t"), ("system", "s"), ("user", "a")),
            request(user("a"), system=[text("t"), S]),
        ),
        (request(user("a"), system=[S]), said(("system", "s!"), ("user", "a")), None),
        (request(user("a")), said(("system", "a")), request(system="a")),
        (request(user("a")), [], request(user("a"))),
    ],
)
def test_what_answers_make_of_messages(given, answer, after) -> None:
    """Edited, added, removed, moved to the system prompt: in the shape the request had."""
    if after is None:
        after = given | {"system": [S | {"text": "s!"}]}
    assert request_from_hook({"messages": answer}, given) == after


@pytest.mark.parametrize(
    ("fields", "answer", "after"),
    [
        ({}, {"maxOutputTokens": 5}, {"max_tokens": 5}),
        ({"temperature": 1.0}, {"temperature": None, "topP": 0.5}, {"temperature": 1.0, "top_p": 0.5}),
        ({"top_k": 9}, {"topK": 5}, {"top_k": 5}),
        ({"stop_sequences": ["a"]}, {"stopSequences": ["b"]}, {"stop_sequences": ["b"]}),
        ({}, {"candidateCount": 2, "presencePenalty": 1, "frequencyPenalty": 1}, {}),
    ],
)
def test_config_fields(fields, answer, after) -> None:
    """Each field under its name here; what the answer leaves out keeps its value; what has no name here is left out."""
    done = request_from_hook({"config": answer}, request(**fields))
    assert done == request(**after)
    assert all(type(done[name]) is type(value) for name, value in after.items())


@pytest.mark.parametrize(
    ("choice", "shown"),
    [
        ({"type": "auto"}, {"mode": "AUTO"}),
        ({"type": "any"}, {"mode": "ANY"}),
        ({"type": "none"}, {"mode": "NONE"}),
        ({"type": "tool", "name": "ls"}, {"mode": "ANY", "allowedFunctionNames": ["ls"]}),
        ({"type": "something_newer"}, None),
        (None, None),
    ],
)
def test_what_hooks_see_of_a_tool_choice(choice, shown) -> None:
    """A mode, and the name it is limited to; nothing where the request says nothing."""
    assert request_to_hook(request(tools=TOOLS, tool_choice=choice)).get("toolConfig") == shown


@pytest.mark.parametrize(
    ("before", "answer", "choice", "tools"),
    [
        (None, {"mode": "NONE"}, {"type": "none"}, TOOLS),
        (None, {"mode": "ANY"}, {"type": "any"}, TOOLS),
        (None, {"allowedFunctionNames": []}, {"type": "none"}, TOOLS),
        (None, {"mode": "ANY", "allowedFunctionNames": ["ls"]}, {"type": "tool", "name": "ls"}, TOOLS),
        (None, {"mode": "ANY", "allowedFunctionNames": ["cat", "ls"]}, {"type": "any"}, [TOOLS[0], TOOLS[2]]),
        (None, {"allowedFunctionNames": ["ls"]}, {"type": "auto"}, [TOOLS[0]]),
        (None, {"allowedFunctionNames": ["unheard"]}, {"type": "none"}, TOOLS),
        (
            {"type": "auto", "disable_parallel_tool_use": True},
            {"mode": "ANY"},
            {"type": "any", "disable_parallel_tool_use": True},
            TOOLS,
        ),
    ],
)
def test_a_tool_config_becomes_a_tool_choice(before, answer, choice, tools) -> None:
    """One tool is named; several are what is left of the tools, because a limit must hold."""
    given = request(tools=TOOLS, **({"tool_choice": before} if before else {}))
    assert request_from_hook({"toolConfig": answer}, given) == given | {"tool_choice": choice, "tools": tools}


def test_the_model() -> None:
    """Another model is taken over; an empty or missing one is not."""
    assert request_from_hook({"model": "n"}, request()) == request() | {"model": "n"}
    assert request_from_hook({"model": ""}, request()) == request()


def test_nonsense_is_refused() -> None:
    """An answer that cannot be understood raises, and says what belongs there."""
    with pytest.raises(UsageError, match="/config/temperature must be a number, not a string: 'hot'"):
        request_from_hook({"config": {"temperature": "hot"}}, request())


# -- responses

USAGE = {"input_tokens": 5, "output_tokens": 2, "cache_read_input_tokens": 3, "cache_creation_input_tokens": None}


def response(*content: Any, stop_reason: str | None = "end_turn", **fields: Any) -> dict[str, Any]:
    return {
        "id": "r1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": list(content),
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": USAGE,
    } | fields


def test_what_hooks_see_of_a_response() -> None:
    """One candidate of text blocks; what was read from a cache counts as prompt."""
    assert response_to_hook(response(THINKING, text("a"), text("b"), USE)) == {
        "text": "ab",
        "candidates": [{"content": {"role": "model", "parts": ["a", "b"]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 8, "candidatesTokenCount": 2, "totalTokenCount": 10},
    }


@pytest.mark.parametrize(
    ("reason", "shown", "after"),
    [
        ("end_turn", "STOP", "end_turn"),
        ("stop_sequence", "STOP", "stop_sequence"),
        ("tool_use", "STOP", "end_turn"),
        ("max_tokens", "MAX_TOKENS", "max_tokens"),
        ("model_context_window_exceeded", "MAX_TOKENS", "model_context_window_exceeded"),
        ("refusal", "SAFETY", "refusal"),
        ("pause_turn", "OTHER", "pause_turn"),
        (None, None, "end_turn"),
    ],
)
def test_stop_reasons(reason, shown, after) -> None:
    """Each reason has one of five words, and stays as it was; without its tool_use a response has simply ended."""
    base = response(text("a"), stop_reason=reason)
    hook_response = response_to_hook(base)
    assert llm.response(hook_response).to_dict() == hook_response
    assert hook_response["candidates"][0].get("finishReason") == shown
    assert response_from_hook(hook_response, base) == response(text("a"), stop_reason=after)


@pytest.mark.parametrize(
    ("finish", "reason"),
    [
        ("STOP", "end_turn"),
        ("MAX_TOKENS", "max_tokens"),
        ("SAFETY", "refusal"),
        ("RECITATION", "refusal"),
        ("OTHER", "end_turn"),
    ],
)
def test_every_reason_of_a_hook_has_a_word_here(finish, reason) -> None:
    """What a hook may say is understood by every client."""
    answer = {"candidates": [{"content": {"parts": ["x"]}, "finishReason": finish}]}
    assert response_from_hook(answer)["stop_reason"] == reason


def test_a_response_is_made_of_text_only() -> None:
    """Tool calls and thoughts are gone; ids and what else was counted stay; no input is changed."""
    base = response(THINKING, text("a"), USE, stop_reason="tool_use")
    before = copy.deepcopy(base)
    answer = {"candidates": [{"content": {"parts": ["b"]}}], "usageMetadata": {"promptTokenCount": 9}}
    assert response_from_hook(answer, base) == response(text("b"), usage=USAGE | {"input_tokens": 6})
    assert base == before


def test_a_response_out_of_nothing() -> None:
    """A bare text has every field that clients require."""
    made = {"id": "hookline", "model": "", "usage": {"input_tokens": 0, "output_tokens": 0}}
    assert response_from_hook({"text": "no"}) == response(text("no")) | made
    assert response_from_hook({"candidates": []})["content"] == []
