"""A hostile project: it runs nothing before it is trusted, nothing else afterwards, and hangs nobody.

Everything foreign would leave a marker file. The races swap files as fast as they can, in a process of their own,
while this one discovers and fires.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from worlds import TOOL, World

TRIES = 2000


class Hostile(World):
    """`marker` appears when something of the project ran that nobody agreed to."""

    def __init__(self, base: Path) -> None:
        super().__init__(base)
        self.marker = self.base / "owned"
        self.evil = f"touch {self.marker}"

    def unharmed(self) -> bool:
        return not self.marker.exists()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[Hostile]:
    made = Hostile(tmp_path)
    yield made
    assert made.unharmed()


def quick(world: Hostile, *words: str) -> subprocess.CompletedProcess[str]:
    """A call of the command line that must not hang: the timeout of the test would end it."""
    done = world.hookline(*words)
    assert "Traceback" not in done.stderr
    assert done.returncode not in (2, 70)
    return done


# -- before trust


def test_nothing_runs_at_discovery(world: Hostile) -> None:
    """Hooks of every dialect, on every event, with code in YAML tags and in the working directory: none of it runs."""
    world.llxprt(world.evil)
    world.harness("evil.sh")
    world.script("project/.harness/evil.sh", world.evil)
    world.write(
        "project/.goose/config.yaml",
        f'hooks:\n  session_start:\n    - command: !!python/object/apply:os.system ["{world.evil}"]\n',
    )
    world.goose(f"sh -c '{world.evil}'", at="project/.goose/hooks.yaml")
    for name in ("yaml", "msgspec", "hookline", "sitecustomize", "rich"):
        world.write(f"project/{name}.py", f"import os; os.system({world.evil!r})")
    for words in (
        ("list",),
        ("list", "--where"),
        ("explain", "SessionStart"),
        ("fire", "SessionStart"),
        ("trust", "--json"),
    ):
        command = [sys.executable, "-P", "-m", "hookline", *words]
        done = subprocess.run(
            command, cwd=world.project, env=world.environ, capture_output=True, text=True, check=False, timeout=30
        )
        assert done.returncode in (0, 65), done.stderr
    assert all(world.barred())


def test_a_project_cannot_trust_itself(world: Hostile) -> None:
    """Not with a state directory it brings along, nor with a record it wrote for itself."""
    world.llxprt(world.evil)
    world.environ["XDG_STATE_HOME"] = str(world.project / "state")
    [why] = world.barred()
    assert why == (
        f"not trusted: the state directory {world.project}/state/hookline is inside the project, which could then "
        "trust itself; set XDG_STATE_HOME to a directory outside it"
    )
    done = quick(world, "trust", "--yes")
    assert (done.returncode, "is inside the project" in done.stderr) == (78, True)
    assert not (world.project / "state").exists()


def test_a_state_directory_that_leads_into_the_project_is_refused(world: Hostile) -> None:
    """Where it really is counts."""
    world.llxprt(world.evil)
    (world.project / "state").mkdir()
    world.state.parent.mkdir(parents=True)
    world.state.symlink_to(world.project / "state")
    assert "is inside the project" in world.barred()[0]


def test_a_record_copied_from_another_project_is_no_trust(world: Hostile) -> None:
    """A record says whose it is, and its name has to agree."""
    world.llxprt("true", at="other/.llxprt/settings.json")
    assert quick(world, "trust", "--yes", str(world.base / "other")).returncode == 0
    world.llxprt(world.evil)
    [theirs] = (world.state / "trust").iterdir()
    world.trust()
    ours = next(path for path in (world.state / "trust").iterdir() if path != theirs)
    ours.write_bytes(theirs.read_bytes())
    assert "is of another hookline, or of another project" in world.barred()[0]


def test_a_link_to_a_trusted_configuration_is_not_trusted(world: Hostile) -> None:
    """The same bytes in another project are another thing: `make` means something else there."""
    world.write("other/.llxprt/settings.json", (world.llxprt("make check")).read_text())
    assert quick(world, "trust", "--yes", str(world.base / "other")).returncode == 0
    config = world.project / ".llxprt/settings.json"
    config.unlink()
    config.symlink_to(world.base / "other/.llxprt/settings.json")
    world.write("project/Makefile", f"check:\n\t{world.evil}\n")
    assert world.barred() == [f"not trusted; run `hookline trust {world.project}`"]
    world.fire()


def test_a_link_to_the_users_own_file_takes_nothing_away(world: Hostile) -> None:
    """A project that links to the user's guards does not make them its own, and so cannot stop them."""
    world.llxprt("echo no >&2; exit 2", at="home/.llxprt/settings.json")
    (world.project / ".llxprt").mkdir()
    (world.project / ".llxprt/settings.json").symlink_to(world.home / ".llxprt/settings.json")
    assert world.barred() == [""]
    assert world.fire().decision == "deny"


def test_an_untrusted_project_switches_nothing_off(world: Hostile) -> None:
    """`hooksConfig.disabled` of a stranger is not heard, and that is said."""
    world.llxprt("echo no >&2; exit 2", at="home/.llxprt/settings.json", name="guard")
    world.write("project/.llxprt/settings.json", {"hooksConfig": {"enabled": False, "disabled": ["guard"]}})
    hooks = world.discover()
    assert [hook.barred for hook in hooks] == [""]
    assert any("it would switch off 'guard', and is not heard" in notice.text for notice in hooks.notices)
    assert world.fire().decision == "deny"


@pytest.mark.parametrize("path", [".llxprt/settings.json", ".goose/config.yaml", ".claude/settings.json"])
@pytest.mark.parametrize(
    "kind", ["fifo", "fifo with a writer", "directory", "device", "loop", "dangling", "huge", "deep"]
)
def test_odd_things_in_the_place_of_a_configuration(world: Hostile, path: str, kind: str) -> None:
    """A FIFO, a directory, a device, a loop, something huge: one notice, at once, and the user's own hooks run."""
    world.llxprt("echo mine", at="home/.llxprt/settings.json")
    at = world.project / path
    at.parent.mkdir()
    messages = {
        "fifo": "is not a regular file",
        "fifo with a writer": "is not a regular file",
        "directory": "is a directory",
        "device": "is not a regular file",
        "loop": "cannot be read: Too many levels of symbolic links",
        "dangling": "there is no such configuration file",
        "huge": "is larger than 4 MiB",
        "deep": "",
    }
    opened = -1
    if kind.startswith("fifo"):
        os.mkfifo(at)
        opened = os.open(at, os.O_RDWR) if "writer" in kind else -1
    elif kind == "directory":
        at.mkdir()
    elif kind == "huge":
        with at.open("wb") as file:
            file.truncate(1 << 40)
    elif kind == "deep":
        at.write_text('{"hooks":' + "[" * 200_000 + "]" * 200_000 + "}")
    else:
        at.symlink_to({"device": "/dev/zero", "loop": at.name, "dangling": "nowhere"}[kind])
    hooks = world.discover()
    ruling = world.fire()
    if opened >= 0:
        os.close(opened)
    assert [hook.name for hook in hooks] == ["echo mine"]
    [notice] = hooks.notices
    assert notice.source is not None
    assert notice.source.file == str(at)
    assert messages[kind] in notice.text
    assert [report.status for report in ruling.hooks] == ["ran"]


def test_a_stranger_with_thousands_of_hooks_is_refused(world: Hostile) -> None:
    """As many hooks as somebody may want are read; thousands, or a file of a megabyte, are one notice."""
    world.llxprt(*[f"true {number}" for number in range(500)])
    assert len(world.barred()) == 500
    for count, width, why in ((9000, 65, "has more than 500 hooks"), (9000, 99, "is larger than 1 MiB")):
        world.llxprt(*[f"true {number} {'x' * width}" for number in range(count)])
        hooks = world.discover()
        assert (len(hooks), hooks.notices[0].text) == (0, why)


def test_a_bomb_of_aliases_is_refused(world: Hostile) -> None:
    """Sixty lines of YAML that stand for more values than there are atoms: one notice, at once."""
    lines = ["a0: &a0 [x]"] + [f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]" for i in range(1, 60)]
    world.write("project/.goose/config.yaml", "\n".join([*lines, "hooks: {pre_tool_use: [*a59]}"]))
    [notice] = world.discover().notices
    assert notice.text == "is nested too deeply, or its aliases come to too many values"


def test_nothing_of_a_project_commands_the_terminal(world: Hostile) -> None:
    """What `trust` shows is all there is: escape sequences, line breaks and right-to-left marks are spelled out."""
    world.llxprt("true \x1b[2J\r\n\u202e# harmless", name="\x1b]0;owned\x07")
    shown = quick(world, "trust").stdout
    assert "\x1b" not in shown
    assert r"shell text: true \x1b[2J\r\n\u202e# harmless" in shown


# -- scripts


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("fifo", "is a FIFO, not a regular file"),
        ("fifo with a writer", "is a FIFO, not a regular file"),
        ("directory", "is a directory, not a regular file"),
        ("device", "is a device, not a regular file"),
        ("loop", "cannot be read: Too many levels of symbolic links"),
        ("dangling", "and there is no such file in"),
        ("huge", "is larger than 4 MiB"),
    ],
)
def test_odd_things_in_the_place_of_a_script(world: Hostile, kind: str, message: str) -> None:
    """The hook cannot be trusted, its reason says why, the others can; nothing waits for a writer."""
    at = world.project / "x.sh"
    opened = -1
    if kind.startswith("fifo"):
        os.mkfifo(at)
        opened = os.open(at, os.O_RDWR) if "writer" in kind else -1
    elif kind == "directory":
        at.mkdir()
    elif kind == "huge":
        with at.open("wb") as file:
            file.truncate(1 << 40)
    else:
        at.symlink_to({"device": "/dev/zero", "loop": at.name, "dangling": "nowhere"}[kind])
    world.harness("../x.sh", "../fine.sh")
    world.script("project/fine.sh")
    done = quick(world, "trust", "--yes")
    assert done.returncode == 65
    assert message in done.stdout
    assert quick(world, "list").returncode == 0
    bad, good = world.barred()
    assert (bool(bad), good) == (True, "")
    ruling = world.fire()
    if opened >= 0:
        os.close(opened)
    assert [report.status for report in ruling.hooks] == ["skipped", "ran"]


def test_a_script_that_becomes_something_odd_later(world: Hostile) -> None:
    """Trusted, then a FIFO in its place: barred at the next look, and what was discovered before runs on."""
    at = world.script("project/x.sh")
    world.llxprt("./x.sh")
    world.trust()
    hooks = world.discover()
    at.unlink()
    os.mkfifo(at)
    assert "which is a FIFO" in world.barred()[0]
    assert [r.status for r in hooks.fire("PreToolUse", **TOOL).hooks] == ["ran"]


def test_a_script_link_that_is_swapped(world: Hostile) -> None:
    """A link is followed when it is trusted, and shown with where it leads; leading elsewhere is a change."""
    world.script("good.sh")
    world.script("evil.sh", world.evil)
    link = world.project / "x.sh"
    link.symlink_to("../good.sh")
    world.llxprt("./x.sh")
    assert f"{link} -> {world.base}/good.sh, sha256 " in quick(world, "trust").stdout
    world.trust()
    hooks = world.discover()
    link.unlink()
    link.symlink_to("../evil.sh")
    assert "changed since it was trusted" in world.barred()[0]
    assert [r.status for r in hooks.fire("PreToolUse", cwd=str(world.project), **TOOL).hooks] == ["ran"]
    link.unlink()
    world.write("other.sh", (world.base / "good.sh").read_text(), mode=0o755)
    link.symlink_to("../other.sh")
    assert f"(led to {world.base}/good.sh, leads to {world.base}/other.sh)" in world.barred()[0]


def test_a_directory_link_that_is_swapped(world: Hostile) -> None:
    """The same where not the script but a directory above it is the link."""
    world.script("good/x.sh")
    world.script("evil/x.sh", world.evil)
    (world.project / "hooks").symlink_to("../good")
    world.llxprt("hooks/x.sh")
    world.trust()
    (world.project / "hooks").unlink()
    (world.project / "hooks").symlink_to("../evil")
    assert f"no longer names {world.base}/good/x.sh" in world.barred()[0]
    world.fire()


@pytest.mark.parametrize("path", ["../../outside.sh", "hooks/../../../outside.sh", "ABSOLUTE"])
def test_a_way_out_of_the_project_is_shown_and_covered(world: Hostile, path: str) -> None:
    """`..` and absolute paths lead outside: that is shown, that file is pinned, and a change of it is seen."""
    outside = world.script("outside.sh", "echo fine")
    (world.project / ".harness/hooks").mkdir(parents=True)
    world.harness(path.replace("ABSOLUTE", str(outside)))
    assert f"runs: {outside}, sha256 " in quick(world, "trust").stdout
    world.trust()
    assert world.fire().context == ("fine",)
    hooks = world.discover()
    world.script("outside.sh", world.evil)
    assert "changed since it was trusted" in world.barred()[0]
    assert hooks.fire("PreToolUse", cwd=str(world.project), **TOOL).context == ("fine",)


def test_a_configuration_changed_after_trust(world: Hostile) -> None:
    """One more hook, one other word: nothing of it runs, not even what was trusted before."""
    world.llxprt("echo fine")
    world.trust()
    world.llxprt("echo fine", world.evil)
    assert [report.status for report in world.fire().hooks] == ["skipped", "skipped"]


# -- the store


def trusted(world: Hostile) -> Path:
    """A project with one trusted script; its copy."""
    world.script("project/x.sh", "echo fine")
    world.llxprt("./x.sh")
    world.trust()
    [hook] = world.discover()
    return Path(hook.command.argv[-1])


def test_a_copy_that_was_tampered_with_is_not_run(world: Hostile) -> None:
    """Its content is looked at again each time; trusting anew puts it right."""
    copy = trusted(world)
    copy.chmod(0o700)
    copy.write_text(f"#!/bin/sh\n{world.evil}\n")
    [why] = world.barred()
    assert f"the kept copy of {world.project}/x.sh is not what was trusted: {copy}" in why
    world.fire()
    world.trust()
    assert world.barred() == [""]


@pytest.mark.parametrize("what", ["link", "gone", "writable", "not executable"])
def test_other_things_that_can_happen_to_a_copy(world: Hostile, what: str) -> None:
    """A link in its place, no file, other permissions: none of it is run."""
    copy = trusted(world)
    if what == "link":
        copy.unlink()
        copy.symlink_to(world.project / "x.sh")
    elif what == "gone":
        copy.unlink()
    else:
        copy.chmod(0o722 if what == "writable" else 0o400)
    assert "is not what was trusted" in world.barred()[0]


def test_a_record_that_cannot_be_believed_is_no_trust(world: Hostile) -> None:
    """Damaged, writable by others, a link, a FIFO, huge, of another user: each is said, and mended by trusting anew."""
    trusted(world)
    [record] = (world.state / "trust").iterdir()
    good = record.read_bytes()

    def check(message: str) -> None:
        [why] = world.barred()
        assert message in why
        assert quick(world, "trust", "--yes").returncode == 0
        assert world.barred() == [""]

    record.write_bytes(good[:-10])
    check("is damaged")
    record.write_bytes(b'{"version":1,"project":[]}')
    check("is damaged")
    record.write_bytes(good.replace(b'"version":1', b'"version":2'))
    check("is of another hookline")
    record.chmod(0o666)
    check("can be written by others")
    (world.base / "elsewhere").write_bytes(good)
    record.unlink()
    record.symlink_to(world.base / "elsewhere")
    check("is a link, not a regular file")
    record.unlink()
    os.mkfifo(record)
    check("is a FIFO, not a regular file")
    if os.geteuid() == 0:
        os.chown(record, 12345, 12345)
        check("belongs to another user")


def test_a_state_directory_others_can_write_is_not_used(world: Hostile) -> None:
    """Neither read nor written, until its owner has looked at it."""
    trusted(world)
    for directory in (world.state, world.state / "trust", world.state / "scripts"):
        directory.chmod(0o777)
        assert f"{directory} can be written by others" in world.barred()[0]
        done = quick(world, "trust", "--yes")
        assert (done.returncode, "can be written by others" in done.stderr) == (78, True)
        directory.chmod(0o700)
    assert world.barred() == [""]


def test_a_state_directory_that_is_none(world: Hostile) -> None:
    """A file in its place, or one that cannot be made: bad configuration, and no trust."""
    world.llxprt("true")
    world.state.parent.mkdir(parents=True)
    world.state.write_text("")
    done = quick(world, "trust", "--yes")
    assert (done.returncode, "is not a directory" in done.stderr) == (78, True)
    world.state.unlink()
    world.state.parent.rmdir()
    world.state.parent.write_text("")
    done = quick(world, "trust", "--yes")
    assert (done.returncode, "hookline: " in done.stderr) == (78, True)


# -- races

SWAPPER = """
import os, sys
how, at, good, evil = sys.argv[1:]
good, evil = open(good, "rb").read(), open(evil, "rb").read()
if how == "rename":
    for name, data in (("g", good), ("e", evil)):
        with open(at + name, "wb") as file:
            file.write(data)
        os.chmod(at + name, 0o755)
print("ready", flush=True)
while True:
    for name, data in (("e", evil), ("g", good)):
        if how == "rename":
            os.link(at + name, at + "n")
            os.replace(at + "n", at)
            if os.path.exists(at + "n"):  # a rename of a link onto itself does nothing
                os.unlink(at + "n")
        else:
            with open(at, "r+b") as file:
                for start in range(0, len(data), 512):
                    file.seek(start)
                    file.write(data[start:start + 512])
                    file.flush()
"""


@contextmanager
def swapping(how: str, at: Path, good: Path, evil: Path) -> Iterator[None]:
    """While this lasts, a process puts the one and the other file in a place, as fast as it can."""
    command = [sys.executable, "-c", SWAPPER, how, str(at), str(good), str(evil)]
    swapper = subprocess.Popen(command, stdout=subprocess.PIPE)
    try:
        assert swapper.stdout is not None
        assert swapper.stdout.readline() == b"ready\n"
        yield
        assert swapper.poll() is None
    finally:
        swapper.kill()
        swapper.wait()
        if swapper.stdout:
            swapper.stdout.close()


def padded(world: Hostile, path: str, first: str) -> Path:
    """A script of 8 KiB, so that a swap in place takes several writes."""
    return world.write(path, f"#!/bin/sh\n{first}\nexit 0\n".ljust(8192, "#"), mode=0o755)


@pytest.mark.parametrize("how", ["rename", "in place"])
def test_a_script_swapped_while_we_look_never_runs(world: Hostile, how: str) -> None:
    """Thousands of discoveries and runs against a swapper: the trusted script ran, or nothing did."""
    good = padded(world, "good.sh", "echo fine")
    evil = padded(world, "evil.sh", world.evil)
    at = padded(world, "project/.harness/x.sh", "echo fine")
    world.harness("x.sh")
    world.trust()
    ran = barred = 0
    with swapping(how, at, good, evil):
        for _ in range(TRIES):
            hooks = world.discover()
            [hook] = hooks
            if hook.barred:
                barred += 1
                assert "changed since it was trusted" in hook.barred
                continue
            ruling = hooks.fire("PreToolUse", cwd="/", **TOOL)
            ran += 1
            assert ruling.context == ("fine",)
    assert world.unharmed()
    assert min(ran, barred) > TRIES / 100, (ran, barred)


@pytest.mark.parametrize("how", ["rename", "in place"])
def test_a_configuration_swapped_while_we_look_never_runs(world: Hostile, how: str) -> None:
    """What is checked and what is read are the same bytes."""

    def text(command: str) -> str:
        config = world.llxprt(command).read_text()
        return config.ljust(8192)

    evil = world.write("evil.json", text(f"true; {world.evil}"))
    good = world.write("good.json", text("echo fine"))
    at = world.write("project/.llxprt/settings.json", good.read_text())
    world.trust()
    ran = other = 0
    with swapping(how, at, good, evil):
        for _ in range(TRIES // 2):
            hooks = world.discover()
            running = [hook for hook in hooks if not hook.barred]
            if not running:
                other += 1
                continue
            ruling = hooks.fire("PreToolUse", cwd="/", **TOOL)
            ran += 1
            assert ruling.messages == ("fine",)
    assert world.unharmed()
    assert min(ran, other) > TRIES / 100, (ran, other)


@pytest.mark.parametrize("how", ["rename", "in place"])
def test_what_is_shown_is_what_is_kept(world: Hostile, how: str) -> None:
    """A script swapped while it is being trusted: the digest a person saw is that of the copy that runs."""
    good, other = padded(world, "good.sh", "echo fine"), padded(world, "other.sh", "echo other")
    at = padded(world, "project/x.sh", "echo fine")
    world.llxprt("./x.sh")
    seen = set()
    with swapping(how, at, good, other):
        for _ in range(100):
            [review] = world.trust()
            [script] = review.scripts.values()
            copies = [path for path in world.state.rglob("x.sh") if not path.is_symlink()]
            assert script.digest in {hashlib.sha256(copy.read_bytes()).hexdigest() for copy in copies}
            seen.add(script.digest)
            for hook in world.discover():
                if not hook.barred:
                    running = Path(hook.command.argv[-1]).read_bytes()
                    assert hashlib.sha256(running).hexdigest() == script.digest
    assert len(seen) > 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_script_that_cannot_be_read_cannot_be_trusted(world: Hostile) -> None:
    """No look, no trust; the reason says why."""
    world.script("project/x.sh", mode=0o111)
    world.llxprt("./x.sh")
    assert f"{world.project}/x.sh cannot be read: Permission denied" in quick(world, "trust", "--yes").stdout
