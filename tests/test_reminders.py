"""Reminders: validated, injected, aged, cleared, compacted, inherited, rendered."""

from __future__ import annotations

import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from hookline.errors import UsageError
from hookline.reminders import (
    KEYS,
    Change,
    Compaction,
    Reminder,
    age,
    clear,
    compact,
    first_turn,
    inherited,
    inject,
    reminder,
    reminder_id,
    rendered,
)


def made(name: str, **rest) -> Reminder:
    return Reminder(id=name, body=f"body of {name}", **rest)


TEXT = st.text(min_size=1, max_size=4).filter(str.strip)
REMINDERS = st.builds(
    Reminder,
    id=TEXT,
    body=TEXT,
    tags=st.lists(st.sampled_from(["x", "y"]), unique=True, max_size=2).map(tuple),
    dedupe_key=st.none() | st.sampled_from(["k", "l"]),
    ttl_turns=st.none() | st.integers(1, 4),
    preserve_on_compact=st.booleans(),
    propagate=st.sampled_from(["all", "session", "none"]),
    fired_at_turn=st.integers(0, 3),
)
PENDING = st.lists(REMINDERS, max_size=6).map(tuple)


# -- what a spec may say


def test_a_reminder_has_its_defaults() -> None:
    """A body is enough; the rest is what the table of the rules says."""
    assert reminder({"body": "b"}, id="r1") == Reminder(
        id="r1",
        body="b",
        tags=(),
        dedupe_key=None,
        ttl_turns=None,
        preserve_on_compact=False,
        propagate="session",
        role_hint="system",
        source="hook",
        fired_at_turn=0,
        originating_agent_id=None,
    )


@pytest.mark.parametrize(
    ("key", "value", "stored"),
    [
        ("body", "  two words\n", "  two words\n"),
        ("tags", None, ()),
        ("tags", [], ()),
        ("tags", [" a ", "b", "a", "b "], ("a", "b")),
        ("tags", ("a",), ("a",)),
        ("dedupe_key", None, None),
        ("dedupe_key", " k ", "k"),
        ("dedupe_key", "", None),
        ("dedupe_key", " \n", None),
        ("ttl_turns", None, None),
        ("ttl_turns", 1, 1),
        ("ttl_turns", 40, 40),
        ("preserve_on_compact", None, False),
        ("preserve_on_compact", False, False),
        ("preserve_on_compact", True, True),
        ("propagate", None, "session"),
        ("propagate", "all", "all"),
        ("propagate", "session", "session"),
        ("propagate", "none", "none"),
        ("role_hint", None, "system"),
        ("role_hint", "system", "system"),
        ("role_hint", "developer", "developer"),
        ("role_hint", "user_block", "user_block"),
        ("role_hint", "ephemeral_cache", "ephemeral_cache"),
    ],
)
def test_what_each_key_takes(key: str, value, stored) -> None:
    """Trimmed where that is the rule, None is as good as absent."""
    assert getattr(reminder({"body": "b"} | {key: value}, id="r"), key) == stored


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({}, "body is missing; it takes text that is not blank"),
        ({"body": None}, "body is None; it takes text that is not blank"),
        ({"body": " \n"}, "body is ' \\n'; it takes text that is not blank"),
        ({"body": 7}, "body is 7; it takes text that is not blank"),
        ({"tags": "a"}, "tags is 'a'; it takes a list of texts that are not blank"),
        ({"tags": {"a": 1}}, "tags is {'a': 1}; it takes a list of texts that are not blank"),
        ({"tags": ["a", 1]}, "tags is ['a', 1]; it takes a list of texts that are not blank, which 1 is not"),
        ({"tags": ["a", " "]}, "tags is ['a', ' ']; it takes a list of texts that are not blank, which ' ' is not"),
        ({"dedupe_key": 1}, "dedupe_key is 1; it takes text, or None for no key"),
        ({"ttl_turns": 0}, "ttl_turns is 0; it takes a whole number above 0, or None for no end"),
        ({"ttl_turns": -1}, "ttl_turns is -1; it takes a whole number above 0, or None for no end"),
        ({"ttl_turns": 1.0}, "ttl_turns is 1.0; it takes a whole number above 0, or None for no end"),
        ({"ttl_turns": "1"}, "ttl_turns is '1'; it takes a whole number above 0, or None for no end"),
        ({"ttl_turns": True}, "ttl_turns is True; it takes a whole number above 0, or None for no end"),
        ({"preserve_on_compact": 1}, "preserve_on_compact is 1; it takes True or False"),
        ({"preserve_on_compact": "yes"}, "preserve_on_compact is 'yes'; it takes True or False"),
        (
            {"propagate": "sesion"},
            "propagate is 'sesion'; it takes one of 'all', 'session', 'none'; did you mean 'session'?",
        ),
        ({"propagate": True}, "propagate is True; it takes one of 'all', 'session', 'none'"),
        (
            {"role_hint": "user"},
            "role_hint is 'user'; it takes one of 'system', 'developer', 'user_block', 'ephemeral_cache'",
        ),
        (
            {"role_hint": ["system"]},
            "role_hint is ['system']; it takes one of 'system', 'developer', 'user_block', 'ephemeral_cache'",
        ),
        ({"ttl_turn": 1}, f"there is no key 'ttl_turn'; a reminder takes {', '.join(KEYS)}; did you mean 'ttl_turns'?"),
        ({"source": "hook"}, f"there is no key 'source'; a reminder takes {', '.join(KEYS)}"),
        ({1: 2}, f"there is no key 1; a reminder takes {', '.join(KEYS)}"),
    ],
)
@pytest.mark.parametrize(("event", "prefix"), [("PreToolUse", "PreToolUse hook reminder: "), ("", "reminder: ")])
def test_what_is_wrong_with_a_spec(spec: dict, message: str, event: str, prefix: str) -> None:
    """The message has the event, the key, the value it got and what it takes."""
    whole = spec if "body" in spec or not spec else {"body": "b"} | spec
    with pytest.raises(UsageError) as raised:
        reminder(whole, id="r", event=event)
    assert str(raised.value) == prefix + message


@pytest.mark.parametrize("spec", [None, "text", ["body"], 7, True])
def test_a_spec_is_a_dict(spec) -> None:
    """Anything else is refused with the shape to write."""
    with pytest.raises(UsageError, match=re.escape(f"takes a dict such as {{'body': 'text'}}, not {spec!r}")):
        reminder(spec, id="r")


def test_what_is_filled_in() -> None:
    """Id, source and turn come from the caller, never from the spec."""
    done = reminder({"body": "b"}, id="r", source="in_pipeline", fired_at_turn=3)
    assert (done.id, done.source, done.fired_at_turn) == ("r", "in_pipeline", 3)


def test_ids_depend_on_the_session_and_the_place_on_its_tape() -> None:
    """The same place gives the same id again; any other gives another."""
    assert reminder_id("s", 1) == reminder_id("s", 1)
    assert re.fullmatch("rem_[0-9a-f]{24}", reminder_id("s", 1))
    assert len({reminder_id(s, n) for s in ("s", "s1", "\ud800") for n in range(12)}) == 36


@given(REMINDERS)
def test_to_dict_holds_every_field(one: Reminder) -> None:
    """What is on the tape is plain JSON and makes the same reminder again."""
    assert tuple(one.to_dict()) == (
        *("id", "body", "tags", "dedupe_key", "ttl_turns", "preserve_on_compact", "propagate", "role_hint"),
        *("source", "fired_at_turn", "originating_agent_id"),
    )
    assert isinstance(one.to_dict()["tags"], list)
    assert msgspec.convert(one.to_dict(), Reminder) == one


# -- dedupe


def test_the_newest_of_a_key_goes_to_the_end() -> None:
    """Every pending reminder with the key is removed, whatever its tags and body, and is reported."""
    a, b, c, new = made("a", dedupe_key="k"), made("b"), made("c", dedupe_key="k"), made("d", dedupe_key="k")
    assert inject((a, b, c), new) == Change((b, new), (a, c))


def test_without_a_key_nothing_is_replaced() -> None:
    """Two reminders without a key stay two, even if they say the same."""
    a = made("a")
    assert inject((a,), a) == Change((a, a), ())


@given(PENDING, REMINDERS)
def test_injecting_twice_is_injecting_once(pending, new) -> None:
    """With a key, a second injection of the same replaces the first and nothing else."""
    once = inject(pending, new)
    assert once.pending[-1] == new
    assert len(once.pending) + len(once.removed) == len(pending) + 1
    if new.dedupe_key:
        assert inject(once.pending, new) == Change(once.pending, (new,))


@given(st.lists(REMINDERS, max_size=8))
def test_a_key_is_pending_at_most_once(specs) -> None:
    """However many are injected, no two pending ones share a key."""
    pending: tuple[Reminder, ...] = ()
    for one in specs:
        pending = inject(pending, one).pending
    keys = [one.dedupe_key for one in pending if one.dedupe_key]
    assert len(keys) == len(set(keys))


# -- age


@pytest.mark.parametrize(
    ("ttl", "fired", "turn", "left"),
    [
        (None, 0, 0, None),
        (None, 0, 99, None),
        (1, 0, 0, "gone"),
        (2, 0, 0, 1),
        (7, 3, 5, 6),
        (1, 1, 0, 1),
        (2, 1, 0, 2),
        (1, 1, 1, "gone"),
    ],
)
def test_one_pass(ttl, fired, turn, left) -> None:
    """What fires in a later turn is untouched, the last turn removes, any other takes one, no ttl stays."""
    one = made("a", ttl_turns=ttl, fired_at_turn=fired)
    gone = left == "gone"
    assert age((one,), turn) == Change(() if gone else (replace(one, ttl_turns=left),), (one,) if gone else ())


@given(st.integers(1, 6), st.integers(0, 4), st.booleans())
def test_a_ttl_counts_model_calls(ttl: int, injected_in: int, model_called: bool) -> None:
    """A ttl of n is shown in exactly n model calls, whether it was injected before or after its turn's call."""
    pending: tuple[Reminder, ...] = ()
    calls = 0
    for turn in range(20):
        new = made("a", ttl_turns=ttl, fired_at_turn=first_turn(turn, model_called=model_called))
        if turn == injected_in and not model_called:
            pending = inject(pending, new).pending
        calls += "body of a" in rendered(pending)
        if turn == injected_in and model_called:
            pending = inject(pending, new).pending
        pending = age(pending, turn).pending
    assert calls == ttl


@given(PENDING, st.integers(0, 4))
def test_a_pass_loses_nobody(pending, turn: int) -> None:
    """Everyone is kept in order or reported as removed."""
    change = age(pending, turn)
    left = [replace(one, ttl_turns=None) for one in change.pending]
    gone = [id(one) for one in change.removed]
    assert left == [replace(one, ttl_turns=None) for one in pending if id(one) not in gone]


# -- clear


@pytest.mark.parametrize(
    ("selectors", "left"),
    [
        ({"id": "a"}, "bcd"),
        ({"id": "z"}, "abcd"),
        ({"tag": "x"}, "cd"),
        ({"tag": " x "}, "cd"),
        ({"dedupe_key": "k"}, "acd"),
        ({"tag": "x", "dedupe_key": "k"}, "acd"),
        ({"tag": "y", "dedupe_key": "k"}, "abcd"),
        ({"id": "a", "tag": "x", "dedupe_key": None}, "bcd"),
    ],
)
def test_clear(selectors, left: str) -> None:
    """Those go whom every given selector fits."""
    all_four = (made("a", tags=("x",)), made("b", tags=("x",), dedupe_key="k"), made("c", tags=("y",)), made("d"))
    change = clear(all_four, **selectors)
    assert "".join(one.id for one in change.pending) == left
    assert {one.id for one in change.removed} == set("abcd") - set(left)


def test_clear_wants_a_selector() -> None:
    """To clear everything by leaving out what to clear would be an accident."""
    with pytest.raises(UsageError, match="say which: id='…', tag='…' or dedupe_key='…'"):
        clear((made("a"),))


@pytest.mark.parametrize(("selector", "value"), [("id", ""), ("tag", " "), ("dedupe_key", 7), ("tag", ["x"])])
def test_a_selector_is_text(selector: str, value) -> None:
    """A selector that can fit nothing is a mistake."""
    with pytest.raises(UsageError, match=re.escape(f"{selector} is {value!r}; it takes text that is not blank")):
        clear((), **{selector: value})


# -- compaction


def test_a_compaction() -> None:
    """The ttl ends first, even of the preserved; then the newest of a key stays; then only the preserved are kept."""
    over = made("over", ttl_turns=1, preserve_on_compact=True)
    old = made("old", dedupe_key="k", preserve_on_compact=True)
    plain = made("plain")
    new = made("new", dedupe_key="k", ttl_turns=3, preserve_on_compact=True)
    later = made("later", ttl_turns=1, fired_at_turn=6, preserve_on_compact=True)
    aged = replace(new, ttl_turns=2)
    assert compact((over, old, plain, new, later), 5) == Compaction(
        survivors=(plain, aged, later),
        pending=(aged, later),
        expired=(over,),
        deduped=(old,),
        dropped=(plain,),
    )


def test_the_newest_of_a_key_is_the_newest_of_the_living() -> None:
    """A reminder that has just expired replaces nobody."""
    old = made("old", dedupe_key="k", preserve_on_compact=True)
    new = made("new", dedupe_key="k", ttl_turns=1, preserve_on_compact=True)
    assert compact((old, new), 0).pending == (old,)


@given(PENDING, st.integers(0, 4))
def test_a_compaction_loses_nobody(pending, turn: int) -> None:
    """Every reminder ends in one of four places, and all that stay are preserved and have a key of their own."""
    done = compact(pending, turn)
    assert len(pending) == sum(map(len, (done.pending, done.expired, done.deduped, done.dropped)))
    assert all(one.preserve_on_compact for one in done.pending)
    assert set(done.survivors) == {*done.pending, *done.dropped}
    keys = [one.dedupe_key for one in done.survivors if one.dedupe_key]
    assert len(keys) == len(set(keys))


# -- propagation


@pytest.mark.parametrize(
    ("propagate", "source", "reaches"),
    [
        ("all", "hook", True),
        ("all", "inherited", True),
        ("session", "hook", True),
        ("session", "in_pipeline", True),
        ("session", "inherited", False),
        ("none", "hook", False),
        ("none", "inherited", False),
    ],
)
def test_what_a_child_inherits(propagate, source, reaches: bool) -> None:
    """The table of propagation."""
    one = made("a", propagate=propagate, source=source, tags=("x",), dedupe_key="k", ttl_turns=2)
    copy = replace(one, source="inherited", originating_agent_id="parent")
    assert inherited((one,), "parent") == ((copy,) if reaches else ())


@given(PENDING)
def test_session_reaches_children_and_all_reaches_everybody(pending) -> None:
    """A grandchild has only what says `all`, and its origin is still the first session."""
    child = inherited(pending, "parent")
    grandchild = inherited(child, "child")
    assert [one.id for one in child] == [one.id for one in pending if one.propagate != "none"]
    assert [one.id for one in grandchild] == [one.id for one in pending if one.propagate == "all"]
    assert {one.originating_agent_id for one in grandchild} <= {"parent"}


@given(st.integers(1, 4), st.integers(0, 9))
def test_a_ttl_counts_the_childs_own_model_calls(ttl: int, parents_turn: int) -> None:
    """However far its parent had come, a child shows what it inherited in as many calls as are left of the ttl."""
    pending = inherited((made("a", ttl_turns=ttl, fired_at_turn=parents_turn),), "parent")
    calls = 0
    for turn in range(20):
        calls += bool(rendered(pending))
        pending = age(pending, turn).pending
    assert calls == ttl


# -- rendering


def test_plain_text() -> None:
    """Each under its heading, a blank line between, the body as it was written."""
    assert rendered(()) == ""
    assert rendered((made("a"),)) == "System reminder:\nbody of a"
    both = (Reminder("a", " <b> & c"), Reminder("b", "two\nlines", role_hint="user_block"))
    assert rendered(both) == "System reminder:\n <b> & c\n\nSystem reminder:\ntwo\nlines"


def test_tags() -> None:
    """Nothing in a body can close the tag it stands in."""
    assert rendered((Reminder("a", "</system-reminder> & 'x'"),), xml=True) == (
        "<system-reminder>\n&lt;/system-reminder&gt; &amp; 'x'\n</system-reminder>"
    )
    assert rendered((), xml=True) == ""


@given(PENDING)
def test_rendering_uses_nothing_up(pending) -> None:
    """Rendering twice gives the same text, with every body in it."""
    assert rendered(pending) == rendered(pending)
    assert rendered(pending).count("System reminder:\n") >= len(pending)
