"""Python handlers: whether one can be called, where it was written, how one is found by its name in a file."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from hookline.errors import ConfigError, UsageError
from hookline.model import Call, Hook, Source
from hookline.wording import nearest, shown

if TYPE_CHECKING:
    from inspect import Signature

Handler = Callable[[dict[str, Any]], Any]

MADE_UP = "hookline_handlers_"
"""How the names of modules begin that were loaded from a file."""


def checked(handler: Any, what: str) -> Handler:
    """The handler, if it can be called with one argument, the payload."""
    from inspect import signature

    if not callable(handler):
        raise UsageError(f"{what} must be a function of one argument, the payload, not {shown(handler)}")
    called: Handler = handler
    try:
        takes = signature(handler)
    except (ValueError, TypeError):
        return called  # some builtins do not tell
    try:
        takes.bind({})
    except TypeError as error:
        raise UsageError(
            f"{what} is called with one argument, the payload, but {_signed(handler, takes)} cannot be: {error}"
        ) from None
    return called


def _signed(handler: Any, takes: Signature) -> str:
    """A handler and its arguments; one that was loaded from a file has no module a person knows, but the file."""
    module, _, name = label(handler).partition(".")
    if not module.startswith(MADE_UP):
        return f"{label(handler)}{takes}"
    return f"{name}{takes} in {source(handler).file}"


def label(handler: Any) -> str:
    """What a person calls a handler: its module and its name; of a partial, the function inside."""
    inner = _inside(handler)
    name = getattr(inner, "__qualname__", None) or type(inner).__qualname__
    module = getattr(inner, "__module__", None) or type(inner).__module__
    return f"{module}.{name}"


def source(handler: Any) -> Source:
    """The file and line a handler was written at."""
    inner = _inside(handler)
    inner = getattr(inner, "__func__", inner)
    inner = inner if hasattr(inner, "__code__") else getattr(type(inner), "__call__", None)  # noqa: B004  (an object)
    code = getattr(inner, "__code__", None)
    return Source(code.co_filename, f"L{code.co_firstlineno}") if code else Source(label(handler))


def caller() -> Source:
    """The file and line outside of hookline from which it was called: the place of what has no handler of its own."""
    frame, ours = sys._getframe(), os.path.join(os.path.dirname(__file__), "")  # noqa: SLF001  (there is no other way)
    while frame.f_back and frame.f_code.co_filename.startswith(ours):
        frame = frame.f_back
    return Source(frame.f_code.co_filename, f"L{frame.f_lineno}")


def doc(handler: Any) -> str:
    """What a handler says of itself: the first line of its docstring. Nothing is imported for it."""
    said = None if isinstance(handler, Later) else getattr(_inside(handler), "__doc__", None)
    return said.strip().partition("\n")[0] if isinstance(said, str) else ""


def _inside(handler: Any) -> Any:
    inner = handler.handler if isinstance(handler, Once) else handler
    return inner.func if isinstance(inner, partial) else inner


def strictly(hook: Hook) -> Hook:
    """The same hook, with a handler in whose answers everything has to mean something."""
    return replace(hook, action=replace(hook.action, strict=True)) if isinstance(hook.action, Call) else hook


class Once:
    """A handler that is called for the first payload of each key only, also where threads race."""

    MOST = 10_000
    """Keys remembered; of a host with more sessions than that the oldest are forgotten."""

    def __init__(self, handler: Handler, key: Callable[[dict[str, Any]], Hashable]) -> None:
        self.handler, self._key = handler, key
        self._called: dict[Hashable, object] = {}

    def __call__(self, payload: dict[str, Any]) -> Any:
        key, mine = self._key(payload), object()
        if self._called.setdefault(key, mine) is not mine:
            return None
        if len(self._called) > self.MOST:
            self._called.pop(next(iter(self._called)), None)
        return self.handler(payload)

    def was_called(self, key: Hashable) -> bool:
        return key in self._called

    def __eq__(self, other: object) -> bool:
        return self is other or self.handler == other

    def __hash__(self) -> int:
        return hash(self.handler)


class Later:
    """A handler that a file names as `module::function`. Nothing is imported before it is asked for, or called."""

    def __init__(self, module: str, function: str, *, path: str | None, place: Source) -> None:
        self.module, self.function, self.path, self.place = module, function, path, place
        self._found: Handler | None = None

    def moved(self, path: str) -> Later:
        """The same handler, from another file."""
        return Later(self.module, self.function, path=path, place=self.place)

    def __call__(self, payload: dict[str, Any]) -> Any:
        return self.load()(payload)

    def load(self) -> Handler:
        """Import it now. Raises ConfigError, which names the entry."""
        if self._found is None:
            self._found = self._loaded()
        return self._found

    def _loaded(self) -> Handler:
        try:
            module = _from_file(self.module, self.path) if self.path else _by_name(self.module)
        except ModuleNotFoundError as error:
            if self.path or not f"{self.module}.".startswith(f"{error.name}."):  # it is there, and what it wants is not
                raise self._wrong(f"{self.module} cannot be imported: {type(error).__name__}: {error}") from error
            beside = f"{self.module.replace('.', '/')}.py"
            raise self._wrong(
                f"{self.module} cannot be found: there is no {beside} beside the manifest, "
                f"no {self.module!r} in [exports], and no installed module of that name"
            ) from None
        except (Exception, SystemExit) as error:
            raise self._wrong(f"{self.module} cannot be imported: {type(error).__name__}: {error}") from error
        found = getattr(module, self.function, None)
        if found is None:
            known = [name for name in vars(module) if not name.startswith("_")]
            raise self._wrong(f"{self.module} has no function {self.function!r}{nearest(self.function, known)}")
        try:
            return checked(found, f"{self.module}::{self.function}")
        except UsageError as error:
            raise self._wrong(str(error)) from None

    def _wrong(self, message: str) -> ConfigError:
        return ConfigError(message, file=self.place.file, pointer=self.place.pointer)


def _by_name(name: str) -> Any:
    from importlib import import_module

    return import_module(name)


def _from_file(name: str, path: str) -> Any:
    """A module from this very file, under a name of its own: two projects may both have a `guards`.

    The same bytes at the same place are the same module, so that its handlers share what they keep in it.
    """
    from hashlib import sha256
    from importlib.util import module_from_spec, spec_from_file_location

    with open(path, "rb") as file:
        text = file.read()
    digest = sha256(os.fsencode(path) + b"\0" + text).hexdigest()[:16]
    unique = f"{MADE_UP}{digest}_{name.replace('.', '_')}"
    with _loading:
        if unique in sys.modules:
            return sys.modules[unique]
        spec = spec_from_file_location(unique, path)
        if spec is None:
            raise ImportError(f"{path!r} is no Python file")
        module = sys.modules[unique] = module_from_spec(spec)
        try:
            with _neighbours(path, module):
                # What is in the file is what runs: compiled code that lies beside it may be anybody's.
                exec(compile(text, path, "exec", dont_inherit=True), module.__dict__)  # noqa: S102
        except BaseException:
            del sys.modules[unique]
            raise
    return module


_loading = threading.RLock()
_beside: dict[str, dict[str, ModuleType]] = {}
"""By directory, what the handlers there imported from beside themselves."""


@contextmanager
def _neighbours(path: str, module: ModuleType) -> Iterator[None]:
    """What stands beside a file can be imported by it, and is nobody else's afterwards.

    Two projects may both have a `helpers`, and so may the host: none of them gets another's.
    """
    directory, file = os.path.split(path)
    names = {name for name in _modules_in(directory) if not _lies_in(sys.modules.get(name), directory)}
    own = _beside.setdefault(directory, {})
    own[os.path.splitext(file)[0]] = module
    others = _taken_out(names)
    sys.modules.update({name: known for name, known in own.items() if name.partition(".")[0] in names})
    sys.path.insert(0, directory)
    try:
        yield
    finally:
        sys.path.remove(directory)
        own.update(_taken_out(names))
        sys.modules.update(others)


def _modules_in(directory: str) -> Iterator[str]:
    for entry in os.scandir(directory):
        name, suffix = os.path.splitext(entry.name)
        is_module = suffix == ".py" or os.path.isfile(os.path.join(entry.path, "__init__.py"))
        if is_module and name not in sys.stdlib_module_names:
            yield name


def _lies_in(module: ModuleType | None, directory: str) -> bool:
    return os.path.abspath(getattr(module, "__file__", None) or "").startswith(os.path.join(directory, ""))


def _taken_out(names: set[str]) -> dict[str, ModuleType]:
    found = [name for name in sys.modules if name.partition(".")[0] in names]
    return {name: sys.modules.pop(name) for name in found}
