"""A hook's messages laid over a conversation: which is which, and where a text goes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.llm import Amendments, HookToolConfig, LLMRequest, Message
from hookline.translating import Entry, camel, changed, merged, messages, restriction, spread, value


def entry(word: str, role: str = "user", *, bound: bool = False) -> Entry:
    """An entry from `text#thing`: a text, and something that is none."""
    text, _, thing = word.partition("#")
    return Entry((role, text, thing), role, (text,) if text else (), bound)


def rewrite(entry: Entry, role: str | None, texts: Sequence[str | None]) -> tuple[str, str, str] | None:
    text, thing = texts[0] or "", entry.item[2]
    return (role or entry.role, text, thing) if text or thing else None


def laid(base: list[Entry], answer: str) -> str:
    """The conversation after an answer like `user:hi model:ho`, in the same words."""
    said = [Message(role, text) for role, _, text in (word.partition(":") for word in answer.split())]
    items = merged(base, said, rewrite, lambda message: (message.role, message.content, ""))
    return " ".join(f"{role}:{text}" + (f"#{thing}" if thing else "") for role, text, thing in items or ())


TALK = [entry("a#1"), entry("b#2", "model"), entry("#3"), entry("c#4"), entry("d", "model")]


@pytest.mark.parametrize(
    ("answer", "after"),
    [
        ("user:A model:b user:c model:d", "user:A#1 model:b#2 user:#3 user:c#4 model:d"),
        ("user:a model:b user:c model:d user:e", "user:a#1 model:b#2 user:#3 user:c#4 model:d user:e"),
        ("user:e user:a model:b user:c model:d", "user:e user:a#1 model:b#2 user:#3 user:c#4 model:d"),
        ("user:a model:b user:e user:c model:d", "user:a#1 model:b#2 user:#3 user:e user:c#4 model:d"),
        ("user:a model:b user:c", "user:a#1 model:b#2 user:#3 user:c#4"),
        ("model:b user:c model:d", "user:#1 model:b#2 user:#3 user:c#4 model:d"),
        ("user:a user:c model:d user:e", "user:a#1 model:#2 user:#3 user:c#4 model:d user:e"),
        ("model:B user:c model:d", "user:#1 model:B#2 user:#3 user:c#4 model:d"),
        ("user:A user:C model:D", "user:A#1 model:#2 user:#3 user:C#4 model:D"),
        ("user:x user:A model:B user:C model:D", "user:x user:A#1 model:B#2 user:#3 user:C#4 model:D"),
        ("model:a user:b user:c model:d", "model:a#1 user:b#2 user:#3 user:c#4 model:d"),
        ("user:a model:b user:c model:", "user:a#1 model:b#2 user:#3 user:c#4"),
        ("user: model:b user:c model:d", "user:#1 model:b#2 user:#3 user:c#4 model:d"),
        ("system:a model:b user:c model:d", "system:a user:#1 model:b#2 user:#3 user:c#4 model:d"),
        ("user:z", "user:z#1 model:#2 user:#3 user:#4"),
        ("user:", "user:#1 model:#2 user:#3 user:#4"),
    ],
    ids=[
        *("edited", "appended", "put first", "put between", "last gone", "first gone", "one gone, one appended"),
        *("one gone, next edited", "one gone, others edited", "one new, others edited", "roles changed"),
        *("emptied, with nothing else", "emptied, with something else", "turned into a system message"),
        *("all but one gone", "emptied and gone"),
    ],
)
def test_an_answer_is_laid_over_the_conversation(answer, after) -> None:
    """Each text lands in its own entry; what is no text stays where it was."""
    assert laid(TALK, answer) == after


def test_nothing_to_do_is_said_so() -> None:
    """The same messages, none, or an empty list change nothing."""
    for answer in (messages(TALK), None, ()):
        assert merged(TALK, answer, rewrite, str) is None


def test_nothing_comes_between_a_call_and_its_result() -> None:
    """A new message before an entry that answers a tool call goes before the call."""
    talk = [entry("a"), entry("b#call", "model"), entry("c#result", bound=True)]
    assert laid(talk, "user:a model:b user:new user:c") == "user:a user:new model:b#call user:c#result"
    talk = [entry("s", "system"), entry("c#result", bound=True)]
    assert laid(talk, "system:s user:new user:c") == "system:s user:new user:c#result"


TEXTS = st.lists(st.text(alphabet="ab", max_size=4), max_size=4)


@given(TEXTS.filter(any), st.text(alphabet="abc", max_size=12))
def test_a_text_is_spread_completely(texts, new) -> None:
    """The parts together are the new text; there are as many as before, and an unchanged text leaves each alone."""
    pieces = spread(texts, new)
    assert "".join(piece or "" for piece in pieces) == new
    assert len(pieces) == len(texts)
    assert spread(texts, "".join(texts)) == texts


@pytest.mark.parametrize(
    ("texts", "new", "pieces"),
    [
        (["one", "two"], "one!two", ["one!", "two"]),
        (["one", "two"], "onetwo!", ["one", "two!"]),
        (["one", "two"], "!onetwo", ["!one", "two"]),
        (["one", "two"], "onethree", ["one", "three"]),
        (["one", "two"], "one", ["one", None]),
        (["one", "", "two"], "two", [None, "", "two"]),
        (["one", "two", "six"], "onsix", ["on", None, "six"]),
        (["one", "two"], "three", ["three", None]),
        (["one"], "", [None]),
    ],
)
def test_an_edit_stays_in_its_part(texts, new, pieces) -> None:
    """What is equal before and after the edit stays in its part; a part left empty goes."""
    assert spread(texts, new) == pieces


@pytest.mark.parametrize(
    ("before", "answer", "wanted"),
    [
        (None, None, None),
        (None, HookToolConfig(), None),
        (HookToolConfig("ANY", ("a",)), HookToolConfig("ANY", ("a",)), None),
        (HookToolConfig("ANY", ("a",)), HookToolConfig("AUTO"), HookToolConfig("AUTO", ("a",))),
        (HookToolConfig("ANY"), HookToolConfig(None, ("a", "b")), HookToolConfig("ANY", ("a", "b"))),
        (None, HookToolConfig(None, ()), HookToolConfig("NONE", ())),
        (HookToolConfig("ANY"), HookToolConfig("AUTO", ()), HookToolConfig("NONE", ())),
        (HookToolConfig("ANY", ("a",)), HookToolConfig("NONE"), HookToolConfig("NONE", ())),
    ],
)
def test_a_restriction_is_completed(before, answer, wanted) -> None:
    """What the hook left out is as it was; an empty list allows no tool at all."""
    assert restriction(Amendments(tool_config=answer), LLMRequest("m", (), None, before)) == wanted


@pytest.mark.parametrize("every", [2, 3, 20_000])
def test_a_long_conversation_is_quickly_merged(every) -> None:
    """Ten thousand messages, many or all of them alike, edited in one place and in many, are no work."""
    talk = [entry("go on" if n % every else f"m{n}") for n in range(10_000)]
    said = list(messages(talk))
    said[5_000] = Message("user", "edited")
    for answer in ([*said, Message("user", "more")], [m for n, m in enumerate(said) if n % 7], said[::-1]):
        items = merged(talk, answer, rewrite, lambda message: (message.role, message.content, ""))
        assert items is not None
        assert [item[1] for item in items] == [message.content for message in answer]


@given(
    st.lists(st.sampled_from("abcdefgh"), max_size=8), st.lists(st.sampled_from("abcdefgh"), max_size=8).filter(bool)
)
def test_a_conversation_becomes_what_was_answered(before, after) -> None:
    """Whatever is added, removed, moved or said twice: afterwards the texts are those of the answer."""
    assert laid([entry(word) for word in before], " ".join(f"user:{word}" for word in after)) in (
        " ".join(f"user:{word}" for word in after),
        "",  # nothing changed
    )


@given(st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8), st.sets(st.integers(0, 7)))
def test_what_is_left_out_shifts_nothing(words, gone) -> None:
    """Of messages that differ, each that stays keeps its own things, whichever others go."""
    talk = [entry(f"{word}#{place}") for place, word in enumerate(words)]
    left = [f"user:{word}" for place, word in enumerate(words) if place not in gone]
    if 0 < len(left) < len(words):
        wanted = [f"user:{'' if place in gone else word}#{place}" for place, word in enumerate(words)]
        assert laid(talk, " ".join(left)) == " ".join(wanted)


def test_dicts_are_read_and_changed_in_their_own_spelling() -> None:
    """A field in camelCase is found under its Python name, and stays in camelCase."""
    thing = {"topK": 1, "top_p": 2}
    assert [value(thing, name) for name in ("top_k", "top_p", "none")] == [1, 2, None]
    assert changed(thing, {"top_k": 3, "top_p": None, "new_one": 4}) == {"topK": 3, "top_p": 2, "new_one": 4}
    assert thing == {"topK": 1, "top_p": 2}
    assert (camel("a"), camel("max_output_tokens")) == ("a", "maxOutputTokens")
