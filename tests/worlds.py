"""A scratch user with a home, and a project of somebody else's. Nothing here touches the real home."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import hookline
from hookline.discovery import standing, surveyed
from hookline.trust import Review, review

TOOL = {"tool_name": "Bash", "tool_input": {}}
OURS = ("ENGRAM_DIR", "PAI_DIR", "GOOSE_SESSION_START_HOOK", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "HOOKLINE_DEBUG")


class World:
    """`home` and `project` lie side by side below one directory; `environ` is what a program of that user sees."""

    def __init__(self, base: Path) -> None:
        self.base = Path(os.path.realpath(base))
        self.home, self.project = self.base / "home", self.base / "project"
        self.state = self.home / ".local/state/hookline"
        for directory in (self.home, self.project):
            directory.mkdir()
        (self.project / ".git").mkdir()
        self.environ = {name: value for name, value in os.environ.items() if name not in OURS}
        self.environ |= {"HOME": str(self.home), "NO_COLOR": "1", "COLUMNS": "300"}

    def write(self, path: str, text: str | dict[str, Any], *, mode: int = 0o644) -> Path:
        """A file below the base, such as `project/.llxprt/settings.json` or `home/x.sh`."""
        file = self.base / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text if isinstance(text, str) else json.dumps(text))
        file.chmod(mode)
        return file

    def script(self, path: str, body: str = "echo ran", mode: int = 0o755) -> Path:
        return self.write(path, f"#!/bin/sh\n{body}\n", mode=mode)

    def llxprt(self, *commands: str, at: str = "project/.llxprt/settings.json", **more: Any) -> Path:
        """LLxprt settings with these commands on BeforeTool."""
        hooks = [{"type": "command", "command": command, **more} for command in commands]
        return self.write(at, {"hooks": {"BeforeTool": [{"hooks": hooks}]}})

    def harness(self, *paths: str, at: str = "project/.harness/settings.json") -> Path:
        return self.write(at, {"hooks": {"PreToolUse": [{"path": path} for path in paths]}})

    def goose(self, *commands: str, at: str = "project/.goose/config.yaml") -> Path:
        return self.write(at, {"hooks": {"pre_tool_use": [{"command": command} for command in commands]}})

    def harn(self, *handlers: str, at: str = "project/harn.toml") -> Path:
        entries = [f'[[hooks]]\nevent = "PreToolUse"\nhandler = "guards::{name}"\n' for name in handlers]
        return self.write(at, "".join(entries))

    def discover(self, cwd: str = "project") -> hookline.Hooks:
        return hookline.discover(self.base / cwd, environ=self.environ)

    def fire(self) -> hookline.Ruling:
        return self.discover().fire("PreToolUse", cwd=str(self.project), **TOOL)

    def reviews(self) -> list[Review]:
        ground, _, record, _ = standing(str(self.project), self.environ)
        found = surveyed(str(self.project), self.environ).findings
        return [review(finding.config, ground, record) for finding in found if finding.config]

    def trust(self) -> list[Review]:
        """What `hookline trust --yes` does, in this process."""
        ground, state, _, _ = standing(str(self.project), self.environ)
        reviews = self.reviews()
        data = {digest: content for made in reviews for digest, content in made.data.items()}
        state.keep(ground, [made.trusted("now") for made in reviews], data)
        return reviews

    def hookline(self, *words: str, cwd: str = "project", stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "hookline", *words],
            cwd=self.base / cwd,
            env=self.environ,
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            text=True,
            check=False,
            timeout=30,
        )

    def barred(self) -> list[str]:
        """Why each hook there is may not run; nothing where it may."""
        return [hook.barred for hook in self.discover()]
