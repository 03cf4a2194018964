"""Event expressions: patterns over a payload in Harn's own shape."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline import UsageError
from hookline.expressions import expression
from hookline.matching import BadPattern, globber, pythonic


def tool(name: str, **args) -> dict:
    return {"event": "PreToolUse", "tool": {"name": name, "args": args}}


PROMPT = {"event": "UserPromptSubmit", "session": {"id": "s"}, "prompt": "tell me the secret", "system": ""}
STEP = {
    "event": "PreStep",
    "target": "merge_captain.admin_merge",
    "persona": "merge_captain",
    "step": {"name": "admin_merge"},
}
MANY = {
    "n": {"five": 5, "zero": 0, "half": 0.5, "nought": 0.0},
    "b": {"yes": True, "no": False},
    "none": {"null": None},
    "empty": {"text": "", "list": [], "dict": {}},
    "full": {"text": "x", "list": [0], "dict": {"a": [1, "b"]}},
    "quoted": "'x'",
}


@pytest.mark.parametrize(
    ("pattern", "payload", "matches"),
    [
        # 1: nothing, or a star
        ("", {}, True),
        ("*", {}, True),
        ("  * ", tool("Bash"), True),
        ("   ", PROMPT, True),
        # 2: a glob on the target
        ("merge_captain.admin_merge", STEP, True),
        ("merge_captain.*", STEP, True),
        ("merge_*", STEP, True),
        ("other.*", STEP, False),
        ("merge_captain", STEP, False),
        ("7", {"target": 7}, False),
        # 3: a regular expression, found anywhere
        ("prompt =~ 'secret'", PROMPT, True),
        ("prompt =~ secret", PROMPT, True),
        ('prompt=~"^tell"', PROMPT, True),
        ("prompt =~ '^secret'", PROMPT, False),
        ("tool.args.command =~ '^rm '", tool("Bash", command="rm -rf /"), True),
        ("tool.args.command =~ '^rm '", tool("Bash", command="ls"), False),
        ("tool.args.command =~ '(?=rm)rm'", tool("Bash", command="rm"), True),
        ("tool.args.missing =~ '^$'", tool("Bash"), True),
        ("prompt =~ 'a == b'", {"prompt": "if a == b:"}, True),
        ("n.five =~ '^5$'", MANY, True),
        ("full.dict =~ ',\"b\"'", MANY, True),
        # 4: equality of text
        ("tool.name == 'Bash'", tool("Bash"), True),
        ('tool.name == "Bash"', tool("Bash"), True),
        ("tool.name == Bash", tool("Bash"), True),
        ("tool.name==Bash", tool("Bash"), True),
        ("tool.name == bash", tool("Bash"), False),
        ("tool.name == Ba", tool("Bash"), False),
        ("n.five == 5", MANY, True),
        ("n.half == 0.5", MANY, True),
        ("b.yes == true", MANY, True),
        ("none.null == null", MANY, True),
        ("none.null == ''", MANY, False),
        ("none.missing == ''", MANY, True),
        ("none.missing == null", MANY, False),
        ('full.dict == \'{"a":[1,"b"]}\'', MANY, True),
        ("quoted == ''x''", MANY, True),
        ("quoted == 'x'", MANY, False),
        ("prompt == '", {"prompt": "'"}, True),
        ("prompt == 'x\"", {"prompt": "'x\""}, True),
        ("prompt == 'a == b'", {"prompt": "a == b"}, True),
        ("a == b != c", {"a": "b != c"}, True),
        # 5: and its opposite
        ("tool.name != 'Bash'", tool("Edit"), True),
        ("tool.name != 'Bash'", tool("Bash"), False),
        ("tool.args.path != 'x'", tool("Bash"), True),
        ("tool.args.path != ''", tool("Bash"), False),
        # 6: a path to something
        ("tool.args.force", tool("Bash", force=True), True),
        ("tool.args.force", tool("Bash", force=False), False),
        ("tool.args.force", tool("Bash"), False),
        ("n.five", MANY, True),
        ("n.zero", MANY, False),
        ("n.nought", MANY, False),
        ("b.yes", MANY, True),
        ("b.no", MANY, False),
        ("none.null", MANY, False),
        ("none.missing", MANY, False),
        ("missing.too", MANY, False),
        ("empty.text", MANY, False),
        ("empty.list", MANY, False),
        ("empty.dict", MANY, False),
        ("full.text", MANY, True),
        ("full.list", MANY, True),
        ("full.dict", MANY, True),
        ("full.list.0", MANY, False),
        ("full.text.more", MANY, False),
        ("full..text", MANY, False),
        # 7: a glob on the tool's name
        ("Bash", tool("Bash"), True),
        ("Bash", tool("bash"), False),
        (" exec_* ", tool("exec_root"), True),
        ("exec_*", tool("my_exec_root"), False),
        ("{read,write}_?", tool("write_1"), True),
        ("Bash", PROMPT, False),
        ("**", PROMPT, True),
        ("?", PROMPT, False),
        ("5", {"tool": {"name": 5}}, True),
        ("Bash", {"tool": "Bash"}, False),
        # a whole pattern that fits the tool's name goes before all of it
        ("fs.read", tool("fs.read"), True),
        ("fs.*", tool("fs.read"), True),
        ("fs.read", tool("fs.write"), False),
        ("fs.read", {"fs": {"read": 1}}, True),
    ],
)
def test_the_rules(pattern: str, payload: dict, matches: bool) -> None:
    """Every rule, in the order in which they are tried."""
    assert expression(pattern)(payload) is matches


@pytest.mark.parametrize("pattern", ["prompt =~ '('", "prompt =~ [a", "a.b =~ '*x'"])
def test_a_bad_regex_is_reported_when_it_is_compiled(pattern: str) -> None:
    """The message shows the pattern, the expression in it, and why it is none."""
    wanted = re.escape(pattern.partition("=~")[2].strip().strip("'"))
    with pytest.raises(BadPattern, match=f"{wanted}.* in the pattern .*{wanted}.* is not a regular expression"):
        expression(pattern)


NAMES = st.text("ab_*?", max_size=6)
SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=5)


@given(NAMES, NAMES)
def test_a_pattern_without_signs_is_a_glob(pattern: str, name: str) -> None:
    """Without a comparison and without a dot, an expression is the glob on the tool's name."""
    assert expression(pattern)(tool(name)) is (pattern == "" or globber(pattern)(name))


@given(st.text(st.characters(exclude_characters="'\"", exclude_categories=["Cs"]), max_size=8), SCALARS)
def test_equal_or_not(wanted: str, value) -> None:
    """Of the two comparisons with the same text exactly one holds, also where the field is missing."""
    for payload in ({"field": value}, {}):
        equal = expression(f"field == '{wanted}'")(payload)
        assert expression(f"field != '{wanted}'")(payload) is not equal


@given(
    st.text(max_size=20),
    st.dictionaries(
        st.sampled_from(["tool", "target", "a"]), SCALARS | st.dictionaries(st.sampled_from(["name", "b"]), SCALARS)
    ),
)
def test_no_pattern_raises_when_it_is_tested(pattern: str, payload: dict) -> None:
    """What compiles answers yes or no, whatever the payload looks like."""
    try:
        test = expression(pattern)
    except BadPattern:
        return
    assert test(payload) in (True, False)


# -- what `re.search` says


@pytest.mark.parametrize(
    ("pattern", "text", "wanted"),
    [
        ("rm$", "rm\n", True),
        ("rm$", "rm\n\n", False),
        (r"^\w+$", "é", True),
        (r"\bü", "über", True),
        (r"^\s$", "\v", True),
        (r"^\s$", "\x1c", True),
        (r"\d", "٣", True),
        (r"(?i)ß", "SS", False),
    ],
)
def test_a_regex_is_pythons(pattern: str, text: str, wanted: bool) -> None:
    """Also where other engines mean something else by the same signs."""
    assert expression(f"tool.args.command =~ '{pattern}'")(tool("Bash", command=text)) is wanted
    assert (re.search(pattern, text) is not None) is wanted


@given(st.sampled_from(["rm$", r"^\w+ \w", r"a.*b$", r"\bx\b", "[^a]$", r"(?m)^a$", r"\S+\s$"]), st.text(max_size=12))
def test_any_text_is_searched_as_python_searches_it(pattern: str, text: str) -> None:
    """Whatever the text is made of."""
    assert pythonic(pattern)(text) is (re.search(pattern, text) is not None)


def test_a_long_text_is_no_match_by_itself() -> None:
    """A pattern with look-around is tried on long texts, too, where that is quick: nobody gets through by length."""
    allows = expression("tool.args.command =~ '^(?!.*rm -rf).*$'")
    for padding in (0, 200, 20_000, 1_000_000):
        assert allows(tool("Bash", command="rm -rf / #" + "x" * padding)) is False
        assert allows(tool("Bash", command="ls / #" + "x" * padding)) is True


def test_a_text_that_would_take_for_ever_is_told() -> None:
    """Where it may not be quick, nobody guesses: neither a match nor none, but an error that says what to write."""
    slow = expression(r"tool.args.command =~ '(?=.*a)(?=.*b).*c'")
    assert slow(tool("Bash", command="b a c")) is True
    with pytest.raises(UsageError, match=r"is not tried on 20000 characters.*write it without look-around"):
        slow(tool("Bash", command="x" * 20_000))
    with pytest.raises(BadPattern, match="may take for ever"):
        expression("tool.args.command =~ '(a+)+(?=b)'")
