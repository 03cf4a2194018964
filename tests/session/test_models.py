"""Model calls: their order, what hooks change in them, and what becomes of a call that is denied, halted or fails."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import stages
from hookline import Hooks, UsageError, Verdict, context, deny, halt, rewrite
from hookline.model import Tools
from stages import Watch, answer, echo, request

Way = Callable[..., Any]
ORDER = ["BeforeToolSelection", "BeforeModel", "AfterModel"]
PLAIN = {"text": "hello", "candidates": [{"content": {"role": "model", "parts": ["hello"]}, "finishReason": "STOP"}]}


STARS = {"candidates": [{"content": {"parts": [{"text": "****"}]}}]}
"""A response as people write it who know the SDK."""


def test_the_order(way: Way, tmp_path: Path) -> None:
    """Two events before the call and one after it; the reply is on the tape as a message."""
    hooks = Hooks()
    watch = Watch(hooks, *ORDER)
    tape = tmp_path / "tape.jsonl"
    given = request("hi")

    def call(asked: dict[str, Any]) -> dict[str, Any]:
        assert watch.events == ORDER[:2]
        assert asked == given
        return PLAIN

    with way(hooks, tape=tape) as s:
        done = s.model(given, call)
        assert (done.status, done.response, done.reason, done.halt, done.suppress_output) == (
            "ok",
            PLAIN,
            None,
            None,
            False,
        )
    assert watch.events == ORDER
    assert watch.of("AfterModel") == [{"llm_request": given, "llm_response": PLAIN}]
    assert stages.records(tape, "message") == [
        ("message", {"role": "assistant", "content": "hello", "response": PLAIN}),
    ]


def test_a_request_is_rewritten(way: Way, tmp_path: Path) -> None:
    """The call gets the rewritten request, and so does AfterModel; the host's own is not touched."""
    hooks = Hooks()
    changed = {"messages": [{"role": "user", "content": "[redacted]"}]}
    hooks.load(stages.llxprt(tmp_path, "BeforeModel", {"hookSpecificOutput": {"llm_request": changed}}))
    watch = Watch(hooks, "AfterModel")
    given, got = request("secret"), []  # type: ignore[var-annotated]
    with way(hooks) as s:
        s.model(given, lambda asked: got.append(asked) or PLAIN)
    assert got == [{"model": "m"} | changed]
    assert watch.of("AfterModel")[0]["llm_request"] == got[0]
    assert given == request("secret")


@pytest.mark.parametrize("given", [{"text": "cached"}, PLAIN])
def test_a_synthetic_response(way: Way, tmp_path: Path, given: dict[str, Any]) -> None:
    """A denial with a response stands in the model's place; nobody is called, and AfterModel does not fire."""
    hooks = Hooks()
    specific = {"llm_response": given}
    hooks.load(
        stages.llxprt(
            tmp_path, "BeforeModel", {"decision": "deny", "reason": "from the cache", "hookSpecificOutput": specific}
        )
    )
    watch = Watch(hooks, "AfterModel")
    called: list[Any] = []
    with way(hooks) as s:
        done = s.model(request("hi"), called.append)
    assert (done.status, done.reason, called, watch.events) == ("denied", "from the cache", [], [])
    assert done.response["text"] == given["text"]
    assert done.response["candidates"][0]["content"] == {"role": "model", "parts": [given["text"]]}


def test_a_denied_call(way: Way) -> None:
    """Without a response of the hook's own the response is an empty one."""
    hooks = Hooks()
    hooks.on("BeforeModel")(lambda payload: deny("too dear"))
    with way(hooks) as s:
        done = s.model(request("hi"), answer)
    assert (done.status, done.response, done.reason) == ("denied", {"candidates": []}, "too dear")


@pytest.mark.parametrize("event", ["BeforeToolSelection", "BeforeModel"])
def test_halts_before_the_call(way: Way, event: str) -> None:
    """Nobody is called; a response that says why stands in its place."""
    hooks = Hooks()
    hooks.on(event)(lambda payload: halt("enough"))
    called: list[Any] = []
    with way(hooks) as s:
        done = s.model(request("hi"), called.append)
    assert (done.status, done.halt, done.response["text"], called) == ("halted", "enough", "enough", [])


def test_a_halt_after_the_call(way: Way, tmp_path: Path) -> None:
    """The response is replaced by one that stops, with the reason in it."""
    hooks = Hooks()
    hooks.load(stages.llxprt(tmp_path, "AfterModel", {"continue": False, "stopReason": "enough"}))
    with way(hooks) as s:
        done = s.model(request("hi"), lambda asked: PLAIN | {"tool_calls": [{"name": "rm"}]})
    content = {"role": "model", "parts": ["enough"]}
    stop = {"text": "enough", "candidates": [{"content": content, "finishReason": "STOP", "index": 0}]}
    assert (done.status, done.halt, done.response) == ("halted", "enough", stop)


def test_a_response_is_replaced(way: Way, tmp_path: Path) -> None:
    """The host goes on with the hook's response, and hides it where it is suppressed."""
    hooks = Hooks()
    hooks.load(
        stages.llxprt(
            tmp_path,
            "AfterModel",
            {"suppressOutput": True, "hookSpecificOutput": {"llm_response": STARS}},
        )
    )
    with way(hooks) as s:
        done = s.model(request("hi"), lambda asked: PLAIN)
    assert (done.status, done.suppress_output) == ("ok", True)
    assert done.response == {"candidates": [{"content": {"role": "model", "parts": ["****"]}}]}


# -- tools


@pytest.mark.parametrize(
    ("tools", "config", "refused"),
    [
        (Tools("AUTO", ("ls", "read")), {"mode": "AUTO", "allowedFunctionNames": ["ls", "read"]}, {"rm"}),
        (Tools("ANY", ("ls",)), {"mode": "ANY", "allowedFunctionNames": ["ls"]}, {"read", "rm"}),
        (Tools("NONE", ()), {"mode": "NONE", "allowedFunctionNames": []}, {"ls", "read", "rm"}),
        (Tools("NONE"), {"mode": "NONE", "allowedFunctionNames": []}, {"ls", "read", "rm"}),
        (Tools("AUTO", ()), {"mode": "AUTO", "allowedFunctionNames": []}, {"ls", "read", "rm"}),
        (Tools("ANY"), {"mode": "ANY"}, set()),
        (None, None, set()),
    ],
)
def test_tools_are_restricted(way: Way, tools: Tools | None, config: Any, refused: set[str]) -> None:
    """The request says what the model may call, and what it calls besides is refused; no hook is asked about that."""
    hooks = Hooks()
    hooks.on("BeforeToolSelection")(lambda payload: Verdict(tools=tools))
    watch = Watch(hooks, "PreToolUse")
    got: list[Any] = []
    with way(hooks) as s:
        s.model(request("hi"), lambda asked: got.append(asked) or PLAIN)
        results = {name: s.tool(name, {}, echo) for name in ("ls", "read", "rm")}
    assert got[0].get("toolConfig") == config
    assert {name for name, done in results.items() if done.status == "denied"} == refused
    assert {payload["tool_name"] for _, payload in watch.heard} == set(results) - refused
    for name in refused:
        assert results[name].error == "permission_denied"
        assert "outside of those allowed for this model call" in results[name].output


def test_a_restriction_holds_until_the_next_call(way: Way) -> None:
    """Each model call settles anew which tools there are."""
    hooks = Hooks()
    left = [Verdict(tools=Tools("AUTO", ("ls",)))]
    hooks.on("BeforeToolSelection")(lambda payload: left.pop() if left else None)
    with way(hooks) as s:
        assert s.tool("rm", {}, echo).status == "ok"
        s.model(request("hi"), answer)
        assert s.tool("rm", {}, echo).status == "denied"
        s.turn_done()
        assert s.tool("rm", {}, echo).status == "denied"
        s.model(request("hi"), answer)
        assert s.tool("rm", {}, echo).status == "ok"


def test_a_rewritten_request_may_restrict_tools(way: Way) -> None:
    """A toolConfig that BeforeModel writes counts like one of BeforeToolSelection."""
    hooks = Hooks()
    config = {"mode": "AUTO", "allowedFunctionNames": ["ls"]}
    hooks.on("BeforeModel")(lambda payload: rewrite(llm_request=payload["llm_request"] | {"toolConfig": config}))
    with way(hooks) as s:
        s.model(request("hi"), answer)
        assert [s.tool(name, {}, echo).status for name in ("ls", "rm")] == ["ok", "denied"]


# -- failure


def test_a_model_that_raises(way: Way, tmp_path: Path) -> None:
    """Its exception reaches the host, AfterModel does not fire, and the tape tells of it."""
    hooks = Hooks()
    watch = Watch(hooks)
    tape = tmp_path / "tape.jsonl"

    def call(asked: dict[str, Any]) -> Any:
        raise TimeoutError("no answer")

    with way(hooks, tape=tape) as s:
        with pytest.raises(TimeoutError, match="no answer"):
            s.model(request("hi"), call)
        assert s.model(request("hi"), answer).status == "ok"
    assert watch.events.count("AfterModel") == 1
    assert stages.records(tape, "model_failed") == [("model_failed", {"error": "TimeoutError: no answer"})]


def test_a_model_that_returns_something_else(way: Way) -> None:
    """What is no response in the stable format is a mistake, and the message shows one."""
    hooks = Hooks()
    watch = Watch(hooks, "AfterModel")
    with way(hooks) as s, pytest.raises(UsageError, match="stable LLM format"):
        s.model(request("hi"), lambda asked: "hello")
    assert watch.events == []


NONSENSE: dict[str, tuple[str, dict[str, Any]]] = {
    "a request": ("BeforeModel", {"hookSpecificOutput": {"llm_request": {"messages": [5]}}}),
    "a synthetic response": (
        "BeforeModel",
        {"decision": "block", "reason": "no", "hookSpecificOutput": {"llm_response": {"candidates": 5}}},
    ),
    "a response": (
        "AfterModel",
        {"hookSpecificOutput": {"llm_response": {"candidates": [{"content": {}, "finishReason": "stop"}]}}},
    ),
}


@pytest.mark.parametrize("translator", [None, "openai"])
@pytest.mark.parametrize("what", NONSENSE)
def test_nonsense_of_a_hook_never_raises(way: Way, tmp_path: Path, what: str, translator: str | None) -> None:
    """A process that answers with something nobody can read changes nothing, and a notice says so."""
    hooks = Hooks()
    event, said = NONSENSE[what]
    hooks.load(stages.llxprt(tmp_path, event, said))
    reply: Any = PLAIN if translator is None else openai_reply("hello")
    got: list[Any] = []
    with way(hooks) as s:
        done = s.model(request("hi"), lambda asked: got.append(asked) or reply, translator=translator)
    assert len(done.notices) == 1
    assert done.notices[0].startswith("a hook's llm_")
    if said.get("decision"):
        assert (done.status, done.reason, got) == ("denied", "no", [])
    else:
        assert (done.status, done.response, got) == ("ok", reply, [request("hi")])


# -- the objects of an SDK


def openai_reply(text: str) -> SimpleNamespace:
    message = SimpleNamespace(role="assistant", content=text, tool_calls=None)
    return SimpleNamespace(choices=[SimpleNamespace(index=0, finish_reason="stop", message=message)], usage=None)


def test_the_call_of_an_sdk(way: Way) -> None:
    """With a translator hooks see the stable format, and the host keeps its SDK's arguments and objects."""
    hooks = Hooks()
    watch = Watch(hooks, *ORDER)
    hooks.on("BeforeModel")(lambda payload: rewrite(llm_request={"messages": [{"role": "user", "content": "changed"}]}))
    call = {"model": "gpt", "messages": [{"role": "user", "content": "hi"}], "seed": 5}
    reply = openai_reply("hello")
    got: list[Any] = []
    with way(hooks) as s:
        done = s.model(call, lambda asked: got.append(asked) or reply, translator="openai")
    assert done.response is reply
    assert (got[0]["seed"], got[0]["messages"]) == (5, [{"role": "user", "content": "changed"}])
    seen = watch.of("BeforeToolSelection")[0]["llm_request"]
    assert (seen["model"], seen["messages"], "seed" in seen) == ("gpt", call["messages"], False)
    assert watch.of("AfterModel")[0]["llm_response"]["text"] == "hello"


def test_context_before_a_call_is_for_the_next(way: Way) -> None:
    """The request is made before its hooks run: what they add is read with the call after it."""
    hooks = Hooks()
    hooks.on("BeforeModel")(lambda payload: context("late"))
    with way(hooks) as s:
        s.model(request("hi"), answer)
        s.turn_done()
        assert s.system() == "late"
