"""Sessions that end badly, in processes of their own: they close, SessionEnd's hooks run, and no process stays."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import stages
import zoo

HOST = """
import signal, sys
from pathlib import Path
from hookline import Hooks

signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job of a shell ignores it
hooks = Hooks()
for config in sorted(Path.cwd().glob("*.json")) + sorted(Path.cwd().glob("*.yaml")):
    hooks.load(config)
log = Path("ends")

@hooks.on("SessionError")
def error(payload):
    with log.open("a") as file:
        print("error", payload["error"], file=file)

def model(request):
    raise TimeoutError("no answer")

def bad_tool(args):
    raise OSError("disk full")

MOMENT = sys.argv[1]
try:
    with hooks.session(id="s", cwd=".", tape="tape.jsonl") as s:
        s.submit("go")
        if MOMENT == "host":
            raise ValueError("the host itself")
        if MOMENT == "model":
            s.model({"model": "m", "messages": []}, model)
        if MOMENT == "tool":
            s.tool("t", {}, bad_tool)
        s.tool("t", {}, lambda args: "ok")
        s.turn_done()
except BaseException as error:
    print(type(error).__name__)
"""


@pytest.fixture
def token(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Mark all processes of a test; none may stay."""
    mark = uuid.uuid4().hex
    monkeypatch.setenv(zoo.TOKEN, mark)
    yield mark
    zoo.eventually(lambda: not zoo.living(mark)[0], 5.0)
    escaped, kept = zoo.living(mark)
    zoo.kill(escaped + kept)
    assert escaped == []


def started(directory: Path, moment: str) -> subprocess.Popen[str]:
    (directory / "host.py").write_text(HOST)
    stages.harness(directory, "SessionEnd", "cat > ended; echo >> ended")
    return subprocess.Popen(
        [sys.executable, "host.py", moment], cwd=directory, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True
    )


def ended(host: subprocess.Popen[str], directory: Path) -> tuple[str, dict[str, Any]]:
    """What the host's block ended with, and what SessionEnd's hook was told."""
    try:
        out, _ = host.communicate(timeout=30)
    finally:
        host.kill()
        host.wait()
    return out.strip(), json.loads((directory / "ended").read_text())


@pytest.mark.parametrize(
    ("moment", "kind", "error"),
    [
        ("host", "ValueError", "ValueError: the host itself"),
        ("model", "TimeoutError", "TimeoutError: no answer"),
        ("tool", "OSError", "OSError: disk full"),
    ],
)
def test_something_raises(tmp_path: Path, token: str, moment: str, kind: str, error: str) -> None:
    """A host, a model or a tool that raises: the exception goes through, SessionError and SessionEnd fire before."""
    raised, end = ended(started(tmp_path, moment), tmp_path)
    assert (raised, end["hook_event_name"]) == (kind, "SessionEnd")
    assert (tmp_path / "ends").read_text() == f"error {error}\n"
    assert [data["event"] for _, data in stages.records(tmp_path / "tape.jsonl", "ruling")][-2:] == [
        *("SessionError", "SessionEnd")
    ]


HANGS = "touch inside; cat > /dev/null; exec sleep 300"


@pytest.mark.parametrize(
    ("dialect", "event"),
    [
        ("harness", "SessionStart"),
        ("harness", "UserPromptSubmit"),
        ("goose", "pre_tool_use"),
        ("harness", "SessionEnd"),
    ],
)
def test_ctrl_c_during_a_hook(tmp_path: Path, token: str, dialect: str, event: str) -> None:
    """Ctrl-C while a hook process runs: it is killed, the session closes, SessionEnd's hooks run, nothing stays."""
    at = tmp_path / "hanging"
    at.mkdir()
    if dialect == "harness":
        stages.harness(at, event, HANGS, timeout=300_000).rename(tmp_path / "a.json")  # it comes first
    else:
        stages.goose(at, event, HANGS, timeout=300).rename(tmp_path / "a.yaml")
    host = started(tmp_path, "interrupted")
    try:
        assert zoo.eventually((tmp_path / "inside").exists, 30)
        host.send_signal(signal.SIGINT)
        raised, end = (host.communicate(timeout=30)[0].strip(), tmp_path / "ended")
    finally:
        host.kill()
        host.wait()
    assert raised == "KeyboardInterrupt"
    assert end.exists() == (event != "SessionEnd")
    assert zoo.eventually(lambda: zoo.living(token) == ([], []))
    kinds = [data["event"] for _, data in stages.records(tmp_path / "tape.jsonl", "event")]
    assert kinds[-1] == "SessionEnd"
