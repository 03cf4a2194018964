"""The table of translators, and which of them a call belongs to."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from google.genai import types

from hookline.errors import UsageError
from hookline.translators import TRANSLATORS, translator, translator_for

HI = [{"role": "user", "content": "hi"}]
FUNCTION = {"type": "function", "function": {"name": "ls"}}
SCHEMA = {"name": "ls", "input_schema": {}}


def of(module: str) -> Any:
    """An object of a class that lives in some package."""
    return type("Thing", (SimpleNamespace,), {"__module__": module})()


@pytest.mark.parametrize("name", TRANSLATORS)
def test_every_translator_is_one(name) -> None:
    """Each module of the table has its name and everything the protocol asks for."""
    found = translator(name)
    assert name == found.NAME
    for function in ("claims", "call_to_hook", "call_from_hook", "response_to_hook", "response_from_hook"):
        assert callable(getattr(found, function))


@pytest.mark.parametrize(
    ("thing", "name"),
    [
        ({"model": "m", "contents": "hi"}, "genai"),
        (types.GenerateContentResponse(), "genai"),
        (types.Content(), "genai"),
        ({"model": "m", "messages": HI}, "openai"),
        ({"model": "m", "messages": [{"role": "developer", "content": "x"}], "max_tokens": 5}, "openai"),
        ({"model": "m", "messages": HI, "max_tokens": 5, "tools": [FUNCTION]}, "openai"),
        ({"model": "m", "messages": HI, "max_completion_tokens": 5}, "openai"),
        ({"model": "m", "messages": HI, "max_tokens": 5, "tools": [FUNCTION], "tool_choice": "auto"}, "openai"),
        ({"model": "gpt-5", "messages": HI, "max_tokens": 5}, "openai"),
        (
            {"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": [{"type": "image_url"}]}]},
            "openai",
        ),
        ({"choices": []}, "openai"),
        (of("openai.types.chat"), "openai"),
        ({"model": "m", "messages": HI, "max_tokens": 5, "system": "s"}, "anthropic"),
        ({"model": "m", "messages": HI, "max_tokens": 5, "tools": [SCHEMA]}, "anthropic"),
        ({"model": "claude-x", "messages": HI, "max_tokens": 5}, "anthropic"),
        (
            {"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": [{"type": "tool_result"}]}]},
            "anthropic",
        ),
        ({"type": "message", "content": [], "stop_reason": "end_turn"}, "anthropic"),
        (of("anthropic.types"), "anthropic"),
    ],
)
def test_a_call_is_recognised(thing, name) -> None:
    """What only one format has tells whose it is."""
    assert name == translator_for(thing).NAME


@pytest.mark.parametrize(
    ("thing", "message"),
    [
        ({"model": "m", "messages": HI, "max_tokens": 5}, "could be one of openai or anthropic"),
        ({"model": "m", "messages": [{"role": "model", "content": "x"}]}, "is not recognised"),
        ({"model": "m", "messages": HI, "toolConfig": {}}, "is not recognised"),
        ({}, "is not recognised"),
        (None, "is not recognised"),
        ("hi", "is not recognised"),
    ],
)
def test_what_is_in_doubt_is_asked(thing, message) -> None:
    """A call of two formats, or of none, raises; the message says how to name the translator."""
    with pytest.raises(UsageError, match=message) as raised:
        translator_for(thing)
    assert "translator(...), where the name is one of genai, openai, anthropic" in str(raised.value)


def test_an_unknown_name() -> None:
    """The names there are, and the one that was meant."""
    with pytest.raises(UsageError, match=r"there are genai, openai, anthropic; did you mean 'openai'\?"):
        translator("open-ai")
