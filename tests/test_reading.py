"""Reading configuration files and what hooks print."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hookline import ConfigError, Hooks
from hookline.model import Verdict
from hookline.parsing import LARGEST_CONFIG, parse
from hookline.reading import LARGEST_TEXT, NOT_JSON, bearable, json_value, printed

GOOD = '{"hooks":{"SessionStart":[{"path":"h.sh"}]}}'


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"\xff\xfe{\x00}\x00", "is not UTF-8: byte 0xff at offset 0"),
        (b'{"hooks": ', "is not valid JSON: .* at line 1, column"),
        (b'{\n "hooks": {,}\n}', "line 2, column 12"),
        (b'{"hooks": NaN}', "is not valid JSON"),
        (b"[" * 200_000, "is not valid JSON"),
        (b"[]", "is not recognised as any dialect's"),
        (b"42", "is not recognised"),
        (b"{}", "name its dialect: --config DIALECT="),
        (b'{"hooks":{}}', "name its dialect"),
        (b"hooks: [unclosed", "is not valid YAML: .* line 1"),
        (b"hooks:\n\t- x", "is not valid YAML"),
        (b"a: &a [*a]", "the alias \\*a has nothing it could stand for"),
        (b"\x00\x01", "is not valid YAML"),
        (b"!!python/object/apply:os.system ['true']", "is not valid YAML"),
    ],
)
def test_a_file_that_cannot_be_loaded_says_where_and_why(tmp_path: Path, content: bytes, words: str) -> None:
    """Empty, malformed, misencoded and unrecognisable files are ConfigErrors that begin with the file's name."""
    file = tmp_path / "settings"
    file.write_bytes(content)
    with pytest.raises(ConfigError, match=words) as caught:
        Hooks().load(file)
    assert str(caught.value).startswith(str(file))
    assert caught.value.file == str(file)


def test_missing_directory_fifo_and_unreadable_files(tmp_path: Path) -> None:
    """What is no regular readable file is told apart, and a FIFO does not hang us."""
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "loop").symlink_to("loop")
    for name, words in {
        "nothing": "there is no such configuration file",
        ".": "is a directory; name the configuration file inside it",
        "fifo": "is not a regular file",
        "loop": "cannot be read",
        "a\0b": "cannot be read",
    }.items():
        with pytest.raises(ConfigError, match=words):
            Hooks().load(f"{tmp_path}/{name}")


def test_an_enormous_file_is_refused(tmp_path: Path) -> None:
    """A file of many megabytes is not read as a configuration."""
    file = tmp_path / "settings.json"
    with file.open("wb") as stream:
        stream.truncate(LARGEST_CONFIG + 1)
    with pytest.raises(ConfigError, match="larger than 4 MiB"):
        Hooks().load(file)


def test_a_byte_order_mark_is_no_obstacle(tmp_path: Path) -> None:
    """Editors that write a BOM write valid configurations."""
    file = tmp_path / "settings.json"
    file.write_text(GOOD, encoding="utf-8-sig")
    assert [hook.name for hook in Hooks().load(file)] == ["h.sh"]


@pytest.mark.parametrize(
    ("content", "pointer", "words"),
    [
        ({"hooks": []}, "/hooks", "must map events to lists of hooks, not be a list"),
        ({"hooks": "x"}, "/hooks", "not be a string: 'x'"),
        ([], "", "must hold an object with the key 'hooks', not a list"),
    ],
)
def test_a_file_of_the_wrong_shape(tmp_path: Path, content, pointer: str, words: str) -> None:
    """A document that can hold no hooks at all is refused, with the pointer."""
    import json

    file = tmp_path / "settings.json"
    file.write_text(json.dumps(content))
    with pytest.raises(ConfigError, match=words) as caught:
        Hooks().load(file, "harness")
    assert caught.value.pointer == pointer


def test_no_hooks_at_all_is_only_a_notice(tmp_path: Path) -> None:
    """A settings file without hooks is a settings file; null lists are empty lists."""
    file = tmp_path / "settings.json"
    file.write_text('{"permissions": {}}')
    hooks = Hooks()
    assert hooks.load(file, "harness") == []
    assert [str(n) for n in hooks.notices] == [f"{file}: has no key 'hooks', so it configures nothing"]
    file.write_text("hooks:\n  session_start:\n  pre_tool_use:\n")
    assert Hooks(environ={}).load(file, "goose") == []


def test_unknown_dialects_are_suggested(tmp_path: Path) -> None:
    """A misspelled dialect is a usage error with the nearest name."""
    with pytest.raises(Exception, match=r"no dialect is called 'gose'; there are harness, goose.*did you mean 'goose'"):
        Hooks().load(tmp_path / "x", dialect="gose")


def test_json_is_also_yaml(tmp_path: Path) -> None:
    """A Goose configuration may be written in JSON, and is recognised by its content, not by its suffix."""
    file = tmp_path / "goose.conf"
    file.write_text('{"hooks":{"session_start":[{"command":"true"}]}}')
    assert [hook.dialect for hook in Hooks(environ={}).load(file)] == ["goose"]


def test_what_a_hook_prints() -> None:
    """Marks and blanks around an answer do not matter; NaN is no JSON; depth is no crash."""
    assert printed("\ufeff  hi \n") == "hi"
    assert json_value('{"a":1}') == {"a": 1}
    assert json_value("NaN") is NOT_JSON
    assert json_value("[" * 100_000) is NOT_JSON
    assert json_value("") is NOT_JSON


def test_what_the_model_reads_is_cut_on_a_character() -> None:
    """Context, messages and reasons over 32 KiB are cut at a character's border, marked, and noticed."""
    text, fits = "é" * LARGEST_TEXT, "é" * (LARGEST_TEXT // 2)
    cut = fits + "\n[hookline: cut after 32768 of 65536 bytes]"
    whole = Verdict("deny", text, (text, fits), (text,), halt=text)
    assert bearable(whole) == Verdict(
        "deny", cut, (cut, fits), (cut,), halt=cut, notices=("its text of 65536 bytes was cut to 32768",)
    )
    assert bearable(Verdict("deny", fits)) == Verdict("deny", fits)


def test_yaml_bombs_do_not_explode() -> None:
    """Aliases that come to more than can be walked are refused, and so is what would overflow the loader's stack."""
    lines = ["a0: &a0 [x]"] + [f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]" for i in range(1, 60)]
    assert len(parse("\n".join(lines[:10]).encode(), "small.yaml")) == 10
    for text in ("\n".join(lines), "[" * 100_000, "- " * 100_000, "? " * 100_000):
        with pytest.raises(ConfigError, match="is nested too deeply, or its aliases come to too many values"):
            parse(text.encode(), "bomb.yaml")
