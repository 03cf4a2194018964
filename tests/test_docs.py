"""The pages people read: what they show parses, runs, resolves, and is what the code really does."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_type_hints

import pytest
import yaml

from hookline.cli import VERBS
from hookline.dialects import DIALECTS, dialect
from hookline.errors import UsageError
from hookline.events import checked, find, spellings
from hookline.model import Command, Decision, Event, Hook, Outcome, Source, Status

ROOT = Path(__file__).parent.parent
PAGES = sorted(str(page.relative_to(ROOT)) for page in (*ROOT.glob("*.md"), *ROOT.glob("[!.]*/*.md")))
RUN_AS_PYTHON = ("README.md", "docs/python.md", "docs/harn.md", "docs/handlers.md", "docs/session.md", "docs/tape.md")
RUN_IN_A_SHELL = ("docs/harness.md", "docs/goose.md", "docs/llxprt.md", "docs/harn.md", "docs/tape.md")
RULINGS = {0, 2, 3, 4}
"""Exit codes an example may end with; all others are mistakes."""

VOCABULARY = (
    *("event", "hook", "source", "host", "dialect", "plan", "wave", "skip"),
    *("runner", "outcome", "verdict", "ruling", "halt", "notice", "tape", "record"),
)


PARSERS: dict[str, Callable[[str], Any]] = {"json": json.loads, "yaml": yaml.safe_load, "toml": tomllib.loads}


class Block(NamedTuple):
    """A fenced block of a page: its language, its text, the line it begins on."""

    language: str
    text: str
    line: int


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(text: str, *languages: str) -> list[Block]:
    found: list[Block] = []
    begun: Block | None = None
    for number, line in enumerate(text.splitlines(), 1):
        if begun is None and line.startswith("```"):
            begun = Block(line[3:].strip(), "", number + 1)
        elif begun is not None and line.startswith("```"):
            found.append(begun)
            begun = None
        elif begun is not None:
            begun = begun._replace(text=begun.text + line + "\n")
    assert begun is None, f"the block of line {begun and begun.line} has no end"
    return [block for block in found if not languages or block.language in languages]


def prose(text: str) -> str:
    """A page without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)


def first_column(table: str) -> set[str]:
    """The words of the first column of a Markdown table, without their marks."""
    return {row.split("|")[1].strip().strip("*`") for row in table.splitlines() if row.startswith("|")}


def section(text: str, heading: str) -> str:
    """What stands under a heading, down to the next of the same or a higher level."""
    level = heading.count("#")
    kept: list[str] = []
    inside = fenced = False
    for line in text.splitlines():
        fenced ^= line.startswith("```")
        if not fenced and (marks := re.match(r"#+ ", line)) and len(marks[0]) - 1 <= level:
            inside = line == heading
        elif inside:
            kept.append(line)
    return "\n".join(kept) + "\n"


# -- what is wrong with a page: each of these returns the list of it


def unparsable(text: str) -> list[str]:
    """JSON, YAML and TOML blocks that are none."""
    wrong = []
    for block in blocks(text, *PARSERS):
        try:
            PARSERS[block.language](block.text)
        except (ValueError, yaml.YAMLError) as error:
            wrong.append(f"line {block.line}: {error}")
    return wrong


def broken_links(text: str, at: Path) -> list[str]:
    """Relative links whose file or heading is not there."""
    wrong = []
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(text)):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        goal = (at.parent / file).resolve() if file else at
        if goal != at and not goal.exists():
            wrong.append(f"{target}: no such file")
        elif anchor and anchor not in anchors(text if goal == at else goal.read_text(encoding="utf-8")):
            wrong.append(f"{target}: no such heading")
    return wrong


def anchors(text: str) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", prose(text), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def wrong_commands(text: str) -> list[str]:
    """`hookline …` in shell blocks that its own parsers refuse, and verbs or options in the prose that do not exist."""
    wrong = []
    for block in blocks(text, "sh"):
        for words in commands(block.text):
            try:
                parsed(words)
            except UsageError as error:
                wrong.append(f"{' '.join(words)}: {error}")
    for span in re.findall(r"`hookline ([^`]+)`", prose(text)):
        verb, *rest = span.split()
        if verb in VERBS:
            known = options(parser_of(verb))
            wrong += [f"hookline {span}: no such option" for word in rest if word[0] == "-" and word not in known]
        elif not verb.isupper() and not verb.startswith("--"):  # `hookline VERB`, `hookline --version`
            wrong.append(f"hookline {span}: no such verb")
    return wrong


def options(parser: Any) -> set[str]:
    """Every option of a parser, and of those below it."""
    below = [inner for action in parser._actions for inner in getattr(action.choices, "values", list)()]
    return {option for action in parser._actions for option in action.option_strings}.union(*map(options, below))


def parser_of(verb: str) -> Any:
    return import_module(VERBS[verb][0]).parser()


def parsed(words: list[str]) -> None:
    if not words or words[0] not in VERBS:
        raise UsageError("no such verb")
    parser_of(words[0]).parse_args(words[1:])


def commands(script: str) -> Iterator[list[str]]:
    """The arguments of every `hookline` a shell script calls; documents in it (`<<'EOS'`) are left out."""
    script = re.sub(r"<<-?\s*'?(\w+)'?[^\n]*\n.*?^\1$", "", script, flags=re.DOTALL | re.MULTILINE)
    script = script.replace("\\\n", " ")
    pending = ""
    for line in script.splitlines():
        pending += line + "\n"
        lexer = shlex.shlex(pending, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        try:
            words = list(lexer)
        except ValueError:  # an open quote: the string goes on in the next line
            continue
        pending = ""
        command: list[str] = []
        for word in [*words, ";"]:
            if set(word) <= set("();<>|&"):
                if command and Path(command[0]).name == "hookline":
                    yield command[1:]
                command = []
            else:
                command.append(word)


def missing_words(text: str) -> list[str]:
    """Words of the vocabulary, decisions and statuses the glossary does not have in the table where they belong."""
    wanted = {
        "## Words": VOCABULARY,
        "## Decisions": get_args(Decision),
        "## Statuses": (*get_args(Status), *get_args(get_type_hints(Outcome)["status"])),
    }
    return [
        f"{heading}: {word}"
        for heading, words in wanted.items()
        for word in words
        if word not in first_column(section(text, heading))
    ]


def wrong_payloads(text: str, name: str) -> list[str]:
    """Events of a dialect whose payload on its page is missing, or is not what a hook really gets."""
    wrong = []
    for spelling, event in spellings(name).items():
        shown = blocks(section(text, f"### {spelling}"), "json")
        if len(shown) != 1:
            wrong.append(f"{spelling} has {len(shown)} payloads")
            continue
        payload = json.loads(shown[0].text)
        try:
            sent = dialect(name).encode(some_hook(name, event), event_of(event, payload))
        except UsageError as error:
            wrong.append(f"{spelling}: {error}")
            continue
        if json.dumps(sent) != json.dumps(payload):  # in the same order, too
            wrong.append(f"{spelling}: a hook gets {json.dumps(sent)}")
    return wrong


def some_hook(name: str, event: str) -> Hook:
    return Hook(name="hook", event=event, dialect=name, source=Source("file"), action=Command(("true",), 1.0))


def in_harns_words(payload: dict[str, Any]) -> dict[str, Any]:
    """The fields of a payload that has Harn's shape."""
    fields = {key: value for key, value in payload.items() if key not in ("session", "target", "tool", "result")}
    if "tool" in payload:
        fields |= {"tool_name": payload["tool"]["name"], "tool_input": payload["tool"]["args"]}
    if "result" in payload:
        fields["tool_output"] = payload["result"]["text"]
    return fields | {"session_id": payload["session"]["id"]}


def event_of(name: str, payload: dict[str, Any]) -> Event:
    """The event that a payload on a page speaks of, in hookline's own words."""
    if "session" in payload:
        payload = in_harns_words(payload)
    ours = {
        "prompt_text": "prompt",
        "tool_arguments": "tool_input",
        "tool_result": "tool_output",
        "tool_response": "tool_output",
        "prompt_response": "response",
        "mcp_context": "mcp",
    }
    made_up = ("hook_event_name", "event", "last_assistant_message")
    fields = {ours.get(key, key): value for key, value in payload.items() if key not in made_up}
    base = {key: fields.pop(key) for key in ("session_id", "cwd", "timestamp", "transcript_path") if key in fields}
    return Event(name, checked(find(name), fields), **base)


# -- every page


@pytest.mark.parametrize("name", PAGES)
def test_json_and_yaml_blocks_parse(name: str) -> None:
    """What looks like a configuration or a payload is one."""
    assert unparsable(page(name)) == []


@pytest.mark.parametrize("name", PAGES)
def test_relative_links_resolve(name: str) -> None:
    """Every link to a file of ours finds it, and the heading in it."""
    assert broken_links(page(name), ROOT / name) == []


@pytest.mark.parametrize("name", PAGES)
def test_commands_exist(name: str) -> None:
    """Every hookline command uses verbs and options there are."""
    assert wrong_commands(page(name)) == []


def test_the_pages_are_found() -> None:
    """The checks above look at the pages people read, and these have something to check."""
    assert {"README.md", "docs/README.md", "docs/architecture.md", "docs/glossary.md"} < set(PAGES)
    assert {*RUN_AS_PYTHON, *RUN_IN_A_SHELL} < set(PAGES)
    assert all(blocks(page(name), "python") for name in RUN_AS_PYTHON)
    assert all(list(commands(block.text)) for name in RUN_IN_A_SHELL for block in blocks(page(name), "sh"))


def test_every_page_is_in_the_index() -> None:
    """docs/README.md leads to every other page of docs."""
    linked = {target.partition("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", page("docs/README.md"))}
    assert {path.name for path in (ROOT / "docs").glob("*.md")} - {"README.md"} <= linked


# -- running what the pages show


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A directory with the examples, as a reader has it."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    return tmp_path


def run(words: list[str], at: Path, **env: str) -> subprocess.CompletedProcess[str]:
    ours = ("ENGRAM_DIR", "PAI_DIR", "GOOSE_SESSION_START_HOOK", "HOOKLINE_DEBUG")
    clean = {name: value for name, value in os.environ.items() if name not in ours}
    return subprocess.run(
        words,
        cwd=at,
        env=clean | {"NO_COLOR": "1", "COLUMNS": "200"} | env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize("name", RUN_AS_PYTHON)
def test_python_blocks_run(name: str, place: Path) -> None:
    """The Python of a page runs from top to bottom, and its assertions hold."""
    lines: list[str] = []
    for block in blocks(page(name), "python"):
        lines += [""] * (block.line - 1 - len(lines))  # so that a traceback names the line of the page
        lines += block.text.splitlines()
    (place / "page.py").write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = run([sys.executable, "-W", "error", "page.py"], place)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", RUN_IN_A_SHELL)
def test_shell_blocks_run(name: str, place: Path) -> None:
    """The shell blocks of a page run from top to bottom; each hookline command ends with a ruling, never a mistake."""
    codes = called(page(name), place)
    assert len(codes) == sum(len(list(commands(block.text))) for block in blocks(page(name), "sh"))
    assert {line for line in codes if int(line.split()[0]) not in RULINGS} == set()


def test_the_shell_blocks_of_the_readme_run(place: Path) -> None:
    """After the one that installs, all of them run from the root of the repository; their exit codes are these."""
    installing, rest = page("README.md").split("## From the shell", 1)
    assert "<!-- ci: main -->" in installing
    text, _, testing = rest.partition("<!-- ci: test -->")
    assert (". .venv/bin/activate\n" in text, "pytest" in testing) == (True, True)
    codes = called(text.replace(". .venv/bin/activate\n", ""), place)
    assert [line.split()[:2] for line in codes] == [
        ["0", "list"],
        ["0", "explain"],
        ["0", "fire"],
        ["0", "events"],
        ["3", "fire"],
        ["0", "tape"],
        ["0", "tape"],
        ["0", "replay"],
        ["65", "replay"],
    ]


def called(text: str, place: Path) -> list[str]:
    """Run the shell blocks of a page; the exit code and the words of each hookline command in them."""
    (place / "bin").mkdir()
    (place / "codes").touch()
    stand_in = place / "bin" / "hookline"
    stand_in.write_text(
        f'#!/bin/sh\n{sys.executable} -m hookline "$@"\ncode=$?\necho "$code $*" >> {place}/codes\nexit $code\n'
    )
    stand_in.chmod(0o755)
    script = "\n".join(block.text for block in blocks(text, "sh"))
    done = run(["bash", "-uc", script], place, PATH=f"{place}/bin:{os.environ['PATH']}")
    assert done.stderr == ""
    return (place / "codes").read_text().splitlines()


@pytest.mark.parametrize(
    ("name", "code"),
    [("docs/harness.md", 2), ("docs/goose.md", 3), ("docs/llxprt.md", 2), ("docs/harn.md", 2)],
    ids=["a block", "a question", "exit 2", "a handler"],
)
def test_the_first_example_says_what_the_page_says(name: str, code: int, place: Path) -> None:
    """The sentence and the exit code promised under the first example are those it ends with."""
    promised = section(page(name), "## A first hook")
    made, fired = f"\n{blocks(promised, 'sh')[0].text}".split("\nhookline ", 1)
    assert run(["bash", "-euc", made], place).returncode == 0
    [words] = commands("hookline " + fired)
    done = run([sys.executable, "-m", "hookline", *words], place)
    said = re.search(r"output\s+is\s+`([^`]+)`,\s+and\s+the\s+exit\s+code\s+is\s+(\d)", prose(promised))
    assert said
    assert (done.stdout.splitlines()[-1], done.returncode) == (said[1], int(said[2])) == (said[1], code)


# -- what the pages say of the code


def test_the_glossary_has_every_word() -> None:
    """The vocabulary, the decisions and the statuses all have their row."""
    assert missing_words(page("docs/glossary.md")) == []


@pytest.mark.parametrize("name", DIALECTS)
def test_payloads_are_what_hooks_get(name: str) -> None:
    """Each event of a dialect has its payload on the page, field for field and in order."""
    assert wrong_payloads(page(f"docs/{name}.md"), name) == []


@pytest.mark.parametrize("name", DIALECTS)
def test_field_tables_are_complete(name: str) -> None:
    """The table of fields has every key an entry may have, and no other."""
    table = section(page(f"docs/{name}.md"), "## Configuration").partition("| field |")[2].partition("\n\n")[0]
    assert first_column(table) - {"---"} == set(import_module(DIALECTS[name]).KEYS)


@pytest.mark.parametrize("name", DIALECTS)
def test_configurations_on_the_page_load_without_a_notice(name: str) -> None:
    """A configuration shown as an example is one without anything odd about it."""
    speaks = dialect(name)
    shown = [
        PARSERS[block.language](block.text)
        for block in blocks(section(page(f"docs/{name}.md"), "## Configuration"), speaks.FORMAT)
    ]
    assert shown
    for document in shown:
        assert speaks.claims(document)
        loaded = speaks.read(document, "example", root=None, environ={})
        assert loaded.hooks
        assert loaded.notices == ()


def test_architecture_names_every_module() -> None:
    """The table of modules has every module and package of the source, in the order of the layers."""
    rows = re.findall(r"^\| `([\w/]+)(?:\.py)?` ", page("docs/architecture.md"), flags=re.MULTILINE)
    source = ROOT / "src" / "hookline"
    there = {path.stem for path in source.glob("*.py")} | {path.parent.name for path in source.glob("*/__init__.py")}
    named = [row.split("/")[0] for row in rows]
    assert set(named) == there - {"__init__", "__main__"}
    layers = (ROOT / "tests" / "test_layers.py").read_text(encoding="utf-8")
    order = re.findall(r'^    "(\w+)",$', layers.partition("ROWS = [")[2].partition("]")[0], flags=re.MULTILINE)
    assert named == order


def test_the_page_of_the_tape_has_every_kind() -> None:
    """The table of records has each kind with its moment and its fields, and no other."""
    from hookline.kinds import EVERYWHERE, KINDS
    from hookline.tape import ADDED

    hook = ["event", "handler", "dialect", "source", "digest?"]
    text = section(page("docs/tape.md"), "## The format")
    shown = {}
    for row in re.findall(r"^\| `(\w+)` \| (.+?) \| (.+?) \|$", text, flags=re.MULTILINE):
        fields = re.findall(r"`([\w?]+)`", row[2])
        shown[row[0]] = (row[1], [*(hook if "*hook*" in row[2] else []), *fields])
    assert shown == {name: (kind.when, list(kind.fields)) for name, kind in KINDS.items()}
    assert f"*hook* is {', '.join(f'`{name}`' for name in hook)}" in text
    assert {name.removesuffix("?") for name in EVERYWHERE} == set(ADDED)


# -- each check can fail


@pytest.mark.parametrize(
    "text",
    ['```json\n{"a": }\n```\n', "```yaml\na: [1\n```\n", '```json\n{"a": 1,}\n```\n'],
)
def test_a_broken_block_is_found(text: str) -> None:
    """A block that does not parse is reported."""
    assert len(unparsable(text)) == 1


@pytest.mark.parametrize("target", ["nowhere.md", "#no-such-heading", "README.md#no-such-heading"])
def test_a_broken_link_is_found(target: str) -> None:
    """A link to a file or a heading that is not there is reported; one in a code block is not a link."""
    assert len(broken_links(f"# Here\n\n[x]({target})\n", ROOT / "here.md")) == 1
    assert broken_links(f"# Here\n\n[x](#here) [y](README.md)\n```text\n[x]({target})\n```\n", ROOT / "here.md") == []


@pytest.mark.parametrize(
    "text",
    [
        "```sh\nhookline frie SessionStart\n```\n",
        "```sh\nhookline fire SessionStart --confg x\n```\n",
        "```sh\necho '{}' | hookline fire --payload -\n```\n",
        "```sh\nhookline fire Stop --payload '{\n}' --jsn\n```\n",
        "```sh\nhookline fire Stop \\\n    --on-failure perhaps\n```\n",
        "`hookline frie` is no verb\n",
        "`hookline list --tape FILE` is no option\n",
    ],
)
def test_a_wrong_command_is_found(text: str) -> None:
    """A verb or an option that does not exist is reported, in a block and in the prose."""
    assert len(wrong_commands(text)) == 1


def test_commands_are_read_as_a_shell_reads_them() -> None:
    """Continued lines, pipes, comments, quotes over several lines, and documents that are not commands."""
    script = """cat > x <<'EOS'
hookline nonsense
EOS
echo hookline nonsense | .venv/bin/hookline list \\
    --config a.json > out   # hookline nonsense
hookline fire Stop --payload '{
  "response": "hookline nonsense"}' && hookline events
"""
    assert [words[0] for words in commands(script)] == ["list", "fire", "events"]
    assert next(commands(script)) == ["list", "--config", "a.json"]


def test_a_missing_word_is_found() -> None:
    """Without its row, a word of the glossary is reported, also if the text mentions it elsewhere."""
    text = page("docs/glossary.md")
    assert missing_words(text.replace("| **wave** |", "| **waves** |")) == ["## Words: wave"]
    assert missing_words(text.replace("| **lost** |", "| lots |")) == ["## Statuses: lost"]
    assert missing_words(text.replace("| **ask** |", "| **demand** |")) == ["## Decisions: ask"]


def test_a_wrong_payload_is_found() -> None:
    """A field that is not sent, another order, or a missing example is reported."""
    text = page("docs/goose.md")
    renamed = text.replace('"tool_arguments": {"command": "rm', '"tool_args": {"command": "rm')
    assert len(wrong_payloads(renamed, "goose")) == 1
    swapped = text.replace(
        '"event": "session_stop",\n  "session_id": "s1"', '"session_id": "s1",\n  "event": "session_stop"'
    )
    assert len(wrong_payloads(swapped, "goose")) == 1
    assert len(wrong_payloads(text.replace("### session_stop", "### session_end"), "goose")) == 1


def test_a_failing_example_is_found(place: Path) -> None:
    """A command that is a mistake shows in the exit codes."""
    good, bad = "hookline list --config examples/goose/config.yaml > out", "hookline list --config none.yaml 2> out"
    codes = called(f"```sh\n{good}\n{bad}\n```\n", place)
    assert [line.split()[0] for line in codes] == ["0", "78"]
