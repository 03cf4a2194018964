"""What hookline keeps for a user, outside every project: who is trusted, and copies of what was trusted.

    <state>/hookline/              0700
      lock                         held while something is written
      trust/<project>.json         0600, one record per project, put in place by a rename
      scripts/<project>/<set>/     a mirror of the project: the trusted files are copies, all else is a link

The copies are what runs, so nothing that happens in the project later changes what a trusted hook is.
The links keep a script's neighbours where it looks for them; what they lead to is not covered.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import msgspec
from msgspec import Struct, field

from hookline.compacting import compact
from hookline.errors import ConfigError
from hookline.scripts import Ground, Script, Unusable, contents, digest, identity

VERSION = 1
PATIENCE = 10.0
"""Seconds to wait for another hookline that writes."""

MOST_LINKS = 4096
"""Neighbours of one directory that are mirrored."""


class Trusted(Struct, frozen=True, omit_defaults=True):
    """What was trusted of one configuration file: its bytes, its hooks as they were shown, the files they name.

    `names` has, for each hook, the file each of its words led to.
    """

    file: str
    dialect: str
    digest: str
    at: str
    hooks: tuple[dict[str, Any], ...] = ()
    names: tuple[dict[str, str], ...] = ()
    scripts: tuple[Script, ...] = ()
    disabled: tuple[str, ...] = ()


class Record(Struct, frozen=True):
    """Everything that is trusted of one project."""

    version: int
    project: str
    configs: tuple[Trusted, ...] = field(default_factory=tuple)

    def of(self, file: str) -> Trusted | None:
        return next((config for config in self.configs if config.file == file), None)


class Refused(Exception):
    """The store, or something in it, cannot be relied on; the message says why and what to do."""


class State:
    """The state directory of one user."""

    def __init__(self, environ: Mapping[str, str], home: str) -> None:
        named = environ.get("XDG_STATE_HOME", "")
        base = named if os.path.isabs(named) else os.path.join(home, ".local/state")
        self.directory = os.path.join(base, "hookline")

    # -- reading

    def check(self, ground: Ground | None = None) -> None:
        """Raise Refused where nothing kept here can be believed. What is not there yet is fine."""
        if ground and ground.inside(os.path.realpath(self.directory)):
            raise Refused(
                f"the state directory {self.directory} is inside the project, which could then trust itself; "
                "set XDG_STATE_HOME to a directory outside it"
            )
        if ground and not ground.project.isascii():
            try:
                ground.project.encode()
            except UnicodeEncodeError:
                raise Refused(f"the path of the project is not UTF-8: {ground.project!r}; rename it") from None
        for name in ("", "trust", "scripts"):
            path = os.path.join(self.directory, name).rstrip("/")
            try:
                facts = os.stat(path)
            except FileNotFoundError:
                continue
            except OSError as error:
                raise Refused(f"{path} cannot be read: {error.strerror}") from None
            if not stat.S_ISDIR(facts.st_mode):
                raise Refused(f"{path} is not a directory")
            _ours(path, facts)

    def record(self, project: str) -> Record | None:
        """What is trusted of a project. Raises Refused where the record cannot be believed."""
        return self._read(self._file(project), project)

    def records(self) -> Iterator[Record | str]:
        """Every record, or why one cannot be believed."""
        directory = os.path.join(self.directory, "trust")
        try:
            names = sorted(name for name in os.listdir(directory) if name.endswith(".json"))
        except OSError:
            return
        for name in names:
            try:
                if record := self._read(os.path.join(directory, name)):
                    yield record
            except Refused as reason:
                yield str(reason)

    def _file(self, project: str) -> str:
        return os.path.join(self.directory, "trust", identity(project) + ".json")

    def _read(self, file: str, project: str | None = None) -> Record | None:
        if not os.path.lexists(file):
            return None
        mend = "remove it and run `hookline trust` again"
        try:
            data, facts = contents(file, os.O_NOFOLLOW)
            _ours(file, facts)
            record = msgspec.json.decode(data, type=Record)
        except Unusable as reason:
            raise Refused(f"{reason}; {mend}") from None
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            raise Refused(f"{file} is damaged ({error}); {mend}") from None
        if record.version != VERSION or (project is not None and record.project != project):
            raise Refused(f"{file} is of another hookline, or of another project; {mend}")
        return record

    # -- writing

    def keep(self, ground: Ground, configs: Iterable[Trusted], data: Mapping[str, bytes]) -> Record:
        """Trust these configurations of a project, beside the ones trusted already. `data` is by digest."""
        added = tuple(configs)
        with self._writing(ground):
            for config in added:
                self._plant(ground, config.scripts, data)
            try:
                before = self.record(ground.project)
            except Refused:
                before = None  # it counts as no trust, so there is nothing to keep
            files = {config.file for config in added}
            old = tuple(config for config in (before.configs if before else ()) if config.file not in files)
            record = Record(VERSION, ground.project, old + added)
            self._write(self._file(ground.project), compact(record))
        return record

    def revoke(self, project: str) -> bool:
        """Forget a project and remove its copies, so that not even a running host finds them. Whether there was one."""
        import shutil

        if not os.path.lexists(self._file(project)):
            return False
        with self._writing(None):
            os.unlink(self._file(project))
            shutil.rmtree(self._planted(project), ignore_errors=True)
        return True

    @contextmanager
    def _writing(self, ground: Ground | None) -> Iterator[None]:
        """The only writer, in a directory that can be believed. Raises ConfigError."""
        import fcntl

        try:
            self.check(ground)
            for name in ("", "trust", "scripts"):
                _made(os.path.join(self.directory, name).rstrip("/"))
            self.check(ground)
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
            lock = os.open(os.path.join(self.directory, "lock"), flags, 0o600)
        except Refused as reason:
            raise ConfigError(str(reason)) from None
        except OSError as error:
            raise ConfigError(f"cannot be written: {error.strerror}", file=error.filename or self.directory) from None
        try:
            until = time.monotonic() + PATIENCE
            while True:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > until:
                        raise ConfigError("another hookline holds it; try again", file=self.directory) from None
                    time.sleep(0.01)
            yield
        except OSError as error:
            raise ConfigError(f"cannot be written: {error.strerror}", file=error.filename or self.directory) from None
        finally:
            os.close(lock)

    def _write(self, path: str, data: bytes, mode: int = 0o600) -> None:
        """Whole or not at all."""
        fresh = f"{path}.{os.getpid()}.new"
        fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(fd, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fchmod(fd, mode)
            os.fsync(fd)
        os.replace(fresh, path)

    # -- copies

    def copies(self, ground: Ground, scripts: tuple[Script, ...]) -> dict[str, str]:
        """By path, the copy of each script, looked at again. Raises Refused where one is not what was trusted."""
        if not scripts:
            return {}
        tree = self._tree(ground, scripts)
        found = {}
        for script in scripts:
            copy = found[script.path] = os.path.join(tree, _spot(script.path, ground))
            if not _intact(copy, script):
                raise Refused(f"the kept copy of {script.path} is not what was trusted: {copy}")
        _linked(tree, ground, scripts)
        return found

    def _planted(self, project: str) -> str:
        return os.path.join(self.directory, "scripts", identity(project))

    def _tree(self, ground: Ground, scripts: tuple[Script, ...]) -> str:
        facts = sorted((s.path, s.real, s.kind, s.digest, s.executable) for s in scripts)
        return os.path.join(self._planted(ground.project), identity(*(part for fact in facts for part in fact)))

    def _plant(self, ground: Ground, scripts: tuple[Script, ...], data: Mapping[str, bytes]) -> None:
        """Copies of the scripts in a mirror of their surroundings, unless they are there and intact."""
        if not scripts:
            return
        import shutil  # only who writes needs it, and it is slow to import

        tree = self._tree(ground, scripts)
        if all(_intact(os.path.join(tree, _spot(script.path, ground)), script) for script in scripts):
            return
        fresh = f"{tree}.{os.getpid()}.new"
        for old in (fresh, tree):
            shutil.rmtree(old, ignore_errors=True)
        for script in scripts:
            copy = os.path.join(fresh, _spot(script.path, ground))
            _made(os.path.dirname(copy))
            if script.kind == "program":
                os.symlink(script.real, copy)
            else:
                self._write(copy, data[script.digest], 0o500 if script.executable else 0o400)
        _linked(fresh, ground, scripts)
        os.rename(fresh, tree)


def _made(directory: str) -> None:
    """A directory and those above it, for nobody else. (`os.makedirs` is tight with the last one only.)"""
    if not os.path.isdir(directory):
        _made(os.path.dirname(directory))
        try:
            os.mkdir(directory, 0o700)
        except FileExistsError:  # another hookline was quicker, or it is no directory, and the next step says so
            pass


def _ours(path: str, facts: os.stat_result) -> None:
    if facts.st_uid != os.geteuid():
        raise Refused(f"{path} belongs to another user; remove it and run `hookline trust` again")
    if facts.st_mode & 0o022:
        raise Refused(f"{path} can be written by others; look at what is in it, then `chmod go-w` it")


def _spot(path: str, ground: Ground) -> str:
    """Where in its tree a file is: as deep as in the project, so that `..` leads to the same things."""
    if ground.inside(path):
        return os.path.join("project", os.path.relpath(path, ground.project))
    directory, name = os.path.split(path)
    return os.path.join("outside", identity(directory), name)


def _intact(copy: str, script: Script) -> bool:
    if script.kind == "program":
        try:
            return os.readlink(copy) == script.real
        except OSError:
            return False
    try:
        data, facts = contents(copy, os.O_NOFOLLOW)
        _ours(copy, facts)
    except (Unusable, Refused):
        return False
    return digest(data) == script.digest and bool(facts.st_mode & 0o111) == script.executable


def _linked(tree: str, ground: Ground, scripts: tuple[Script, ...]) -> None:
    """Beside the copies, and above them up to the project, a link to everything the project has there."""
    mirrored: dict[str, str] = {}
    for script in scripts:
        original = os.path.dirname(script.path)
        mirror = os.path.dirname(os.path.join(tree, _spot(script.path, ground)))
        while original not in mirrored:
            mirrored[original] = mirror
            if original == ground.project or not ground.inside(original):
                break
            original, mirror = os.path.dirname(original), os.path.dirname(mirror)
    for original, mirror in mirrored.items():
        try:
            missing = set(os.listdir(original)) - set(os.listdir(mirror))
            for name in sorted(missing)[:MOST_LINKS]:
                os.symlink(os.path.join(original, name), os.path.join(mirror, name))
        except OSError:
            continue  # a neighbour nobody could link is a neighbour nobody finds; the copies are all there
