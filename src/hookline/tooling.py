"""A call of a tool: the policy, PreToolUse, approval, the tool itself, PostToolUse."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

from hookline.compacting import compact
from hookline.conducting import Do, Fire, Steps, both, reporting
from hookline.errors import Divergence, UsageError
from hookline.model import Ruling
from hookline.results import Ask, ToolResult
from hookline.stage import Stage, described, failure
from hookline.wording import kind_of, shown

NOBODY = "nobody could be asked: the session has no approver"


class ToolCalls(Stage):
    """The part of a session that runs tools."""

    def _tool(
        self,
        name: str,
        input: dict[str, Any] | None,  # noqa: A002  (it is what everybody calls it)
        run: Callable[[Any], Any],
        *,
        mcp: Mapping[str, Any] | None = None,
        schema: dict[str, Any] | None = None,
    ) -> Steps[ToolResult]:
        """PermissionAsked and PermissionReplied where the policy objects, PreToolUse, `run(input)`, PostToolUse.

        `mcp` says which server a tool belongs to. Arguments that a hook rewrote are checked against `schema`.
        """
        fits = _validator(schema)
        yield from self._turn_begins()
        facts: dict[str, Any] = {"tool_name": name, "tool_input": _apart(input)} | ({"mcp": dict(mcp)} if mcp else {})
        refused = self._outside() if self._allowed_tools is not None and name not in self._allowed_tools else ""
        refused = refused or (yield from self._appealed(name, input))
        if refused:
            return self._denied(name, input, refused)
        ruling = yield Fire("PreToolUse", facts, had={"tool_input": input})
        if ruling.tool_input is not None:
            input = ruling.tool_input  # noqa: A001
        facts = facts | {"tool_input": _apart(input)}
        refused = "" if ruling.tool_input is None else fits(input)
        refused = refused or (yield from self._objection(name, input, ruling))
        if refused:
            return self._denied(name, input, refused, ruling)
        if ruling.halt:
            output = f"The agent was halted before this tool ran: {ruling.halt.reason}"
            self._used(name, "halted", output)
            return ToolResult("halted", name, input, output, halt=ruling.halt.reason)
        self._record("tool_call", {"tool_name": name, "tool_input": input})
        front = self._front()
        try:
            value = yield Do("tool", run, (input,))
            output = _as_text(name, value)
        except Divergence:
            raise
        except BaseException as error:
            self._record("tool_result", {"tool_name": name, **failure(error)}, since=front)
            self._used(name, "failed", described(error))
            if isinstance(error, Exception):
                yield Fire("PostToolUse", facts | {"tool_error": described(error)})
            raise
        self._record("tool_result", {"tool_name": name, "output": output}, since=front)
        self._used(name, "ok", output)
        after = yield Fire("PostToolUse", facts | {"tool_output": output, "tool_error": None})
        if after.tool_output is not None:
            output = after.tool_output if isinstance(after.tool_output, str) else compact(after.tool_output).decode()
        return ToolResult(
            "halted" if after.halt else "ok",
            name,
            input,
            _with_notes(output, ruling, after),
            halt=after.halt.reason if after.halt else None,
            suppress_output=after.suppress_output,
        )

    def _outside(self) -> str:
        names = ", ".join(sorted(self._allowed_tools or ())) or "none"
        return f"this tool is outside of those allowed for this model call ({names})"

    def _appealed(self, tool: str, given: Any) -> Steps[str]:
        """Why the policy refuses a call for good; a hook or a person may lift its objection."""
        reason = self._policy.refusal(tool)
        if not reason or self._granted(tool, given, "PermissionAsked"):
            return ""
        asked = {"tool_name": tool, "tool_input": _apart(given), "reason": reason}
        ruling = yield Fire("PermissionAsked", asked)
        granted = ruling.reason
        if ruling.decision == "allow":
            self._grants.remember(tool, given)
            refused = ""
        elif ruling.decision == "deny":
            refused = ruling.reason
        else:
            said = f"{reason}\n{ruling.reason}" if ruling.reason else reason
            granted = f"{said} (approved)"
            try:
                refused = yield from self._approved(tool, given, said)
            except (GeneratorExit, Divergence):
                raise
            except BaseException as error:
                failed = f"{said} (the approver failed: {described(error)})"
                yield Fire("PermissionReplied", asked | {"decision": "deny", "reason": failed})
                raise
        replied = {"decision": "deny", "reason": refused} if refused else {"decision": "allow", "reason": granted}
        yield Fire("PermissionReplied", asked | replied)
        return refused

    def _objection(self, tool: str, given: Any, ruling: Ruling) -> Steps[str]:
        """Why the hooks of PreToolUse keep a call from running, after a person was asked where they want that."""
        if ruling.decision == "deny":
            return ruling.reason
        if ruling.decision != "ask" or ruling.halt or self._granted(tool, given):
            return ""
        return (yield from self._approved(tool, given, ruling.reason))

    def _granted(self, tool: str, given: Any, event: str = "") -> bool:
        """Whether nobody needs to be asked. In a replay the tape knows: what was granted may be masked in it."""
        if self._player is None:
            return (tool, given) in self._grants
        return not self._player.fires(event) if event else self._player.calls(tool)

    def _approved(self, tool: str, given: Any, reason: str) -> Steps[str]:
        """Why a person did not approve; nothing if one did."""
        if self._approve is None:
            return f"{reason} ({NOBODY})"
        asked = {"tool_name": tool, "tool_input": given, "reason": reason}
        front = self._front()
        try:
            answer = yield Do("approval", self._approve, (Ask(tool, given, reason),))
            if not isinstance(answer, bool) and answer != "session":
                raise UsageError(f"approve() returns True, False or 'session', not {kind_of(answer)} {shown(answer)}")
        except (GeneratorExit, Divergence):
            raise
        except BaseException as error:
            self._record("approval", asked | {"answer": False, **failure(error)}, since=front)
            raise
        self._record("approval", asked | {"answer": answer}, since=front)
        if answer == "session":
            self._grants.remember(tool, given)
        return "" if answer else f"{reason} (not approved)"

    def _denied(self, tool: str, given: Any, reason: str, ruling: Ruling | None = None) -> ToolResult:
        self._record("tool_refused", {"tool_name": tool, "tool_input": given, "reason": reason})
        output = _with_notes(f"The call of {tool} was denied: {reason}", *([ruling] if ruling else []))
        self._used(tool, "denied", output)
        halt = ruling.halt.reason if ruling and ruling.halt else None
        return ToolResult("denied", tool, given, output, error="permission_denied", reason=reason, halt=halt)

    tool, tool_async = both(reporting(_tool))


def _as_text(tool: str, value: Any) -> str:
    """What a tool returned, as the model reads it."""
    if isinstance(value, bytes | bytearray):  # of a process, say
        return value.decode("utf-8", "replace")
    try:
        return value if isinstance(value, str) else compact(value).decode()
    except UsageError:
        what = f"{kind_of(value)}: {shown(value)}"
        raise UsageError(f"the tool {tool} returned something that is no text and no JSON value, {what}") from None


def _apart(given: Any) -> Any:
    """The input as hooks get it: a handler that changes it in place changes nothing of what runs."""
    try:
        return deepcopy(given)
    except Exception:  # noqa: BLE001  (what cannot be copied is handed over as it is)
        return given


def _with_notes(output: str, *rulings: Ruling) -> str:
    """A tool's output with what hooks added for the model: context, then messages of the system."""
    context = [text for ruling in rulings for text in ruling.context]
    messages = [f"[System] {text}" for ruling in rulings for text in ruling.messages]
    return "\n\n".join([output, *context, *messages]) if context or messages else output


def _validator(schema: dict[str, Any] | None) -> Callable[[Any], str]:
    """What tells why arguments that a hook rewrote cannot be used; nothing if they can."""
    if schema is None:
        return lambda given: ""
    try:
        from jsonschema import Draft202012Validator, SchemaError
        from jsonschema.exceptions import best_match
        from jsonschema.validators import validator_for
    except ImportError:
        raise UsageError("schema= needs the package jsonschema: install hookline[schema]") from None
    kind = validator_for(schema, default=Draft202012Validator)
    try:
        kind.check_schema(schema)
    except SchemaError as error:
        raise UsageError(f"schema= is no JSON Schema: {error.message}") from None
    validator = kind(schema)

    def fits(given: Any) -> str:
        error = best_match(validator.iter_errors(given))
        if error is None:
            return ""
        return f"a hook rewrote the arguments, and they no longer fit the tool: {error.json_path}: {error.message}"

    return fits
