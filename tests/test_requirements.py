"""The requirements of LLxprt's hooks: every one has its row in docs/llxprt.md, and every proof named there exists."""

from __future__ import annotations

import ast
import json
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "llxprt.md"
HALVES = {16: ("a", "b"), 67: ("a", "b")}
NUMBERS = [f"HOOK-{number:03}{half}" for number in range(1, 218) for half in HALVES.get(number, ("",))]


def rows(page: str) -> list[tuple[str, str, list[str]]]:
    """The number, what is said of it, and the proofs of every row of the table."""
    found = re.findall(r"^\| (HOOK-\w+) \| (.*) \| (.*) \|$", page, flags=re.MULTILINE)
    return [(number, what.strip(), re.findall(r"`([^`]+)`", proofs)) for number, what, proofs in found]


@cache
def existing(file: str) -> frozenset[str]:
    """The tests a file really has."""
    path = ROOT / file
    tree = ast.parse(path.read_text(encoding="utf-8")) if path.is_file() else ast.Module([], [])
    functions = (node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return frozenset(node.name for node in functions if node.name.startswith("test_"))


def cases() -> dict[str, list[str]]:
    """The requirements every case of LLxprt says it proves."""
    events = sorted((ROOT / "tests" / "tables" / "llxprt").glob("*/event.json"))
    return {f"tables/llxprt/{file.parent.name}": json.loads(file.read_text())["requirements"] for file in events}


def wrong(page: str) -> list[str]:
    """What is wrong with the table of a page."""
    listed, known = rows(page), cases()
    found = [f"{number}: no row" for number in NUMBERS if number not in {row[0] for row in listed}]
    found += [f"{row[0]}: no such requirement" for row in listed if row[0] not in NUMBERS]
    found += [f"{number}: {count} rows" for number, count in counted(listed).items() if count > 1]
    for number, what, proofs in listed:
        if not proofs and not re.match(r"n/a: \w", what):
            found.append(f"{number}: neither a proof nor a reason why it needs none")
        if not known.keys() & set(proofs) and not re.search(r"(^n/a|No golden): \w", what):
            found.append(f"{number}: neither a case nor a reason why it has none")
        for proof in proofs:
            file, _, name = proof.partition("::")
            if proof not in known and name not in existing(file):
                found.append(f"{number}: there is no {proof}")
            elif proof in known and number not in known[proof]:
                found.append(f"{number}: {proof} does not say it proves it")
    shown = {(number, proof) for number, _, proofs in listed for proof in proofs}
    found += [
        f"{number}: {case} is not in its row"
        for case, numbers in known.items()
        for number in numbers
        if (number, case) not in shown
    ]
    return found


def counted(listed: list[tuple[str, str, list[str]]]) -> dict[str, int]:
    numbers = [row[0] for row in listed]
    return {number: numbers.count(number) for number in numbers}


def test_every_requirement_has_its_row_and_every_proof_exists() -> None:
    """All 219 numbers are there once, each with a case that exists, or with the reason why it has none."""
    assert len(NUMBERS) == 219
    assert wrong(PAGE.read_text(encoding="utf-8")) == []


def test_every_case_proves_something() -> None:
    """A case without a requirement would be one nobody asked for."""
    assert [case for case, numbers in cases().items() if not numbers or len(set(numbers)) != len(numbers)] == []


def test_few_requirements_are_not_applicable() -> None:
    """What has no proof speaks of TypeScript classes and of LLxprt's scheduler, and of nothing a hook could notice."""
    without = [number for number, _, proofs in rows(PAGE.read_text(encoding="utf-8")) if not proofs]
    classes = [5, 6, 7, 8, 129, 133, 142, 143, 148, 149, 150, 151, 152, 153, 154, 204, 206, 207]
    assert without == [f"HOOK-{number:03}" for number in classes]


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("| HOOK-014 |", "| HOOK-914 |", "HOOK-014: no row"),
        ("| HOOK-015 |", "| HOOK-014 |", "HOOK-014: 2 rows"),
        ("test_decode_fields`", "test_decode_feilds`", "there is no tests/test_llxprt.py::test_decode_feilds"),
        ("`tests/test_api.py::", "`tests/test_apis.py::", "there is no tests/test_apis.py::"),
        ("`tables/llxprt/exit_3`", "`tables/llxprt/exit_4`", "there is no tables/llxprt/exit_4"),
        ("`tables/llxprt/exit_3`", "`tables/llxprt/deny_json`", "tables/llxprt/deny_json does not say it proves it"),
        ("`tables/llxprt/exit_3`", "", "tables/llxprt/exit_3 is not in its row"),
        ("n/a: there is no state", "there is no state", "HOOK-005: neither a proof nor a reason"),
        ("No golden: a count", "A count", "HOOK-009: neither a case nor a reason"),
    ],
)
def test_each_check_can_fail(old: str, new: str, complaint: str) -> None:
    """A missing or doubled row, a proof that does not exist, a case that proves something else: each is found."""
    page = PAGE.read_text(encoding="utf-8")
    assert old in page
    found = wrong(page.replace(old, new))
    assert any(complaint in text for text in found)
