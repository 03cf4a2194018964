"""What holds a record together is never masked; what hooks, tools and hosts say is, whatever its key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest

from hookline import HookError, Hooks, deny, remind
from hookline.dialects import DIALECTS
from hookline.events import ROWS
from hookline.holding import held
from hookline.masking import MASK, Masking
from hookline.model import Decision, OnFailure, Outcome, Status
from hookline.reminders import Origin, Propagate, RoleHint
from hookline.replay import replay
from hookline.tape import read
from studio import scripts

CANARY = "canaryplainzzzz0123456789"
SAID = {"status": CANARY, "event": CANARY, "result": CANARY, "role": CANARY, "source": CANARY, "handler": CANARY}


def test_what_is_said_under_our_keys_is_masked(tmp_path: Path) -> None:
    """A session's source, the answers of Harn's handlers, payloads, outputs, reminders: no key protects a secret."""
    hooks = Hooks(environ={"DB_PASSWORD": CANARY})
    hooks.register_tool_hook(pattern="*", pre=lambda payload: SAID | {"hook": CANARY, "dialect": CANARY})
    hooks.register_tool_hook(pattern="*", post=lambda payload: {"result": CANARY, "status": CANARY})
    hooks.register_session_hook("post_turn", lambda payload: {"reminder": {"body": "b", "tags": [CANARY]}} | SAID)
    hooks.load(scripts(tmp_path, says=f"echo '{json.dumps(SAID)}'"))
    hooks.on("Stop")(lambda payload: deny("no") | remind(CANARY))
    with hooks.session(tape=tmp_path / "t", source=CANARY, task=CANARY) as s:
        s.tool("Bash", SAID, json.dumps)
        s.model({"messages": [{"role": CANARY, "content": "x", "source": CANARY}]}, lambda request: {"role": CANARY})
        s.file_edited("x", SAID)
        s.turn_done("done")
        s.stop("done")
    text = (tmp_path / "t").read_text()
    assert CANARY not in text
    assert next(read(tmp_path / "t")).data["source"] == MASK
    assert '"kind":"hook_returned"' in text
    assert replay(tmp_path / "t").divergence is None


def test_a_handler_of_harn_that_answers_with_a_source(tmp_path: Path) -> None:
    """Also what nobody could read of an answer is masked under every key."""
    hooks = Hooks(environ={"DB_PASSWORD": CANARY})
    hooks.register_session_hook("post_turn", lambda payload: {"body": "b", "source": CANARY})
    with hooks.session(tape=tmp_path / "t") as s, pytest.raises(HookError, match="source"):
        s.turn_done("x")
    raised = next(record for record in read(tmp_path / "t") if record.kind == "hook_raised")
    assert raised.data["raw"] == {"body": "b", "source": MASK}


OURS = [
    "exited", "returned", "deny", "none", "ran", "failed", "skipped", "hook", "in_pipeline", "system", "session",
    "tool", "harness", "python", "harn", "PreToolUse", "Stop", "user", "block",
]  # fmt: skip


def test_patterns_that_fit_our_words(tmp_path: Path) -> None:
    """Patterns that would mask every word of ours keep no tape from being replayed."""
    hooks = Hooks()
    hooks.load(scripts(tmp_path, blocks="echo no >&2; exit 2"))
    hooks.on("Stop")(lambda payload: deny("no") | remind("x"))
    hooks.register_tool_hook(pattern="read", deny="not that")
    with hooks.session(tape=tmp_path / "t", mask=[rf"\b{word}\b" for word in OURS], approve=lambda ask: False) as s:
        s.tool("Bash", {"decision": "deny"}, str)
        s.tool("read", {}, str)
        s.reminders.inject("mine")
        s.stop("done")
    records = list(read(tmp_path / "t"))
    assert {record.data.get("dialect") for record in records} >= {"harness", "python", "harn"}
    refused = next(record for record in records if record.kind == "tool_refused")
    assert refused.data["tool_input"] == {"decision": MASK}
    assert replay(tmp_path / "t").divergence is None


def places(kind: str, data: dict[str, Any]) -> set[str]:
    return {"/".join(map(str, place)) for place in held(kind, data)}


def test_the_words_are_those_of_the_model() -> None:
    """Every decision, status, surface, dialect and origin there is holds a record together, and nothing else does."""
    for key, words in {"decision": get_args(Decision), "on_failure": get_args(OnFailure), "dialect": DIALECTS}.items():
        assert all(places("hook_call", {key: word}) == {key} for word in words)
        assert places("hook_call", {key: "canary"}) == set()
    assert all(places("hook_call", {"event": name, "surface": row.surface}) for name, row in ROWS.items())
    assert all(places("hook_call", {"surface": row.surface}) for row in ROWS.values())
    for word in get_args(Status):
        assert places("ruling", {"hooks": [{"status": word}, {"status": "canary"}]}) == {"hooks/0/status"}
    for word in set(get_args(Outcome.__annotations__["status"])) - {"returned", "raised"}:
        assert places("hook_returned", {"raw": {"status": word}}) == {"raw/status"}
    for key, kind in {"source": Origin, "role_hint": RoleHint, "propagate": Propagate}.items():
        assert all(
            places("system_reminder", {"reminder": {key: word}}) == {f"reminder/{key}"} for word in get_args(kind)
        )
        assert places("system_reminder", {"reminder": {key: "canary"}}) == set()


def test_who_said_it_counts() -> None:
    """The same keys are ours in one place and a hook's, or the host's, in another."""
    said = {"dialect": "harn", "raw": {"decision": "deny", "status": "exited"}}
    assert places("hook_returned", said) == {"dialect"}
    assert places("hook_returned", said | {"dialect": "python"}) == {"dialect", "raw/decision"}
    assert places("hook_returned", said | {"dialect": "goose"}) == {"dialect", "raw/status"}
    assert places("session", {"source": "startup"}) == places("tool_call", {"event": "x"}) == set()
    assert places("ruling", {"hooks": "none", "reminders": [{"source": "hook"}, 7]}) == {"reminders/0/source"}
    assert places("hook_call", {"source": "ghp_" + "c" * 36, "handler": "a b"}) == set()
    assert Masking().record("session", {"source": "token=abcdef"}) == ({"source": f"token={MASK}"}, ["/source"])
