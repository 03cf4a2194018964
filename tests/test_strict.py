"""What is opted in to: answers and files in which everything has to mean something, thresholds that fire once."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from hookline import BadAnswer, ConfigError, Hooks, Tape, UsageError, receipts
from hookline.replay import replay

FIELDS: dict[str, dict[str, Any]] = {
    "PreToolUse": {"tool_name": "Bash", "tool_input": {"command": "ls"}},
    "PostToolUse": {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_output": "a b"},
    "PreStep": {"persona": "p", "step": {"name": "audit", "args": [1]}},
    "PostStep": {"persona": "p", "step": {"name": "audit", "args": [1]}, "output": 1},
    "OnBudgetThreshold": {"persona": "p", "pct": 90},
    "UserPromptSubmit": {"prompt": "hello"},
    "PermissionAsked": {"tool_name": "Bash", "tool_input": {}, "reason": "not on the list"},
    "PostTurn": {},
    "SessionEnd": {},
}


def answering(event: str, answer: Any, *, strict: bool) -> Hooks:
    """Hooks with one handler of Harn that gives this answer."""
    hooks = Hooks(strict=strict)

    def handler(payload: dict[str, Any]) -> Any:
        return answer

    if event in ("PreToolUse", "PostToolUse"):
        hooks.on_tool("*", when="pre" if event == "PreToolUse" else "post")(handler)
    elif event in ("PreStep", "PostStep", "OnBudgetThreshold"):
        hooks.register_persona_hook("*", event, handler)
    else:
        hooks.register_session_hook(event, handler)
    return hooks


def came_to(event: str, answer: Any, *, strict: bool) -> dict[str, Any]:
    told = answering(event, answer, strict=strict).fire(event, **FIELDS[event]).to_dict()
    for report in told["hooks"]:
        del report["source"]
        report.pop("duration_ms", None)
    return told


# -- answers

IDLE = [
    ("PreToolUse", {}, "it asks for nothing"),
    ("PreToolUse", {"denny": "no"}, "its 'denny' means nothing here; did you mean 'deny'?"),
    ("PreToolUse", {"deny": "no", "note": 1}, "its 'note' means nothing here"),
    ("PreToolUse", {"result": "text"}, "its 'result' means nothing here"),
    ("PreToolUse", {"reason": "because"}, "it asks for nothing"),
    ("PreToolUse", {"deny": "no", "then": {"args": {}}}, "its 'deny' stands beside 'then'"),
    (
        "PreToolUse",
        {"reminder": {"body": "x"}, "then": {"agrs": {}}},
        "its 'agrs' means nothing here; did you mean 'args'",
    ),
    ("PostToolUse", {"args": {}}, "its 'args' means nothing here"),
    ("PreStep", {"reason": "because"}, "it asks for nothing"),
    ("PreStep", {"args": "no list"}, "its arguments must be a list"),
    ("PostStep", {"deny": "no"}, "its 'deny' means nothing here"),
    ("OnBudgetThreshold", {"deny": "no"}, "its 'deny' means nothing here"),
    ("UserPromptSubmit", {"decision": "deny"}, "its 'decision' means nothing on UserPromptSubmit"),
    ("UserPromptSubmit", {"blocked": True}, "its 'blocked' means nothing here; did you mean 'block'?"),
    ("PostTurn", {"control": "allow"}, "its 'control' means nothing here"),
]


@pytest.mark.parametrize(("event", "answer", "complaint"), IDLE)
def test_an_answer_that_means_nothing(event: str, answer: Any, complaint: str) -> None:
    """It is passed over, but for a strict hook: there it is an error that says what of it, and what is taken."""
    assert came_to(event, answer, strict=False)["decision"] in ("none", "deny")
    with pytest.raises(BadAnswer) as caught:
        came_to(event, answer, strict=True)
    assert complaint in str(caught.value)
    assert "; it takes None" in str(caught.value)


@pytest.mark.parametrize(
    ("event", "answer"),
    [
        ("PreToolUse", None),
        ("PreToolUse", {"deny": "no"}),
        ("PreToolUse", {"deny": True, "reason": "no"}),
        ("PreToolUse", {"deny": None}),
        ("PreToolUse", {"args": {"command": "ls -l"}}),
        ("PreToolUse", {"deny": "no", "args": {}}),
        ("PreToolUse", {"body": "mind", "tags": ["a"], "ttl_turns": 2}),
        ("PreToolUse", {"reminder": {"body": "mind"}, "then": {"reminder": {"body": "the gap"}, "then": None}}),
        ("PostToolUse", "text"),
        ("PostToolUse", {"result": 5}),
        ("PreStep", "Allow"),
        ("PreStep", {"action": "deny", "reason": "no"}),
        ("PostStep", {"output": 2}),
        ("OnBudgetThreshold", {"reminder": {"body": "mind"}}),
        ("UserPromptSubmit", True),
        ("UserPromptSubmit", {"block": True, "reason": "no"}),
        ("UserPromptSubmit", {"block": False}),
        ("UserPromptSubmit", [{"body": "mind"}, {"reminder": {"body": "the gap"}}]),
        ("UserPromptSubmit", {"effects": [{"type": "reminder", "spec": {"body": "mind"}}]}),
        ("PermissionAsked", {"decision": "allow", "reason": "why not"}),
        ("PostTurn", receipts.receipt({"job_id": "context.refresh", "event": "PostTurn"})),
    ],
)
def test_an_answer_of_the_tables(event: str, answer: Any) -> None:
    """What means something comes to the same, strict or not; a receipt of work is one of them."""
    assert came_to(event, answer, strict=True) == came_to(event, answer, strict=False)


def test_a_strict_error_is_swallowed_where_all_are() -> None:
    """On the end of a session a handler's mistake is reported, and keeps nothing from its end."""
    told = came_to("SessionEnd", {"blok": True}, strict=True)
    assert told["healthy"] is False
    assert "its 'blok' means nothing here; did you mean 'block'?" in told["hooks"][0]["error"]


def test_a_strict_error_is_replayed(tmp_path: Path) -> None:
    """The tape alone knows nothing of strict, and has the error."""
    with pytest.raises(BadAnswer):
        answering("PreToolUse", {}, strict=True).fire("PreToolUse", **FIELDS["PreToolUse"], tape=Tape(tmp_path / "t"))
    assert replay(tmp_path / "t").divergence is None


# -- files


def manifest(folder: Path) -> Path:
    (folder / "guards.py").write_text("def odd(payload):\n    return {'denny': 'no'}\n")
    file = folder / "harn.toml"
    file.write_text('[[hooks]]\nevent = "PreToolUse"\nhandler = "guards::odd"\n')
    return file


def test_handlers_of_a_strict_file(tmp_path: Path) -> None:
    """Those that a manifest names are as strict as the hooks they are loaded into; `load` alone is about the file."""
    strict, lenient = Hooks(strict=True), Hooks()
    strict.load(manifest(tmp_path))
    lenient.load(manifest(tmp_path), strict=True)
    assert lenient.fire("PreToolUse", **FIELDS["PreToolUse"]).decision == "none"
    with pytest.raises(BadAnswer, match="'denny' means nothing"):
        strict.fire("PreToolUse", **FIELDS["PreToolUse"])


def test_strict_files(tmp_path: Path) -> None:
    """What would be a notice is an error, unless this file is excepted."""
    file = manifest(tmp_path)
    file.write_text(file.read_text() + 'patern = "Bash"\n')
    with pytest.raises(ConfigError, match="patern"):
        Hooks(strict=True).load(file)
    excepted = Hooks(strict=True)
    assert len(excepted.load(file, strict=False)) == 1
    assert "patern" in str(excepted.notices[0])


# -- thresholds


def reports(hooks: Hooks, *told: tuple[str, str, float]) -> None:
    for session, persona, pct in told:
        hooks.fire("OnBudgetThreshold", session_id=session, persona=persona, pct=pct)


@pytest.mark.parametrize("how", ["register_persona_hook", "on_persona", "register_step_hook", "on_step"])
def test_once(how: str) -> None:
    """The handler is called by the first report at the threshold, in each session, for each persona."""
    hooks, heard = Hooks(), []

    def handler(payload: dict[str, Any]) -> None:
        heard.append((payload["session"]["id"], payload["persona"], payload["pct"]))

    place = ("*", "audit") if "step" in how else ("*",)
    event = "OnBudgetThreshold(80)"
    if how.startswith("on"):
        assert getattr(hooks, how)(*place, event, once=True)(handler) is handler
    else:
        getattr(hooks, how)(*place, event, handler, once=True)
    step = {"step": {"name": "audit"}} if "step" in how else {}
    for session, persona, pct in [("a", "p", 79), ("a", "p", 81), ("a", "p", 99), ("a", "q", 82), ("b", "p", 83)]:
        hooks.fire("OnBudgetThreshold", session_id=session, persona=persona, pct=pct, **step)
    assert heard == [("a", "p", 81), ("a", "q", 82), ("b", "p", 83)]
    again = hooks.fire("OnBudgetThreshold", session_id="a", persona="p", pct=100, **step)
    assert [report.status for report in again.hooks] == ["skipped"]
    assert again.hooks[0].skipped.endswith("pct >= 80, once in a session")
    assert hooks.remove(handler) == 1


def test_to_explain_is_not_to_call() -> None:
    """Whoever asks what would run uses nothing up; a handler that raised was called."""
    hooks = Hooks()

    @hooks.on_persona("*", "OnBudgetThreshold", once=True)
    async def fails(payload: dict[str, Any]) -> None:
        raise ValueError("broken")

    told = {"session_id": "s", "persona": "p", "pct": 1}
    assert [entry.runs for _ in range(2) for entry in hooks.explain("OnBudgetThreshold", **told).entries] == [
        True,
        True,
    ]
    with pytest.raises(Exception, match="broken"):
        asyncio.run(hooks.fire_async("OnBudgetThreshold", **told))
    assert [entry.runs for entry in hooks.explain("OnBudgetThreshold", **told).entries] == [False]
    assert "fails" in next(iter(hooks)).action.to_dict()["handler"]


def test_once_on_many_threads() -> None:
    """Reports that come at the same time call it once."""
    hooks, heard = Hooks(), []
    hooks.register_persona_hook("*", "OnBudgetThreshold(1)", lambda payload: heard.append(payload["pct"]), once=True)
    begin = threading.Barrier(8)

    def report() -> None:
        begin.wait()
        reports(hooks, *[("s", "p", 50)] * 20)

    threads = [threading.Thread(target=report) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert heard == [50]


def test_once_forgets_the_oldest(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host of many sessions does not fill its memory."""
    monkeypatch.setattr("hookline.handlers.Once.MOST", 3)
    hooks, heard = Hooks(), []
    hooks.register_persona_hook(
        "*", "OnBudgetThreshold", lambda payload: heard.append(payload["session"]["id"]), once=True
    )
    reports(hooks, *[(session, "p", 1.0) for session in "abcdbcda"])
    assert heard == ["a", "b", "c", "d", "a"]


def test_once_is_for_thresholds() -> None:
    """A guard that guards once is a mistake."""
    with pytest.raises(UsageError, match=r"once=True is for OnBudgetThreshold.*not for PreStep"):
        Hooks().register_persona_hook("*", "PreStep", print, once=True)
