"""The tables: real configurations, real scripts, and what must come of them, to the byte.

A case is a folder `tests/tables/<dialect>/<case>/` with

    settings.json, config.yaml …   the configuration, in its dialect's own name and format
    event.json                     `states` (the fact the case shows), `event`, `fields` (payload and base fields),
                                   and where needed the options of `Hooks` and of `load`; `requirements` are the
                                   numbers of a contract that the case proves. `files` are several configurations in
                                   the order they are loaded, each a `path` and its own options of `load`. `call` and
                                   `response` are Google's SDK's: hooks see what the translator makes of them.
                                   `drivers` are those that run the case, where not both do
    hook scripts                   each begins with `{ cat; echo; } >>seen`: one line for each run; Python handlers
                                   write such a line themselves
    stdin.jsonl                    golden: what every hook saw, in the order they ran; none where none ran
    ruling.json                    golden: `Ruling.to_dict()`
    notices.json                   golden, where there are any: what was noticed while loading
    background.json                golden, where there are any: the reports of fire-and-forget hooks
    sdk.json                       golden of a case with a `call`: the call or the response that the ruling makes of it

A case runs in a copy of its folder, which every file calls CASE; durations are 0. Its configuration is gone once it is
loaded, so nothing reads it again. `HOOKLINE_REWRITE=1 pytest
tests/test_tables.py` writes the goldens anew: read the difference as you would read code. A new dialect is a new
folder.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from google.genai.types import GenerateContentResponse

from hookline import Hooks, Report, Ruling
from hookline.dialects import DIALECTS
from hookline.events import find, spellings
from hookline.translators import translator

TABLES = Path(__file__).parent / "tables"
CASES = sorted(file.parent for file in TABLES.glob("*/*/event.json"))
GOLDEN = ("stdin.jsonl", "ruling.json", "notices.json", "background.json", "sdk.json")
REWRITE = os.environ.get("HOOKLINE_REWRITE") == "1"


def config_of(folder: Path) -> Path:
    """The one configuration of a case."""
    names = ("config.*", "settings.*", "*.toml", "*-extension.json", "hooks/hooks.json")
    [file] = [file for name in names for file in folder.glob(name)]
    return file


def in_place(value: Any, stage: Path) -> Any:
    """A value of a case's files with the folder it runs in where they say CASE."""
    return json.loads(json.dumps(value).replace("CASE", json.dumps(str(stage))[1:-1]))


def played(stage: Path, driver: str) -> dict[str, str]:
    """Run a case; the text of every golden file it comes to."""
    case = translated(in_place(json.loads((stage / "event.json").read_text()), stage))
    ended: list[Report] = []
    hooks = Hooks(environ=case.get("environ", {}), on_failure=case.get("on_failure"), on_background=ended.append)
    load(hooks, case, stage)
    plan = hooks.explain(case["event"], **case["fields"])
    assert not list(stage.glob("seen*")), "explaining runs nothing"
    ruling = fired(hooks, case, driver)
    hooks.wait()
    assert [entry.hook.name for entry in plan.entries] == [report.hook for report in ruling.hooks]
    seen = "".join(file.read_text() for file in sorted(stage.glob("seen*")))
    found = {
        "stdin.jsonl": seen,
        "ruling.json": shown(ruling.to_dict()),
        "notices.json": shown([str(notice) for notice in hooks.notices]),
        "background.json": shown([report.to_dict() for report in ended]),
        "sdk.json": shown(back(case, ruling)),
    }
    return {name: text.replace(str(stage), "CASE") for name, text in found.items()}


def load(hooks: Hooks, case: dict[str, Any], stage: Path) -> None:
    """Load what a case is configured by; then it is gone."""
    files = case.get("files") or [{"path": config_of(stage), **case.get("load", {})}]
    for file in files:
        hooks.load(stage / file["path"], stage.parent.name, **{key: file[key] for key in file if key != "path"})
    for path in {file["path"] for file in files}:
        (stage / path).unlink()


def translated(case: dict[str, Any]) -> dict[str, Any]:
    """A case whose fields have what hooks see of its `call` and `response`."""
    genai = translator("genai")
    if "call" in case:
        case["fields"]["llm_request"] = genai.call_to_hook(case["call"])
    if "response" in case:
        case["response"] = GenerateContentResponse.model_validate(case["response"])
        case["fields"]["llm_response"] = genai.response_to_hook(case["response"])
    return case


def back(case: dict[str, Any], ruling: Ruling) -> Any:
    """What a ruling makes of the `response` of a case, or of its `call`; nothing where it leaves them alone."""
    genai = translator("genai")
    if "response" in case and ruling.llm_response:
        made = genai.response_from_hook(ruling.llm_response, case["response"])
        return made.model_dump(mode="json", by_alias=True, exclude_none=True)
    return genai.call_from_hook(ruling.llm_request, case["call"]) if "call" in case and ruling.llm_request else None


def fired(hooks: Hooks, case: dict[str, Any], driver: str) -> Ruling:
    if driver == "fire":
        return hooks.fire(case["event"], **case["fields"])
    return asyncio.run(hooks.fire_async(case["event"], **case["fields"]))


def shown(value: Any) -> str:
    """A value as a golden file has it; nothing where there is nothing to keep."""
    timeless(value)
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n" if value else ""


def timeless(value: Any) -> None:
    """Put 0 in the place of every duration, which has to be one."""
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        timeless(part)
    if isinstance(value, dict) and "duration_ms" in value:
        assert isinstance(value["duration_ms"], float)
        assert value["duration_ms"] >= 0
        value["duration_ms"] = 0


@pytest.fixture
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy of the case to run in, without its goldens."""
    folder: Path = request.param
    copy = tmp_path / folder.parent.name / folder.name
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns(*GOLDEN))
    return copy


@pytest.mark.parametrize(
    ("stage", "driver"),
    [
        pytest.param(folder, driver, id=f"{folder.parent.name}/{folder.name}-{driver}")
        for folder in CASES
        for driver in json.loads((folder / "event.json").read_text()).get("drivers", ["fire", "fire_async"])
    ],
    indirect=["stage"],
)
def test_a_case_comes_to_its_goldens(stage: Path, driver: str) -> None:
    """What hooks see, what they are taken to say and what was noticed is what the goldens hold, to the byte."""
    folder = TABLES / stage.parent.name / stage.name
    found = played(stage, driver)
    if REWRITE:
        for name, text in found.items():
            (folder / name).unlink(missing_ok=True)
            if text:
                (folder / name).write_text(text)
    kept = {name: (folder / name).read_text() if (folder / name).exists() else "" for name in GOLDEN}
    assert found == kept


def test_every_case_states_a_fact_of_its_own() -> None:
    """A case says in one sentence what it shows, no two show the same, and each is of a dialect there is."""
    facts = [json.loads((folder / "event.json").read_text())["states"] for folder in CASES]
    assert all(fact.endswith(".") for fact in facts)
    assert len(set(facts)) == len(facts)
    assert {folder.parent.name for folder in CASES} <= set(DIALECTS)
    assert {folder.name for folder in TABLES.iterdir()} == {folder.parent.name for folder in CASES}


@pytest.mark.parametrize("dialect", sorted({folder.parent.name for folder in CASES}))
def test_every_event_of_a_dialect_has_a_case_in_which_a_hook_runs(dialect: str) -> None:
    """Counted from the catalogue: no event of a dialect that has tables is without one."""
    shown_events = {
        find(json.loads((folder / "event.json").read_text())["event"]).name
        for folder in CASES
        if folder.parent.name == dialect and (folder / "stdin.jsonl").exists()
    }
    assert shown_events == set(spellings(dialect).values())
