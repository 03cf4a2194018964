"""Matching: exact, glob, regex, equality over fields."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.matching import GUARDED_LENGTH, BadPattern, exact, fields, glob, globber, misread, regex, same, searcher
from hookline.model import Event


def tool(name: str, **rest) -> Event:
    return Event("PreToolUse", {"tool_name": name, "tool_input": rest}, session_id="s")


@pytest.mark.parametrize(
    ("pattern", "name", "fits"),
    [
        ("*", "", True),
        ("*", "anything", True),
        ("", "", True),
        ("", "x", False),
        ("exec_*", "exec_root", True),
        ("exec_*", "my_exec_root", False),
        ("*_root", "exec_root", True),
        ("fs*", "fs/a.b/c", True),
        ("?x", "ax", True),
        ("?x", "x", False),
        ("?x", "aax", False),
        ("[ab]x", "bx", True),
        ("[!ab]x", "bx", False),
        ("[!ab]x", "cx", True),
        ("[a-c]*", "cat", True),
        ("[a-c]*", "dog", False),
        ("{read,write}_?", "write_1", True),
        ("{read,write}_?", "edit_1", False),
        ("{a,b}", "a", False),
        ("{a,b}", "{a,b}", True),
        ("Bash", "bash", False),
        ("a.b*", "axb", False),
        ("a+b*", "a+bc", True),
        ("a\nb*", "a\nbc", True),
        ("*é?", "caféx", True),
        ("[abc", "[abc", True),
        ("[abc*", "[abcdef", True),
        ("*[abc", "x[abc", True),
        ("{a,b*", "{a,bcd", True),
        ("a*b*c*d", "aXbXcXd", True),
        ("[]x]y", "]y", True),
        ("[z-a]*", "[z-a]q", True),
        ("[z-a]*", "z", False),
        ("[!]x]y", "ay", True),
        ("[!]x]y", "]y", False),
        ("[^ab]x", "cx", True),
        ("[^ab]x", "ax", False),
        ("[a^]x", "^x", True),
        ("[!^]x", "^x", False),
        ("[\\]x", "\\x", True),
        ("[a-]x", "-x", True),
        ("[a.b]x", ".x", True),
        ("[[]x", "[x", True),
        ("[,}]{a,b}", "}b", True),
        ("[12]", "2", True),
        ("[]", "[]", True),
        ("[!]", "[!]", True),
        ("exec_*", "exec_", True),
        ("exec_*", "Exec_root", False),
        ("*.read", "fs.read", True),
        ("?", "é", True),
        ("?", "/", True),
        ("?", "\n", True),
        ("*", "a\nb", True),
        ("a*b", "a\nb", True),
        ("a*", "a\n", True),
        ("*a", "a\n", False),
        ("[ab]", "a\n", False),
        ("{a,b}*", "bc", True),
        ("{a,b}*", "{a,b}c", False),
        ("{a,{b,c}d}?", "cd1", True),
        ("a*}b", "a*}b", True),
        ("a*}b", "ax}b", False),
        ("a}*", "a}b", True),
        ("a,b*", "a,bc", True),
    ],
)
def test_globs(pattern: str, name: str, fits: bool) -> None:
    """A glob fits the whole name, case matters, and what cannot be read as one is never an error."""
    assert globber(pattern)(name) is fits
    assert glob("tool_name", pattern).test(tool(name)) is fits


@given(st.text(max_size=30), st.text(max_size=30))
def test_no_glob_raises(pattern: str, name: str) -> None:
    """Whatever is given as a pattern, compiling and testing it works."""
    assert globber(pattern)(name) in (True, False)


@given(st.text(alphabet=st.characters(blacklist_characters="*?[{"), max_size=20))
def test_a_glob_without_signs_is_a_name(name: str) -> None:
    """A plain name matches itself and nothing longer."""
    assert globber(name)(name)
    assert not globber(name)(name + "x")


def test_a_long_name_is_matched_like_a_short_one() -> None:
    """No glob is ever guessed at: the length of a name makes no difference."""
    assert not globber("[a]*[b]")("a" * (GUARDED_LENGTH + 1))
    assert globber("[a]*[b]")("a" * GUARDED_LENGTH + "b")


def test_a_pathological_glob_is_linear() -> None:
    """Many stars against a long name end at once: the engine is linear."""
    assert not globber("*a" * 40 + "*b")("a" * 20_000)


@pytest.mark.parametrize(
    ("pattern", "name", "found"),
    [
        ("shell", "developer__shell", True),
        ("^shell", "developer__shell", False),
        ("", "x", True),
        ("Write|Edit", "Edit", True),
        ("(?i)bash", "BASH", True),
        ("a$", "a\n", False),
        ("(?=b)b", "ab", True),
        (r"(a)\1", "aa", True),
        (r"(a)\1", "ab", False),
        ("é", "café", True),
    ],
)
def test_regexes_search(pattern: str, name: str, found: bool) -> None:
    """A regex is searched for anywhere; look-around and back-references work although RE2 has none."""
    assert searcher(pattern)(name) is found
    assert regex("tool_name", pattern).test(tool(name)) is found


@pytest.mark.parametrize("pattern", ["(", "[", "a**b(", "*a", "(?P<n", "(?<=a*)b"])
def test_a_bad_regex_is_refused_when_it_is_compiled(pattern: str, capfd: pytest.CaptureFixture[str]) -> None:
    """The refusal says why, and nothing is printed behind our back."""
    with pytest.raises(BadPattern, match="not a regular expression"):
        searcher(pattern)
    assert capfd.readouterr() == ("", "")


def test_a_guarded_regex_is_not_tried_on_a_long_subject() -> None:
    """Outside RE2 a long subject counts as a match: the hook runs rather than the host hangs."""
    guarded = searcher(r"(?=a)b")
    assert guarded("a" * (GUARDED_LENGTH + 1))
    assert not guarded("a" * GUARDED_LENGTH)


@pytest.mark.parametrize(
    "pattern", [r"^(\w+)+(?=!)", r"(?=(a+)+$)(a+)\2b", r"(?!x)(ab|a)*c", r"(?!a)\w*\w*\w*\w*x", "(?!x)" + "a" * 2000]
)
def test_a_regex_that_may_take_for_ever_is_refused(pattern: str) -> None:
    """Outside RE2 a repetition of repetitions or alternatives, too many of them, or too long a text is refused."""
    with pytest.raises(BadPattern):
        searcher(pattern)


@pytest.mark.parametrize(
    "pattern", [r"^(?!.*(?:rm|mv)).*$", r"(?<=a)b+", r"(a)\1", r"(?:a|b)+(?=c)", r"(?!x){0,3}a{2,5}"]
)
def test_a_harmless_regex_outside_re2_is_kept(pattern: str) -> None:
    """Look-around and back-references that cannot explode are used as they are."""
    assert searcher(pattern)("aab") in (True, False)


def test_lone_surrogates_are_only_characters() -> None:
    """A name that is not valid Unicode can be matched against anything."""
    assert searcher("x")("\ud800x")
    assert globber("*x")("\ud800x")


@pytest.mark.parametrize(
    ("conditions", "matches"),
    [
        ({"tool_name": "Bash"}, True),
        ({"tool_name": "bash"}, False),
        ({"tool_name": "Ba"}, False),
        ({"tool_name": "Bash", "session_id": "s"}, True),
        ({"tool_name": "Bash", "session_id": "t"}, False),
        ({"tool_name": ["Edit", "Bash"]}, True),
        ({"tool_name": []}, False),
        ({"no_such_field": "x"}, False),
        ({"no_such_field": None}, False),
        ({"hook_event_name": "PreToolUse"}, True),
        ({"tool_input": {"n": 1}}, True),
        ({"tool_input": {"n": True}}, False),
        ({"tool_input": {"n": 1, "m": 2}}, False),
        ({"tool_name": ".*"}, False),
    ],
)
def test_equality_over_fields(conditions, matches: bool) -> None:
    """All conditions must hold, by exact equality; a list is any of its values; a missing field matches nothing."""
    assert fields(conditions).test(tool("Bash", n=1)) is matches


def test_exact() -> None:
    """One field, one value."""
    assert exact("tool_name", "Bash").test(tool("Bash"))
    assert not exact("tool_name", "Bash").test(tool("Bash2"))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_a_value_is_the_same_as_itself(value) -> None:
    """JSON equality is reflexive, and true is never 1."""
    assert same(value, value)
    assert not same(True, 1)
    assert not same([0], [False])
    assert same(1, 1.0)


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("Bash|Write", "a glob has no '|'; give each name a glob of its own: 'Bash' and 'Write'"),
        ("^(mcp__.*|Bash)$", "a glob has no '|'; give each name a glob of its own: 'mcp__*' and 'Bash'"),
        ("^Bash$", "a glob is the whole name, without ^ and $; write 'Bash'"),
        ("Bash(rm *)", "a glob sees the name of a tool and not its arguments; write 'Bash'"),
        ("(Bash)", "a glob has no '('; it has * for any run of characters, ? for one, and [a-z]"),
        (r"mcp__\w+", r"a glob has no '\\'; it has * for any run of characters, ? for one, and [a-z]"),
        (".*", "any run of characters is * alone; write '*'"),
        (".+_x", "any run of characters is * alone; write '*_x'"),
        ("[", "its [ is never closed; a set is written [a-z]"),
        ("x[^]", "its [ is never closed; a set is written [a-z]"),
        (
            "{a,b}",
            "{a,b} is read as alternatives only where the glob has a *, a ? or a [a-z], too; give each name its own",
        ),
    ],
)
def test_what_no_glob_says(pattern: str, why: str) -> None:
    """A regular expression, or another system's rule, in the place of a tool's name; and what to write."""
    assert misread(pattern) == why


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        "*",
        "Bash",
        "fs.*",
        "{a,b}*",
        "{a,[b]}",
        "[12]x",
        "[^a]x",
        "[!]|]x",
        "[]$]",
        "mcp__x__*",
        "server:tool",
        "$web_search",
        "a/b",
    ],
)
def test_what_a_glob_says(pattern: str) -> None:
    """Nothing is said of a plain glob, also where a set holds an odd sign."""
    assert misread(pattern) == ""
