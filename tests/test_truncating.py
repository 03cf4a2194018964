"""Cutting a tool's output to a size.

`reference` is the rule once more, written from its description and over characters instead of bytes.
"""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hookline.truncating import FLOOR, signals_failure, truncated


def size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def longest_prefix(text: str, limit: int) -> str:
    """As many whole characters as fit."""
    done = 0
    for count, character in enumerate(text):
        done += size(character)
        if done > limit:
            return text[:count]
    return text


def longest_suffix(text: str, limit: int) -> str:
    return longest_prefix(text[::-1], limit)[::-1]


def reference_head(text: str, keep: int) -> str:
    head = longest_prefix(text, keep)
    return head[: head.rindex("\n") + 1] if "\n" in head else head


def reference_tail(text: str, keep: int) -> str:
    tail = longest_suffix(text, keep)
    _, _, after = tail.partition("\n")
    return after or tail


def reference_signal(line: str) -> bool:
    line = line.strip()
    strong = re.search("FAIL|panic|Panic", line)
    place = re.match("[^:]*:[0-9]", line)
    weak = re.search("error|undefined|expected|got", line) or re.search(
        "(?i)cannot find|not found|no such|unresolved|missing|declared but not used|unused|mismatch", line
    )
    return bool(strong or (place and weak) or re.search("(?i) error |panic:|^(error|warning|note):", line))


def reference(text: str, limit: int) -> str:
    if limit < 200 or size(text) <= limit:
        return text
    chosen = [line for line in text.split("\n") if reference_signal(line)][:32]
    if chosen:
        keep = max(0, limit - (size("\n".join(chosen)) + 64)) // 2
        if keep >= 80 and size(text) > 2 * keep:
            between = ["", "[diagnostic lines preserved]", *chosen, "", "[... output compacted ...]", "", ""]
            return reference_head(text, keep) + "\n" + "\n".join(between) + reference_tail(text, keep)
    head, tail = reference_head(text, limit // 2), reference_tail(text, limit // 2)
    return f"{head}\n\n[... {size(text) - size(head) - size(tail)} characters snipped ...]\n\n{tail}"


WORDS = st.sampled_from(
    ["ok", "a b c", "é", "\N{OK HAND SIGN}" * 9, "x" * 70, "", "FAIL a", "main.rs:3: error: no", "error: é"]
)
TEXTS = st.lists(WORDS | st.text(st.characters(exclude_characters="\r"), max_size=40), max_size=60).map("\n".join)
LIMITS = st.integers(-5, 199) | st.integers(200, 1200)


@given(TEXTS, LIMITS)
def test_every_text_is_cut_as_the_rule_says(text: str, limit: int) -> None:
    """Whatever the text and the limit, the result is that of the rule written down a second time."""
    assert truncated(text, limit) == reference(text, limit)


@pytest.mark.parametrize(
    ("text", "limit", "result"),
    [
        pytest.param("x" * 200, 200, "x" * 200, id="as long as the limit"),
        pytest.param("x" * 5000, 199, "x" * 5000, id="a limit under the floor"),
        pytest.param("x" * 5000, 0, "x" * 5000, id="no limit at all"),
        pytest.param("x" * 5000, -1, "x" * 5000, id="a negative limit"),
        pytest.param(
            "x" * 201, 200, "x" * 100 + "\n\n[... 1 characters snipped ...]\n\n" + "x" * 100, id="one byte too long"
        ),
        pytest.param(
            "x" * 202, 201, "x" * 100 + "\n\n[... 2 characters snipped ...]\n\n" + "x" * 100, id="an odd limit"
        ),
        pytest.param(
            "é" * 151, 201, "é" * 50 + "\n\n[... 102 characters snipped ...]\n\n" + "é" * 50, id="bytes are counted"
        ),
        pytest.param(
            "a" + "é" * 200,
            200,
            "a" + "é" * 49 + "\n\n[... 202 characters snipped ...]\n\n" + "é" * 50,
            id="no character is split",
        ),
        pytest.param(
            "a" * 60 + "\n" + "b" * 300 + "\n" + "c" * 60,
            200,
            "a" * 60 + "\n\n\n[... 301 characters snipped ...]\n\n" + "c" * 60,
            id="whole lines stay",
        ),
        pytest.param(
            "b" * 300 + "\n",
            200,
            "b" * 100 + "\n\n[... 101 characters snipped ...]\n\n" + "b" * 99 + "\n",
            id="a newline at the very end starts no line",
        ),
        pytest.param(
            "a" * 300 + "\nFAIL one\n" + "b" * 300,
            300,
            "a" * 114 + "\n\n[diagnostic lines preserved]\nFAIL one\n\n[... output compacted ...]\n\n" + "b" * 114,
            id="a failure is carried over the gap",
        ),
        pytest.param(
            "a" * 300 + "\nFAIL one\n" + "b" * 300,
            231,
            "a" * 115 + "\n\n[... 380 characters snipped ...]\n\n" + "b" * 115,
            id="too little room for head, failure and tail",
        ),
    ],
)
def test_vectors(text: str, limit: int, result: str) -> None:
    """The cases worth a name, each with its result written out."""
    assert truncated(text, limit) == result
    assert reference(text, limit) == result


def test_the_room_that_is_just_enough() -> None:
    """Failure lines are carried from the first limit on that leaves 80 bytes for head and for tail."""
    text = "a" * 300 + "\nFAIL one\n" + "b" * 300
    enough = 2 * 80 + len("FAIL one") + 64
    assert "[diagnostic lines preserved]" in truncated(text, enough)
    assert "[diagnostic lines preserved]" not in truncated(text, enough - 1)


def test_no_more_than_thirty_two_failures_are_carried() -> None:
    """The first 32 failure lines, in their order."""
    text = "\n".join(["." * 100] * 5 + [f"FAIL {n}" for n in range(40)] + ["." * 100] * 5)
    middle = truncated(text, 800).split("[diagnostic lines preserved]\n")[1].split("\n\n[...")[0]
    assert middle.split("\n") == [f"FAIL {n}" for n in range(32)]


def test_a_carried_line_keeps_its_indentation_and_loses_its_carriage_return() -> None:
    """A line is judged trimmed and carried as it is."""
    text = "x" * 300 + "\r\n  error: e\r\n" + "y" * 300
    assert "[diagnostic lines preserved]\n  error: e\n\n" in truncated(text, 400)


@pytest.mark.parametrize(
    ("line", "signals"),
    [
        ("FAIL", True),
        ("--- FAIL: TestX (0.00s)", True),
        ("fail", False),
        ("thread 'main' panicked", True),
        ("Panic!", True),
        ("PANIC", False),
        ("PANIC: at the disco", True),
        ("src/a.rs:42: error", True),
        ("src/a.rs:42: undefined: x", True),
        ("src/a.rs:42: expected ;", True),
        ("src/a.rs:42: want 1, got 2", True),
        ("src/a.rs:42: Cannot Find it", True),
        ("src/a.rs:42: Not Found", True),
        ("src/a.rs:42: No such file", True),
        ("src/a.rs:42: UNRESOLVED import", True),
        ("src/a.rs:42: Missing it", True),
        ("src/a.rs:42: Declared but not used", True),
        ("src/a.rs:42: Unused", True),
        ("src/a.rs:42: Mismatch", True),
        ("src/a.rs:42: Error", False),
        ("src/a.rs:42: fine", False),
        ("a: b:42: unused", False),
        ("a:\N{ARABIC-INDIC DIGIT ONE} unused", False),
        ("a:", False),
        ("file not found", False),
        ("one ERROR here", True),
        ("one error", False),
        ("Error: x", True),
        ("WARNING: x", True),
        ("Note: x", True),
        ("a note: x", False),
        ("   error: indented", True),
        ("", False),
    ],
)
def test_what_looks_like_a_failure(line: str, signals: bool) -> None:
    """Strong words anywhere; weak ones only beside a file and its line; a few openings."""
    assert signals_failure(line) is signals
    assert reference_signal(line) is signals


@given(TEXTS, LIMITS)
@example("\ud800" * 100, 200)
def test_no_character_is_cut(text: str, limit: int) -> None:
    """Head and tail are made of whole characters: the text begins with the one and ends with the other."""
    result = truncated(text, limit)
    if result != text:
        head, *_, tail = result.split("\n\n[")
        assert text.startswith(head)
        assert text.endswith(tail.partition("...]\n\n")[2])


@given(TEXTS, st.integers(FLOOR, 1200))
def test_the_result_is_bounded(text: str, limit: int) -> None:
    """The result exceeds its limit by no more than one marker; with failure lines it stays under it."""
    result = truncated(text, limit)
    if "[diagnostic lines preserved]" in result:
        assert size(result) <= limit
    elif result != text:
        assert size(result) <= limit + len(f"\n\n[... {size(text)} characters snipped ...]\n\n")


@given(st.lists(st.sampled_from(["fine", "main.go:7: undefined: x", "FAIL", "error: é"]), max_size=60))
def test_failures_are_preserved(lines: list[str]) -> None:
    """Where there is room, the first 32 failure lines are all in the result, in order and unabridged."""
    result = truncated("\n".join([*lines, *["." * 50] * 60]), 1200)
    failures = [line for line in lines if line != "fine"][:32]
    block = "\n".join(["", "[diagnostic lines preserved]", *failures, "", "[... output compacted ...]", ""])
    assert (block in result) is bool(failures)
