"""Google's SDK: what hooks see of a call, and what their answers make of it."""

from __future__ import annotations

import copy
import subprocess
import sys
from typing import Any

import pytest
from google.genai import types
from hypothesis import given
from hypothesis import strategies as st

from hookline import llm
from hookline.errors import UsageError
from hookline.translators.genai import (
    call_from_hook,
    call_to_hook,
    request_from_hook,
    request_to_hook,
    response_from_hook,
    response_to_hook,
)

IMAGE = types.Part(inline_data=types.Blob(data=b"\x89", mime_type="image/png"))
CALL = types.Part(function_call=types.FunctionCall(name="ls", args={"path": "."}))
RESULT = types.Part(function_response=types.FunctionResponse(name="ls", response={"output": "a"}))
THOUGHT = types.Part(text="hm", thought=True)
FILE = types.File(uri="gs://f", mime_type="image/png")
LINK = {"file_uri": "gs://f", "mime_type": "image/png"}
LINKED = types.Part.from_uri(file_uri="gs://f", mime_type="image/png")
TOOLS = [types.Tool(function_declarations=[types.FunctionDeclaration(name="ls")])]


def text(words: str) -> types.Part:
    return types.Part(text=words)


def content(role: str | None, *parts: types.Part) -> types.Content:
    return types.Content(role=role, parts=list(parts))


def user(*parts: types.Part) -> types.Content:
    return content("user", *parts)


def model(*parts: types.Part) -> types.Content:
    return content("model", *parts)


def said(*pairs: tuple[str, str]) -> list[dict[str, str]]:
    return [{"role": role, "content": words} for role, words in pairs]


def messages(contents: Any) -> list[dict[str, str]]:
    return request_to_hook("m", contents)["messages"]


def unordered(messages: list[dict[str, str]]) -> list[tuple[str, str]]:
    return sorted((message["role"], message["content"]) for message in messages)


WORDS = st.text(alphabet="ab ", max_size=4)
PARTS = WORDS.map(text) | st.sampled_from([IMAGE, CALL, RESULT, THOUGHT])
CONTENTS = st.builds(
    types.Content, role=st.sampled_from(["user", "model", None]), parts=st.none() | st.lists(PARTS, max_size=4)
)
AS_DICT = CONTENTS.map(lambda item: item.model_dump(exclude_none=True)) | CONTENTS.map(
    lambda item: item.model_dump(exclude_none=True, by_alias=True)
)
LOOSE = WORDS | PARTS | PARTS.map(lambda part: part.model_dump(exclude_none=True))
ANY_CONTENTS = (
    LOOSE | CONTENTS | AS_DICT | st.lists(LOOSE | CONTENTS | AS_DICT | st.lists(LOOSE, max_size=2), max_size=5)
)
SETTINGS = {
    "temperature": st.floats(0, 2),
    "max_output_tokens": st.integers(1, 9),
    "top_p": st.floats(0, 1),
    "top_k": st.integers(1, 40).map(float),
    "stop_sequences": st.lists(WORDS, max_size=2),
    "candidate_count": st.integers(1, 2),
    "presence_penalty": st.floats(-1, 1),
    "frequency_penalty": st.floats(-1, 1),
    "seed": st.integers(0, 9),
    "system_instruction": WORDS,
    "tools": st.just(TOOLS),
    "tool_config": st.builds(
        types.ToolConfig,
        function_calling_config=st.none()
        | st.builds(
            types.FunctionCallingConfig,
            mode=st.none() | st.sampled_from(types.FunctionCallingConfigMode),
            allowed_function_names=st.none() | st.lists(WORDS, max_size=2),
        ),
    ),
}
CONFIG_DICTS = st.fixed_dictionaries({}, optional=SETTINGS)
CONFIGS = st.none() | CONFIG_DICTS | CONFIG_DICTS.map(lambda given: types.GenerateContentConfig(**given))
ANSWERS = st.lists(
    st.fixed_dictionaries({"role": st.sampled_from(["user", "model", "system"]), "content": WORDS}), max_size=4
)


def hidden(contents: Any) -> list[types.Part]:
    """Every part a hook cannot see, in order."""
    if isinstance(contents, str) or contents is None:
        return []
    if isinstance(contents, list):
        return [part for item in contents for part in hidden(item)]
    if isinstance(contents, dict):
        if contents.keys() - {"role", "parts"}:
            return hidden(types.Part.model_validate(contents))
        return [part for item in contents.get("parts") or [] for part in hidden(item)]
    if isinstance(contents, types.Content):
        return [part for item in contents.parts or [] for part in hidden(item)]
    return [contents] if contents.text is None or contents.thought else []


@given(ANY_CONTENTS, CONFIGS)
def test_there_and_back_is_the_same_request(contents, config) -> None:
    """A request that no hook changed comes back as the very same objects, and what hooks saw is an LLMRequest."""
    hook_request = request_to_hook("m", contents, config)
    assert llm.request(hook_request).to_dict() == hook_request
    back = request_from_hook(hook_request, "m", contents, config)
    assert back == ("m", contents, config)
    assert (back[1], back[2]) == (contents, config)
    assert back[1] is contents
    assert back[2] is config


@given(ANY_CONTENTS, CONFIGS, ANSWERS)
def test_no_answer_loses_what_hooks_cannot_see(contents, config, answer) -> None:
    """Whatever a hook does to the messages, every other part is still there, in order; no input is changed."""
    before = copy.deepcopy((contents, config, answer))
    _, after, _ = request_from_hook({"messages": answer}, "m", contents, config)
    assert hidden(after) == hidden(contents)
    assert (contents, config, answer) == before


@given(st.lists(CONTENTS, max_size=5), ANSWERS)
def test_the_model_is_told_what_the_hook_said(contents, answer) -> None:
    """Of a conversation of Contents, hooks see afterwards exactly what they answered, apart from system messages."""
    _, after, config = request_from_hook({"messages": answer}, "m", contents)
    wanted = [message for message in answer if message["content"] and message["role"] != "system"]
    instructions = [message["content"] for message in answer if message["content"] and message["role"] == "system"]
    heard, wanted = messages(after), (wanted if answer else messages(contents))
    assert unordered(heard) == unordered(wanted)
    if RESULT not in hidden(contents):  # what is new keeps clear of tool calls and their results
        assert heard == wanted
    assert (config.system_instruction if config else "") == "\n\n".join(instructions)


@given(st.lists(CONTENTS, max_size=5), st.data())
def test_an_edit_changes_one_entry(contents, data) -> None:
    """One message edited: all other entries are the same objects, and the one has its other parts in order."""
    shown = messages(contents)
    if not shown:
        return
    place = data.draw(st.integers(0, len(shown) - 1))
    shown[place]["content"] += "!"
    _, after, _ = request_from_hook({"messages": shown}, "m", contents)
    [(old, new)] = [pair for pair in zip(contents, after, strict=True) if pair[0] is not pair[1]]
    assert [part for part in new.parts if part.text is None] == [part for part in old.parts if part.text is None]
    assert len(new.parts) == len(old.parts)
    assert new.role == old.role


@pytest.mark.parametrize(
    ("contents", "shown"),
    [
        ("hi", said(("user", "hi"))),
        (None, []),
        ([], []),
        ("", []),
        (text("hi"), said(("user", "hi"))),
        (model(text("hi")), said(("model", "hi"))),
        (content(None, text("hi")), said(("user", "hi"))),
        (content("function", text("hi")), said(("user", "hi"))),
        (content("system", text("hi")), said(("system", "hi"))),
        ({"role": "model", "parts": [{"text": "hi"}]}, said(("model", "hi"))),
        ([user(text("a"), IMAGE, text("b"))], said(("user", "ab"))),
        ([user(IMAGE), model(CALL), user(RESULT), user(text(""))], []),
        ([user(THOUGHT, text("x"))], said(("user", "x"))),
        (["a", "b", IMAGE, model(text("c")), "d"], said(("user", "ab"), ("model", "c"), ("user", "d"))),
        (["a", CALL, RESULT, "b"], said(("user", "a"), ("user", "b"))),
        ([["a", IMAGE], "b"], said(("user", "a"), ("user", "b"))),
        (
            [{"text": "a"}, {"fileUri": "x", "mimeType": "y"}, {"parts": [{"text": "b"}]}],
            said(("user", "a"), ("user", "b")),
        ),
        ([None, user(text("a"))], said(("user", "a"))),
    ],
)
def test_what_hooks_see_of_contents(contents, shown) -> None:
    """Only texts, joined per message; entries without one are left out (HOOK-075, HOOK-076)."""
    assert messages(contents) == shown


@pytest.mark.parametrize(
    ("contents", "answer", "after"),
    [
        ("hi", said(("user", "ho")), "ho"),
        ("hi", said(("user", "hi"), ("model", "ho")), ["hi", model(text("ho"))]),
        ("hi", said(("model", "hi")), model(text("hi"))),
        (text("hi"), said(("user", "ho")), text("ho")),
        (user(text("hi"), IMAGE), said(("user", "ho")), user(text("ho"), IMAGE)),
        (["a", IMAGE, "b"], said(("user", "aB")), ["a", IMAGE, "B"]),
        (["a", IMAGE, "b"], said(("user", "a")), ["a", IMAGE]),
        (["a", IMAGE], said(("model", "a")), [model(text("a"), IMAGE)]),
        (["a", {"text": ""}, FILE, LINK], said(("model", "a")), [model(text("a"), text(""), LINKED, LINKED)]),
        ([["a", IMAGE], "b"], said(("user", "A"), ("user", "b")), [["A", IMAGE], "b"]),
        (
            [{"role": "user", "parts": [{"text": "a"}, {"inlineData": {}}]}],
            said(("model", "b")),
            [{"role": "model", "parts": [{"text": "b"}, {"inlineData": {}}]}],
        ),
        (
            [user(text("a")), model(text("b"), CALL), user(RESULT), user(text("c"))],
            said(("user", "a"), ("user", "c")),
            [user(text("a")), model(CALL), user(RESULT), user(text("c"))],
        ),
        (
            [user(text("a")), model(text("b"), CALL), user(RESULT, text("c"))],
            said(("user", "a"), ("model", "b"), ("user", "new"), ("user", "c")),
            [user(text("a")), user(text("new")), model(text("b"), CALL), user(RESULT, text("c"))],
        ),
        ([user(text("a"))], [], [user(text("a"))]),
        ([user(text("a"))], None, [user(text("a"))]),
        ([user(text("a"))], said(("user", "")), []),
    ],
)
def test_what_answers_make_of_contents(contents, answer, after) -> None:
    """Edited, added, removed, turned to another role: in the shape the contents had."""
    assert request_from_hook({"messages": answer}, "m", contents)[1] == after


def test_a_part_keeps_what_stands_beside_its_text() -> None:
    """The signature of an edited text part stays."""
    signed = types.Part(text="a", thought_signature=b"s")
    [after] = request_from_hook({"messages": said(("user", "b"))}, "m", [user(signed)])[1]
    assert after == user(types.Part(text="b", thought_signature=b"s"))


CONFIG = types.GenerateContentConfig(
    temperature=0.5, top_k=40, stop_sequences=["END"], seed=7, tools=TOOLS, system_instruction="be brief"
)


@pytest.mark.parametrize("as_dict", [False, True])
def test_config_fields_that_are_left_out_keep_their_value(as_dict) -> None:
    """A changed field is changed; all others, also those hooks do not know, are as they were."""
    config: Any = {"temperature": 0.5, "topK": 40, "seed": 7, "tools": TOOLS} if as_dict else CONFIG
    before = copy.deepcopy(config)
    answer = {"config": {"topK": 10, "maxOutputTokens": 5, "temperature": None, "stopSequences": ["X"]}}
    _, contents, after = request_from_hook(answer, "m", "hi", config)
    if as_dict:
        assert after == config | {"topK": 10, "max_output_tokens": 5, "stop_sequences": ["X"]}
    else:
        assert after == CONFIG.model_copy(update={"top_k": 10, "max_output_tokens": 5, "stop_sequences": ["X"]})
        assert after.tools is config.tools
    assert (contents, config) == ("hi", before)
    types.GenerateContentConfig.model_validate(after if as_dict else after.model_dump(exclude={"tools"}))


def test_what_hooks_see_of_a_config() -> None:
    """The eight fields they know, and the tool config if there is one; nothing where there is nothing."""
    assert request_to_hook("m", "hi", CONFIG)["config"] == {"temperature": 0.5, "topK": 40, "stopSequences": ["END"]}
    assert request_to_hook(None, "hi", None) == {"model": "", "messages": said(("user", "hi"))}
    limited = {"tool_config": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["ls"]}}}
    assert request_to_hook("m", "hi", limited)["toolConfig"] == {"mode": "ANY", "allowedFunctionNames": ["ls"]}
    assert request_from_hook({"config": {"temperature": 1}}, "m", "hi", None)[2].temperature == 1


@pytest.mark.parametrize(
    ("before", "answer", "mode", "names"),
    [
        (None, {"mode": "ANY", "allowedFunctionNames": ["ls"]}, "ANY", ["ls"]),
        (None, {"mode": "NONE"}, "NONE", []),
        (None, {"allowedFunctionNames": []}, "NONE", []),
        (("ANY", ["a"]), {"allowedFunctionNames": ["b"]}, "ANY", ["b"]),
        (("ANY", ["a"]), {"mode": "AUTO"}, "AUTO", ["a"]),
        (("VALIDATED", ["a"]), {"allowedFunctionNames": ["b"]}, "VALIDATED", ["b"]),
        (("VALIDATED", None), {"mode": "AUTO"}, "VALIDATED", None),
    ],
)
def test_a_tool_config_becomes_a_function_calling_config(before, answer, mode, names) -> None:
    """Mode and names are set; the definitions and the rest of the tool config stay."""
    config = types.GenerateContentConfig(tools=TOOLS)
    if before:
        config.tool_config = types.ToolConfig(
            include_server_side_tool_invocations=True,
            function_calling_config=types.FunctionCallingConfig(mode=before[0], allowed_function_names=before[1]),
        )
    after = request_from_hook({"toolConfig": answer}, "m", "hi", config)[2]
    calling = after.tool_config.function_calling_config
    assert (calling.mode.value, calling.allowed_function_names) == (mode, names)
    assert after.tools is config.tools
    assert after.tool_config.include_server_side_tool_invocations is (True if before else None)


@pytest.mark.parametrize(
    ("instruction", "after"),
    [
        (None, "new"),
        ("old", "old\n\nnew"),
        (["old", IMAGE], ["old", IMAGE, "new"]),
        (text("old"), [text("old"), "new"]),
        (user(text("old")), user(text("old"), text("new"))),
        ({"parts": [{"text": "old"}]}, {"parts": [{"text": "old"}, {"text": "new"}]}),
    ],
)
def test_a_new_system_message_joins_the_instruction(instruction, after) -> None:
    """`contents` has no role for it, so it goes behind the system instruction, whatever shape that has."""
    answer = {"messages": said(("system", "new"), ("user", "hi"))}
    _, contents, config = request_from_hook(answer, "m", "hi", {"system_instruction": instruction})
    assert (contents, config) == ("hi", {"system_instruction": after})


def test_the_model_and_the_keyword_arguments() -> None:
    """Another model is taken over, an empty one is not; a call is translated as keyword arguments, too."""
    assert request_from_hook({"model": "n"}, "m", "hi")[0] == "n"
    assert request_from_hook({"model": ""}, "m", "hi")[0] == "m"
    call = {"model": "m", "contents": "hi", "timeout": 3}
    assert call_from_hook(call_to_hook(call), call) == call
    assert call_from_hook({"messages": said(("user", "ho"))}, call) == call | {"contents": "ho"}


@pytest.mark.parametrize("answer", [{"messages": "hi"}, {"messages": [1]}, {"config": 3}, [], "hi", None])
def test_nonsense_is_refused(answer) -> None:
    """An answer that cannot be understood raises, and says what belongs there."""
    with pytest.raises(UsageError, match=r"a hook's llm_request: .* must be"):
        request_from_hook(answer, "m", "hi")


# -- responses


def response(*candidates: types.Candidate, **fields: Any) -> types.GenerateContentResponse:
    return types.GenerateContentResponse(candidates=list(candidates), **fields)


RATING = types.SafetyRating(category="HARM_CATEGORY_HARASSMENT", probability="LOW", blocked=True)
FULL = response(
    types.Candidate(
        content=model(THOUGHT, text("a"), CALL, text("b")), finish_reason="STOP", index=0, safety_ratings=[RATING]
    ),
    response_id="r1",
    model_version="v1",
    usage_metadata=types.GenerateContentResponseUsageMetadata(
        prompt_token_count=1, candidates_token_count=2, total_token_count=3, thoughts_token_count=4
    ),
)
SHOWN = {
    "text": "ab",
    "candidates": [
        {
            "content": {"role": "model", "parts": ["a", "b"]},
            "finishReason": "STOP",
            "index": 0,
            "safetyRatings": [{"category": "HARM_CATEGORY_HARASSMENT", "probability": "LOW"}],
        }
    ],
    "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 2, "totalTokenCount": 3},
}


def test_what_hooks_see_of_a_response() -> None:
    """Text parts only, ratings without `blocked`, three counts (HOOK-077)."""
    assert response_to_hook(FULL) == SHOWN
    assert response_to_hook(response()) == {"candidates": []}
    assert response_to_hook(response(types.Candidate(content=model(CALL)))) == {
        "candidates": [{"content": {"role": "model", "parts": []}}]
    }


@pytest.mark.parametrize("reason", list(types.FinishReason))
def test_every_finish_reason_has_a_word(reason) -> None:
    """Hooks know five reasons; each of the SDK's is one of them, or none, and comes back as it was."""
    base = response(types.Candidate(content=model(text("a")), finish_reason=reason))
    hook_response = response_to_hook(base)
    assert llm.response(hook_response).to_dict() == hook_response
    assert response_from_hook(hook_response, base).candidates[0].finish_reason == reason


def test_a_response_is_made_of_text_only() -> None:
    """Non-text parts are gone (HOOK-079); ids, counts and ratings are those of the base."""
    before = FULL.model_copy(deep=True)
    after = response_from_hook(SHOWN, FULL)
    assert after.candidates == [
        types.Candidate(content=model(text("a"), text("b")), finish_reason="STOP", index=0, safety_ratings=[RATING])
    ]
    assert (after.response_id, after.model_version, after.usage_metadata) == ("r1", "v1", FULL.usage_metadata)
    assert before == FULL


@pytest.mark.parametrize("base", [None, FULL])
def test_a_response_out_of_nothing(base) -> None:
    """A bare text is a response, with or without one to lend it the rest."""
    after = response_from_hook({"text": "no", "usageMetadata": {"totalTokenCount": 9}}, base)
    assert after.text == "no"
    assert len(after.candidates) == 1
    assert after.usage_metadata.total_token_count == 9
    assert after.usage_metadata.thoughts_token_count == (4 if base else None)


def test_what_a_hook_rated_itself() -> None:
    """Its own reason, index and ratings are taken over."""
    own = {"category": "HARM_CATEGORY_HARASSMENT", "probability": "HIGH"}
    candidate = {"content": {"parts": ["x"]}, "finishReason": "SAFETY", "index": 3, "safetyRatings": [own]}
    [after] = response_from_hook({"candidates": [candidate]}, FULL).candidates
    assert (after.finish_reason.value, after.index) == ("SAFETY", 3)
    assert after.safety_ratings == [types.SafetyRating(**own)]


def test_without_the_package_it_says_what_to_install() -> None:
    """The module is imported without the SDK; only what needs it asks for it, by name."""
    code = """
import sys
sys.modules["google.genai"] = None
from hookline.errors import UsageError
from hookline.translators.genai import request_to_hook, response_from_hook
assert request_to_hook("m", "hi")["messages"] == [{"role": "user", "content": "hi"}]
try:
    response_from_hook({"text": "x"})
except UsageError as error:
    assert "pip install 'hookline[genai]'" in str(error), error
else:
    sys.exit("it did not ask")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
