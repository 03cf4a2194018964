"""Discovery: where files are looked for, whose they are, what is passed over."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import hookline
from hookline.discovery import PLACES, discovered, home_of, project_of
from worlds import World


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def names(hooks: hookline.Hooks) -> list[str]:
    return [hook.name for hook in hooks]


def statuses(world: World) -> list[str]:
    """What was found at each place; what is absent is left out."""
    found = discovered(str(world.project), world.environ).findings
    return [finding.status for finding in found if finding.status != "absent"]


# -- the table


def test_every_place_is_read(world: World) -> None:
    """A file at each place of the table is found there, with its level and its dialect; system files are real ones."""
    world.environ |= {"ENGRAM_DIR": f"{world.home}/engram", "PAI_DIR": f"{world.home}/pai"}
    bases = {
        "project": "project",
        "home": "home",
        "config": "home/.config",
        "ENGRAM_DIR": "home/engram",
        "PAI_DIR": "home/pai",
    }
    wanted = []
    for number, place in enumerate(PLACES):
        if place.base == "/":
            continue
        at = f"{bases[place.base]}/{place.path}".replace("*", f"ext{number}")
        write = getattr(world, place.dialect)
        write(f"true {number}", at=at)
        wanted.append((place.dialect, place.level, at))
    found = discovered(str(world.project), world.environ).findings
    seen = [
        (finding.place.dialect, finding.place.level, os.path.relpath(finding.path, world.base))
        for finding in found
        if finding.loaded and len(finding.loaded.hooks) == 1
    ]
    assert seen == wanted


def test_levels_order_the_hooks_of_llxprt(world: World) -> None:
    """Project, user, extensions, whatever the order of the files."""
    world.llxprt("extension", at="home/.llxprt/extensions/a/hooks/hooks.json")
    world.llxprt("user", at="home/.gemini/settings.json")
    world.llxprt("project")
    plan = world.discover().explain("PreToolUse", tool_name="Bash", tool_input={})
    assert [entry.hook.name for entry in plan.entries] == ["project", "user", "extension"]


def test_places_follow_the_environment(world: World) -> None:
    """XDG_CONFIG_HOME counts where it is absolute; ENGRAM_DIR may begin with ~ or $HOME."""
    world.goose("true xdg", at="xdg/goose/hooks.yaml")
    world.harness("h", at="home/engram/settings.json")
    world.environ |= {"XDG_CONFIG_HOME": f"{world.base}/xdg", "ENGRAM_DIR": "${HOME}/engram"}
    assert names(world.discover()) == ["h", "true xdg"]
    world.environ |= {"XDG_CONFIG_HOME": "xdg", "ENGRAM_DIR": "engram"}
    assert names(world.discover()) == []


def test_paths_of_the_harness_belong_to_the_directory_of_the_file(world: World) -> None:
    """Not to ENGRAM_DIR, which is the user's: a project's file names the project's scripts."""
    world.environ["ENGRAM_DIR"] = str(world.home / "engram")
    world.script("project/.harness/hooks/x.sh")
    world.harness("hooks/x.sh")
    [hook] = world.discover()
    assert hook.command.argv == (f"{world.project}/.harness/hooks/x.sh",)


def test_a_home_is_found_without_the_variable() -> None:
    """Where HOME is not set, or not a path, the password database knows."""
    assert os.path.isabs(home_of({}))
    assert home_of({"HOME": "x"}) == home_of({})


# -- the project


def test_the_project_is_the_nearest_directory_with_a_sign(world: World) -> None:
    """A .git or any file of the table, here or above; the nearest counts."""
    deep = world.project / "a/b"
    deep.mkdir(parents=True)
    assert project_of(str(deep), world.environ) == str(world.project)
    world.goose("true", at="project/a/.goose/hooks.yaml")
    assert project_of(str(deep), world.environ) == str(world.project / "a")
    assert project_of(str(world.base), world.environ) is None


def test_the_home_is_no_project(world: World) -> None:
    """Nor is anything above it, seen from below; what lies in it may be one."""
    (world.base / ".git").mkdir()
    (world.home / ".git").mkdir()
    below = world.home / "src/thing"
    below.mkdir(parents=True)
    assert project_of(str(world.home), world.environ) is None
    assert project_of(str(below), world.environ) is None
    (below / ".git").mkdir()
    assert project_of(str(below), world.environ) == str(below)


def test_the_files_of_a_home_are_the_users(world: World) -> None:
    """In the home directory itself `.llxprt/settings.json` is the user's own, and runs."""
    world.llxprt("echo hello", at="home/.llxprt/settings.json")
    [hook] = world.discover("home")
    assert (hook.barred, hook.name) == ("", "echo hello")


@pytest.mark.parametrize("cwd", ["no/such/directory", "nul\0inside"])
def test_a_directory_that_is_not_there_has_no_project(world: World, cwd: str) -> None:
    """The user's own hooks are found all the same."""
    world.llxprt("mine", at="home/.llxprt/settings.json")
    hooks = hookline.discover(f"{world.base}/{cwd}", environ=world.environ)
    assert names(hooks) == ["mine"]


# -- what is passed over


def test_nothing_to_find_is_nothing_to_say(world: World) -> None:
    """No hooks, no notices, and an event goes on."""
    hooks = world.discover()
    assert (len(hooks), hooks.notices) == (0, ())
    assert hooks.fire("SessionStart").decision == "none"


@pytest.mark.parametrize("text", ["{}", '{"theme": "dark"}', '{"hooks": {}}', "", '{"hooks": null}'])
def test_a_file_without_hooks_is_silent(world: World, text: str) -> None:
    """Most settings files hold none."""
    for path in (".llxprt/settings.json", ".claude/settings.json", ".harness/settings.json", ".goose/config.yaml"):
        world.write(f"project/{path}", text)
        world.write(f"home/{path}", text)
    hooks = world.discover()
    assert (len(hooks), hooks.notices) == (0, ())


def test_hooks_of_another_program_are_passed_over_with_a_notice(world: World) -> None:
    """Claude Code keeps hooks of its own form in `.claude/settings.json`; The Harness cannot read them."""
    world.llxprt("echo claude", at="home/.claude/settings.json")
    hooks = world.discover()
    assert len(hooks) == 0
    assert [str(notice) for notice in hooks.notices] == [
        f"{world.home}/.claude/settings.json: has hooks, but not in the form of the harness dialect; passed over"
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not valid JSON"),
        ("[1]", "holds a list, not an object; passed over"),
        ("\udcff", "is not UTF-8"),
        ('{"hooks": 1}', "must map events to lists of hooks"),
    ],
)
def test_a_broken_file_is_a_notice(world: World, text: str, message: str) -> None:
    """What cannot be read is said, and the rest goes on."""
    broken = world.project / ".llxprt/settings.json"
    broken.parent.mkdir()
    broken.write_bytes(text.encode("utf-8", "surrogateescape"))
    world.llxprt("mine", at="home/.llxprt/settings.json")
    hooks = world.discover()
    assert names(hooks) == ["mine"]
    [notice] = hooks.notices
    assert str(notice).startswith(f"{broken}")
    assert message in notice.text


def test_a_bad_entry_is_a_notice_with_its_pointer(world: World) -> None:
    """A discovered file is read entry by entry, as a named one is."""
    world.write("home/.harness/settings.json", {"hooks": {"PreToolUse": [{"pth": "x"}, {"path": "y"}]}})
    hooks = world.discover()
    assert names(hooks) == ["y"]
    assert any(str(notice.source).endswith("#/hooks/PreToolUse/0/pth") for notice in hooks.notices)


def test_a_file_is_read_once(world: World) -> None:
    """Two places that lead to the same file are one."""
    world.harness("one", at="home/.harness/settings.json")
    world.environ |= {"ENGRAM_DIR": f"{world.home}/.harness", "PAI_DIR": f"{world.home}/.harness/../.harness"}
    assert names(world.discover()) == ["one"]
    assert statuses(world) == ["read", "read already", "read already"]


def test_settings_without_hooks_may_still_switch_some_off(world: World) -> None:
    """`hooksConfig.disabled` of the user's settings counts for the hooks of an extension."""
    world.llxprt("echo x", at="home/.llxprt/extensions/a/hooks/hooks.json", name="noisy")
    world.write("home/.llxprt/settings.json", {"hooksConfig": {"disabled": ["noisy"]}})
    assert world.barred() == [f"disabled by {world.home}/.llxprt/settings.json"]


def test_an_extension_is_run_without_trust(world: World) -> None:
    """Whoever installed it did so outside any project."""
    world.llxprt("echo x", at="home/.gemini/extensions/a/gemini-extension.json")
    assert world.barred() == [""]


# -- Hooks


def test_discovering_adds_to_what_is_there(world: World) -> None:
    """A host may load its own file first; `discover` returns what it added."""
    own = world.goose("true own", at="own.yaml")
    world.goose("true found", at="home/.config/goose/config.yaml")
    hooks = hookline.Hooks(environ=world.environ)
    hooks.load(own)
    assert [hook.name for hook in hooks.discover(world.project)] == ["true found"]
    assert names(hooks) == ["true own", "true found"]


def test_on_failure_is_handed_on(world: World) -> None:
    """`discover(on_failure=...)` turns a crash of any found hook round."""
    world.llxprt("exit 7", at="home/.llxprt/settings.json")
    hooks = hookline.discover(world.project, environ=world.environ, on_failure="deny")
    assert hooks.fire("PreToolUse", tool_name="Bash", tool_input={}).decision == "deny"
