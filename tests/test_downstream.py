"""The comparison with Gemini CLI is run by hand; here only its lists are checked, without a network."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from hookline.events import spellings

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.skipif(not (ROOT / "downstream").is_dir(), reason="it is no part of the source distribution")


@pytest.fixture(autouse=True)
def _on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))


def test_the_cases_load(tmp_path: Path) -> None:
    """Every case has a name of its own, an event of LLxprt's and settings that hold hooks."""
    from downstream.cases import LEFT_OUT, TABLES, cases

    found = cases()
    assert len({case.name for case in found}) == len(found) > len(LEFT_OUT)
    assert all((TABLES / name / "event.json").exists() for name in LEFT_OUT)
    for number, case in enumerate(found):
        directory = tmp_path / str(number)
        case.play_in(directory)
        assert case.event in spellings("llxprt")
        assert json.loads((directory / "settings.json").read_text())["hooks"]
        assert "CASE" not in case.fields_in(directory)["cwd"]


def test_every_known_difference_is_of_a_case_and_has_a_reason() -> None:
    from downstream.cases import cases
    from downstream.explaining import DIFFERENCES, REASONS, SEEN

    assert DIFFERENCES.keys() <= {case.name for case in cases()}
    given = {why for fields in DIFFERENCES.values() for why in fields.values()} | set(SEEN.values())
    assert given == REASONS.keys()


def test_a_difference_without_a_reason_is_marked() -> None:
    """Also one that is written down and no longer there."""
    from downstream.explaining import compared, table

    [new] = compared("nobody knows it", {"ran": ["a"]}, {"ran": ["b"]})
    assert (new.why, new.bad) == ("UNEXPLAINED", True)
    [gone] = compared("ask", {}, {})
    assert (gone.why, gone.bad) == ("GONE", True)
    [known] = compared("ask", {}, {"decision": "ask"})
    assert (known.why, known.bad) == ("D21", False)
    [same] = compared("block", {"ran": ["a"]}, {"ran": ["a"]})
    assert not same.bad
    assert "UNEXPLAINED: 1." in table([new, gone, known, same])


def test_the_list_is_printed() -> None:
    words = [sys.executable, "-m", "downstream", "--list"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "left out: tables/switched_off" in done.stdout
