"""The house: a module imports only from rows above it, never sideways into a sibling."""

from __future__ import annotations

import ast
from pathlib import Path

import hookline

SOURCE = Path(hookline.__file__).parent

ROWS = [
    "errors",
    "wording",
    "truncating",
    "sequences",
    "compacting",
    "model",
    "llm",
    "events",
    "matching",
    "expressions",
    "reminders",
    "receipts",
    "names",
    "payloads",
    "harn_payloads",
    "signatures",
    "answering",
    "verdicts",
    "handlers",
    "parsing",
    "reading",
    "merging",
    "shelltext",
    "programs",
    "interpreters",
    "shellwords",
    "rewriting",
    "scripts",
    "state",
    "trust",
    "registry",
    "planning",
    "telling",
    "spotting",
    "spelling",
    "holding",
    "masking",
    "redacting",
    "kinds",
    "tape",
    "tallying",
    "recalling",
    "processes",
    "runners",
    "dialects",
    "recording",
    "engine",
    "waiting",
    "shortcuts",
    "background",
    "firing",
    "translating",
    "translators",
    "discovery",
    "results",
    "permissions",
    "finish",
    "remembering",
    "within",
    "conducting",
    "stage",
    "modelling",
    "tooling",
    "personas",
    "playing",
    "session",
    "replay",
    "registering_harn",
    "registering",
    "hooks",
    "judging",
    "loop",
    "cli",
]
SHARED_BY_VERBS = {"hookline.cli", "hookline.cli.arguments", "hookline.cli.show", "hookline.cli.timeline"}
FOR_PEOPLE = {"hookline.cli.show", "hookline.cli.timeline"}


def modules() -> dict[str, Path]:
    found = {}
    for path in SOURCE.rglob("*.py"):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        found[".".join(("hookline", *(p for p in parts if p != "__init__")))] = path
    return found


def imports(path: Path, known: set[str]) -> set[str]:
    """Every module of ours that a file imports at run time, also inside functions."""
    found: set[str] = set()
    tree = ast.parse(path.read_text())
    typing_only = {
        id(child)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for child in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names} & known or {node.module}
    return {name for name in found if name.startswith("hookline.")}


def row(module: str) -> int:
    return ROWS.index(module.split(".")[1])


def test_every_module_has_a_row() -> None:
    """A new module is given its place in the house."""
    assert {name.split(".")[1] for name in modules() if name.count(".")} - {"__main__"} == set(ROWS)


def test_imports_point_upwards() -> None:
    """No module imports from its own row or one below; the verbs of the command line share a few modules."""
    known = set(modules())
    wrong = []
    for module, path in modules().items():
        if module in ("hookline", "hookline.__main__"):
            continue
        for imported in imports(path, known):
            same_package = imported.split(".")[1] == module.split(".")[1]
            if same_package and imported in SHARED_BY_VERBS and module not in SHARED_BY_VERBS - FOR_PEOPLE:
                continue
            if module == "hookline.cli.arguments" and imported == "hookline.cli":
                continue
            if row(imported) >= row(module):
                wrong.append(f"{module} imports {imported}")
    assert wrong == []


def test_nothing_in_the_core_imports_asyncio_or_rich_at_the_top() -> None:
    """Start-up time is on the path of every tool call: what only some calls need is imported by them."""
    heavy = {"asyncio", "rich", "re2", "yaml", "json", "difflib", "pathlib", "dataclasses", "importlib.metadata"}
    wrong = []
    for module, path in modules().items():
        if module in FOR_PEOPLE:  # imported only when a person reads
            continue
        for node in ast.parse(path.read_text()).body:
            names = (
                {alias.name for alias in node.names}
                if isinstance(node, ast.Import)
                else {node.module or ""}
                if isinstance(node, ast.ImportFrom)
                else set()
            )
            wrong += [f"{module}: {name}" for name in names if name in heavy or name.split(".")[0] in heavy]
    assert wrong == []


def test_no_class_is_named_for_nothing() -> None:
    """No class is called Manager, Handler, Helper, Util or Base."""
    names = [
        node.name
        for path in modules().values()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef)
    ]
    assert [name for name in names if name.endswith(("Manager", "Handler", "Helper", "Util", "Base"))] == []
