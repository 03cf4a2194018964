"""The table of translators: an SDK's request and response <-> what hooks see of them.

A translator is a module. A new one is one file and one line here; each is imported when it is first needed.
Which answers of a hook change what, and what is never lost, is told in hookline.translating.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any, Protocol, cast

from hookline.errors import UsageError
from hookline.wording import kind_of, nearest, shown

TRANSLATORS = {
    "genai": "hookline.translators.genai",
    "openai": "hookline.translators.openai",
    "anthropic": "hookline.translators.anthropic",
}


class Translator(Protocol):
    """What every translator can do.

    A call is the keyword arguments of one call of the SDK, as a dict: `{"model": ..., "messages": [...], ...}`.
    No argument is ever changed in place.
    """

    NAME: str

    def claims(self, thing: Any) -> bool:
        """Whether a call, or an object of the SDK, is plainly this translator's."""

    def call_to_hook(self, call: dict[str, Any]) -> dict[str, Any]:
        """The call as hooks see it: an LLMRequest."""

    def call_from_hook(self, hook_request: dict[str, Any], call: dict[str, Any]) -> dict[str, Any]:
        """The call with a hook's answer laid over it."""

    def response_to_hook(self, response: Any) -> dict[str, Any]:
        """The response as hooks see it: an LLMResponse."""

    def response_from_hook(self, hook_response: dict[str, Any], base: Any = None) -> Any:
        """A response of the SDK made of a hook's answer: text only. `base` lends what is not text: ids, counts."""


@cache
def translator(name: str) -> Translator:
    """The translator of this name."""
    if name not in TRANSLATORS:
        hint = nearest(name, TRANSLATORS) if isinstance(name, str) else ""
        raise UsageError(f"no translator is called {shown(name)}; there are {', '.join(TRANSLATORS)}{hint}")
    return cast("Translator", import_module(TRANSLATORS[name]))


def translator_for(thing: Any) -> Translator:
    """The one translator that fits a call, a response, or an object of an SDK."""
    claims = [name for name in TRANSLATORS if translator(name).claims(thing)]
    if len(claims) == 1:
        return translator(claims[0])
    found = f"could be one of {' or '.join(claims)}" if claims else "is not recognised as any SDK's"
    raise UsageError(
        f"{kind_of(thing)} {found}: {shown(thing)}; name its translator: translator(...), "
        f"where the name is one of {', '.join(TRANSLATORS)}"
    )
