"""Tool calls: the policy, approval, rewriting, denial, failure, and what the model is told."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import stages
from hookline import HookError, Hooks, UsageError, Verdict, allow, ask, context, deny, halt, rewrite
from hookline.results import Ask
from stages import Watch, echo

Way = Callable[..., Any]
ASKED = ["PermissionAsked", "PermissionReplied"]
RAN = ["PreToolUse", "PostToolUse"]


class Person:
    """An approver that always says the same, and remembers what it was asked."""

    def __init__(self, answer: Any) -> None:
        self.answer, self.asked = answer, []  # type: ignore[var-annotated]

    def __call__(self, question: Ask) -> Any:
        self.asked.append((question.tool, question.input, question.reason))
        return self.answer


def test_a_plain_call(way: Way, tmp_path: Path) -> None:
    """PreToolUse, the tool, PostToolUse; call and result are on the tape in their order."""
    hooks = Hooks()
    watch = Watch(hooks)
    tape = tmp_path / "tape.jsonl"
    with way(hooks, tape=tape) as s:
        done = s.tool("Bash", {"command": "ls"}, echo, mcp={"server_name": "shell"})
        assert (done.status, done.tool, done.input) == ("ok", "Bash", {"command": "ls"})
        assert done.output == 'ran {"command": "ls"}'
        assert (done.error, done.reason, done.halt, done.suppress_output) == (None, None, None, False)
    call = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "mcp": {"server_name": "shell"}}
    assert watch.of("PreToolUse") == [call]
    assert watch.of("PostToolUse") == [call | {"tool_output": done.output, "tool_error": None}]
    assert stages.records(tape, "tool_call", "tool_result") == [
        ("tool_call", {"tool_name": "Bash", "tool_input": {"command": "ls"}}),
        ("tool_result", {"tool_name": "Bash", "output": done.output}),
    ]


@pytest.mark.parametrize(
    ("value", "text"), [("é", "é"), ({"a": [1, None]}, '{"a":[1,null]}'), (None, "null"), (7, "7")]
)
def test_outputs_are_text(way: Way, value: Any, text: str) -> None:
    """Text stays as it is; any other JSON value is rendered compact."""
    with way(Hooks()) as s:
        assert s.tool("t", None, lambda given: value).output == text


# -- the policy


@pytest.mark.parametrize(
    ("allow", "deny", "tool", "refused"),
    [
        (None, [], "Bash", ""),
        (["read_*", "ls"], [], "read_file", ""),
        (["read_*", "ls"], [], "ls", ""),
        (["read_*"], [], "Read_file", "tool 'Read_file' is not among the allowed tools"),
        ([], [], "ls", "tool 'ls' is not among the allowed tools"),
        (None, ["exec_*", "rm"], "exec_now", "tool 'exec_now' is denied by the policy (exec_*)"),
        (["*"], ["rm"], "rm", "tool 'rm' is denied by the policy (rm)"),
        (None, ["rm"], "rmdir", ""),
    ],
)
def test_the_policy(way: Way, allow: Any, deny: Any, tool: str, refused: str) -> None:
    """A hit on deny, or none on a given allow list, is refused, where nobody says otherwise."""
    hooks = Hooks()
    watch = Watch(hooks, *ASKED, *RAN)
    with way(hooks, allow=allow, deny=deny) as s:
        done = s.tool(tool, {}, echo)
    if not refused:
        assert (done.status, watch.events) == ("ok", RAN)
        return
    reason = f"{refused} (nobody could be asked: the session has no approver)"
    assert (done.status, done.error, done.reason) == ("denied", "permission_denied", reason)
    assert done.output == f"The call of {tool} was denied: {reason}"
    assert watch.events == ASKED
    asked = {"tool_name": tool, "tool_input": {}, "reason": refused}
    assert watch.of("PermissionAsked") == [asked]
    assert watch.of("PermissionReplied") == [asked | {"decision": "deny", "reason": reason}]


@pytest.mark.parametrize("given", ["read_*", 5, [5]])
def test_a_policy_that_is_none(given: Any) -> None:
    """One glob is not a list of globs."""
    with pytest.raises(UsageError, match="takes a list of globs"):
        Hooks().session(allow=given)


@pytest.mark.parametrize(
    ("verdict", "approver", "status", "decision"),
    [
        (allow("on the list"), None, "ok", "allow"),
        (deny("off the list"), True, "denied", "deny"),
        (ask("unsure"), True, "ok", "allow"),
        (ask("unsure"), False, "denied", "deny"),
        (ask("unsure"), None, "denied", "deny"),
        (None, True, "ok", "allow"),
        (None, "session", "ok", "allow"),
        (None, False, "denied", "deny"),
        (None, None, "denied", "deny"),
    ],
)
def test_permission_asked(way: Way, verdict: Verdict | None, approver: Any, status: str, decision: str) -> None:
    """A hook's word settles it, else a person's, else it is refused; PermissionReplied comes once, whoever decided."""
    hooks = Hooks()
    hooks.on("PermissionAsked")(lambda payload: verdict)
    watch = Watch(hooks, *ASKED, *RAN)
    person = Person(approver)
    with way(hooks, deny=["*"], approve=None if approver is None else person) as s:
        assert s.tool("rm", {"path": "a"}, echo).status == status
    asked = (
        ASKED if verdict is None or verdict.decision != "deny" else ASKED[1:]
    )  # a deny settles, and nobody hears more
    assert watch.events == [*asked, *(RAN if status == "ok" else [])]
    assert watch.of("PermissionReplied")[0]["decision"] == decision
    settled = verdict is not None and verdict.decision in ("allow", "deny")
    assert len(person.asked) == (0 if settled or approver is None else 1)


@pytest.mark.parametrize("approver", [None, "session"])
def test_grants_are_remembered(way: Way, approver: Any) -> None:
    """A hook's allow, and a person's "session", hold for this tool with these arguments, however they are ordered."""
    hooks = Hooks()
    if approver is None:
        hooks.register_session_hook("permission_asked", lambda payload: {"decision": "allow"})
    watch = Watch(hooks, "PermissionAsked")
    person = Person(approver)
    with way(hooks, deny=["*"], approve=person) as s:
        for given in ({"a": 1, "b": [2]}, {"b": [2], "a": 1}, {"a": 1, "b": [3]}):
            assert s.tool("t", given, echo).status == "ok"
        assert s.tool("u", {"a": 1, "b": [2]}, echo).status == "ok"
    assert [(asked["tool_name"], asked["tool_input"]["b"]) for asked in watch.of("PermissionAsked")] == [
        ("t", [2]),
        ("t", [3]),
        ("u", [2]),
    ]


def test_a_plain_yes_holds_once(way: Way) -> None:
    """True approves one call; the next is asked about again."""
    person = Person(True)
    with way(Hooks(), deny=["*"], approve=person) as s:
        s.tool("t", {}, echo)
        s.tool("t", {}, echo)
    assert len(person.asked) == 2


# -- asking


@pytest.mark.parametrize(("answer", "status"), [(True, "ok"), ("session", "ok"), (False, "denied")])
def test_an_ask_ends_at_the_approver(way: Way, tmp_path: Path, answer: Any, status: str) -> None:
    """A person sees tool, arguments as they would run, and reason; no hook runs a second time."""
    hooks = Hooks()
    hooks.load(stages.goose(tmp_path, "pre_tool_use", """echo '{"decision": "require_approval", "reason": "risky"}'"""))
    hooks.register_tool_hook(pattern="t", pre=lambda payload: {"args": {"n": 2}})
    watch = Watch(hooks)
    person, tape = Person(answer), tmp_path / "tape.jsonl"
    with way(hooks, approve=person, tape=tape) as s:
        done = s.tool("t", {"n": 1}, echo)
        assert (done.status, done.input) == (status, {"n": 2})
    assert person.asked == [("t", {"n": 2}, "risky")]
    assert watch.events.count("PreToolUse") == 1
    assert watch.events.count("PermissionAsked") == 0
    approval = {"tool_name": "t", "tool_input": {"n": 2}, "reason": "risky", "answer": answer}
    assert stages.records(tape, "approval") == [("approval", approval)]
    if status == "denied":
        assert (done.error, done.reason) == ("permission_denied", "risky (not approved)")


def test_an_ask_nobody_can_answer(way: Way) -> None:
    """It is denied, and says why."""
    hooks = Hooks()
    hooks.on("PreToolUse")(lambda payload: ask("risky"))
    with way(hooks) as s:
        done = s.tool("t", {}, echo)
    assert done.reason == "risky (nobody could be asked: the session has no approver)"
    assert done.reason in done.output


def test_a_session_grant_answers_later_asks(way: Way) -> None:
    """A call that was granted for the session is not asked about again."""
    hooks = Hooks()
    hooks.on("PreToolUse")(lambda payload: ask("risky"))
    person = Person("session")
    with way(hooks, approve=person) as s:
        assert [s.tool("t", {}, echo).status for _ in range(3)] == ["ok"] * 3
    assert len(person.asked) == 1


@pytest.mark.parametrize("answer", [None, "yes", "always", 2, []])
def test_an_approver_with_another_answer(way: Way, answer: Any) -> None:
    """What is neither yes nor no is a mistake of the host's."""
    hooks = Hooks()
    hooks.on("PreToolUse")(lambda payload: ask("risky"))
    with way(hooks, approve=Person(answer)) as s, pytest.raises(UsageError, match="True, False or 'session'"):
        s.tool("t", {}, echo)


def test_no_approval_outweighs_a_deny(way: Way) -> None:
    """Where one hook asks and another denies, nobody is asked."""
    hooks = Hooks()
    hooks.on("PreToolUse")(lambda payload: ask("risky"))
    hooks.on("PreToolUse")(lambda payload: deny("never"))
    person = Person(True)
    with way(hooks, approve=person) as s:
        assert s.tool("t", {}, echo).reason == "never"
    assert person.asked == []


# -- denying


DENIERS: dict[str, Callable[[Hooks, Path], Any]] = {
    "harness": lambda hooks, at: hooks.load(stages.harness(at, "PreToolUse", "echo never >&2; exit 2")),
    "goose": lambda hooks, at: hooks.load(
        stages.goose(at, "pre_tool_use", """echo '{"decision": "block", "reason": "never"}'""")
    ),
    "llxprt": lambda hooks, at: hooks.load(stages.llxprt(at, "BeforeTool", {"decision": "deny", "reason": "never"})),
    "harn": lambda hooks, at: hooks.register_tool_hook(pattern="*", deny="never"),
    "python": lambda hooks, at: hooks.on("PreToolUse")(lambda payload: deny("never")),
}


@pytest.mark.parametrize("who", DENIERS)
def test_a_denied_call(way: Way, tmp_path: Path, who: str) -> None:
    """The tool does not run, PostToolUse does not fire, and the model is told the reason, whoever gave it."""
    hooks = Hooks()
    watch = Watch(hooks, "PostToolUse")
    DENIERS[who](hooks, tmp_path)
    ran: list[Any] = []
    tape = tmp_path / "tape.jsonl"
    with way(hooks, tape=tape) as s:
        done = s.tool("t", {"n": 1}, ran.append)
        assert (done.status, done.error, done.reason, done.input) == ("denied", "permission_denied", "never", {"n": 1})
        assert done.output == "The call of t was denied: never"
    assert (ran, watch.events, stages.records(tape, "tool_call", "tool_result")) == ([], [], [])
    refused = {"tool_name": "t", "tool_input": {"n": 1}, "reason": "never"}
    assert stages.records(tape, "tool_refused") == [("tool_refused", refused)]


# -- rewriting


def test_rewrites_chain(way: Way, tmp_path: Path) -> None:
    """Each hook sees the arguments as the one before left them, across dialects; the tool gets the last."""
    hooks = Hooks()
    hooks.register_tool_hook(pre=lambda payload: {"args": payload["tool"]["args"] | {"b": 2}})
    hooks.load(stages.llxprt(tmp_path, "BeforeTool", {"hookSpecificOutput": {"tool_input": {"c": 3}}}))
    watch = Watch(hooks, *RAN)
    with way(hooks) as s:
        done = s.tool("t", {"a": 1}, lambda given: given)
        assert done.input == {"a": 1, "b": 2, "c": 3}
        assert done.output == '{"a":1,"b":2,"c":3}'
    assert [payload["tool_input"] for _, payload in watch.heard] == [done.input, done.input]


SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        ({"n": 5}, ""),
        ({"n": "5"}, "$.n: '5' is not of type 'integer'"),
        ({}, "$: 'n' is a required property"),
    ],
)
def test_rewritten_arguments_are_checked(way: Way, args: dict[str, Any], problem: str) -> None:
    """Arguments that no longer fit the tool's schema are refused before anybody is asked, and the tool does not run."""
    hooks = Hooks()
    hooks.on("PreToolUse")(lambda payload: rewrite(tool_input=args) | ask("risky"))
    person, ran = Person(True), []  # type: ignore[var-annotated]
    with way(hooks, approve=person) as s:
        done = s.tool("t", {"n": 1}, ran.append, schema=SCHEMA)
    if not problem:
        assert (done.status, ran) == ("ok", [args])
        return
    assert (done.status, done.error, ran, person.asked) == ("denied", "permission_denied", [], [])
    assert done.reason == f"a hook rewrote the arguments, and they no longer fit the tool: {problem}"


def test_arguments_nobody_rewrote_are_the_hosts_own(way: Way) -> None:
    """Only what hooks rewrote is checked: the host has its own ways to treat what the model wrote."""
    with way(Hooks()) as s:
        assert s.tool("t", {"n": "five"}, echo, schema=SCHEMA).status == "ok"


def test_a_schema_that_is_none(way: Way) -> None:
    """A bad schema is found at once, not on the day a hook rewrites something."""
    with way(Hooks()) as s, pytest.raises(UsageError, match="no JSON Schema: 'objekt' is not valid"):
        s.tool("t", {}, echo, schema={"type": "objekt"})


def test_a_schema_without_its_package(way: Way, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without jsonschema, schema= says what to install."""
    monkeypatch.setitem(sys.modules, "jsonschema", None)
    with way(Hooks()) as s, pytest.raises(UsageError, match=r"install hookline\[schema\]"):
        s.tool("t", {}, echo, schema=SCHEMA)


# -- afterwards


def test_outputs_are_rewritten_in_a_chain(way: Way) -> None:
    """Harn's post hooks see each other's texts; the model gets the last, the tape keeps what the tool said."""
    hooks = Hooks()
    hooks.register_tool_hook(post=lambda payload: payload["result"]["text"] + "!")
    hooks.register_tool_hook(post=lambda payload: {"result": payload["result"]["text"].upper()})
    with way(hooks) as s:
        assert s.tool("t", {}, lambda given: "done").output == "DONE!"


def test_notes_for_the_model(way: Way, tmp_path: Path) -> None:
    """Context follows the output, then messages marked [System]; those of PreToolUse come first."""
    hooks = Hooks()
    hooks.load(stages.harness(tmp_path, "PreToolUse", "echo before"))
    hooks.load(stages.llxprt(tmp_path, "BeforeTool", {"systemMessage": "mind it"}))
    specific = {"additionalContext": "after"}
    hooks.load(stages.llxprt(tmp_path, "AfterTool", {"systemMessage": "well done", "hookSpecificOutput": specific}))
    with way(hooks) as s:
        done = s.tool("t", {}, lambda given: "done")
    assert done.output == "done\n\nbefore\n\nafter\n\n[System] mind it\n\n[System] well done"


def test_an_objection_after_the_fact(way: Way, tmp_path: Path) -> None:
    """LLxprt's AfterTool cannot undo a call: its reason is a message to the model."""
    hooks = Hooks()
    hooks.load(stages.llxprt(tmp_path, "AfterTool", {"decision": "block", "reason": "next time ask"}))
    with way(hooks) as s:
        done = s.tool("t", {}, lambda given: "done")
    assert (done.status, done.output) == ("ok", "done\n\n[System] next time ask")


def test_suppression(way: Way, tmp_path: Path) -> None:
    """A suppressed output is for the model, not for the screen."""
    hooks = Hooks()
    hooks.load(stages.llxprt(tmp_path, "AfterTool", {"suppressOutput": True}))
    with way(hooks) as s:
        done = s.tool("t", {}, lambda given: "done")
    assert (done.output, done.suppress_output) == ("done", True)


def test_halts(way: Way) -> None:
    """A halt before the tool keeps it from running; one after it keeps its output; a denial with a halt has both."""
    hooks = Hooks()
    hooks.on("PreToolUse", match="before")(lambda payload: halt("enough"))
    hooks.on("PostToolUse", match="after")(lambda payload: halt("enough"))
    hooks.on("PreToolUse", match="both")(lambda payload: deny("never") | halt("enough"))
    with way(hooks) as s:
        before, after, both = (s.tool(name, {}, echo) for name in ("before", "after", "both"))
    assert (before.status, before.halt) == ("halted", "enough")
    assert before.output == "The agent was halted before this tool ran: enough"
    assert (after.status, after.halt, after.output) == ("halted", "enough", "ran {}")
    assert (both.status, both.halt, both.reason) == ("denied", "enough", "never")


# -- failure


def test_a_tool_that_raises(way: Way, tmp_path: Path) -> None:
    """Its exception reaches the host; PostToolUse carries it as tool_error, and Harn's post hooks do not see it."""
    hooks = Hooks()
    seen: list[Any] = []
    hooks.register_tool_hook(post=seen.append)
    watch = Watch(hooks, "PostToolUse")
    tape = tmp_path / "tape.jsonl"

    def run(given: Any) -> str:
        raise OSError("disk full")

    with way(hooks, tape=tape) as s:
        with pytest.raises(OSError, match="disk full"):
            s.tool("t", {"a": 1}, run)
        assert s.tool("u", {}, echo).status == "ok"
    failed, _ = watch.of("PostToolUse")
    assert failed == {"tool_name": "t", "tool_input": {"a": 1}, "tool_error": "OSError: disk full"}
    assert [payload["tool"]["name"] for payload in seen] == ["u"]
    assert stages.records(tape, "tool_result")[0][1] == {"tool_name": "t", "error": "OSError: disk full"}


def test_a_tool_that_returns_no_json(way: Way) -> None:
    """What cannot be shown to a model is a mistake of the tool's."""
    with way(Hooks()) as s, pytest.raises(UsageError, match="JSON"):
        s.tool("t", {}, lambda given: object())


def test_a_handler_that_raises(way: Way) -> None:
    """Harn's handlers fail loudly, and the tool does not run."""
    hooks = Hooks()
    hooks.register_tool_hook(pre=lambda payload: 1 / 0)
    ran: list[Any] = []
    with way(hooks) as s, pytest.raises(HookError, match="division"):
        s.tool("t", {}, ran.append)
    assert ran == []


def test_context_of_a_permission(way: Way) -> None:
    """What a hook of PermissionAsked adds is read by the model with its next call."""
    hooks = Hooks()
    hooks.on("PermissionAsked")(lambda payload: allow() | context("be careful with rm"))
    with way(hooks, deny=["rm"]) as s:
        assert s.tool("rm", {}, echo).output == "ran {}"
        assert s.system() == "be careful with rm"
