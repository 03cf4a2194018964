"""Every test here is watched: what it starts must end with it, whatever it opens must be closed."""

from __future__ import annotations

import os
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

import zoo


@pytest.fixture(autouse=True)
def token(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Mark all processes of a test; none may escape, no zombie and no descriptor may stay."""
    mark = uuid.uuid4().hex
    monkeypatch.setenv(zoo.TOKEN, mark)
    # `env python3` must be a python, and this one: a version manager's shim takes its time.
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    before = zoo.descriptors()
    yield mark
    zoo.eventually(lambda: not zoo.living(mark)[0], 5.0)
    escaped, kept = zoo.living(mark)
    who = zoo.names(escaped)
    zoo.kill(escaped + kept)
    assert who == [], "processes escaped"
    assert zoo.zombies() == []
    assert zoo.descriptors() == before
