"""Harn's hooks: registered in the program, fired through the whole engine."""

from __future__ import annotations

import asyncio
import gc
import itertools
import json
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from hookline import BadAnswer, HookError, Hooks, Ruling, Tape, UsageError, context
from hookline.dialects import harn
from hookline.events import ROWS
from hookline.tape import read
from hookline.truncating import truncated

TOOL = {"tool_name": "exec_run", "tool_input": {"command": "ls"}}
STEP = {"name": "audit", "args": [1, 2]}
SESSION_EVENTS = (
    *("session_start", "session_end", "session_error", "session_idle", "user_prompt_submit", "file_edited"),
    *("pre_compact", "post_compact", "post_turn", "permission_asked", "permission_replied"),
    *("pre_finish", "on_unsettled_detected", "post_finish"),
)
NOTICES = ("OnApprovalRequested", "OnHandoffEmitted", "OnPersonaPaused", "OnPersonaResumed")
STEP_EVENTS = ("PreStep", "PostStep", "OnBudgetThreshold", *NOTICES)
NEEDED: dict[str, dict[str, Any]] = {
    "PreToolUse": TOOL,
    "PostToolUse": {**TOOL, "tool_output": "text"},
    "UserPromptSubmit": {"prompt": "hello"},
    "PermissionAsked": {**TOOL, "reason": "not on the list"},
    "PermissionReplied": {**TOOL, "reason": "not on the list", "decision": "deny"},
    "FileEdited": {"path": "a.py"},
    "PreStep": {"persona": "merge_captain", "step": STEP},
    "PostStep": {"persona": "merge_captain", "step": STEP, "output": "done"},
    "OnBudgetThreshold": {"persona": "merge_captain", "pct": 85},
    **{name: {"persona": "merge_captain"} for name in NOTICES},
}
ADVISORY = ("SessionStart", "SessionEnd", "SessionError", "PostCompact", "PostTurn", "PermissionReplied", "FileEdited")
ADVISORY += ("SessionIdle", "OnUnsettledDetected", "PostFinish")
CONTROL = ("UserPromptSubmit", "PreCompact", "PermissionAsked", "PreFinish")


def pascal(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


def fire(hooks: Hooks, event: str, **more: Any) -> Ruling:
    return hooks.fire(event, **{**NEEDED.get(event, {}), **more})


def says(answer: Any) -> Callable[[dict[str, Any]], Any]:
    """A handler with always the same answer."""
    return lambda payload: answer


def keeps(seen: list[Any], *path: str) -> Callable[[dict[str, Any]], None]:
    """A handler that keeps what is at this place of its payload."""

    def handler(payload: dict[str, Any]) -> None:
        value: Any = payload
        for name in path:
            value = value[name]
        seen.append(json.loads(json.dumps(value)))

    return handler


def statuses(ruling: Ruling) -> list[tuple[str, str]]:
    return [(report.hook, report.skipped or report.status) for report in ruling.hooks]


def bodies(ruling: Ruling) -> list[str]:
    return [one["body"] for one in ruling.reminders]


# -- tool hooks


def test_deny() -> None:
    """`deny=` denies every tool that fits the glob, with its text as the reason."""
    hooks = Hooks()
    hooks.register_tool_hook(pattern="exec_*", deny="exec is gated")
    assert (fire(hooks, "PreToolUse").decision, fire(hooks, "PreToolUse").reason) == ("deny", "exec is gated")
    other = fire(hooks, "PreToolUse", tool_name="fetch")
    assert (other.decision, statuses(other)) == (
        "none",
        [("tool_hook::exec_*::pre", "no match: tool_name = exec_*")],
    )


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (404, "404"),
        ({"a": 1}, '{"a":1}'),
        (False, "false"),
        (True, "denied by tool_hook::*::pre"),
        ("", "denied by tool_hook::*::pre"),
    ],
)
def test_deny_is_text(given: Any, reason: str) -> None:
    """Whatever `deny=` holds denies, as text; where there is none, the reason names the hook."""
    hooks = Hooks()
    hooks.register_tool_hook(deny=given)
    assert (fire(hooks, "PreToolUse").decision, fire(hooks, "PreToolUse").reason) == ("deny", reason)


@pytest.mark.parametrize("config", [None, {}, {"pattern": "x"}, {"deny": None, "max_output": None, "pre": None}])
def test_nothing_to_register(config: Any) -> None:
    """A registration without anything to do is none, and can be taken back all the same."""
    hooks = Hooks()
    registration = hooks.register_tool_hook(config)
    assert (registration.hooks, len(hooks), registration.remove()) == ((), 0, 0)


def test_the_place_of_a_native_hook() -> None:
    """A hook without a handler was written where it was registered."""
    hooks = Hooks()
    hooks.register_tool_hook(deny="x", max_output=500)
    assert [(hook.source.file, hook.source.pointer[0]) for hook in hooks] == [(__file__, "L")] * 2


def test_one_dict_is_as_good_as_keywords() -> None:
    """The config may be one dict, keywords, or both; keywords win."""
    hooks = Hooks()
    hooks.register_tool_hook({"pattern": "a", "deny": "x"})
    hooks.register_tool_hook(pattern="a", deny="x")
    hooks.register_tool_hook({"pattern": "b", "deny": "x"}, pattern="a")  # type: ignore[call-overload]
    assert [hook.name for hook in hooks] == ["tool_hook::a::pre"] * 3


@pytest.mark.parametrize("pattern", [5, 2.5, True, None])
def test_a_pattern_is_made_a_string(pattern: Any) -> None:
    """Any value of `pattern` is made a string, and None is everything."""
    hooks = Hooks()
    hooks.register_tool_hook(pattern=pattern, deny="x")
    name = "*" if pattern is None else str(pattern)
    assert [hook.name for hook in hooks] == [f"tool_hook::{name}::pre"]
    assert fire(hooks, "PreToolUse", tool_name="True").decision == ("deny" if name in ("*", "True") else "none")


@pytest.mark.parametrize(
    ("config", "complaint"),
    [
        ({"patern": "x"}, "not 'patern'; did you mean 'pattern'?"),
        ({"on_pre": print}, "takes pattern, deny, max_output, pre, post, not 'on_pre'"),
        ({"pre": "guards::check"}, "pre must be a function of one argument"),
        ({"post": 5}, "post must be a function of one argument"),
        ([], "takes keywords, or one dict, not a list"),
        ("exec_*", "takes keywords, or one dict, not a string 'exec_*'"),
    ],
)
def test_wrong_configs(config: Any, complaint: str) -> None:
    """A mistake in a registration is an error at once, and nothing of it is registered."""
    hooks = Hooks()
    with pytest.raises(UsageError) as caught:
        hooks.register_tool_hook(config)
    assert complaint in str(caught.value)
    assert len(hooks) == 0


def test_the_four_entries_of_one_registration() -> None:
    """deny, max_output, pre, post: in this order, two of them for each event."""
    hooks = Hooks()
    made = hooks.register_tool_hook(pattern="x", post=says(None), pre=says(None), max_output=500, deny="no")
    assert [(hook.name, hook.event) for hook in made.hooks] == [
        ("tool_hook::x::pre", "PreToolUse"),
        ("tool_hook::x::post", "PostToolUse"),
        ("tool_hook::x::pre", "PreToolUse"),
        ("tool_hook::x::post", "PostToolUse"),
    ]
    assert fire(hooks, "PreToolUse", tool_name="x").reason == "no"
    seen: list[str] = []
    hooks = Hooks()
    hooks.register_tool_hook(max_output=500, post=keeps(seen, "result", "text"))
    fire(hooks, "PostToolUse", tool_output="x" * 600)
    assert seen == [truncated("x" * 600, 500)]


@pytest.mark.parametrize("limit", ["400", 400.0, True, None, [400]])
def test_max_output_is_a_whole_number(limit: Any) -> None:
    """Any other type of `max_output` is no limit."""
    hooks = Hooks()
    assert hooks.register_tool_hook(max_output=limit).hooks == ()


@pytest.mark.parametrize("limit", [400, 199, 200, -1, 0, 10**9])
def test_max_output(limit: int) -> None:
    """Output longer than the limit is cut; below the floor of 200, and where it fits, it is left alone."""
    hooks = Hooks()
    hooks.register_tool_hook(max_output=limit)
    output = "".join(f"line {number}\n" for number in range(200))
    ruling = fire(hooks, "PostToolUse", tool_output=output)
    assert ruling.tool_output == (truncated(output, limit) if limit in (200, 400) else None)
    assert (ruling.tool_output is not None) == (limit in (200, 400))


def test_max_output_of_a_value() -> None:
    """Output that is no text is cut as the compact JSON the model would read."""
    hooks = Hooks()
    hooks.register_tool_hook(max_output=300)
    rows = [{"n": n} for n in range(100)]
    compact = json.dumps(rows, separators=(",", ":"))
    assert fire(hooks, "PostToolUse", tool_output=rows).tool_output == truncated(compact, 300)
    assert fire(hooks, "PostToolUse", tool_output=rows[:3]).tool_output is None


def test_arguments_chain() -> None:
    """A rewrite is what the next hook sees and rewrites in turn; the last one is the ruling's."""
    hooks, seen = Hooks(), []  # type: ignore[var-annotated]
    hooks.register_tool_hook(pre=says({"args": {"command": "ls -a"}}))
    hooks.register_tool_hook(pre=keeps(seen, "tool", "args"))
    hooks.register_tool_hook(pre=lambda payload: {"args": {**payload["tool"]["args"], "timeout": 5}})
    hooks.register_tool_hook(pre=keeps(seen, "tool", "args"))
    ruling = fire(hooks, "PreToolUse")
    assert seen == [{"command": "ls -a"}, {"command": "ls -a", "timeout": 5}]
    assert ruling.tool_input == {"command": "ls -a", "timeout": 5}
    assert ruling.decision == "none"


def test_arguments_are_replaced_not_merged() -> None:
    """`args` are all arguments: what is left out is gone."""
    hooks = Hooks()
    hooks.register_tool_hook(pre=says({"args": {"other": 1}}))
    assert fire(hooks, "PreToolUse").tool_input == {"other": 1}


def test_rewritten_arguments_are_matched() -> None:
    """A pattern looks at the arguments as they are when its turn comes: a rewrite switches hooks on and off."""
    hooks, ran = Hooks(), []  # type: ignore[var-annotated]
    hooks.register_tool_hook(pattern="tool.args.command == 'rm'", pre=says({"deny": "too early"}))
    hooks.register_tool_hook(pre=says({"args": {"command": "rm"}}))
    hooks.register_tool_hook(pattern="tool.args.command == 'ls'", pre=lambda payload: ran.append("ls"))
    hooks.register_tool_hook(pattern="tool.args.command =~ '^r'", pre=lambda payload: ran.append("rm"))
    hooks.register_tool_hook(pattern="tool.args.command == 'rm'", pre=says({"deny": "rm is gated"}))
    ruling = fire(hooks, "PreToolUse")
    assert (ran, ruling.reason) == (["rm"], "rm is gated")
    assert [status for _, status in statuses(ruling)] == [
        "no match: tool.args.command == 'rm'",
        "ran",
        "no match: tool.args.command == 'ls'",
        "ran",
        "ran",
    ]


def test_the_first_deny_stops() -> None:
    """A deny ends it: later hooks are skipped, rewrites made before it are dropped, its reminders stay."""
    hooks, ran = Hooks(), []  # type: ignore[var-annotated]
    hooks.register_tool_hook(pre=says({"reminder": {"body": "before"}, "args": {"command": "pwd"}}))
    hooks.register_tool_hook(pre=says({"reminder": {"body": "with"}, "then": {"deny": "first"}}))
    hooks.register_tool_hook(pre=lambda payload: ran.append(1))
    hooks.register_tool_hook(deny="second")
    ruling = fire(hooks, "PreToolUse")
    assert (ruling.decision, ruling.reason, ruling.tool_input, ran) == ("deny", "first", None, [])
    assert bodies(ruling) == ["before", "with"]
    assert [status for _, status in statuses(ruling)] == ["ran", "ran"] + ["settled by tool_hook::*::pre"] * 2


def test_results_chain() -> None:
    """After a tool every hook runs, and each sees the text as the one before left it."""
    hooks, seen = Hooks(), []  # type: ignore[var-annotated]
    hooks.register_tool_hook(post=lambda payload: payload["result"]["text"] + "1")
    hooks.register_tool_hook(post=lambda payload: {"result": payload["result"]["text"] + "2"})
    hooks.register_tool_hook(post=says(None))
    hooks.register_tool_hook(post=keeps(seen))
    ruling = fire(hooks, "PostToolUse", session_id="s")
    assert ruling.tool_output == "text12"
    assert seen == [
        {
            "event": "PostToolUse",
            "session": {"id": "s"},
            "tool": {"name": "exec_run", "args": {"command": "ls"}},
            "result": {"text": "text12"},
        }
    ]


def test_post_hooks_do_not_see_failures() -> None:
    """A call that failed reaches no post hook, whatever its pattern; the report says why."""
    hooks = Hooks()
    hooks.register_tool_hook(pattern="exec_*", post=says("x"), max_output=200)
    hooks.register_tool_hook(post=says("x"))
    ruling = fire(hooks, "PostToolUse", tool_output=None, tool_error="it broke")
    assert ruling.tool_output is None
    assert [status for _, status in statuses(ruling)] == [
        "no match: tool_name = exec_*, the tool succeeded",
        "no match: tool_name = exec_*, the tool succeeded",
        "no match: the tool succeeded",
    ]
    assert fire(hooks, "PostToolUse", tool_error=None).tool_output == "x"


def test_order_is_the_order_of_registration() -> None:
    """Hooks run as they were registered, whichever way that was."""
    hooks, order = Hooks(), []  # type: ignore[var-annotated]

    def note(number: int) -> Callable[[Any], Any]:
        return lambda payload: order.append(number)

    hooks.register_tool_hook(pre=note(1))
    hooks.on("PreToolUse")(note(2))
    hooks.on_tool("exec_*")(note(3))
    hooks.register_tool_hook(pattern="exec_*", pre=note(4))
    fire(hooks, "PreToolUse")
    assert order == [1, 2, 3, 4]


# -- what changes while hooks run


def test_a_hook_registered_by_a_hook() -> None:
    """A hook registered inside a running hook counts from the next fire on."""
    hooks, ran = Hooks(), []  # type: ignore[var-annotated]

    @hooks.on_tool()
    def first(payload: Any) -> None:
        ran.append("first")
        hooks.register_tool_hook(pre=lambda payload: ran.append("new"))

    fire(hooks, "PreToolUse")
    assert ran == ["first"]
    fire(hooks, "PreToolUse")
    assert ran == ["first", "first", "new"]


def test_a_hook_removed_by_a_hook() -> None:
    """An event under way goes on with the hooks it had; the removal counts from the next fire on."""
    hooks, ran = Hooks(), []  # type: ignore[var-annotated]
    hooks.register_tool_hook(pre=lambda payload: ran.append(second.remove()))
    second = hooks.register_tool_hook(pre=lambda payload: ran.append("second"))
    fire(hooks, "PreToolUse")
    assert ran == [1, "second"]
    fire(hooks, "PreToolUse")
    assert ran == [1, "second", 0]


def test_registering_while_others_fire() -> None:
    """Threads may register and remove while others fire: each fire sees all of a registration or nothing of it."""
    hooks = Hooks()
    hooks.register_tool_hook(pre=says(None))
    stop, problems = threading.Event(), []  # type: ignore[var-annotated]

    def fires() -> None:
        try:
            while not stop.is_set():
                ruling = fire(hooks, "PreToolUse")
                names = [report.hook for report in ruling.hooks]
                assert names.count("tool_hook::pair::pre") in (0, 2, 4, 6, 8)
                assert names[0] == "tool_hook::*::pre"
        except BaseException as error:
            problems.append(error)

    def registers() -> None:
        for _ in range(100):
            made = hooks.register_tool_hook(pattern="pair", deny="x", pre=says(None))
            if made.remove() != 2:
                problems.append("a hook went missing")

    watching = [threading.Thread(target=fires) for _ in range(3)]
    changing = [threading.Thread(target=registers) for _ in range(4)]
    for thread in watching + changing:
        thread.start()
    for thread in changing:
        thread.join()
    stop.set()
    for thread in watching:
        thread.join()
    assert problems == []
    assert len(hooks) == 1


# -- taking hooks back


def test_handles() -> None:
    """`.remove()` takes back exactly what its registration came to, once."""
    hooks = Hooks()
    one = hooks.register_tool_hook(deny="one", post=says("1"))
    two = hooks.register_tool_hook(deny="two")
    three = hooks.register_session_hook("post_turn", says(None))
    assert (one.remove(), one.remove()) == (2, 0)
    assert fire(hooks, "PreToolUse").reason == "two"
    assert (two.remove(), three.remove(), len(hooks)) == (1, 1, 0)


def test_the_same_handler_twice() -> None:
    """A handle takes back its own registration, not another one of the same handler; `remove` takes all of them."""
    hooks, handler = Hooks(), says({"deny": "x"})
    first = hooks.register_tool_hook(pattern="a", pre=handler)
    hooks.register_tool_hook(pattern="b", pre=handler)
    hooks.on_session("post_turn")(handler)
    assert (first.remove(), [hook.name for hook in hooks]) == (1, ["tool_hook::b::pre", "session_hook::PostTurn"])
    assert (hooks.remove(handler), len(hooks)) == (2, 0)


def test_removing_a_bound_method() -> None:
    """Every access to a method makes a new object; they are the same handler all the same."""

    class Guard:
        def check(self, payload: Any) -> None: ...

    hooks, guard = Hooks(), Guard()
    hooks.on_tool()(guard.check)
    assert (hooks.remove(Guard().check), hooks.remove(guard.check)) == (0, 1)


def test_clearing() -> None:
    """Each `clear_…_hooks` takes Harn's hooks of its own surface, and no other's."""
    hooks = Hooks()

    def filled() -> None:
        hooks.register_tool_hook(deny="x", post=says(None))
        hooks.register_persona_hook("*", "PreStep", says(None))
        hooks.register_step_hook("*", "a", "OnBudgetThreshold(5)", says(None))
        for event in SESSION_EVENTS:
            hooks.register_session_hook(event, says(None))
        hooks.on("PreToolUse")(says(None))

    filled()
    assert (hooks.clear_tool_hooks(), len(hooks)) == (2, 17)
    assert (hooks.clear_persona_hooks(), len(hooks)) == (2, 15)
    assert (hooks.clear_session_hooks(), len(hooks)) == (14, 1)
    assert (hooks.clear_tool_hooks(), hooks.clear_persona_hooks(), hooks.clear_session_hooks()) == (0, 0, 0)
    assert [hook.dialect for hook in hooks] == ["python"]


# -- decorators


def test_decorators() -> None:
    """Each decorator registers what its function does, and leaves the handler as it was."""
    hooks = Hooks()

    @hooks.on_tool("fetch_*")
    def before(payload: Any) -> Any:
        """Runs before."""

    @hooks.on_tool("fetch_*", when="post")
    def after(payload: Any) -> Any: ...

    @hooks.on_session("user_prompt_submit", "prompt == 'x'")
    def prompt(payload: Any) -> Any: ...

    @hooks.on_persona("merge_*", "OnBudgetThreshold(80)")
    def budget(payload: Any) -> Any: ...

    @hooks.on_step("merge_*", "audit", "PreStep")
    def audit(payload: Any) -> Any: ...

    @hooks.on("PreToolUse", match="Bash")
    def ours(payload: Any) -> Any: ...

    assert [(hook.name, hook.event, hook.action.to_dict()["handler"]) for hook in hooks] == [
        ("tool_hook::fetch_*::pre", "PreToolUse", f"{__name__}.test_decorators.<locals>.before"),
        ("tool_hook::fetch_*::post", "PostToolUse", f"{__name__}.test_decorators.<locals>.after"),
        ("session_hook::UserPromptSubmit", "UserPromptSubmit", f"{__name__}.test_decorators.<locals>.prompt"),
        (
            "persona_hook::merge_*::OnBudgetThreshold(80)",
            "OnBudgetThreshold",
            f"{__name__}.test_decorators.<locals>.budget",
        ),
        ("step_hook::merge_*::audit::PreStep", "PreStep", f"{__name__}.test_decorators.<locals>.audit"),
        (f"{__name__}.test_decorators.<locals>.ours", "PreToolUse", f"{__name__}.test_decorators.<locals>.ours"),
    ]
    assert all(hook.source.file == __file__ for hook in hooks)
    assert before({}) is None
    assert harn.about(next(iter(hooks))).text == "Runs before."


def test_a_decorator_without_parentheses() -> None:
    """A bare `@hooks.on_tool` would register nothing; it is an error that says what to write."""
    hooks = Hooks()
    for name in ("on_tool", "on_session", "on_persona", "on_step", "on"):
        with pytest.raises(UsageError, match=rf"@hooks.{name} was given a function: write @hooks.{name}\("):
            getattr(hooks, name)(says(None))


@pytest.mark.parametrize(
    ("name", "given", "named", "message"),
    [
        ("on", (), {}, '@hooks.on needs the event: @hooks.on("PreToolUse")'),
        ("on", ("PreToolUse",), {"matcher": "x"}, "not matcher=: write @hooks.on("),
        ("on", ("PreToolUse",), {"pattern": "x"}, 'not pattern=: write @hooks.on("PreToolUse", match="fetch_*")'),
        ("on", ("PreToolUse", "Bash"), {}, "not 'Bash': write @hooks.on("),
        ("on_session", (), {}, "@hooks.on_session needs an event: @hooks.on_session(event)"),
        ("on_persona", ("p",), {}, "@hooks.on_persona needs a persona and an event: @hooks.on_persona("),
        ("on_step", ("p", "audit"), {}, "@hooks.on_step needs a persona, a step and an event: @hooks.on_step("),
    ],
)
def test_a_decorator_that_lacks_something(name: str, given: Any, named: Any, message: str) -> None:
    """What is missing, or has another name here, is said with the line to write."""
    with pytest.raises(UsageError) as caught:
        getattr(Hooks(), name)(*given, **named)
    assert message in str(caught.value)


def fitting_none(hooks: Hooks, way: str) -> None:
    match way:
        case "on_tool":
            hooks.on_tool("Bash|Write")(says(None))
        case "after":
            hooks.on_tool("Bash|Write", when="post")(says(None))
        case "deny":
            hooks.register_tool_hook(pattern="Bash|Write", deny=True)
        case "session":
            hooks.register_session_hook("permission_asked", says(None), "Bash|Write")


@pytest.mark.parametrize("way", ["on_tool", "after", "deny", "session"])
def test_a_pattern_that_fits_no_tool(way: str) -> None:
    """It is registered, as Harn would have it, and noticed; strict hooks refuse it."""
    hooks = Hooks()
    fitting_none(hooks, way)
    [notice] = hooks.notices
    assert notice.text.startswith("the pattern 'Bash|Write' fits no tool: a glob has no '|'; give each name")
    assert notice.source is not None
    assert (notice.source.file, len(hooks)) == (__file__, 1)
    strict = Hooks(strict=True)
    with pytest.raises(UsageError, match=r"the pattern 'Bash\|Write' fits no tool"):
        fitting_none(strict, way)
    assert (len(strict), strict.notices) == (0, ())


def test_an_expression_is_no_name() -> None:
    """Only a plain name is looked at: an expression may hold a regular expression, and other events have no tool."""
    hooks = Hooks(strict=True)
    hooks.on_tool("tool.args.command =~ '^(a|b)$'")(says(None))
    hooks.register_session_hook("pre_compact", says(None), "session.id != '('")
    hooks.register_tool_hook(pattern="[(]*", deny=True)
    assert (len(hooks), hooks.notices) == (3, ())


@pytest.mark.parametrize("match", ["Bash|Write", "^Bash$", "[", ".*", "Bash(rm *)", "{Bash,Write}"])
def test_a_match_that_fits_no_tool(match: str) -> None:
    """Our own decorator refuses it; the fields of other events, such as a path, may have any letter."""
    with pytest.raises(UsageError) as caught:
        Hooks().on("PreToolUse", match=match)
    assert str(caught.value).startswith(f"match={match!r} fits no tool: ")
    Hooks().on("FileEdited", match=match)(says(None))


def test_what_is_printed_of_a_registration() -> None:
    """The names of its hooks."""
    made = Hooks().register_tool_hook(pattern="exec_*", deny=True, max_output=10)
    assert repr(made) == "<Registration of tool_hook::exec_*::pre, tool_hook::exec_*::post>"
    assert repr(Hooks().register_tool_hook()) == "<Registration of no hook>"


def test_wrong_words_for_decorators() -> None:
    """`when`, `match` and `on_failure` take what they take, and say so."""
    hooks: Any = Hooks()
    with pytest.raises(UsageError, match='when is "pre" or "post", not \'before\''):
        hooks.on_tool("x", when="before")
    with pytest.raises(UsageError, match="match is a glob, not a number: 5"):
        hooks.on("PreToolUse", match=5)
    with pytest.raises(UsageError, match="PostTurn has no field that match= could look at"):
        hooks.on("PostTurn", match="x")
    with pytest.raises(UsageError, match='on_failure must be "ask", "deny" or None, not \'block\''):
        hooks.on("PreToolUse", on_failure="block")
    with pytest.raises(UsageError, match="no event is called 'PreTolUse'; did you mean 'PreToolUse'"):
        hooks.on("PreTolUse")
    assert len(hooks) == 0


# -- personas and steps


def test_a_persona_hook_fits_globs() -> None:
    """The persona is matched by a glob over the whole name, with case."""
    hooks = Hooks()
    hooks.register_persona_hook("merge_*", "PreStep", says({"deny": "frozen"}))
    personas = {"merge_captain": "deny", "merge_": "deny", "Merge_captain": "none", "premerge_x": "none", "": "none"}
    assert {name: fire(hooks, "PreStep", persona=name).decision for name in personas} == personas


def test_no_persona() -> None:
    """Without a persona only patterns that fit the empty name match; `target` is the step alone."""
    hooks, seen = Hooks(), []  # type: ignore[var-annotated]
    for pattern in ("*", "", "**", "?*", "merge_*"):
        hooks.register_persona_hook(pattern, "PreStep", lambda payload, p=pattern: seen.append((p, payload["target"])))
    fire(hooks, "PreStep", persona="")
    assert seen == [("*", "audit"), ("", "audit"), ("**", "audit")]


def test_a_step_hook_fits_one_name() -> None:
    """The step's name is compared as it is: a step hook knows no glob, and needs a step."""
    hooks = Hooks()
    hooks.register_step_hook("merge_*", "audit", "PreStep", says({"deny": "audited"}))
    hooks.register_step_hook("*", "a*", "PreStep", says({"deny": "a glob is no name"}))
    hooks.register_step_hook("*", "audit", "OnPersonaPaused", says({"body": "paused"}))
    assert fire(hooks, "PreStep").reason == "audited"
    assert fire(hooks, "PreStep", step={"name": "audit2"}).decision == "none"
    assert fire(hooks, "PreStep", step={"name": "a*"}).reason == "a glob is no name"
    assert fire(hooks, "PreStep", persona="other").decision == "none"
    assert fire(hooks, "OnPersonaPaused").reminders == ()
    assert bodies(fire(hooks, "OnPersonaPaused", step=STEP)) == ["paused"]


@pytest.mark.parametrize(
    ("event", "fires"),
    [
        ("OnBudgetThreshold", [0, 79.9, 80, 80.5, 120]),
        ("OnBudgetThreshold(80)", [80, 80.5, 120]),
        (" OnBudgetThreshold(80.25) ", [80.5, 120]),
        ("OnBudgetThreshold( 120 )", [120]),
        ("OnBudgetThreshold(-1)", [0, 79.9, 80, 80.5, 120]),
        ("OnBudgetThreshold(1e3)", []),
    ],
)
def test_thresholds(event: str, fires: list[float]) -> None:
    """A threshold fires at its percentage and above, a hook without one always, both every time: there is no latch."""
    hooks, seen = Hooks(), []  # type: ignore[var-annotated]
    hooks.register_persona_hook("*", event, keeps(seen, "pct"))
    for _ in range(2):
        for pct in (0, 79.9, 80, 80.5, 120):
            fire(hooks, "OnBudgetThreshold", pct=pct)
    assert seen == fires * 2


@pytest.mark.parametrize("event", ["OnBudgetThreshold(x)", "OnBudgetThreshold()", "OnBudgetThreshold(nan)"])
def test_a_threshold_needs_a_number(event: str) -> None:
    """What is no number, or could never be reached, is an error when it is registered."""
    hooks = Hooks()
    with pytest.raises(UsageError, match=r"needs a number, as in OnBudgetThreshold\(80\)"):
        hooks.register_persona_hook("*", event, says(None))


def test_a_budget_without_a_persona() -> None:
    """A budget may be reported without a persona; its name is then empty."""
    hooks, seen = Hooks(), []  # type: ignore[var-annotated]
    hooks.register_persona_hook("*", "OnBudgetThreshold", keeps(seen))
    hooks.register_persona_hook("merge_*", "OnBudgetThreshold", keeps(seen))
    hooks.fire("OnBudgetThreshold", pct=90, session_id="s")
    assert seen == [{"event": "OnBudgetThreshold", "session": {"id": "s"}, "persona": "", "pct": 90}]


@pytest.mark.parametrize("event", STEP_EVENTS)
def test_every_persona_event(event: str) -> None:
    """All seven can be registered for a persona and for a step, with blanks around the name."""
    hooks, seen = Hooks(), []  # type: ignore[var-annotated]
    hooks.register_persona_hook("*", f" {event} ", keeps(seen, "event"))
    hooks.register_step_hook("*", "audit", event, keeps(seen, "event"))
    fire(hooks, event, step=STEP)
    assert seen == [event, event]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("*", "PreToolUse"), "does not take 'PreToolUse': use register_tool_hook"),
        (("*", "session_start"), "does not take 'session_start': use register_session_hook"),
        (("*", "Stop"), "does not take 'Stop': use @hooks.on"),
        (("*", "PreStpe"), "no event is called 'PreStpe'; did you mean 'PreStep'"),
        (("*", 5), "the event is a string, not a number: 5"),
        ((None, "PreStep"), "the persona's pattern is a string, not null"),
    ],
)
def test_wrong_persona_events(arguments: tuple[Any, Any], complaint: str) -> None:
    """Each way of registering owns its events; the error names the right one."""
    with pytest.raises(UsageError) as caught:
        Hooks().register_persona_hook(*arguments, says(None))
    assert complaint in str(caught.value)


@pytest.mark.parametrize("step", [None, 5, ["audit"]])
@pytest.mark.parametrize("event", ["PreStep", "OnPersonaPaused"])
def test_a_step_has_a_name(event: str, step: Any) -> None:
    """What is no name would fit every step, or none."""
    with pytest.raises(UsageError, match="the step is a string, not "):
        Hooks().register_step_hook("*", step, event, says(None))


@pytest.mark.parametrize(
    ("spelled", "named"),
    [
        ("pre_step", "PreStep"),
        (" PreStep ", "PreStep"),
        ("on_budget_threshold(80)", "OnBudgetThreshold(80)"),
        ("OnBudgetThreshold (80)", "OnBudgetThreshold(80)"),
        ("on_budget_threshold", "OnBudgetThreshold"),
    ],
)
def test_both_spellings_are_one_hook(spelled: str, named: str) -> None:
    """Whatever spelling registered it, reports and the tape have one name for it."""
    hooks = Hooks()
    hooks.register_persona_hook("p", spelled, says(None))
    hooks.register_step_hook("p", "s", spelled, says(None))
    assert [hook.name for hook in hooks] == [f"persona_hook::p::{named}", f"step_hook::p::s::{named}"]


@pytest.mark.parametrize("event", ["PreStep(80)", "OnPersonaPaused()"])
def test_only_a_budget_has_a_threshold(event: str) -> None:
    """A number on another event is a mistake."""
    with pytest.raises(UsageError, match="only OnBudgetThreshold takes a number"):
        Hooks().register_persona_hook("*", event, says(None))


def test_a_pattern_of_a_session_hook() -> None:
    """None is every event, as it is for tools; what is no text is a mistake."""
    hooks = Hooks()
    hooks.register_session_hook("user_prompt_submit", says(False), None)  # type: ignore[arg-type]
    assert fire(hooks, "UserPromptSubmit").decision == "deny"
    with pytest.raises(UsageError, match="pattern is a string, not a number: 5"):
        hooks.register_session_hook("user_prompt_submit", says(False), 5)  # type: ignore[arg-type]


def test_a_deny_that_cannot_be_told() -> None:
    """It is found when it is registered, not at every call."""
    with pytest.raises(UsageError, match="must be made of JSON values"):
        Hooks().register_tool_hook(deny=object())


def test_what_was_awaited_is_not_awaited_again(tmp_path: Path) -> None:
    """A handler that forgot an `await` answers a coroutine, which is no answer, with a tape and without."""

    async def inner(event: dict[str, Any]) -> Any:
        return {"deny": "inner"}

    async def outer(event: dict[str, Any]) -> Any:
        return inner(event)

    hooks = Hooks()
    hooks.register_tool_hook(pre=outer)
    with closing(Tape(tmp_path / "t")) as tape, warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # the coroutine that nobody awaits
        for taped in ({}, {"tape": tape}):
            with pytest.raises(BadAnswer, match="which is a coroutine"):
                fire(hooks, "PreToolUse", **taped)
            with pytest.raises(BadAnswer, match="which is a coroutine"):
                asyncio.run(hooks.fire_async("PreToolUse", **NEEDED["PreToolUse"], **taped))
            gc.collect()


def test_steps_chain() -> None:
    """Arguments and outputs chain through step hooks; the first deny stops and drops the arguments."""
    hooks, seen = Hooks(), []  # type: ignore[var-annotated]
    hooks.register_persona_hook("*", "PreStep", says({"args": [3]}))
    hooks.register_step_hook("*", "audit", "PreStep", lambda payload: {"args": [*payload["step"]["args"], 4]})
    hooks.register_persona_hook("*", "PreStep", keeps(seen, "step"))
    assert fire(hooks, "PreStep").args == [3, 4]
    assert seen == [{"name": "audit", "function": "audit", "args": [3, 4]}]
    hooks.register_persona_hook("*", "PreStep", says({"deny": "frozen"}))
    hooks.register_persona_hook("*", "PreStep", says({"args": []}))
    denied = fire(hooks, "PreStep")
    assert (denied.decision, denied.reason, denied.args) == ("deny", "frozen", None)
    hooks.register_persona_hook("*", "PostStep", lambda payload: {"output": payload["output"] + "!"})
    hooks.register_persona_hook("*", "PostStep", lambda payload: {"result": payload["output"] + "?"})
    assert fire(hooks, "PostStep").output == "done!?"


# -- the session


@pytest.mark.parametrize("spelling", [str, pascal, " {} ".format])
@pytest.mark.parametrize("event", SESSION_EVENTS)
def test_every_session_event(event: str, spelling: Callable[[str], str]) -> None:
    """All fourteen can be registered in both spellings, with blanks around; the handler is told the PascalCase one."""
    hooks, seen = Hooks(), []  # type: ignore[var-annotated]
    hooks.register_session_hook(spelling(event), keeps(seen, "event"))
    fire(hooks, pascal(event))
    assert seen == [pascal(event)]
    assert [hook.name for hook in hooks] == [f"session_hook::{pascal(event)}"]


def test_fourteen_session_events() -> None:
    """The list of this test is the dialect's, and `error` is another name for session_error."""
    assert sorted(map(pascal, SESSION_EVENTS)) == sorted(harn.SESSION_EVENTS)
    assert len(set(SESSION_EVENTS)) == 14
    assert Hooks().register_session_hook("error", says(None)).hooks[0].event == "SessionError"


@pytest.mark.parametrize("event", ["PreToolUse", "PreStep", "Stop", "Notification", "USER_PROMPT_SUBMIT", "", None])
def test_wrong_session_events(event: Any) -> None:
    """Events of another surface or system, another case, or none at all are errors."""
    with pytest.raises(UsageError):
        Hooks().register_session_hook(event, says(None))


@pytest.mark.parametrize("event", CONTROL)
@pytest.mark.parametrize(
    ("answer", "reason"), [(False, "{} hook returned false"), ({"block": True, "reason": "secret"}, "secret")]
)
def test_control_events(event: str, answer: Any, reason: str) -> None:
    """A block on a control event denies, with its reason or the default, and later hooks do not run."""
    hooks, ran = Hooks(), []  # type: ignore[var-annotated]
    hooks.register_session_hook(event, says(answer))
    hooks.register_session_hook(event, lambda payload: ran.append(1))
    ruling = fire(hooks, event)
    assert (ruling.decision, ruling.reason, ran) == ("deny", reason.format(event), [])


@pytest.mark.parametrize("event", ADVISORY)
@pytest.mark.parametrize("answer", [False, {"block": True, "reason": "secret"}])
def test_advisory_events(event: str, answer: Any) -> None:
    """A block on an advisory event changes nothing, all hooks run, and a notice says that it was ignored."""
    hooks, ran = Hooks(), []  # type: ignore[var-annotated]
    hooks.register_session_hook(event, says(answer))
    hooks.register_session_hook(event, lambda payload: ran.append(1))
    ruling = fire(hooks, event)
    assert (ruling.decision, ruling.reason, ruling.healthy, ran) == ("none", "", True, [1])
    [notice] = ruling.notices
    assert event in notice.text
    assert "deny" in notice.text
    assert ruling.hooks[0].decision == "deny"


def test_every_session_event_is_one_or_the_other() -> None:
    """Four session events can be vetoed, ten are advisory."""
    assert sorted((*ADVISORY, *CONTROL)) == sorted(harn.SESSION_EVENTS)
    for event in harn.SESSION_EVENTS:
        assert ("deny" in harn.EFFECTS[event]) == (event in CONTROL)


@pytest.mark.parametrize(
    ("answers", "decision", "reason"),
    [
        ([{"decision": "allow"}], "allow", "permission granted by session hook: not on the list"),
        ([{"decision": "deny"}], "deny", "permission denied by session hook: not on the list"),
        ([{"decision": "ask"}], "ask", "permission not decided by session hook: not on the list"),
        ([{"decision": "allow", "reason": "mine"}], "allow", "mine"),
        ([{"block": True}], "deny", "PermissionAsked hook blocked the operation"),
        ([None, {"decision": "allow", "reason": "a"}, None], "allow", "a"),
        ([{"decision": "ask", "reason": "a"}, {"decision": "deny", "reason": "d"}], "deny", "d"),
        ([{"decision": "allow", "reason": "a"}, {"decision": "deny", "reason": "d"}], "deny", "d"),
        ([{"decision": "allow", "reason": "a"}, {"decision": "ask", "reason": "?"}], "ask", "?"),
        ([{"decision": "allow", "reason": "a"}, {"decision": "allow", "reason": "b"}], "allow", "a\nb"),
    ],
)
def test_permission(answers: list[Any], decision: str, reason: str) -> None:
    """deny > ask > allow among those who decide; an ask or an allow leaves the later hooks their say."""
    hooks = Hooks()
    for answer in answers:
        hooks.register_session_hook("permission_asked", says(answer))
    ruling = fire(hooks, "PermissionAsked")
    assert (ruling.decision, ruling.reason) == (decision, reason)


def test_a_decision_elsewhere() -> None:
    """Where nothing is asked, a decision stops nobody and decides nothing; a notice says so."""
    hooks, ran = Hooks(), []  # type: ignore[var-annotated]
    hooks.register_session_hook("user_prompt_submit", says({"decision": "deny"}))
    hooks.register_session_hook("user_prompt_submit", lambda payload: ran.append(1))
    ruling = fire(hooks, "UserPromptSubmit")
    assert (ruling.decision, ran) == ("none", [1])
    assert [n.text for n in ruling.notices] == ["its 'decision' means nothing on UserPromptSubmit: ignored"]


def test_reminders_are_in_the_ruling() -> None:
    """Reminders of all hooks come in order, with every field of their spec."""
    hooks = Hooks()
    hooks.register_session_hook("post_turn", says([{"reminder": {"body": "a", "dedupe_key": "k"}}, {"body": "b"}]))
    hooks.register_session_hook("post_turn", says({"body": "c", "ttl_turns": 2}))
    ruling = fire(hooks, "PostTurn")
    assert bodies(ruling) == ["a", "b", "c"]
    assert ruling.to_dict()["reminders"][2] == {
        "body": "c",
        "tags": [],
        "dedupe_key": None,
        "ttl_turns": 2,
        "preserve_on_compact": False,
        "propagate": "session",
        "role_hint": "system",
    }


@pytest.mark.parametrize("event", sorted(harn.EFFECTS))
def test_every_event_takes_reminders(event: str) -> None:
    """A reminder can be left on every event Harn has."""
    hooks = Hooks()
    surface = ROWS[event].surface
    if surface == "tool":
        hooks.register_tool_hook(**{"pre" if event == "PreToolUse" else "post": says({"body": "x"})})  # type: ignore[arg-type]
    elif surface == "step":
        hooks.register_persona_hook("*", event, says({"body": "x"}))
    else:
        hooks.register_session_hook(event, says({"body": "x"}))
    ruling = fire(hooks, event)
    assert (bodies(ruling), ruling.decision, ruling.notices) == (["x"], "none", ())


# -- patterns


@pytest.mark.parametrize(
    ("pattern", "tools"),
    [
        ("*", "exec_run exec_stop fs.read Bash"),
        ("", "exec_run exec_stop fs.read Bash"),
        ("  exec_* ", "exec_run exec_stop"),
        ("exec_?un", "exec_run"),
        ("{exec,fetch}_[rs]*", "exec_run exec_stop"),
        ("Bash", "Bash"),
        ("bash", ""),
        ("fs.read", "fs.read"),
        ("fs.*", "fs.read"),
        ("tool.name == 'Bash'", "Bash"),
        ('tool.name != "Bash"', "exec_run exec_stop fs.read"),
        ("tool.name =~ ^exec", "exec_run exec_stop"),
        ("tool.name =~ '(?<!x)ec_s'", ""),
        ("tool.args.command", "exec_run exec_stop fs.read Bash"),
        ("tool.args.missing", ""),
        ("tool.args.missing != 'x'", "exec_run exec_stop fs.read Bash"),
        ("[unclosed", ""),
    ],
)
def test_patterns_of_handlers(pattern: str, tools: str) -> None:
    """A handler's pattern is a glob on the tool's name, or an expression on its payload."""
    for when in ("pre", "post"):
        hooks, seen = Hooks(), []  # type: ignore[var-annotated]
        hooks.register_tool_hook({"pattern": pattern, when: keeps(seen, "tool", "name")})  # type: ignore[misc]
        for name in ("exec_run", "exec_stop", "fs.read", "Bash"):
            fire(hooks, "PreToolUse" if when == "pre" else "PostToolUse", tool_name=name)
        assert seen == tools.split()


def test_patterns_of_native_hooks_are_globs() -> None:
    """`deny` and `max_output` know no expressions: the pattern is a glob, and the empty one fits no tool."""
    hooks = Hooks()
    for pattern in ("fs.read", "tool.name == 'Bash'", ""):
        hooks.register_tool_hook(pattern=pattern, deny=f"by {pattern}")
    assert fire(hooks, "PreToolUse", tool_name="fs.read").reason == "by fs.read"
    assert fire(hooks, "PreToolUse", tool_name="Bash").decision == "none"


@pytest.mark.parametrize(
    "register",
    [
        lambda hooks, pattern: hooks.register_tool_hook(pattern=pattern, pre=says(None)),
        lambda hooks, pattern: hooks.register_tool_hook(pattern=pattern, post=says(None)),
        lambda hooks, pattern: hooks.on_tool(pattern)(says(None)),
        lambda hooks, pattern: hooks.register_session_hook("user_prompt_submit", says(None), pattern),
        lambda hooks, pattern: hooks.on_session("user_prompt_submit", pattern)(says(None)),
    ],
)
def test_a_bad_expression_is_found_when_registered(register: Any) -> None:
    """A regular expression that is none is an error at registration, not a hook that never runs."""
    hooks = Hooks()
    with pytest.raises(UsageError, match=r"not a regular expression") as caught:
        register(hooks, "tool.name =~ '(['")
    assert "tool.name =~ '(['" in str(caught.value)
    assert len(hooks) == 0


@pytest.mark.parametrize(
    ("event", "pattern", "payload", "matches"),
    [
        ("UserPromptSubmit", "prompt =~ secret", {"prompt": "a secret"}, True),
        ("UserPromptSubmit", "prompt =~ secret", {"prompt": "nothing"}, False),
        ("UserPromptSubmit", "anything", {"prompt": "anything"}, False),
        ("FileEdited", "path =~ '\\.rs$'", {"path": "a/b.rs"}, True),
        ("FileEdited", "metadata.bytes == 5", {"path": "a", "metadata": {"bytes": 5}}, True),
        ("FileEdited", "metadata.generated", {"path": "a", "metadata": {"generated": True}}, True),
        ("FileEdited", "metadata.generated", {"path": "a", "metadata": {"generated": []}}, False),
        ("PermissionAsked", "exec_*", {}, True),
        ("PermissionAsked", "fetch_*", {}, False),
        ("PostTurn", "session.id == s1", {}, True),
        ("SessionEnd", "event == SessionEnd", {}, True),
    ],
)
def test_patterns_of_session_hooks(event: str, pattern: str, payload: dict[str, Any], matches: bool) -> None:
    """A session hook's pattern looks at its own payload, in Harn's shape."""
    hooks, seen = Hooks(), []  # type: ignore[var-annotated]
    hooks.register_session_hook(event, keeps(seen), pattern)
    fire(hooks, event, session_id="s1", **payload)
    assert bool(seen) is matches


# -- what handlers get (section 1.1 of the rules)

IN = {"session_id": "s1"}
TURN: dict[str, Any] = {
    "iteration": 2,
    "has_tool_calls": True,
    "dispatch": {"any": "thing"},
    "tool_results": [{"ok": True}],
    "tool_count": 1,
    "tool_names": ["Bash"],
    "successful_tool_names": ["Bash"],
    "rejected_tool_names": [],
    "session_successful_tools": ["Bash"],
    "session_rejected_tools": [],
    "text": "done",
    "visible_text": "done",
    "provider": "p",
    "model": "m",
    "tool_format": "f",
    "tools": [],
}
COMPACT: dict[str, Any] = {
    "strategy": "truncate",
    "engine_strategy": "tail",
    "message_count": 40,
    "keep_last": 10,
}
ARCHIVED = {"archived_messages": 30, "new_summary_len": 4, "remaining_messages": 10, "summary": "text"}
UNSETTLED = {"queued_triggers": [1]}
TOOL_PAYLOAD = {"name": "exec_run", "args": {"command": "ls"}}
STEP_PAYLOAD = {"name": "audit", "function": "audit", "args": [1, 2]}
PAYLOADS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("PreToolUse", TOOL, {"tool": TOOL_PAYLOAD}),
    ("PreToolUse", {"tool_name": "t", "tool_input": None}, {"tool": {"name": "t", "args": None}}),
    ("PostToolUse", {**TOOL, "tool_output": "a\nb"}, {"tool": TOOL_PAYLOAD, "result": {"text": "a\nb"}}),
    ("PostToolUse", {**TOOL, "tool_output": ["é", 1]}, {"tool": TOOL_PAYLOAD, "result": {"text": '["é",1]'}}),
    ("PostToolUse", TOOL, {"tool": TOOL_PAYLOAD, "result": {"text": ""}}),
    (
        "PreStep",
        {"persona": "merge_captain", "step": STEP},
        {"target": "merge_captain.audit", "persona": "merge_captain", "step": STEP_PAYLOAD},
    ),
    (
        "PreStep",
        {"persona": "", "step": {"name": "audit", "function": "do_audit"}},
        {"target": "audit", "persona": "", "step": {"name": "audit", "function": "do_audit", "args": []}},
    ),
    (
        "PostStep",
        {"persona": "p", "step": STEP, "output": {"n": 1}},
        {"target": "p.audit", "persona": "p", "step": STEP_PAYLOAD, "output": {"n": 1}},
    ),
    ("OnBudgetThreshold", {"persona": "p", "pct": 80.5}, {"persona": "p", "pct": 80.5}),
    ("OnApprovalRequested", {"persona": "p", "reason": "r"}, {"persona": "p", "reason": "r"}),
    ("OnHandoffEmitted", {"persona": "p", "details": {"to": "q"}}, {"persona": "p", "details": {"to": "q"}}),
    ("OnPersonaPaused", {"persona": "p"}, {"persona": "p"}),
    (
        "OnPersonaResumed",
        {"persona": "p", "step": STEP},
        {"persona": "p", "target": "p.audit", "step": STEP_PAYLOAD},
    ),
    ("SessionStart", {}, {"task": "", "system": ""}),
    (
        "SessionStart",
        {"task": "fix", "system": "be kind", "max_iterations": 5, "source": "startup"},
        {"task": "fix", "system": "be kind", "max_iterations": 5, "source": "startup"},
    ),
    ("SessionEnd", {}, {"final_status": "done", "stop_reason": "", "iterations": 0}),
    ("SessionEnd", {"final_status": ""}, {"final_status": "done", "stop_reason": "", "iterations": 0}),
    (
        "SessionEnd",
        {"final_status": "stuck", "stop_reason": "loop", "iterations": 3, "reason": "exit"},
        {"final_status": "stuck", "stop_reason": "loop", "iterations": 3, "reason": "exit"},
    ),
    ("SessionError", {}, {"final_status": "error", "stop_reason": "", "error": None}),
    (
        "SessionError",
        {"final_status": "failed", "error": {"kind": "x"}},
        {"final_status": "failed", "stop_reason": "", "error": {"kind": "x"}},
    ),
    ("UserPromptSubmit", {"prompt": "p"}, {"prompt": "p", "system": ""}),
    ("UserPromptSubmit", {"prompt": "p", "system": "s"}, {"prompt": "p", "system": "s"}),
    ("PreCompact", COMPACT, COMPACT),
    ("PostCompact", {**COMPACT, **ARCHIVED}, {**COMPACT, **ARCHIVED}),
    ("PostTurn", TURN, {"session_id": "s1", **TURN}),
    ("PermissionAsked", {**TOOL, "reason": "r"}, {"tool": TOOL_PAYLOAD, "reason": "r"}),
    ("PermissionAsked", TOOL, {"tool": TOOL_PAYLOAD, "reason": ""}),
    (
        "PermissionReplied",
        {**TOOL, "reason": "r", "decision": "allow"},
        {"tool": TOOL_PAYLOAD, "decision": "allow", "reason": "r"},
    ),
    ("FileEdited", {"path": "a.py"}, {"path": "a.py", "metadata": None}),
    ("FileEdited", {"path": "a.py", "metadata": {"bytes": 1}}, {"path": "a.py", "metadata": {"bytes": 1}}),
    (
        "SessionIdle",
        {"iteration": 1, "wake_interval_ms": 500, "consolidate_on_idle": True},
        {"iteration": 1, "wake_interval_ms": 500, "consolidate_on_idle": True},
    ),
    (
        "PreFinish",
        {"return_value": 1, "unsettled": UNSETTLED, "has_on_finish": True},
        {"return_value": 1, "unsettled": UNSETTLED, "has_on_finish": True},
    ),
    ("PreFinish", {}, {"return_value": None, "unsettled": {}, "has_on_finish": False}),
    ("OnUnsettledDetected", {"unsettled": UNSETTLED}, {"unsettled": UNSETTLED}),
    ("PostFinish", {"return_value": [1]}, {"return_value": [1], "unsettled": {}}),
]


@pytest.mark.parametrize(("event", "given", "rest"), PAYLOADS)
def test_payloads(event: str, given: dict[str, Any], rest: dict[str, Any]) -> None:
    """A handler gets exactly the fields of Harn's table: the event's name, the session, and its own."""
    hooks, seen = Hooks(), []  # type: ignore[var-annotated]
    surface = ROWS[event].surface
    if surface == "tool":
        hooks.register_tool_hook({"pre" if event == "PreToolUse" else "post": keeps(seen)})  # type: ignore[misc]
    elif surface == "step":
        hooks.register_persona_hook("*", event, keeps(seen))
    else:
        hooks.register_session_hook(event, keeps(seen))
    hooks.fire(event, **given, **IN)
    assert seen == [{"event": event, "session": {"id": "s1"}, **rest}]


def test_every_event_has_its_payload_tested() -> None:
    """No event of the dialect is missing in the table above."""
    assert {event for event, _, _ in PAYLOADS} == set(harn.EFFECTS)


# -- the tape


PINNED = {
    "hook_call": ("event", "handler", "surface", "payload"),
    "hook_returned": ("event", "handler", "result", "raw"),
    "hook_raised": ("event", "handler", "error"),
    "hook_vetoed": ("event", "handler", "reason", "decision"),
    "hook_skipped": ("event", "handler", "reason"),
    "system_reminder": ("reminder",),
}


@pytest.fixture
def tape(tmp_path: Path) -> Iterator[Tape]:
    made = Tape(str(tmp_path / "tape.jsonl"), clock=itertools.count().__next__)
    yield made
    made.close()


def records(tape: Tape) -> list[tuple[str, dict[str, Any]]]:
    """What is on the tape of hooks and reminders: the fields that are pinned, whatever else a record may hold."""
    return [
        (record.kind, {key: value for key, value in record.data.items() if key in PINNED[record.kind]})
        for record in read(tape.path)
        if record.kind in PINNED
    ]


def kinds(tape: Tape) -> list[str]:
    return [kind for kind, _ in records(tape)]


def test_the_tape_of_a_block(tape: Tape) -> None:
    """hook_call, hook_returned, the hook's own reminders, hook_vetoed: in this order, with these fields."""
    hooks = Hooks()
    answer = {"reminder": {"body": "b"}, "then": {"block": True, "reason": "secret"}}
    hooks.register_session_hook("user_prompt_submit", says(answer))
    fire(hooks, "UserPromptSubmit", session_id="s1", tape=tape)
    named = {"event": "UserPromptSubmit", "handler": "session_hook::UserPromptSubmit"}
    payload = {"event": "UserPromptSubmit", "session": {"id": "s1"}, "system": "", "prompt": "hello"}
    found = records(tape)
    assert [kind for kind, _ in found] == ["hook_call", "hook_returned", "system_reminder", "hook_vetoed"]
    assert found[0][1] == {**named, "surface": "session", "payload": payload}
    assert found[1][1] == {**named, "result": "block", "raw": answer}
    assert found[2][1]["reminder"]["body"] == "b"
    assert found[3][1] == {**named, "reason": "secret", "decision": None}


@pytest.mark.parametrize(
    ("answer", "result"),
    [
        (None, "allow"),
        (True, "allow"),
        ({"control": "allow"}, "allow"),
        ({"body": "b"}, "allow"),
        ([{"body": "b"}], "allow"),
        (False, "block"),
        ({"block": True}, "block"),
        ({"decision": "allow"}, "decision_allow"),
        ({"decision": "deny"}, "decision_deny"),
        ({"decision": " ASK "}, "decision_ask"),
    ],
)
def test_result_words(tape: Tape, answer: Any, result: str) -> None:
    """The tape says what an answer was taken for, and has the answer itself beside it."""
    hooks = Hooks()
    hooks.register_session_hook("permission_asked", says(answer))
    fire(hooks, "PermissionAsked", tape=tape)
    [returned] = [data for kind, data in records(tape) if kind == "hook_returned"]
    assert (returned["result"], returned["raw"]) == (result, answer)


@pytest.mark.parametrize(
    ("answer", "decision"),
    [
        ({"decision": "allow", "reason": "r"}, "allow"),
        ({"decision": "deny", "reason": "r"}, "deny"),
        ({"decision": "ask", "reason": "r"}, "ask"),
        ({"block": True, "reason": "r"}, None),
    ],
)
def test_decisions_are_vetoes_on_the_tape(tape: Tape, answer: Any, decision: str | None) -> None:
    """On PermissionAsked every decision leaves a hook_vetoed with its word; a block leaves one without."""
    hooks = Hooks()
    hooks.register_session_hook("permission_asked", says(answer))
    fire(hooks, "PermissionAsked", tape=tape)
    [vetoed] = [data for kind, data in records(tape) if kind == "hook_vetoed"]
    assert vetoed == {
        "event": "PermissionAsked",
        "handler": "session_hook::PermissionAsked",
        "reason": "r",
        "decision": decision,
    }


@pytest.mark.parametrize("decision", ["allow", "deny", "ask"])
def test_a_decision_without_a_reason_on_the_tape(tape: Tape, decision: str) -> None:
    """A decision that gave no reason is taped with `decision=<kind>`, as Harn does."""
    hooks = Hooks()
    hooks.register_session_hook("permission_asked", says({"decision": decision}))
    fire(hooks, "PermissionAsked", tape=tape)
    [vetoed] = [data for kind, data in records(tape) if kind == "hook_vetoed"]
    assert vetoed["reason"] == f"decision={decision}"


@pytest.mark.parametrize("event", ADVISORY)
def test_a_veto_nobody_honours_is_none(tape: Tape, event: str) -> None:
    """On an advisory event the tape has what the hook wanted, `block`, and no hook_vetoed."""
    hooks = Hooks()
    hooks.register_session_hook(event, says({"block": True}))
    fire(hooks, event, tape=tape)
    assert kinds(tape) == ["hook_call", "hook_returned"]
    assert records(tape)[1][1]["result"] == "block"


def test_tool_and_step_hooks_are_on_the_tape(tape: Tape) -> None:
    """Hooks of every surface leave the same kinds, each with its surface and its handler's name."""
    hooks = Hooks()
    hooks.register_tool_hook(pattern="exec_*", pre=says({"args": {}}), deny="no", post=says("x"))
    hooks.register_step_hook("*", "audit", "PreStep", says("Allow"))
    fire(hooks, "PreToolUse", tape=tape)
    fire(hooks, "PostToolUse", tape=tape)
    fire(hooks, "PreStep", tape=tape)
    calls = [(data["handler"], data["surface"]) for kind, data in records(tape) if kind == "hook_call"]
    assert calls == [
        ("tool_hook::exec_*::pre", "tool"),
        ("tool_hook::exec_*::post", "tool"),
        ("step_hook::*::audit::PreStep", "step"),
    ]
    assert [data["result"] for kind, data in records(tape) if kind == "hook_returned"] == ["block", "allow", "allow"]
    assert [data["reason"] for kind, data in records(tape) if kind == "hook_vetoed"] == ["no"]
    assert [data["reason"] for kind, data in records(tape) if kind == "hook_skipped"] == [
        "settled by tool_hook::exec_*::pre"
    ]


def test_several_hooks_on_the_tape(tape: Tape) -> None:
    """What belongs to one hook is on the tape before the next one is called, which has the amended payload."""
    hooks = Hooks()
    hooks.register_tool_hook(pre=says({"reminder": {"body": "b"}, "args": {"command": "pwd"}}))
    hooks.register_tool_hook(pre=says(None))
    fire(hooks, "PreToolUse", tape=tape)
    assert kinds(tape) == ["hook_call", "hook_returned", "system_reminder", "hook_call", "hook_returned"]
    assert records(tape)[3][1]["payload"]["tool"]["args"] == {"command": "pwd"}


@pytest.mark.parametrize("answer", ["nonsense", {"decision": "perhaps"}, {"reminder": {"body": ""}}])
def test_a_wrong_answer_on_the_tape(tape: Tape, answer: Any) -> None:
    """A shape nobody knows leaves its hook_call and what was wrong, and no hook_returned."""
    hooks = Hooks()
    hooks.register_session_hook("post_turn", says(answer))
    with pytest.raises(BadAnswer):
        fire(hooks, "PostTurn", tape=tape)
    assert kinds(tape) == ["hook_call", "hook_raised"]


def test_a_raise_on_the_tape(tape: Tape) -> None:
    """A handler that raised leaves its hook_call and what it raised, and no hook_returned, loud or swallowed."""
    hooks = Hooks()

    def breaks(payload: Any) -> None:
        raise ValueError("x")

    hooks.register_tool_hook(pre=breaks)
    hooks.register_session_hook("session_end", breaks)
    with pytest.raises(HookError):
        fire(hooks, "PreToolUse", tape=tape)
    assert not fire(hooks, "SessionEnd", tape=tape).healthy
    assert kinds(tape) == ["hook_call", "hook_raised"] * 2
    assert [data["error"] for kind, data in records(tape) if kind == "hook_raised"] == ["raised ValueError: x"] * 2


def test_the_ruling_is_on_the_tape(tape: Tape) -> None:
    """What the host was told is the last record of an event."""
    hooks = Hooks()
    hooks.register_tool_hook(deny="no")
    ruling = fire(hooks, "PreToolUse", tape=tape)
    last = list(read(tape.path))[-1]
    assert (last.kind, last.data) == ("ruling", ruling.to_dict())


# -- beside the hooks of other systems


def test_four_languages_in_one_fire(tmp_path: Path) -> None:
    """Handlers and processes of three systems take part in one event, in order, and see each other's rewrites."""
    (tmp_path / "see.sh").write_text("#!/bin/sh\ncat > harness.json\n")
    (tmp_path / "see.sh").chmod(0o755)
    (tmp_path / "settings.json").write_text(json.dumps({"hooks": {"PreToolUse": [{"path": str(tmp_path / "see.sh")}]}}))
    goose = {"hooks": {"pre_tool_use": [{"command": "sh -c 'cat > goose.json; echo \"{}\"'"}]}}
    (tmp_path / "config.yaml").write_text(json.dumps(goose))
    hooks, seen = Hooks(), []  # type: ignore[var-annotated]
    hooks.register_tool_hook(pre=says({"args": {"command": "pwd"}, "reminder": {"body": "r"}}))
    hooks.load(tmp_path / "settings.json", "harness")
    hooks.on("PreToolUse")(lambda payload: context(payload["tool_input"]["command"]))
    hooks.load(tmp_path / "config.yaml", "goose")
    hooks.register_tool_hook(pre=keeps(seen, "tool", "args"))
    hooks.register_tool_hook(deny="enough")
    ruling = fire(hooks, "PreToolUse", cwd=str(tmp_path))
    assert [report.dialect for report in ruling.hooks] == ["harn", "harness", "python", "goose", "harn", "harn"]
    assert (ruling.decision, ruling.reason, ruling.healthy) == ("deny", "enough", True)
    assert (ruling.context, bodies(ruling), seen) == (("pwd",), ["r"], [{"command": "pwd"}])
    assert json.loads((tmp_path / "harness.json").read_text())["tool_input"] == {"command": "pwd"}
    assert json.loads((tmp_path / "goose.json").read_text())["tool_arguments"] == {"command": "pwd"}


def test_nothing_is_built_for_nobody() -> None:
    """Without a hook that matches, no payload is made: what could not even be one does no harm."""
    hooks = Hooks()
    hooks.register_tool_hook(pattern="other", pre=says({"deny": "x"}))
    assert fire(hooks, "PreToolUse", tool_input={"odd": object()}).decision == "none"
