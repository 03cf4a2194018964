"""What may run of a project's own configuration, by content.

Trust is given to the bytes of a configuration file together with the files its hooks name. A trusted
hook runs the copies that were made when it was trusted: run what was checked.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from hookline.model import Command, Hook, Loaded, Notice, Source
from hookline.scripts import Ground, Named, Script, Unusable, digest, interpreter, is_text, pinned, read_script
from hookline.state import Record, Refused, State, Trusted
from hookline.wording import seconds, shown

MOST_SCRIPTS = 256
MOST_BYTES = 64 * 1024 * 1024
"""Of one configuration; a project that names more wants something else than hooks."""

Standing = Literal["new", "changed", "trusted"]


class Config(Struct, frozen=True):
    """A configuration file of a project as it was read, once: its real path, its bytes, its hooks."""

    file: str
    real: str
    dialect: str
    data: bytes
    loaded: Loaded

    @property
    def digest(self) -> str:
        return digest(self.data)


class Reviewed(Struct, frozen=True):
    """One hook and what it names. `problem` says why it cannot be trusted."""

    hook: Hook
    names: dict[str, str]
    problem: str
    cautions: tuple[str, ...]

    @property
    def paths(self) -> list[str]:
        return list(dict.fromkeys(self.names.values()))

    def to_dict(self) -> dict[str, Any]:
        return summary(self.hook) | {
            name: value
            for name, value in (
                ("source", str(self.hook.source)),
                ("scripts", self.paths),
                ("problem", self.problem),
                ("cautions", list(self.cautions)),
            )
            if value
        }


class Review(Struct, frozen=True):
    """Exactly what would run if a configuration were trusted, and what is new since the last time.

    `scripts` is by path, `data`, what is in them, by digest.
    """

    config: Config
    standing: Standing
    hooks: tuple[Reviewed, ...]
    scripts: dict[str, Script]
    data: dict[str, bytes]
    changes: tuple[str, ...]

    @property
    def problems(self) -> list[str]:
        return [f"{reviewed.hook.name}: {reviewed.problem}" for reviewed in self.hooks if reviewed.problem]

    def trusted(self, at: str) -> Trusted:
        """This, as a record keeps it."""
        config = self.config
        return Trusted(
            config.real,
            config.dialect,
            config.digest,
            at,
            hooks=tuple(summary(reviewed.hook) for reviewed in self.hooks),
            names=tuple(reviewed.names for reviewed in self.hooks),
            scripts=tuple(self.scripts.values()),
            disabled=_spelled(config.loaded.disabled),
        )

    def to_dict(self) -> dict[str, Any]:
        config = self.config
        return {
            "file": config.file,
            **({"real": config.real} if config.real != config.file else {}),
            "dialect": config.dialect,
            "digest": config.digest,
            "status": self.standing,
            **({"changes": list(self.changes)} if self.changes else {}),
            **({"disables": list(config.loaded.disabled)} if config.loaded.disabled else {}),
            "hooks": [reviewed.to_dict() for reviewed in self.hooks],
            "scripts": [_script(script) for script in self.scripts.values()],
        }


def _script(script: Script) -> dict[str, Any]:
    row = {"path": script.path, "kind": script.kind, "executable": script.executable}
    real = {"real": script.real} if script.real != script.path else {}
    return row | real | ({"digest": script.digest} if script.digest else {})


def summary(hook: Hook) -> dict[str, Any]:
    """What of a hook decides what it does: the words it runs, and when."""
    action = hook.action
    shell = {"shell": action.shell, "env": dict(sorted(action.env.items()))} if isinstance(action, Command) else {}
    known = {
        "event": hook.event,
        "hook": hook.name,
        **action.to_dict(),
        **shell,
        "matcher": hook.matcher.text,
        "background": hook.background,
        "on_failure": hook.on_failure,
    }
    return {name: _spelled(value) for name, value in known.items() if value not in ("", None, False, {})}


def _spelled(value: Any) -> Any:
    """A value as a record can keep it: half a character, which JSON may hold and UTF-8 may not, is spelled out."""
    match value:
        case str():
            return value if is_text(value) else value.encode(errors="backslashreplace").decode()
        case list() | tuple():
            return type(value)(map(_spelled, value))
        case dict():
            return {_spelled(name): _spelled(item) for name, item in value.items()}
    return value


# -- before it is trusted


def review(config: Config, ground: Ground, record: Record | None) -> Review:
    """Look at everything a configuration would run. Reads the named files, once each; runs nothing."""
    scripts: dict[str, Script] = {}
    data: dict[str, bytes] = {}
    faults: dict[str, str] = {}
    leads: dict[str, str] = {}
    hooks = []
    for hook in own(config):
        named = Named(hook.action, ground)
        for path in named.paths.values():
            if path not in scripts and path not in faults:
                try:
                    if len(scripts) >= MOST_SCRIPTS or sum(map(len, data.values())) > MOST_BYTES:
                        raise Unusable(f"{path} is one file too many for one configuration")
                    scripts[path], content = read_script(path, ground)
                    data[scripts[path].digest] = content
                    leads[path] = interpreter(scripts[path], content, ground)
                except Unusable as reason:
                    faults[path] = str(reason)
            if leads.get(path):
                named.caution(f"{path} is run by {leads[path]}, a link in the project; where it leads is not covered")
        problem = named.problem or next((faults[path] for path in named.paths.values() if path in faults), "")
        hooks.append(Reviewed(hook, named.paths, problem, tuple(named.cautions)))
    before = record.of(config.real) if record else None
    made = Review(config, "new", tuple(hooks), scripts, data, ())
    if before is None:
        return made
    changes = tuple(_changes(before, made))
    return replace(made, standing="changed" if changes else "trusted", changes=changes)


def own(config: Config) -> list[Hook]:
    """The hooks that are written in the file itself; a dialect may add what the user's environment says."""
    return [hook for hook in config.loaded.hooks if hook.source.file == config.file]


def _changes(before: Trusted, now: Review) -> Iterable[str]:
    """What is not as it was trusted, in words."""
    old, new = _by_name(before.hooks), _by_name(summary(reviewed.hook) for reviewed in now.hooks)
    if before.digest == now.config.digest:
        old = new  # the same text; only the user's own environment can have made a difference
    for key in new:
        if key not in old:
            yield f"new hook on {key[0]}: {shown(key[1])}"
        elif old[key] != new[key]:
            fields = [name for name in {**old[key], **new[key]} if old[key].get(name) != new[key].get(name)]
            was = ", ".join(f"{name} was {_was(name, old[key].get(name))}" for name in fields)
            yield f"changed hook on {key[0]}: {shown(key[1])} ({was})"
    for key in old:
        if key not in new:
            yield f"removed hook on {key[0]}: {shown(key[1])}"
    known = {script.path: script for script in before.scripts}
    for path, script in now.scripts.items():
        if path not in known:
            yield f"new file: {path}"
        elif known[path] != script:
            yield f"changed file: {path} ({_difference(known[path], script)})"
    for path in known:
        if path not in now.scripts:
            yield f"removed file: {path}"
    if before.disabled != _spelled(now.config.loaded.disabled):
        yield f"it switches off other hooks than before: was {shown(list(before.disabled))}"
    if before.digest != now.config.digest:
        yield f"the text of {now.config.file}"


def _by_name(hooks: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str, int], Mapping[str, Any]]:
    found: dict[tuple[str, str, int], Mapping[str, Any]] = {}
    for hook in hooks:
        event, name = str(hook.get("event")), str(hook.get("hook"))
        number = sum(1 for key in found if key[:2] == (event, name))
        found[event, name, number] = hook
    return found


def _was(name: str, value: Any) -> str:
    return "not set" if value is None else seconds(value) if name == "timeout" else shown(value)


def _difference(old: Script, new: Script) -> str:
    if old.digest != new.digest:
        return f"was {old.digest[:12]}, is {new.digest[:12]}"
    if old.real != new.real:
        return f"led to {old.real}, leads to {new.real}"
    return "may now be executed" if new.executable else "may no longer be executed"


# -- afterwards


def applied(config: Config, ground: Ground, state: State, record: Record | None, refusal: str) -> tuple[Loaded, str]:
    """A configuration with trust applied: what is trusted runs its copies, the rest is barred; and in a word, why."""
    trusted = record.of(config.real) if record else None
    command = f"run `hookline trust {shlex.quote(ground.project)}`"
    if refusal:
        return _barred(config, f"not trusted: {refusal}"), "not trusted"
    if trusted is None:
        return _barred(config, f"not trusted; {command}"), "not trusted"
    if trusted.digest != config.digest or trusted.dialect != config.dialect:
        return _barred(config, f"changed since it was trusted: {config.file}; {command}"), "changed"
    try:
        copies = state.copies(ground, trusted.scripts)
    except Refused as reason:
        return _barred(config, f"not trusted: {reason}; {command}"), "not trusted"
    ours = own(config)
    if len(ours) != len(trusted.names):
        return _barred(config, f"changed since it was trusted: what {config.file} comes to; {command}"), "changed"
    then = {id(hook): names for hook, names in zip(ours, trusted.names, strict=True)}
    look = _Look({script.path: script for script in trusted.scripts}, ground)
    hooks, standing = [], "trusted"
    for hook in config.loaded.hooks:
        if id(hook) not in then:
            hooks.append(hook)
            continue
        named = Named(hook.action, ground)
        changed = look.changed(named, then[id(hook)])
        if named.problem or changed:
            why = named.problem or f"changed since it was trusted: {changed}; {command}"
            hooks.append(replace(hook, barred=hook.barred or why))
            standing = "changed" if changed else standing
        else:
            hooks.append(replace(hook, action=pinned(hook.action, named, copies)))
    return replace(config.loaded, hooks=tuple(hooks)), standing


class _Look:
    """The files of a configuration as they are now, each looked at once, against the ones that were trusted."""

    def __init__(self, known: Mapping[str, Script], ground: Ground) -> None:
        self.known, self.ground = known, ground
        self.seen: dict[str, str] = {}

    def changed(self, named: Named, then: Mapping[str, str]) -> str:
        """How what a hook names differs from what it named then; nothing if it does not."""
        for word, path in then.items():
            if named.paths.get(word) != path:
                return f"{shown(word)} no longer names {path}"
        for path in named.paths.values():
            if path not in self.seen:
                self.seen[path] = self._altered(path)
            if self.seen[path]:
                return self.seen[path]
        return ""

    def _altered(self, path: str) -> str:
        known = self.known.get(path)
        if known is None:
            return f"it names {path}, which could not be trusted then"
        try:
            script, _ = read_script(path, self.ground)
        except Unusable as reason:
            return str(reason)
        return "" if script == known else f"{path} ({_difference(known, script)})"


def _barred(config: Config, why: str) -> Loaded:
    """None of its hooks may run, and nobody else's are switched off by it."""
    ours = {id(hook) for hook in own(config)}
    hooks = tuple(replace(h, barred=h.barred or why) if id(h) in ours else h for h in config.loaded.hooks)
    notices = [*config.loaded.notices, Notice(_skipped(len(ours), why), Source(config.file))]
    if config.loaded.disabled:
        names = ", ".join(map(shown, config.loaded.disabled))
        notices.append(Notice(f"it would switch off {names}, and is not heard", Source(config.file)))
    return replace(config.loaded, hooks=hooks, notices=tuple(notices), disabled=())


def _skipped(count: int, why: str) -> str:
    return f"its hook is skipped, {why}" if count == 1 else f"its {count} hooks are skipped, {why}"


def ground_of(project: str, environ: Mapping[str, str], home: str) -> Ground:
    """A project, and where names lead from it. A directory of PATH inside the project installs nothing."""
    real = os.path.realpath(project)
    bare = Ground(real, home)
    path = (os.path.realpath(entry) for entry in environ.get("PATH", os.defpath).split(":") if os.path.isabs(entry))
    return replace(bare, installed=tuple(dict.fromkeys(entry for entry in path if not bare.inside(entry))))
