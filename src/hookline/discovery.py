"""Which configuration files this project and this user have, and what is in them. Runs nothing.

One table says where each system keeps its files. A project's own files count only as far as they are
trusted; what the user, the system and installed extensions have does not need that.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hookline.dialects import dialect
from hookline.errors import ConfigError
from hookline.model import Level, Loaded, Notice, Source
from hookline.parsing import parse, read_bytes
from hookline.scripts import Ground
from hookline.state import Record, Refused, State
from hookline.trust import Config, applied, ground_of
from hookline.wording import kind_of

LARGEST_PROJECT_CONFIG = 1024 * 1024
"""Of a stranger's file we read less than of one somebody names."""


MOST_PROJECT_HOOKS = 500


class Place(Struct, frozen=True):
    """Where a file may be. `base` is "project", "home", "config" (XDG), "/", or a variable that names a directory.

    A `*` in the path stands for any one directory. A `shared` place is also another program's, so only
    what is plainly in the dialect counts there.
    """

    dialect: str
    level: Level
    base: str
    path: str
    shared: bool = False


PLACES = (
    Place("harness", "project", "project", ".harness/settings.json"),
    Place("harness", "project", "project", ".claude/settings.json", shared=True),
    Place("harness", "user", "ENGRAM_DIR", "settings.json", shared=True),
    Place("harness", "user", "PAI_DIR", "settings.json", shared=True),
    Place("harness", "user", "home", ".claude/settings.json", shared=True),
    Place("harness", "user", "home", ".harness/settings.json"),
    Place("goose", "project", "project", ".goose/config.yaml"),
    Place("goose", "project", "project", ".goose/hooks.yaml"),
    Place("goose", "user", "config", "goose/config.yaml"),
    Place("goose", "user", "config", "goose/hooks.yaml"),
    Place("llxprt", "project", "project", ".llxprt/settings.json"),
    Place("llxprt", "project", "project", ".gemini/settings.json"),
    Place("llxprt", "user", "home", ".llxprt/settings.json"),
    Place("llxprt", "user", "home", ".gemini/settings.json"),
    Place("llxprt", "system", "/", "etc/llxprt-code/settings.json"),
    Place("llxprt", "system", "/", "etc/gemini-cli/settings.json"),
    Place("llxprt", "extension", "home", ".llxprt/extensions/*/llxprt-extension.json"),
    Place("llxprt", "extension", "home", ".llxprt/extensions/*/hooks/hooks.json"),
    Place("llxprt", "extension", "home", ".gemini/extensions/*/gemini-extension.json"),
    Place("llxprt", "extension", "home", ".gemini/extensions/*/hooks/hooks.json"),
    Place("harn", "project", "project", "harn.toml"),
)
"""In the order their hooks come: by dialect, and in it project, user, system, extensions. A new file is one row."""


class Finding(Struct, frozen=True):
    """One place and what is there. `status` is a word or two, `why` a sentence where something is odd."""

    place: Place
    path: str
    status: str
    why: str = ""
    data: bytes = b""
    loaded: Loaded | None = None
    config: Config | None = None

    def to_dict(self) -> dict[str, Any]:
        return {
            "dialect": self.place.dialect,
            "level": self.place.level,
            "path": self.path,
            "status": self.status,
            "hooks": len(self.loaded.hooks) if self.loaded else 0,
            **({"why": self.why} if self.why else {}),
        }


class Discovery(Struct, frozen=True):
    """Everything that was found. `project` is None where the directory belongs to none."""

    project: str | None
    findings: tuple[Finding, ...]
    notices: tuple[Notice, ...] = ()


def discovered(cwd: str, environ: Mapping[str, str]) -> Discovery:
    """What a session in this directory gets: every file of the table, with trust applied to the project's own."""
    survey = surveyed(cwd, environ)
    if survey.project is None or not any(finding.config for finding in survey.findings):
        return survey
    ground, state, record, refusal = standing(survey.project, environ)
    findings = []
    for finding in survey.findings:
        if finding.config is None:
            findings.append(finding)
            continue
        loaded, status = applied(finding.config, ground, state, record, refusal)
        loaded = replace(loaded, notices=(*loaded.notices, *_newly_barred(finding.config, loaded)))
        findings.append(replace(finding, loaded=loaded, status=status))
    return replace(survey, findings=tuple(findings))


def _newly_barred(config: Config, applied: Loaded) -> list[Notice]:
    """A word about each reason for which single hooks of a trusted file do not run, such as a script that changed.

    Of a file that is not trusted as a whole there is one already.
    """
    if len(applied.notices) > len(config.loaded.notices):
        return []
    pairs = zip(config.loaded.hooks, applied.hooks, strict=True)
    reasons = Counter(now.barred for was, now in pairs if now.barred and not was.barred)
    of = f"of its {len(config.loaded.hooks)} hooks"
    return [
        Notice(f"{count} {of} {'is' if count == 1 else 'are'} skipped, {why}", Source(config.file))
        for why, count in reasons.items()
    ]


def standing(project: str, environ: Mapping[str, str]) -> tuple[Ground, State, Record | None, str]:
    """What is trusted of a project, or why nothing kept can be believed."""
    home = home_of(environ)
    ground, state = ground_of(project, environ, home), State(environ, home)
    try:
        state.check(ground)
        return ground, state, state.record(ground.project), ""
    except Refused as reason:
        return ground, state, None, str(reason)


def surveyed(cwd: str, environ: Mapping[str, str]) -> Discovery:
    """Every file of the table as it is, before any question of trust; the project's own carry their bytes."""
    project = project_of(cwd, environ)
    spots = [(place, path) for place in PLACES for path in _paths(place, project, environ)]
    # A file that is also at a place of the user's is the user's: a project must not make it its own with a link.
    users = {_real(path): path for place, path in reversed(spots) if place.level != "project"}
    findings: list[Finding] = []
    seen: dict[tuple[str, str], str] = {}
    for place, path in spots:
        if not os.path.lexists(path):
            findings.append(Finding(place, path, "absent"))
            continue
        real = _real(path)
        first = users.get(real) if place.level == "project" else seen.get((place.dialect, real))
        first = first or seen.get((place.dialect, real))
        if first:
            findings.append(Finding(place, path, "read already", f"is the same file as {first}"))
            continue
        seen[place.dialect, real] = path
        findings.append(_found(place, path, real, environ))
    notices = [
        Notice(finding.why, Source(finding.path))
        for finding in findings
        if finding.why and finding.status != "read already"
    ]
    outer = project_of(os.path.dirname(project), environ, files_only=True) if project else None
    if project and outer:
        notices.append(
            Notice(f"the hooks of {outer} are not used here: {project} is a project of its own", Source(project))
        )
    return Discovery(project, tuple(findings), tuple(notices))


def _found(place: Place, path: str, real: str, environ: Mapping[str, str]) -> Finding:
    speaks = dialect(place.dialect)
    try:
        data = read_bytes(path)
        if place.level == "project" and len(data) > LARGEST_PROJECT_CONFIG:
            raise ConfigError(f"is larger than {LARGEST_PROJECT_CONFIG // 1024 // 1024} MiB", file=path)
        if not data.strip():
            return Finding(place, path, "no hooks")
        document = parse(data, path, speaks.FORMAT)
        if not isinstance(document, dict):
            return Finding(place, path, "not recognised", f"holds {kind_of(document)}, not an object; passed over")
        some = bool(document.get("hooks"))
        if some and place.shared and not speaks.claims(document):
            why = f"has hooks, but not in the form of the {place.dialect} dialect; passed over"
            return Finding(place, path, "not recognised", why)
        if not some:
            document = {key: value for key, value in document.items() if key != "hooks"}
        loaded = speaks.read(document, path, root=os.path.dirname(path), environ=environ, level=place.level)
        if place.level == "project" and len(loaded.hooks) > MOST_PROJECT_HOOKS:
            raise ConfigError(f"has more than {MOST_PROJECT_HOOKS} hooks", file=path)
    except ConfigError as error:
        return Finding(place, path, "unreadable", str(error).removeprefix(f"{path}: "))
    if not some:  # it may still say something about hooks, such as which are off
        loaded = Loaded((), (), loaded.disabled)
    config = None
    if place.level == "project" and (loaded.hooks or loaded.disabled):
        config = Config(path, real, place.dialect, data, loaded)
    return Finding(place, path, "read" if loaded.hooks else "no hooks", data=data, loaded=loaded, config=config)


# -- where things are


def project_of(cwd: str, environ: Mapping[str, str], *, files_only: bool = False) -> str | None:
    """The nearest directory, from here upwards, that has a file of the table or, unless `files_only`, a .git.

    The home directory is never a project, nor is what is above it seen from below; nor is the root of all.
    """
    home = _real(home_of(environ))
    try:
        directory = os.path.realpath(cwd)
    except (OSError, ValueError):  # it is gone, or no path at all; what has to start there will say so
        return None
    own = [place.path for place in PLACES if place.base == "project"] + ([] if files_only else [".git"])
    while directory not in (home, os.path.dirname(directory)):
        if any(os.path.lexists(os.path.join(directory, name)) for name in own):
            return directory
        directory = os.path.dirname(directory)
    return None


def home_of(environ: Mapping[str, str]) -> str:
    named = environ.get("HOME", "")
    if os.path.isabs(named):
        return named
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return "/"


def _paths(place: Place, project: str | None, environ: Mapping[str, str]) -> Iterator[str]:
    base = _base(place.base, project, environ)
    if base is None:
        return
    above, star, below = place.path.partition("*/")
    if not star:
        yield os.path.join(base, place.path)
        return
    directory = os.path.join(base, above)
    try:
        names = sorted(os.listdir(directory))
    except OSError:
        names = []
    found = [os.path.join(directory, name, below) for name in names]
    found = [path for path in found if os.path.lexists(path)]
    yield from found or [os.path.join(base, place.path)]


def _base(name: str, project: str | None, environ: Mapping[str, str]) -> str | None:
    match name:
        case "project":
            return project
        case "home":
            return home_of(environ)
        case "config":
            named = environ.get("XDG_CONFIG_HOME", "")
            return named if os.path.isabs(named) else os.path.join(home_of(environ), ".config")
        case "/":
            return "/"
    named = environ.get(name, "")
    for start in ("~", "$HOME", "${HOME}"):
        if named == start or named.startswith(start + "/"):
            return home_of(environ) + named.removeprefix(start)
    return named if os.path.isabs(named) else None


def _real(path: str) -> str:
    return os.path.realpath(path)
