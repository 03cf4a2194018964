"""A call of the model: BeforeToolSelection, BeforeModel, the call itself, AfterModel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hookline import llm
from hookline.conducting import Do, Fire, Steps, both, reporting
from hookline.errors import Divergence, UsageError
from hookline.model import Ruling, Tools
from hookline.results import ModelResult
from hookline.stage import Stage, failure
from hookline.translators import Translator
from hookline.wording import kind_of, shown


class ModelCalls(Stage):
    """The part of a session that talks to the model."""

    def _model(self, request: Any, call: Callable[[Any], Any], *, translator: str | None = None) -> Steps[ModelResult]:
        """BeforeToolSelection, BeforeModel, `call(request)`, AfterModel.

        Plain dicts in the stable LLM format go in and come out; the call of an SDK (a dict of its keyword
        arguments) where `translator` names it, or where it is plainly one that a translator knows. What a hook
        answered and nobody can read is not used; `notices` says so.
        """
        before, self._model_called = self._model_called, True  # the request is made: what hooks add is for the next
        try:
            return (yield from self._called(request, call, translator))
        except BaseException:
            if not before:
                self._recalled()
            raise

    def _called(self, request: Any, call: Callable[[Any], Any], translator: str | None) -> Steps[ModelResult]:
        notices: list[str] = []
        yield from self._turn_begins()
        speaks = _translator(request, translator)
        seen = speaks.call_to_hook(request) if speaks else request
        ruling = yield Fire("BeforeToolSelection", {"llm_request": seen})
        if ruling.halt:
            return ModelResult("halted", _stopped(speaks, ruling), halt=ruling.halt.reason)
        config = _tool_config(ruling.tools) if ruling.tools is not None else {}
        self._allowed_tools = _allowed(config)
        if config:
            seen, request = _amended(speaks, request, seen, {"toolConfig": config})
        ruling = yield Fire("BeforeModel", {"llm_request": seen})
        if ruling.halt and ruling.decision != "deny":
            return ModelResult("halted", _stopped(speaks, ruling), halt=ruling.halt.reason)
        if ruling.decision == "deny":
            instead = _readable(llm.synthetic, ruling.llm_response, notices) or {"candidates": []}
            halt = ruling.halt.reason if ruling.halt else None
            return ModelResult("denied", _response(speaks, instead), ruling.reason, halt, notices=notices)
        if changes := _readable(llm.amendments, _changes(seen, ruling.llm_request), notices):
            seen, request = _amended(speaks, request, seen, changes)
            self._allowed_tools = _allowed(changes.get("toolConfig") or config)
        front = self._front()
        try:
            response = yield Do("model", call, (request,))
            if speaks and self._player is not None:  # the tape has what hooks saw
                response = speaks.response_from_hook(response)
            told = speaks.response_to_hook(response) if speaks else _checked(response)
        except Divergence:
            raise
        except BaseException as error:
            self._record("model_failed", failure(error), since=front)
            raise
        self._record("message", {"role": "assistant", "content": said(told), "response": told}, since=front)
        ruling = yield Fire("AfterModel", {"llm_request": seen, "llm_response": told})
        if given := _readable(llm.synthetic, ruling.llm_response, notices):
            response = _response(speaks, given, response)
        if ruling.halt:
            response = _stopped(speaks, ruling, response)
        return ModelResult(
            "halted" if ruling.halt else "ok",
            response,
            halt=ruling.halt.reason if ruling.halt else None,
            suppress_output=ruling.suppress_output,
            notices=notices,
        )

    model, model_async = both(reporting(_model))


def _translator(request: Any, name: str | None) -> Translator | None:
    """Who translates a request; nobody where it is in the stable format already."""
    if name is not None:
        from hookline.translators import translator

        return translator(name)
    if isinstance(request, dict) and isinstance(request.get("messages"), list) and "contents" not in request:
        return None
    from hookline.translators import translator_for

    return translator_for(request)


def _changes(seen: dict[str, Any], rewritten: dict[str, Any] | None) -> dict[str, Any] | None:
    """What hooks changed in a request."""
    if rewritten is None:
        return None
    return {key: value for key, value in rewritten.items() if key not in seen or seen[key] != value}


def _readable(read: Callable[[Any], Any], answer: dict[str, Any] | None, notices: list[str]) -> dict[str, Any] | None:
    """A hook's answer, if it can be read; else nothing, and a notice. A hook's nonsense never raises into the host."""
    if answer is None:
        return None
    try:
        read(answer)
    except UsageError as error:
        notices.append(f"{error}; ignored")
        return None
    return answer


def _amended(
    speaks: Translator | None, request: Any, seen: dict[str, Any], changes: dict[str, Any]
) -> tuple[dict[str, Any], Any]:
    """The request with these changes, as hooks see it and as the host calls with it."""
    seen = seen | changes
    return seen, speaks.call_from_hook(seen, request) if speaks else seen


def _tool_config(tools: Tools) -> dict[str, Any]:
    names = {"allowedFunctionNames": list(tools.allowed)} if tools.allowed is not None else {}
    return {"mode": tools.mode or "AUTO"} | names


def _allowed(config: dict[str, Any]) -> frozenset[str] | None:
    """The tools the model may call after this request; None where no hook said."""
    if config.get("mode") == "NONE":
        return frozenset()
    names = config.get("allowedFunctionNames")
    return frozenset(names) if names is not None else None


def _response(speaks: Translator | None, given: dict[str, Any], base: Any = None) -> Any:
    if speaks:
        return speaks.response_from_hook(given, base)
    return given | {"candidates": llm.synthetic(given).to_dict()["candidates"]}


def _stopped(speaks: Translator | None, ruling: Ruling, base: Any = None) -> Any:
    """A response in the model's place that says why the agent has to end."""
    assert ruling.halt is not None
    text = ruling.halt.reason
    content = {"role": "model", "parts": [text]}
    stop = {"text": text, "candidates": [{"content": content, "finishReason": "STOP", "index": 0}]}
    return _response(speaks, stop, base)


def _checked(response: Any) -> dict[str, Any]:
    if not isinstance(response, dict):
        raise UsageError(
            "call(request) returns a dict in the stable LLM format such as {'text': 'hello'}, "
            f"not {kind_of(response)} {shown(response)}; for an SDK's objects name translator=..."
        )
    return response


def said(response: dict[str, Any]) -> str:
    """The text of a response in the stable format."""
    if isinstance(response.get("text"), str):
        return str(response["text"])
    texts = []
    for candidate in response.get("candidates") or []:
        content = candidate.get("content") if isinstance(candidate, dict) else None
        parts = content.get("parts") if isinstance(content, dict) else None
        texts += [part for part in parts or [] if isinstance(part, str)]
    return "".join(texts)
