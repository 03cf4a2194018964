"""Both sides play a case, and what came of it is told in the same words: an account.

    ran        the hooks that were due, in the order of the plan
    failed     those of them that did not succeed
    healthy    whether the event as a whole went well
    decision   deny, ask, or nothing that stops the operation
    reason     of a denial, where nothing halts
    halt       the reason to end the agent's loop
    messages, context, tool_input, request, response, tools, suppress, clear: what the host is asked to do
    saw        the payloads, by the file a hook wrote them to
    request seen  what of a request's optional parts was in them
    left       what hooks left behind

What is empty is left out; blanks at the end of a text do not count; half a surrogate pair is what UTF-8 makes of it. An
effect counts only where a host looks for it: for Gemini CLI on the events of READ, a halt before a denial, both before
any change.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from downstream.cases import DIRECTORY, Case
from hookline import Hooks, Ruling
from hookline.translators import genai

Account = dict[str, Any]

MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
HALF = re.compile("[\ud800-\udfff]")
HERE = Path(__file__).parent
TURNS = frozenset({"BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent", "BeforeModel", "AfterModel"})
READ: dict[str, frozenset[str]] = {
    "decision": TURNS,
    "halt": TURNS | {"BeforeToolSelection"},
    "context": frozenset({"AfterTool", "BeforeAgent", "SessionStart"}),
    "suppress": frozenset({"AfterTool", "AfterModel", "AfterAgent", "SessionEnd", "PreCompress", "Notification"}),
    "tools": frozenset({"BeforeToolSelection"}),
}
"""On which events Gemini CLI does something about an effect. `suppress` only keeps a message from its log."""


class CannotPlay(Exception):
    """Gemini CLI's side broke."""


# -- hookline


def ours(case: Case, directory: Path) -> Account:
    case.play_in(directory)
    fields = case.fields_in(directory)
    if "request" in fields:
        fields["llm_request"] = genai.request_to_hook(*_sdk(fields.pop("request")))
    hooks = Hooks()
    hooks.load(directory / "settings.json", "llxprt")
    ruling = hooks.fire(case.event, **fields)
    due = [report for report in ruling.hooks if report.status != "skipped"]
    account = {
        "ran": [report.hook for report in due],
        "failed": [report.hook for report in due if not report.success],
        "healthy": "yes" if ruling.healthy else "no",
        "decision": "deny" if ruling.decision == "deny" else None,
        "reason": ruling.reason if ruling.decision == "deny" and not ruling.halt else None,
        "halt": ruling.halt.reason if ruling.halt else None,
        "messages": "\n".join(ruling.messages),
        "context": "\n".join(ruling.context),
        "tool_input": ruling.tool_input,
        "request": _new_request(ruling, case, fields),
        "response": _response(ruling.llm_response),
        "tools": ruling.tools.to_dict() if ruling.tools else None,
        "suppress": ruling.suppress_output,
        "clear": ruling.clear_context,
    }
    return _told(account, directory)


def _sdk(request: dict[str, Any]) -> tuple[Any, Any, Any]:
    """A request in JSON as the arguments of Google's SDK."""
    from google.genai import types

    contents = [types.Content.model_validate(content) for content in request["contents"]]
    return request["model"], contents, types.GenerateContentConfig.model_validate(request.get("config", {}))


def _new_request(ruling: Ruling, case: Case, fields: dict[str, Any]) -> Any:
    if ruling.llm_request is None:
        return None
    before = _request(case, fields)
    model, contents, config = genai.request_from_hook(ruling.llm_request, *_sdk(before))
    plain = {"by_alias": True, "exclude_none": True, "mode": "json"}
    after = {"model": model, "contents": [content.model_dump(**plain) for content in contents]}
    after["config"] = config.model_dump(**plain)
    return None if after == before else after


# -- Gemini CLI


def theirs(cases: Sequence[Case], directories: Sequence[Path], home: Path) -> list[Account]:
    """All cases in one process of node, in the order given."""
    work = []
    for case, directory in zip(cases, directories, strict=True):
        case.play_in(directory)
        settings = json.loads((directory / "settings.json").read_text(encoding="utf-8"))
        work.append(
            {
                "name": case.name,
                "directory": case.fields_in(directory)["cwd"],
                "event": case.event,
                "hooks": settings["hooks"],
                "disabled": settings.get("hooksConfig", {}).get("disabled", []),
                "fields": _given(case, case.fields_in(directory)),
            }
        )
    (home / "cases.json").write_text(json.dumps(work), encoding="utf-8")
    words = ["node", str(HERE / "gemini.mjs"), str(home / "cases.json"), str(home / "answers.json")]
    environ = os.environ | {"HOME": str(home)}
    done = subprocess.run(words, env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CannotPlay(f"node ended with exit code {done.returncode}:\n{done.stderr.strip()}")
    answers = json.loads((home / "answers.json").read_text(encoding="utf-8"))
    return [
        _their_account(case, answers[case.name], directory) for case, directory in zip(cases, directories, strict=True)
    ]


def _given(case: Case, fields: dict[str, Any]) -> dict[str, Any]:
    """The fields as Gemini CLI's callers have them: SDK objects, and a tool's result."""
    given = dict(fields)
    if "llm_request" in fields:
        given["request"] = _request(case, fields)
    if response := fields.get("llm_response"):
        candidates = [
            each | {"content": {"role": "model", "parts": [{"text": text} for text in each["content"]["parts"]]}}
            for each in response["candidates"]
        ]
        given["sdk_response"] = {**response, "candidates": candidates}
    if case.event == "AfterTool":
        output, error = fields.get("tool_output"), fields.get("tool_error")
        made = output if isinstance(output, dict) and "llmContent" in output else {}
        content = made.get("llmContent", output if output is not None else error)
        text = content if isinstance(content, str) else json.dumps(content, separators=(",", ":"))
        failed = {"error": error if isinstance(error, dict) else {"message": error}} if error else {}
        given["tool_response"] = {"llmContent": content, "returnDisplay": text} | made | failed
    return given


def _request(case: Case, fields: dict[str, Any]) -> dict[str, Any]:
    """The request in Google's format: the case's own, or the one its hooks see, translated."""
    if "request" in case.fields:
        own: dict[str, Any] = case.fields["request"]
        return own
    seen = fields["llm_request"]
    contents = [{"parts": [{"text": each["content"]}], "role": each["role"]} for each in seen["messages"]]
    tools = {"toolConfig": {"functionCallingConfig": seen["toolConfig"]}} if "toolConfig" in seen else {}
    return {"model": seen["model"], "contents": contents, "config": seen.get("config", {}) | tools}


def _their_account(case: Case, answer: dict[str, Any], directory: Path) -> Account:
    if "broken" in answer:
        raise CannotPlay(f"{case.name}: {answer['broken']}")
    account: Account = {
        "ran": [result["hook"] for result in answer["results"]],
        "failed": [result["hook"] for result in answer["results"] if not result["success"]],
        "healthy": "yes" if answer["success"] else "no",
    }
    if output := answer["output"]:
        account |= _their_effects(case, output, _given(case, case.fields_in(directory)))
    return _told(account, directory)


def _their_effects(case: Case, output: dict[str, Any], given: dict[str, Any]) -> Account:
    blocked = output["blocked"]["blocked"]
    specific = output.get("specific") or {}
    config = specific.get("toolConfig") if isinstance(specific, dict) else None
    effects = {
        "decision": "deny" if blocked else "ask" if output.get("decision") == "ask" else None,
        "reason": output["blocked"]["reason"] if blocked else None,
        "halt": output["reason"] if output["stopped"] else None,
        "messages": output.get("message"),
        "context": output.get("context"),
        "tool_input": output.get("tool_input"),
        "request": output.get("request") if output.get("request") != given.get("request") else None,
        "response": _their_response(output),
        "tools": {"mode": config.get("mode"), "allowed": config.get("allowedFunctionNames")} if config else None,
        "suppress": output.get("suppress"),
        "clear": output.get("clear"),
    }
    effects = {key: value for key, value in effects.items() if key not in READ or case.event in READ[key]}
    stops = [key for key in ("halt", "decision") if effects.get(key) not in (None, "ask")]
    if stops:
        effects |= dict.fromkeys(("tool_input", "request"))
    if "decision" not in stops or "halt" in stops:
        effects["reason"] = None
    return effects


def _their_response(output: dict[str, Any]) -> Any:
    """A reply counts in the place of a call that is denied, or of a response that is neither denied nor halted."""
    denied, halted = output["blocked"]["blocked"], output["stopped"]
    response = None if halted else output.get("synthetic") if denied else output.get("modified")
    if not response or "candidates" not in response:
        return response
    parts = [part.get("text") for part in response["candidates"][0]["content"]["parts"]]
    return {"parts": parts, "finish": response["candidates"][0].get("finishReason")}


def _response(response: Any) -> Any:
    if response is None:
        return None
    first = response["candidates"][0]
    return {"parts": list(first["content"].get("parts", [])), "finish": first.get("finishReason")}


# -- in the same words


def _told(account: Account, directory: Path) -> Account:
    files = sorted(directory.glob("seen*")) + sorted(directory.glob("note*"))
    texts = {file.name: file.read_text(encoding="utf-8", errors="replace") for file in files}
    saw = {name: [_timeless(payload) for payload in _payloads(text)] for name, text in texts.items() if name[0] == "s"}
    left = {name: text for name, text in texts.items() if name[0] == "n"}
    parts = {part for payloads in saw.values() for payload in payloads for part in _optional(payload)}
    told = {key: _plain(value) for key, value in (account | {"saw": saw, "left": left}).items()}
    told["request seen"] = sorted(parts)
    kept = {key: value for key, value in told.items() if key == "tool_input" or not _empty(value)}
    done: Account = json.loads(json.dumps(kept).replace(json.dumps(str(directory))[1:-1], DIRECTORY))
    return done


def _optional(payload: dict[str, Any]) -> list[str]:
    """Take out of a payload what one side always sends, or never; what was there."""
    request = payload.get("llm_request", {})
    empty = ["an empty config"] if request.get("config") == {} else []
    if empty:
        del request["config"]
    return empty + (["toolConfig"] if request.pop("toolConfig", None) else [])


def _plain(value: Any) -> Any:
    return HALF.sub("\N{REPLACEMENT CHARACTER}", value).rstrip() if isinstance(value, str) else value


def _payloads(text: str) -> list[dict[str, Any]]:
    """The JSON objects of a file. Two runs of a script at once may have put the line ends anywhere between them."""
    found, text = [], text.strip()
    while text:
        payload, end = json.JSONDecoder().raw_decode(text)
        found.append(payload)
        text = text[end:].strip()
    return found


def _timeless(payload: dict[str, Any]) -> dict[str, Any]:
    """A payload without the moment, which has to be one in UTC, with milliseconds."""
    assert MOMENT.fullmatch(payload["timestamp"]), payload
    return payload | {"timestamp": "NOW"}


def _empty(value: Any) -> bool:
    return value is None or value is False or (not isinstance(value, bool) and value in ("", [], {}))
