"""One session in which every event fires, and the page that shows it."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

import stages
from hookline.events import CATALOGUE

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "lifecycle.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def life() -> ModuleType:
    spec = importlib.util.spec_from_file_location("hookline_docs_life", ROOT / "docs" / "life.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def order_on_the_page() -> list[tuple[int, str, str, str]]:
    """Depth, event, call of the session and place in the loop, line by line."""
    diagram = PAGE.partition("```text\n")[2].partition("```")[0]
    lines = [re.fullmatch(r"( *)(\w+)(?: \*)? +(\w+) +(\w+)", line) for line in diagram.splitlines()[1:]]
    return [(len(line[1]) // 2, line[2], line[3], line[4]) for line in lines if line]


def test_all_events_fire_in_the_order_of_the_page(life: ModuleType, tmp_path: Path) -> None:
    """The reference loop fires all 29 events, in the order docs/lifecycle.md shows; the tape has the same order."""
    tape = tmp_path / "tape.jsonl"
    moments = life.lived(str(tape))
    assert [(m.depth, m.event, m.call, m.place) for m in moments] == order_on_the_page()
    assert [data["event"] for _, data in stages.records(tape, "event")] == [m.event for m in moments]
    assert {m.event for m in moments} == {row.name for row in CATALOGUE}
    assert len({m.event for m in moments}) == 29


def test_two_lives_are_the_same(life: ModuleType) -> None:
    """Nothing in the order depends on chance or on the machine."""
    assert life.lived() == life.lived()


@pytest.mark.parametrize(
    "order",
    [
        "SessionStart UserPromptSubmit BeforeToolSelection BeforeModel AfterModel PreToolUse PostToolUse PostTurn Stop",
        "PermissionAsked Notification OnApprovalRequested OnPersonaPaused OnPersonaResumed PermissionReplied",
        "PermissionReplied PreToolUse PostToolUse",
        "PreStep BeforeToolSelection PostTurn FileEdited PostStep OnBudgetThreshold",
        "PreCompact PostCompact BeforeToolSelection",
        "OnHandoffEmitted PreStep SubagentStop PostToolUse",
        "Stop SessionIdle PreFinish OnUnsettledDetected PostFinish SessionError SessionEnd",
    ],
)
def test_what_comes_before_what(life: ModuleType, order: str) -> None:
    """The order the specifications ask for is the order of the run."""
    events = iter(moment.event for moment in life.lived())
    assert [event for event in order.split() if event not in events] == []
