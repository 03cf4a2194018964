"""What a Harn handler may answer: one parser for each surface, over one way to unwrap reminders. Pure.

    tool      None, {"deny": why}, {"args": {...}} before; None, text, {"result": ...} after
    step      None, "Allow", {"deny": why}, {"args": [...]} before; None, "Pass", {"output": ...} after
    session   None, True, False, {"block": true, "reason": why}, {"decision": "allow|deny|ask", "reason": why}

Everywhere a reminder may come along: {"reminder": {...}, "then": answer}, or the bare {"body": ...}. A dict
with none of the known keys is no opinion; every other shape is an error that names the known ones. Of a strict hook
everything in an answer has to mean something, receipts excepted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from msgspec.structs import replace

from hookline.compacting import compact
from hookline.errors import BadAnswer, UsageError
from hookline.events import misfit
from hookline.model import NO_OPINION, Decision, Event, Hook, Verdict
from hookline.reminders import KEYS as REMINDER_KEYS
from hookline.reminders import reminder
from hookline.wording import kind_of, nearest, shown

DEEPEST = 32
"""How many answers may stand inside each other's `then`."""

CONTROL = frozenset({"deny", "args", "result", "output", "modify", "block", "decision", "action", "control"})
"""Keys that make a dict with a `body` something else than a bare reminder."""

REMINDING = frozenset({"reminder", "then", "effects"})
"""Keys that bring reminders along."""

WITH_REMINDER = "{'reminder': {'body': text}, 'then': answer}, {'body': text}"
SHAPES = {
    "PreToolUse": "None, {'deny': why}, {'args': {...}}",
    "PostToolUse": "None, text, {'result': value}",
    "PreStep": "None, 'Allow', {'deny': why}, {'args': [...]}",
    "PostStep": "None, 'Pass', {'output': value}",
    "step": "None",
    "session": "None, True, False, {'block': True, 'reason': why}, "
    "{'decision': 'allow'|'deny'|'ask', 'reason': why}, a list of reminders",
}
"""What is taken where: by event, else by surface."""

KNOWN = {
    "PreToolUse": frozenset({"deny", "args"}),
    "PostToolUse": frozenset({"result"}),
    "PreStep": frozenset({"deny", "args", "modify", "action"}),
    "PostStep": frozenset({"output", "result", "modify"}),
    "step": frozenset[str](),
    "session": frozenset({"block", "decision"}),
}
"""Which of those keys mean something where: by event, else by surface. The others are ignored, but not in silence."""

EFFECT = "an effect is a reminder such as {'reminder': {'body': text}}, and nothing else"
DECISIONS: tuple[Decision, ...] = ("allow", "deny", "ask")


def answered(hook: Hook, event: Event, value: Any, surface: str) -> Verdict:
    """What a handler's answer means. Raises BadAnswer for a shape its surface does not know."""
    if value is None:
        return NO_OPINION
    reading = _Reading(hook, event, surface)
    parse: Callable[[_Reading, Any], Verdict] = {"tool": _tool, "step": _step, "session": _session}[surface]
    try:
        verdict = parse(reading, reading.unwrapped(value))
    except BadAnswer:
        raise
    except UsageError as error:  # something in it is no JSON
        raise reading.wrong(value, str(error)) from None
    notices = (*reading.notices, *verdict.notices)
    if notices and reading.strict:
        raise reading.wrong(value, notices[0].removesuffix(": ignored"))
    if not reading.reminders and not reading.notices:
        return verdict
    return replace(verdict, reminders=tuple(reading.reminders), notices=notices)


class _Reading:
    """One answer being read: whose it is, and the reminders found in it so far."""

    def __init__(self, hook: Hook, event: Event, surface: str) -> None:
        self.hook, self.event, self.surface = hook, event, surface
        self.strict = bool(getattr(hook.action, "strict", False))
        self.reminders: list[dict[str, Any]] = []
        self.notices: list[str] = []

    def unwrapped(self, value: Any) -> Any:
        """The answer inside its reminders, which are kept."""
        for _ in range(DEEPEST + 1):
            if isinstance(value, list | tuple) and self.surface == "session":
                for effect in value:
                    self._effect(effect)
                return None
            if not isinstance(value, dict):
                return value
            if self.strict:
                self._insist(value)
            for effect in self._listed(value.get("effects")):
                self._effect(effect)
            if value.get("reminder") is not None:
                self._keep(value["reminder"])
            elif "body" in value and not CONTROL & value.keys():
                self._keep({key: item for key, item in value.items() if key not in ("then", "effects")})
            elif "body" in value:
                self.notices.append(
                    "its 'body' is no reminder beside an action; write {'reminder': {'body': text}}: ignored"
                )
            if value.get("then") is None:
                return value
            beside = [key for key in value if key in CONTROL and value[key] is not None]
            self.notices += [f"its {key!r} stands beside 'then', which counts instead: ignored" for key in beside]
            value = value["then"]
        raise self.too_deep(value)

    def _insist(self, answer: dict[str, Any]) -> None:
        """Every key of a strict hook's answer means something, and one of them asks for something."""
        from hookline.receipts import SCHEMA

        if answer.get("schema") == SCHEMA:
            return
        bare = "body" in answer and not CONTROL & answer.keys()
        asking = self.means() | REMINDING | (frozenset(REMINDER_KEYS) if bare else frozenset())
        if odd := [key for key in answer if key not in asking and key != "reason"]:
            raise self.wrong(answer, f"its {shown(odd[0])} means nothing here{nearest(str(odd[0]), sorted(asking))}")
        if not asking & answer.keys():
            raise self.wrong(answer, "it asks for nothing")

    def _listed(self, effects: Any) -> Iterator[Any]:
        if effects is None:
            return
        if self.surface != "session":
            raise self.wrong(effects, "a list of effects is for session hooks; use 'reminder'")
        yield from effects if isinstance(effects, list | tuple) else [effects]

    def _effect(self, effect: Any) -> None:
        """One item of a list of effects: {"reminder": spec}, {"type": "reminder", "spec": spec}, or a bare spec.

        What stands in its `then` is one more. A list of effects decides nothing, so nothing else may be in it.
        """
        for _ in range(DEEPEST + 1):
            if not isinstance(effect, dict) or CONTROL & effect.keys():
                raise self.wrong(effect, EFFECT)
            kind = effect.get("type", effect.get("kind"))
            if kind is not None and str(kind).lower() == "reminder":
                self._keep(effect.get("spec", effect.get("reminder")))
            elif "reminder" in effect:
                self._keep(effect["reminder"])
            elif "body" in effect:
                self._keep({key: item for key, item in effect.items() if key != "then"})
            else:
                raise self.wrong(effect, EFFECT)
            effect = effect.get("then")
            if effect is None:
                return
        raise self.too_deep(effect)

    def _keep(self, spec: Any) -> None:
        try:
            made = reminder(spec, id="", event=self.event.name)
        except UsageError as error:
            raise self._bad(str(error)) from None
        self.reminders.append({key: value for key, value in made.to_dict().items() if key in REMINDER_KEYS})

    def too_deep(self, value: Any) -> BadAnswer:
        return self.wrong(value, f"its answers stand inside each other more than {DEEPEST} deep")

    def wrong(self, value: Any, why: str = "") -> BadAnswer:
        takes = SHAPES.get(self.event.name) or SHAPES[self.surface]
        why = why or mistaken(value, "verdicts are for @hooks.on")
        got = f"it answered {shown(value)}, which is {kind_of(value)}"
        message = f"{got}; {why}" if why else got
        return self._bad(f"{message}; it takes {takes}, or {WITH_REMINDER}")

    def _bad(self, message: str) -> BadAnswer:
        return BadAnswer(self.hook.name, self.event.name, message, str(self.hook.source))

    def nothing(self, answer: dict[str, Any]) -> Verdict:
        """No opinion, with a notice of what means something elsewhere."""
        notices = self.ignored(answer)
        return Verdict(notices=notices) if notices else NO_OPINION

    def means(self) -> frozenset[str]:
        """The keys that mean something here."""
        return KNOWN.get(self.event.name) or KNOWN[self.surface]

    def ignored(self, answer: dict[str, Any]) -> tuple[str, ...]:
        means = self.means()
        strange = [key for key in answer if key in CONTROL and key not in means and key != "control"]
        return tuple(
            f"its {key!r} means nothing on {self.event.name}: ignored"
            for key in strange
            if answer[key] is not None and answer[key] is not False
        )

    def reason(self, answer: dict[str, Any], default: str) -> str:
        said = answer.get("reason")
        return (text(said).strip() if said is not None else "") or default


def mistaken(value: Any, other: str) -> str:
    """What somebody most likely forgot who answered with this; `other` is said of the answers of the other protocol."""
    if isinstance(value, Verdict | dict):
        return other
    return "call it: an answer is no function" if callable(value) else ""


def text(value: Any) -> str:
    """A value as text: a string as it is, anything else as compact JSON."""
    return value if isinstance(value, str) else compact(value).decode()


def _denied(reading: _Reading, answer: dict[str, Any]) -> Verdict:
    given = text(answer["deny"]).strip() if answer.get("deny") not in (None, True) else ""
    reason = given or reading.reason(answer, f"denied by {reading.hook.name}")
    return Verdict(decision="deny", reason=reason, result="block")


def _tool(reading: _Reading, answer: Any) -> Verdict:
    before = reading.event.name == "PreToolUse"
    if answer is None:
        return NO_OPINION
    if isinstance(answer, str) and not before:
        return Verdict(rewrites={"tool_output": answer})
    if not isinstance(answer, dict):
        raise reading.wrong(answer)
    if not before:
        if answer.get("result") is None:
            return reading.nothing(answer)
        return Verdict(rewrites={"tool_output": text(answer["result"])}, notices=reading.ignored(answer))
    if answer.get("deny") is not None:
        return _denied(reading, answer)
    args = answer.get("args")
    if args is not None and not isinstance(args, dict):
        raise reading.wrong(answer, f"the arguments of a tool are a dict, not {kind_of(args)}")
    if args is None:
        return reading.nothing(answer)
    if wrong := misfit("tool_input", args):
        raise reading.wrong(answer, f"the arguments of a tool {wrong}")
    return Verdict(rewrites={"tool_input": args}, notices=reading.ignored(answer))


def _step(reading: _Reading, answer: Any) -> Verdict:
    name = reading.event.name
    if answer is None or (name, answer) in (("PreStep", "Allow"), ("PostStep", "Pass")):
        return NO_OPINION
    if not isinstance(answer, dict):
        raise reading.wrong(answer)
    if name == "PostStep":
        key = next((key for key in ("output", "result", "modify") if key in answer), None)
        if key is None:
            return reading.nothing(answer)
        return Verdict(rewrites={"output": answer[key]}, notices=reading.ignored(answer))
    if name != "PreStep":
        return reading.nothing(answer)
    if answer.get("deny") is not None or text(answer.get("action") or "").lower() == "deny":
        return _denied(reading, answer)
    args = answer["args"] if answer.get("args") is not None else answer.get("modify")
    if args is None:
        return reading.nothing(answer)
    notices = reading.ignored(answer)
    if not isinstance(args, list | tuple):
        return Verdict(notices=(f"its arguments must be a list, not {kind_of(args)} {shown(args)}: ignored", *notices))
    return Verdict(rewrites={"args": list(args)}, notices=notices)


def _session(reading: _Reading, answer: Any) -> Verdict:
    name = reading.event.name
    if answer is None or answer is True:
        return NO_OPINION
    if answer is False:
        return Verdict(decision="deny", reason=f"{name} hook returned false", result="block")
    if not isinstance(answer, dict):
        raise reading.wrong(answer)
    if answer.get("decision") is not None:
        return _decision(reading, answer)
    if answer.get("block"):
        reason = reading.reason(answer, f"{name} hook blocked the operation")
        return Verdict(decision="deny", reason=reason, result="block")
    return reading.nothing(answer)


def _decision(reading: _Reading, answer: dict[str, Any]) -> Verdict:
    """A decision counts on PermissionAsked only; elsewhere it is no opinion, and says so."""
    word = str(answer["decision"]).strip().lower()
    if word not in DECISIONS:
        raise reading.wrong(answer, f"a decision is one of {', '.join(DECISIONS)}, not {shown(answer['decision'])}")
    decision: Decision = "allow" if word == "allow" else "deny" if word == "deny" else "ask"
    if reading.event.name != "PermissionAsked":
        return Verdict(notices=(f"its 'decision' means nothing on {reading.event.name}: ignored",))
    asked = reading.event.payload.get("reason") or ""
    done = {"allow": "granted", "deny": "denied", "ask": "not decided"}[decision]
    default = f"permission {done} by session hook" + (f": {asked}" if asked else "")
    return Verdict(decision=decision, reason=reading.reason(answer, default), result=f"decision_{decision}")
