"""Configuration files: their bytes, and the document in them, be it JSON, YAML or TOML.

Whatever is wrong with a whole file is a ConfigError that says where; nothing a file holds may hang us, or take
us down.
"""

from __future__ import annotations

import os
import stat
from typing import Any

import msgspec

from hookline.errors import ConfigError

LARGEST_CONFIG = 4 * 1024 * 1024
DEEPEST = 100
MOST_VALUES = 1_000_000
"""How deep a YAML file may be nested, and how many values it may come to with every alias written out."""


def read_bytes(file: str, *, what: str = "configuration") -> bytes:
    """The bytes of a regular file of reasonable size; anything else is a ConfigError."""
    try:
        # O_NONBLOCK: a FIFO in the place of a config must not hang us.
        fd = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        raise ConfigError(f"there is no such {what} file", file=file) from None
    except (OSError, ValueError) as error:
        raise ConfigError(f"cannot be read: {getattr(error, 'strerror', None) or error}", file=file) from None
    try:
        facts = os.fstat(fd)
        if stat.S_ISDIR(facts.st_mode):
            raise ConfigError(f"is a directory; name the {what} file inside it", file=file)
        if not stat.S_ISREG(facts.st_mode):
            raise ConfigError("is not a regular file", file=file)
        with os.fdopen(fd, "rb", closefd=False) as stream:
            data = stream.read(LARGEST_CONFIG + 1)
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror or error}", file=file) from None
    finally:
        os.close(fd)
    if len(data) > LARGEST_CONFIG:
        raise ConfigError(f"is larger than {LARGEST_CONFIG // 1024 // 1024} MiB; is it a {what} file?", file=file)
    return data


def parse(data: bytes, file: str, form: str | None = None) -> Any:
    """The document in a file: JSON, YAML or TOML as `form` says, else as its suffix or its first sign does."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        byte = f"byte 0x{data[error.start]:02x} at offset {error.start}"
        raise ConfigError(f"is not UTF-8: {byte}; save it as UTF-8", file=file) from None
    if not text.strip():
        raise ConfigError("is empty", file=file)
    if form is None:
        suffixes = {".yaml": "yaml", ".yml": "yaml", ".toml": "toml", ".json": "json"}
        form = suffixes.get(os.path.splitext(file)[1]) or ("json" if text.lstrip()[0] in "{[" else "yaml")
    return {"json": _json, "yaml": _yaml, "toml": _toml}[form](text, file)


def _json(text: str, file: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        import json

        text = _without_comments(text)  # people comment their settings, and the systems they come from let them

        try:  # msgspec counts bytes; people count lines
            return json.loads(text, parse_constant=no_constant)
        except json.JSONDecodeError as error:
            where = f"line {error.lineno}, column {error.colno}"
            raise ConfigError(f"is not valid JSON: {error.msg} at {where}", file=file) from None
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"is not valid JSON: {error}", file=file) from None


def _without_comments(text: str) -> str:
    """Comments become blanks, so that every line and column stays where it was."""
    import re

    def blank(found: re.Match[str]) -> str:
        return found[0] if found[0].startswith('"') else re.sub(r"[^\n]", " ", found[0])

    return re.sub(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/', blank, text, flags=re.DOTALL)


class NoConstant(ValueError):
    """NaN and the infinities, which Python reads and JSON does not have."""


def no_constant(word: str) -> Any:
    raise NoConstant(f"{word} is not JSON")


def _yaml(text: str, file: str) -> Any:
    import yaml

    loader = _loader()
    try:
        _bearable(yaml.parse(text, Loader=loader), file)
        return yaml.load(text, Loader=loader)  # noqa: S506  (a safe loader either way)
    except yaml.MarkedYAMLError as error:
        problem = f"{error.problem or error.context}{_at(error.problem_mark)}"
        began = f" ({error.context} that begins{_at(error.context_mark)})" if error.context_mark else ""
        raise ConfigError(f"is not valid YAML: {problem}{began}", file=file) from None
    except ConfigError:
        raise
    except Exception as error:  # noqa: BLE001  (a value of a wrong sort makes its constructor raise whatever it likes)
        raise ConfigError(f"is not valid YAML: {type(error).__name__}: {error}", file=file) from None


def _loader() -> Any:
    """A safe loader that reads numbers as JSON has them: YAML's base 60 takes a long file for ever."""
    import re

    import yaml

    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class Loader(base):  # type: ignore[misc]
        pass

    digits = "[0-9]{1,300}"
    whole, point = rf"[-+]?{digits}", r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
    power = "[eE][-+]?[0-9]{1,4}"
    real = rf"[-+]?(?:{digits}\.[0-9]{{0,300}}|\.{digits})(?:{power})?|[-+]?{digits}{power}|{point}"
    tags = {"tag:yaml.org,2002:int": (whole, int), "tag:yaml.org,2002:float": (real, _float)}
    kept = {
        sign: [(tag, test) for tag, test in resolvers if tag not in tags and not tag.endswith(":timestamp")]
        for sign, resolvers in base.yaml_implicit_resolvers.items()
    }
    Loader.yaml_implicit_resolvers = kept
    for tag, (pattern, number) in tags.items():
        Loader.add_implicit_resolver(tag, re.compile(f"^(?:{pattern})$"), list("-+.0123456789"))
        Loader.add_constructor(tag, lambda loader, node, number=number: number(loader.construct_scalar(node)))
    return Loader


def _float(text: str) -> float:
    return float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))


def _toml(text: str, file: str) -> Any:
    import tomllib

    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a number with too many digits is no TOMLDecodeError
        raise ConfigError(f"is not valid TOML: {error}", file=file) from None


def _bearable(events: Any, file: str) -> None:
    """Refuse what would take us down: the C loader overflows its stack, and aliases of aliases grow without bound."""
    import yaml

    sizes: dict[str, int] = {}
    nested: list[tuple[str | None, int]] = [(None, 0)]
    for event in events:
        size = 0
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in sizes:
                raise ConfigError(f"the alias *{event.anchor} has nothing it could stand for", file=file)
            size = sizes[event.anchor]
        elif isinstance(event, yaml.ScalarEvent):
            size = 1
            sizes |= {event.anchor: size} if event.anchor else {}
        elif isinstance(event, yaml.CollectionStartEvent):
            nested.append((event.anchor, 1))
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, size = nested.pop()
            sizes |= {anchor: size} if anchor else {}
        nested[-1] = (nested[-1][0], nested[-1][1] + size)
        if len(nested) > DEEPEST or nested[-1][1] > MOST_VALUES:
            raise ConfigError("is nested too deeply, or its aliases come to too many values", file=file)


def _at(mark: Any) -> str:
    return f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
