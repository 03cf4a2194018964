"""The types people write against: a file of handlers, right and wrong ones, that mypy must see through."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_the_examples_check_and_their_mistakes_are_found(tmp_path: Path) -> None:
    """Strict mypy has nothing to say: every assert_type holds, every ignored line is an error indeed."""
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), "tests/typing/api.py"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_types_cost_nothing_at_run_time() -> None:
    """Whoever fires an event does not import what only type checkers read."""
    code = """if True:
        import sys
        from hookline import Hooks, deny
        hooks = Hooks()
        hooks.on("PreToolUse")(lambda payload: deny("no"))
        hooks.register_session_hook("session_end", lambda payload: None)
        hooks.fire("PreToolUse", tool_name="Bash", tool_input={})
        read_by_nobody = {"names", "payloads", "harn_payloads", "signatures"}
        print([name for name in sorted(read_by_nobody) if f"hookline.{name}" in sys.modules])
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
