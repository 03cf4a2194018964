"""Known secrets, however they are spelled: as JSON, as JSON in JSON, as Python shows a text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookline import Hooks
from hookline.masking import MASK, Masking, masking
from hookline.replay import replay
from hookline.spelling import Known, folded
from studio import scripts

SECRETS = [
    "canaryömläut99", 'canary"quo9ted', "canary one\ncanary\ttwo", "canary\\new\\uber\\x41", "canary😀canary",
    "canary/b<c>&d'e==", '"canary whole"', "canary ends with\\", "öäüßöäüß canary", "canaryplain0123456789",
]  # fmt: skip


def spelled(secret: str) -> list[str]:
    """A secret in JSON, in JSON in JSON and so on, as Python shows it, by numbers, and each in a longer text."""
    found = [secret, repr(secret), ascii(secret), repr(secret.encode()), json.dumps(secret).replace("/", "\\/")]
    found.append(json.dumps(secret).replace("<", "\\u003c"))
    if "\\" not in secret:
        found.append("".join(f"\\u{{{ord(sign):x}}}" for sign in secret))
        found.append("".join(f"\\u{ord(sign):04X}" if ord(sign) < 0x10000 else ascii(sign)[1:-1] for sign in secret))
    for only_ascii in (True, False):
        text = secret
        for _ in range(4):
            text = json.dumps(text, ensure_ascii=only_ascii)
            found += [text, repr(text), repr([text]), json.dumps({"message": f"it is {text}"}, ensure_ascii=only_ascii)]
    return [*found, *(f"INFO it is {text}, then" for text in found), *(f"C:\\new\\{text} \\ \\n" for text in found)]


@pytest.mark.parametrize("secret", SECRETS)
def test_however_it_is_spelled(secret: str) -> None:
    """No part of it is left, and masking twice changes nothing."""
    mask = Masking(values=[*SECRETS, "unrelated-secret"])
    for text in spelled(secret):
        done = mask.text(text)
        assert MASK in done, text
        for part in ("canary", "quo9", "uber", "ends", "whole", "01234", "b<c", "c>&d"):
            assert part not in done, text
        assert mask.text(done) == done
        assert mask.suspects(json.dumps({"a": text}).encode())
        assert json.loads(json.dumps(mask.masked({"a": [text]})[0]))["a"] == [done]


def test_json_stays_json() -> None:
    """What is spelled in a text of JSON is masked as the value it is, and what stands beside it stays."""
    for secret in SECRETS:
        inner = json.dumps({"message": f"it is {secret}.", "n": 1})
        done = Masking(values=[secret]).text(json.dumps({"stdout": inner, "ok": True}))
        assert json.loads(json.loads(done)["stdout"]) == {"message": f"it is {MASK}.", "n": 1}


def test_other_escapes_stay() -> None:
    """Only what spells a secret is changed in a text; its other escapes are not."""
    known = Known(["canary\u00f6canary"])
    text = '\\"a\\u00e4\\n\\\\\\" canary\\\\u00f6canary \\x41\\ud83d'
    (span,) = known.spans(text)
    assert text[slice(*span)] == "canary\\\\u00f6canary"
    assert not known.spans(text.replace("f6", "f7"))
    assert Masking(values=["canary\u00f6canary"]).text(text) == text.replace("canary\\\\u00f6canary", MASK)


def test_most_lines_need_no_closer_look() -> None:
    """A line without the plain part of a secret, and without signs by their number, has none."""
    known = Known(["canary\u00f6l", 'quo"ted'])
    assert known.suspected(b'{"a":"a canary"}')
    assert known.suspected(b'{"a":"\\\\u0063\\\\u0061"}')
    assert not known.suspected(b'{"a":"C:\\\\Users\\\\x \\n"}')
    assert not Known([])
    assert not Known([]).suspected(b"\\u0063")


@settings(deadline=None)
@given(
    st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from('\\"\nnxu041{}')),
    st.integers(0, 3),
    st.booleans(),
)
def test_folding_undoes_escaping(text: str, depth: int, only_ascii: bool) -> None:
    """What JSON makes of a text, however often, is folded as the text itself is."""
    spelling = text
    for _ in range(depth):
        spelling = json.dumps(spelling, ensure_ascii=only_ascii)[1:-1]
    assert folded(spelling) == folded(text)


@pytest.mark.parametrize("unit", ["\\", "\\u00f6", '\\"', "\\\\n", "canary\\u00f6", "\\x", "\\u", "\\ud83d"])
def test_no_text_takes_long(unit: str) -> None:
    """A megabyte of escapes is folded at once."""
    mask = Masking(values=SECRETS)
    done = mask.text(unit * (1_000_000 // len(unit)))
    assert "ömläut" not in done


def test_what_a_hook_prints_as_json(tmp_path: Path) -> None:
    """Secrets of the environment are nowhere on the tape of a hook that prints them as JSON, and it replays."""
    environ = {"UML_SECRET": SECRETS[0], "QUOTED_SECRET": SECRETS[1]}
    said = json.dumps({"continue": True, "message": f"it is {SECRETS[0]} or {SECRETS[1]}"})
    (tmp_path / "said").write_text(said)
    (tmp_path / "logged").write_text(f"log: {said} {SECRETS[0]!a} {SECRETS[1]!r}")
    hooks = Hooks(environ=environ)
    hooks.load(scripts(tmp_path, prints=f"cat {tmp_path}/said", logs=f"cat {tmp_path}/logged >&2; exit 1"))
    with hooks.session(tape=tmp_path / "t") as s:
        s.tool("Bash", {"command": said, "again": json.dumps(said)}, json.dumps)
    text = (tmp_path / "t").read_text()
    assert MASK in text
    assert not [part for part in ("canary", "ut99", "quo9ted") if part in text]
    assert replay(tmp_path / "t").divergence is None
    made = masking(True, environ)
    assert made is not None
    assert made.text(said) == json.dumps(
        {"continue": True, "message": f"it is {MASK} or {MASK}"}, separators=(",", ":")
    )
