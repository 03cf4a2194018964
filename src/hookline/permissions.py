"""The permission policy of a session: which tools may run unasked, and what was granted so far."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

from hookline.compacting import compact
from hookline.errors import UsageError
from hookline.matching import globber, misread
from hookline.wording import kind_of, shown


class Policy:
    """Harn globs on the name of a tool. A hit on `deny`, or none on a given `allow`, is a refusal one can appeal."""

    def __init__(self, allow: Iterable[str] | None = None, deny: Iterable[str] = ()) -> None:
        self.allow = None if allow is None else _globs(allow, "allow")
        self.deny = _globs(deny, "deny")

    def checked(self) -> Self:
        """The policy, if its globs can fit a tool: a list that forbids nothing must not look as if it did.

        One that is already on a tape is taken as it is.
        """
        for name, globs in (("allow", self.allow or ()), ("deny", self.deny)):
            for glob in globs:
                if why := misread(glob):
                    raise UsageError(f"{name}: {shown(glob)} fits no tool: {why}")
        return self

    def refusal(self, tool: str) -> str:
        """Why the policy refuses a tool; nothing if it does not."""
        hit = next((glob for glob in self.deny if globber(glob)(tool)), None)
        if hit is not None:
            return f"tool {tool!r} is denied by the policy ({hit})"
        if self.allow is not None and not any(globber(glob)(tool) for glob in self.allow):
            return f"tool {tool!r} is not among the allowed tools"
        return ""


class Grants:
    """What was granted for the rest of a session: a tool with these very arguments."""

    def __init__(self) -> None:
        self._given: set[tuple[str, bytes]] = set()

    def remember(self, tool: str, arguments: Any) -> None:
        self._given.add((tool, _canonical(arguments)))

    def to_list(self) -> list[list[str]]:
        """Tool and arguments of each, as the tape has them."""
        return [[tool, arguments.decode()] for tool, arguments in sorted(self._given)]

    def recall(self, given: Iterable[Sequence[str]]) -> None:
        """These are granted from now on."""
        self._given = {(tool, arguments.encode()) for tool, arguments in given}

    def __contains__(self, call: tuple[str, Any]) -> bool:
        return bool(self._given) and (call[0], _canonical(call[1])) in self._given


def _canonical(value: Any) -> bytes:
    """The same bytes for equal values, whatever the order of their keys."""
    return compact(_sorted(value))


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value, key=str)}
    return [_sorted(item) for item in value] if isinstance(value, list | tuple) else value


def _globs(given: Iterable[str], name: str) -> tuple[str, ...]:
    globs = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else (None,)
    if not all(isinstance(glob, str) for glob in globs):
        raise UsageError(f"{name} takes a list of globs such as ['read_*'], not {kind_of(given)} {shown(given)}")
    return tuple(map(str, globs))
