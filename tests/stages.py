"""Two ways to drive a session, blocking and on an event loop, behind one face; and hooks that watch."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from pathlib import Path
from typing import Any

from hookline import tape as tapes
from hookline.events import CATALOGUE
from hookline.hooks import Hooks
from hookline.session import Session

EVENTS = tuple(row.name for row in CATALOGUE)


@contextmanager
def blocking(hooks: Hooks, **options: Any) -> Iterator[Any]:
    """A session as a blocking host has it."""
    with hooks.session(**options) as session:
        yield session


class Twin:
    """A session whose calls are their async twins, each driven by one event loop."""

    def __init__(self, session: Session, runner: asyncio.Runner) -> None:
        self._session, self._runner = session, runner

    def __getattr__(self, name: str) -> Any:
        twin = getattr(self._session, f"{name}_async", None)
        if twin is None:
            return getattr(self._session, name)
        return lambda *args, **kwargs: self._runner.run(twin(*args, **kwargs), context=copy_context())

    @contextmanager
    def subagent(self, *args: Any, **kwargs: Any) -> Iterator[Twin]:
        with self._session.subagent(*args, **kwargs) as child:
            yield Twin(child, self._runner)


@contextmanager
def on_a_loop(hooks: Hooks, **options: Any) -> Iterator[Any]:
    """A session as an async host has it."""
    with asyncio.Runner() as runner:
        session = hooks.session(**options)
        runner.run(session.__aenter__())
        try:
            yield Twin(session, runner)
        except BaseException as error:
            runner.run(session.__aexit__(type(error), error, error.__traceback__))
            raise
        runner.run(session.__aexit__(None, None, None))


WAYS: dict[str, Callable[..., Any]] = {"blocking": blocking, "on a loop": on_a_loop}


class Watch:
    """Hears every event that is fired, and what was in it."""

    def __init__(self, hooks: Hooks, *events: str) -> None:
        self.heard: list[tuple[str, dict[str, Any]]] = []
        for event in events or EVENTS:
            hooks.on(event)(self._hear)

    def _hear(self, payload: dict[str, Any]) -> None:
        self.heard.append((payload["event"], payload))

    @property
    def events(self) -> list[str]:
        return [event for event, _ in self.heard]

    def of(self, event: str) -> list[dict[str, Any]]:
        """The payloads of one event, without the base fields."""
        base = ("event", "session_id", "cwd", "timestamp", "transcript_path")
        return [
            {name: value for name, value in payload.items() if name not in base}
            for heard, payload in self.heard
            if heard == event
        ]

    def ids(self) -> set[str]:
        return {payload["session_id"] for _, payload in self.heard}


def echo(given: Any) -> str:
    """A tool that says what it got."""
    return f"ran {json.dumps(given)}"


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """A model that says how many messages it was sent."""
    return {"text": f"{len(request['messages'])} messages", "candidates": []}


def request(*texts: str) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": text} for text in texts]}


def script(path: Path, body: str) -> Path:
    path.write_text(f"#!/bin/bash\n{body}\n")
    path.chmod(0o755)
    return path


def harness(directory: Path, event: str, body: str, **entry: Any) -> Path:
    """Settings of The Harness with one hook."""
    made = script(directory / f"harness_{event}.sh", body)
    file = directory / f"harness_{event}.json"
    file.write_text(json.dumps({"hooks": {event: [{"path": str(made), "timeout": 10_000, **entry}]}}))
    return file


def goose(directory: Path, event: str, body: str, **entry: Any) -> Path:
    """A configuration of Goose with one hook."""
    made = script(directory / f"goose_{event}.sh", body)
    file = directory / f"goose_{event}.yaml"
    file.write_text(json.dumps({"hooks": {event: [{"command": str(made), "timeout": 10, **entry}]}}))
    return file


def llxprt(directory: Path, event: str, *answers: dict[str, Any]) -> Path:
    """Settings of LLxprt with one hook for each of these answers."""
    hooks = []
    for number, given in enumerate(answers):
        made = script(directory / f"llxprt_{event}_{number}.sh", f"cat <<'EOF'\n{json.dumps(given)}\nEOF")
        hooks.append({"type": "command", "command": str(made), "timeout": 10_000})
    file = directory / f"llxprt_{event}.json"
    file.write_text(json.dumps({"hooks": {event: [{"sequential": True, "hooks": hooks}]}}))
    return file


def records(path: Path, *kinds: str) -> list[tuple[str, dict[str, Any]]]:
    """The records of a tape whose chain holds: all, or those of some kinds. The version of the tape is left out."""
    tapes.verify(str(path))
    found = [
        (record.kind, {k: v for k, v in record.data.items() if k != "version"}) for record in tapes.read(str(path))
    ]
    return [(kind, data) for kind, data in found if not kinds or kind in kinds]
