"""Secrets on their way to the tape: masked in what is stored, never in what hooks get."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookline import Hooks, Tape, UsageError, context, deny, remind
from hookline.masking import MASK, Masking, filled, masking, told
from hookline.redacting import secret_name
from hookline.replay import replay
from hookline.tape import read, verify
from studio import scripts

CANARY = "hunter2hunter2"
WORDY = "two words and a canary"
SECRETS = [
    "ghp_" + "c" * 36, "github_pat_" + "c" * 30, "glpat-" + "c" * 20, "xoxb-" + "1" * 12, "npm_" + "c" * 36,
    "hf_" + "c" * 30, "AKIA" + "C" * 16, "AIza" + "c" * 35, "sk-" + "c" * 40, "sk_live_" + "c" * 20,
    "eyJ" + "c" * 20 + "." + "c" * 20 + "." + "c" * 20,
    "-----BEGIN RSA PRIVATE KEY-----\nMIIcccc\ncccc+/==\n-----END RSA PRIVATE KEY-----",
]  # fmt: skip
SENTENCES = [
    f"password={CANARY}", f"Password: {CANARY}", f"passwd={CANARY};x=1", f"DB_PASSWORD='{CANARY}'",
    f'"api_key": "{CANARY}"', f"apiKey={CANARY}&b=1", f"client_secret: {CANARY}", f"accessToken={CANARY}",
    f"--password {CANARY}", f"--auth-token={CANARY}", f"Authorization: Bearer {CANARY}", f"bearer {CANARY}",
    f"Authorization: Basic {CANARY}==", f"Cookie: session={CANARY}", f"postgres://u:{CANARY}@db/x",
    f"redis://:{CANARY}@db", f"amqp://u:p@{CANARY}@host", f"Server=db;Uid=u;Pwd={CANARY};", f"secret = {CANARY}",
    f'curl -H "X-Api-Key: {CANARY}"', f'{{"password": "{CANARY} and more"}}', f'x={{"token":"{CANARY} two"}}',
    f"Endpoint=x;AccountKey={CANARY}==;b=1", f"SECRET_KEY='{CANARY}'", f"STRIPE_KEY={CANARY}", f"pass={CANARY}",
    f"tokens={CANARY}", f"password := {CANARY}", f"password => {CANARY}", f"<password>{CANARY}</password>",
    f"machine h login u password {CANARY}", f"login u\n  password {CANARY}\n", f"https://{CANARY}@host/x",
    f"postgres://u:pa/{CANARY}@h", f"curl -u user:{CANARY} x", f"mysql -h h -p{CANARY} db", f"sshpass -p {CANARY} ssh",
    f"docker login -u u -p {CANARY} r", f"https://hooks.slack.com/services/T0/B0/{CANARY}", f"https://x/?sig={CANARY}",
    f"https://x/?a=1&key={CANARY}", f"signing_key: {CANARY}", f"passcode={CANARY}", f"jwt={CANARY}", f"otp={CANARY}",
    f"-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{CANARY}\n=ab\n-----END PGP PRIVATE KEY BLOCK-----",
    f"log line\n{{\"password\": \"{CANARY}\", \"n\": 1}}\nmore", f'{{\\"token\\": \\"{CANARY} x\\"}}',
]  # fmt: skip
PLAIN = [
    "", "hello", "max_tokens=4096", "tokens: 12 used", "the author of keys", "https://example.org/a:b@c", "PWD=/home/u",
    "token: null", "git commit -m 'password reset page'", '{"author": "x", "token_count": 3}', "sk-short", "eyJ",
    "tokens=4096", "?key=value", "docker run -u 1000:1000 x", "PUBLIC_KEY=abcdefgh", "https://host:8080/path@v1",
    "Password reset", "password reset", "git clone ssh://git@github.com/a/b", "pass: 1234 tests", "keyboard: qwerty",
    "mkdir -p some/folder", "key=value", "monkey: banana", "ssh user@host:path", "basic knowledge of cryptography",
]  # fmt: skip


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("around", ["{}", "see {} there", '{{"a": "{}"}}', "a\n{}\nb"])
def test_shapes(secret: str, around: str) -> None:
    """Keys and tokens whose shape is known go wherever they stand, and nothing else does."""
    inside = json.dumps(secret)[1:-1] if around.startswith("{{") else secret
    done = Masking().text(around.format(inside))
    assert "ccc" not in done.lower()
    assert "1111" not in done
    assert MASK in done
    assert done.replace(MASK, "") in (around.format(""), around.format("").replace(": ", ":"))


@pytest.mark.parametrize("sentence", SENTENCES)
def test_what_stands_after_a_telling_word(sentence: str) -> None:
    """Assignments, JSON, flags, headers, addresses, connection strings: the value goes, its name stays."""
    done = Masking().text(sentence)
    assert "hunter" not in done
    assert " and more" not in done
    assert MASK in done


@pytest.mark.parametrize("text", PLAIN)
def test_what_is_no_secret(text: str) -> None:
    """Ordinary texts are stored as they are."""
    assert Masking().masked({"x": text}) == ({"x": text}, [])


def test_telling_keys() -> None:
    """All text below a telling key goes; numbers and what says yes or no stay; keys that only sound alike do, too."""
    value = {
        "password": "a", "dbPassword": "a", "API_KEY": "a", "auth": {"user": "a", "list": ["a", 1, True]},
        "x-auth-token": "a", "max_tokens": 5, "author": "kept", "token": "", "keys": "kept", "monkey": "kept",
    }  # fmt: skip
    done, places = Masking().masked(value)
    assert done == {
        "password": MASK, "dbPassword": MASK, "API_KEY": MASK, "auth": {"user": MASK, "list": [MASK, 1, True]},
        "x-auth-token": MASK, "max_tokens": 5, "author": "kept", "token": "", "keys": "kept", "monkey": "kept",
    }  # fmt: skip
    assert places == ["/password", "/dbPassword", "/API_KEY", "/auth/user", "/auth/list/0", "/x-auth-token"]


TELLING = [
    "secret_key", "encryption_key", "signing_key", "session_key", "ssh_key", "master_key", "STRIPE_KEY", "AccountKey",
    "passcode", "jwt", "token_value", "authHeader", "pgpass", "passwordHash", "otp", "pin", "userPin", "PASSWORD_2",
    "clientSecret", "x-api-key", "connectionString",
]  # fmt: skip
HARMLESS = [
    "max_tokens", "author", "monkey", "token_count", "keyboard", "key", "keys", "dedupe_key", "PUBLIC_KEY",
    "primary_key", "spin", "compass", "tokenizer", "input_tokens", "secretary", "url", "passed",
]  # fmt: skip


@pytest.mark.parametrize("name", TELLING)
def test_names_that_tell(name: str) -> None:
    """One list of words for the tape, the environment's values and the redaction of the environment."""
    assert Masking().masked({name: CANARY})[0] == {name: MASK}
    assert told({name: CANARY}) == [CANARY]
    assert secret_name(name.encode()) or name == "connectionString"


@pytest.mark.parametrize("name", HARMLESS)
def test_names_that_tell_nothing(name: str) -> None:
    """Texts and numbers of such names are stored as they are."""
    assert Masking().masked({name: "kept text", "n": {name: 7}}) == ({name: "kept text", "n": {name: 7}}, [])
    assert told({name: "kept text"}) == []


def test_numbers() -> None:
    """A number below a telling key is masked, and fits again; what only counts tokens is not, nor is yes or no."""
    value = {"password": 8675309, "api_key": [8675309, True], "tokens": 4096, "pin": 4711, "text": '{"otp": 123456}'}
    done, places = Masking().masked(value)
    assert done == value | {"password": MASK, "api_key": [MASK, True], "pin": MASK, "text": '{"otp":"[masked]"}'}
    assert places == ["/password", "/api_key/0", "/pin", "/text"]
    assert Masking().masked(done) == (done, places)
    assert filled(value, done) == done
    assert filled({"password": True, "n": 1}, {"password": MASK, "n": MASK}) == {"password": True, "n": 1}


def test_addresses_with_credentials() -> None:
    """All of what a DATABASE_URL holds is a secret if somebody is named in it, else nothing of it."""
    assert Masking().masked({"DATABASE_URL": "x://u:p@h", "HOME_URL": "https://h/x"})[0] == {
        "DATABASE_URL": MASK, "HOME_URL": "https://h/x"}  # fmt: skip
    assert told({"REDIS_URI": "redis://:p@h", "A_URL": "https://h/x"}) == ["redis://:p@h"]


def test_what_holds_a_record_together_is_never_masked(tmp_path: Path) -> None:
    """Neither a secret that is the name of an event nor a pattern keeps a tape from being replayed."""
    hooks = Hooks(environ={"MY_TOKEN": "PreToolUse", "MY_SECRET": "in_pipeline"})
    hooks.on("PreToolUse")(lambda payload: deny("no") | remind("x"))
    with hooks.session(tape=tmp_path / "t", mask=["deny", "python", "Stop", "hook"]) as s:
        s.tool("Bash", {"event": "PreToolUse"}, str)
        s.reminders.inject("mine")
        s.stop("done")
    found = list(read(tmp_path / "t"))
    assert {"PreToolUse", "Stop"} < {record.data.get("event") for record in found}
    assert next(r for r in found if r.kind == "tool_refused").data["tool_input"] == {"event": MASK}
    assert replay(tmp_path / "t").divergence is None


def test_secrets_as_keys() -> None:
    """Also the name of a field may be one; no field is lost, and the place does not tell it either."""
    done, places = Masking().masked({"a/b": {SECRETS[0]: 1, SECRETS[1]: "x"}})
    assert done == {"a/b": {MASK: 1, MASK + " 2": "x"}}
    assert places == ["/a~1b/[masked]", "/a~1b/[masked] 2"]


def test_patterns_can_be_added() -> None:
    """A regular expression of the caller's; of one with a group `secret` only that part."""
    done = Masking([r"EMP-\d+", r"user=(?P<secret>\w+)"]).text("EMP-1234 user=jo, EMP-x")
    assert done == "[masked] user=[masked], EMP-x"
    assert Masking([""]).text("abc") == "abc"
    for wrong in ("not a list", ["("], [7]):
        with pytest.raises(UsageError, match="mask"):
            Masking(wrong)  # type: ignore[arg-type]


def test_the_environment_tells_secrets_too() -> None:
    """The values of variables that are named like secrets go wherever they turn up; paths and short ones do not."""
    environ = {"MY_TOKEN": "plain-canary", "PWD": "/home/someone", "SHORT_KEY": "abc", "API_KEY": "/run/secrets/key",
               "GIT_AUTHOR_NAME": "Somebody Else", "DB_PASSWORD": "with.*regex(signs"}  # fmt: skip
    assert told(environ) == ["plain-canary", "with.*regex(signs"]
    made = masking(True, environ)
    assert made is not None
    assert made.text("it is plain-canary, with.*regex(signs") == "it is [masked], [masked]"
    assert masking(False, environ) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.sampled_from([*SECRETS, *SENTENCES, MASK]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=8) | st.sampled_from(["password", "token", "a b"]), inner, max_size=3)
    ),
    max_leaves=8,
)
TEXT = st.lists(
    st.sampled_from([*SECRETS, *SENTENCES, *PLAIN, MASK, '"', "\\", "'", "{", "[", "\n", ":", "=", "password", "@"])
    | st.text(max_size=5)
).map("".join)


@settings(deadline=None)
@given(JSON | TEXT)
def test_masking_twice_changes_nothing(value: Any) -> None:
    """What was masked is masked for good, and is listed again."""
    once, places = Masking().masked(value)
    assert Masking().masked(once) == (once, places)


@settings(deadline=None)
@given(JSON, st.sampled_from([None, 1]), st.sampled_from(["", "\n", " "]))
def test_json_in_a_text_stays_json(value: Any, indent: int | None, end: str) -> None:
    """Also inside of a hook's stdout; and what is masked in it is what would be masked of the value."""
    if not isinstance(value, dict | list):
        value = [value]
    done = Masking().text(json.dumps(value, indent=indent) + end)
    assert json.loads(done) == Masking().masked(value)[0]


@settings(deadline=None)
@given(JSON)
def test_a_value_fits_what_became_of_it(value: Any) -> None:
    """A replay takes the masks of the recording for whatever stood there."""
    masked, _ = Masking().masked(value)
    assert filled(value, masked) == masked
    assert filled(masked, masked) == masked


@pytest.mark.parametrize(
    "unit",
    ["eyJ-", "eyJaaaaaaaa.", "token=", "token", "password: ", "--a-", "--", "://a:", "\\", '\\"', "sk-", "[masked] ",
     "-----BEGIN PRIVATE KEY-----", "-", "authorization:", "bearer ", "\n{", '{"token":', "token=\\\"",
     "login a password ", "mysql ", "curl -u ", "token>", "<password>", "https://", "x://a:b@", "?key=", "A_KEY",
     "password ", "SECRET_", "BEGIN PRIVATE KEY "],
)  # fmt: skip
def test_no_text_takes_long(unit: str) -> None:
    """A megabyte of anything that somebody thought of is looked through at once, and fits itself at once."""
    text = unit * (1_000_000 // len(unit))
    done = Masking().text(text)
    assert filled(text + "x", done + "y") == text + "x"


def test_deep_values(tmp_path: Path) -> None:
    """What is nested deeply is masked; what is nested too deeply is refused as anything that is no JSON."""

    def nested(depth: int) -> Any:
        value: Any = "password=hunter22"
        for _ in range(depth):
            value = {"b": [value]}
        return value

    tape = Tape(tmp_path / "t")
    tape.append("message", {"content": nested(200)})
    assert "hunter" not in (tmp_path / "t").read_text()
    with pytest.raises(UsageError, match="JSON values"):
        tape.append("message", {"content": nested(2000)})
    assert verify(tmp_path / "t").records == 1


def test_a_value_that_does_not_fit_stays() -> None:
    """Something else beside the mask, or in its place, is no fit."""
    assert filled("password=x and more", "password=[masked]!") == "password=x and more"
    assert filled({"a": 1}, {"a": MASK}) == {"a": 1}
    assert filled([1], [1, MASK]) == [1]


# -- on the tape


def everything(secret: str) -> dict[str, Any]:
    """A payload with secrets in every corner."""
    return {
        "command": f"mysql --password {secret} && curl -u x -H 'Authorization: Bearer {secret}'",
        "env": {"API_TOKEN": secret},
        "file_path": f"/tmp/token={secret}/x",
        "body": json.dumps({"password": secret, "nested": [{"secret": secret}]}),
        f"password={secret}": 1,
        "list": ["plain", f"postgres://u:{secret}@host/db"],
    }


ECHO = """cat > got.json
echo '{"decision":"block","message":"token=%(s)s","password":"%(s)s"}'
echo "failed with secret: %(s)s, env $MY_TOKEN" >&2"""


def test_canaries_in_every_field_are_nowhere_on_the_tape(tmp_path: Path) -> None:
    """Payloads, the environment, stdout, stderr, reasons, results, prompts, reminders: all masked, and listed."""
    hooks = Hooks(environ={"MY_TOKEN": "bare-canary-value"})
    settings = scripts(tmp_path, leaks=ECHO % {"s": CANARY})
    settings.write_text(settings.read_text().replace('"path"', '"matcher": {"tool_name": "Bash"}, "path"'))
    hooks.load(settings)
    config = tmp_path / f"password={CANARY}.yaml"
    config.write_text(
        f"hooks: {{prompt_submit: [{{command: 'sh -c \"echo password={CANARY}\"'}}], "
        f"post_tool_use: [{{command: 'sh -c \"echo bare-canary-value >&2; exit 1\"'}}]}}"
    )
    hooks.load(config, "goose")
    hooks.on("UserPromptSubmit")(lambda p: context(f"secret: {CANARY}") | remind(f"api_key={CANARY}"))
    hooks.on("Stop")(lambda payload: deny(f"bare-canary-value and password: {CANARY}"))

    @hooks.on("SessionIdle")
    def breaks(payload: dict[str, Any]) -> None:
        raise ValueError(f"token={CANARY}")

    hooks.register_session_hook("post_turn", lambda p: {"reminder": {"body": f"pwd={CANARY}", "tags": [CANARY + "x"]}})
    tape = tmp_path / "t"
    with hooks.session(f"token={CANARY}", tmp_path, tape, lambda ask: False, task=f"password={CANARY}",
                       system=f"Authorization: Bearer {CANARY}") as s:  # fmt: skip
        s.submit(f"my password is not: {CANARY}, but password={CANARY}")
        s.model({"messages": [{"role": "user", "content": f"secret={CANARY}"}]}, lambda r: {"text": f"token={CANARY}"})
        s.tool("Bash", everything(CANARY), str)
        s.tool("read", everything(CANARY), lambda given: given)
        s.tool("read", {}, lambda given: f"the api_key: {CANARY} and bare-canary-value")
        s.reminders.inject(f"password={CANARY}")
        s.file_edited(f"/x/token={CANARY}", {"password": CANARY})
        s.turn_done(f"password={CANARY}")
        s.idle()
        s.stop(f"token={CANARY}")
        with pytest.raises(OSError, match="token"):
            s.tool("read", {}, lambda given: (_ for _ in ()).throw(OSError(f"token={CANARY}")))
        s.compact(lambda reminders: {"archived_messages": 1, "summary": f"password={CANARY}"})
    text = tape.read_text()
    assert "bare-canary" not in text
    assert text.count(CANARY) == text.count(f"not: {CANARY}") + text.count(f"{CANARY}x")  # nothing tells these two
    assert verify(tape).records > 50
    for record in read(tape):
        assert ("masked" in record.data) == (MASK in json.dumps(record.said)), record
        for place in record.data.get("masked", []):
            at: Any = record.data
            for step in place[1:].split("/"):
                key = step.replace("~1", "/").replace("~0", "~")
                last, at = key, at[int(key)] if isinstance(at, list) else at[key]
            assert MASK in str(at) or MASK in last


def test_hooks_get_everything_unmasked(tmp_path: Path) -> None:
    """Masking is for the tape: the payload on a hook's stdin is as the host gave it."""
    hooks = Hooks()
    hooks.load(scripts(tmp_path, gets="cat > got.json"))
    got: list[Any] = []
    hooks.on("PreToolUse")(lambda payload: got.append(payload["tool_input"]))
    tape = Tape(tmp_path / "t")
    hooks.fire("PreToolUse", tool_name="Bash", tool_input=everything(CANARY), cwd=str(tmp_path), tape=tape)
    tape.close()
    assert json.loads((tmp_path / "got.json").read_text())["tool_input"] == everything(CANARY) == got[0]
    assert CANARY not in (tmp_path / "t").read_text()


def test_it_can_be_turned_off_and_added_to(tmp_path: Path) -> None:
    """For a Tape, for a session: `mask=False` stores everything, a list of patterns masks more."""
    for name, mask, kept in (
        ("on", True, {"EMP-7"}),
        ("off", False, {"EMP-7", CANARY}),
        ("more", ["EMP-[0-9]"], set()),
    ):
        tape = Tape(tmp_path / name, mask=mask)  # type: ignore[arg-type]
        tape.append("message", {"content": f"EMP-7 password={CANARY}"})
        with Hooks().session(tape=tmp_path / f"s {name}", mask=mask) as s:  # type: ignore[arg-type]
            s.submit(f"EMP-7 password={CANARY}")
        for path in (tmp_path / name, tmp_path / f"s {name}"):
            assert {word for word in ("EMP-7", CANARY) if word in path.read_text()} == kept


def test_on_the_command_line(tmp_path: Path) -> None:
    """`fire --tape` masks; --mask adds a pattern, --no-masking turns it off, and both go with --tape only."""

    def fire(*words: str) -> subprocess.CompletedProcess[str]:
        payload = json.dumps({"prompt": f"EMP-7 password={CANARY}"})
        command = [sys.executable, "-m", "hookline", "fire", "UserPromptSubmit", "-p", payload, *words]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    for number, (words, kept) in enumerate([
        ((), {"EMP-7"}), (("--no-masking",), {"EMP-7", CANARY}), (("--mask", r"EMP-\d", "--mask=x", "--fsync"), set()),
    ]):  # fmt: skip
        assert fire("--tape", f"t{number}", *words).returncode == 0
        text = (tmp_path / f"t{number}").read_text()
        assert {word for word in ("EMP-7", CANARY) if word in text} == kept
    for words in (("--fsync",), ("--mask", "x"), ("--no-masking",), ("--tape", "t", "--mask", "("),
                  ("--tape", "t", "--mask", "x", "--no-masking")):  # fmt: skip
        assert fire(*words).returncode == 64
    assert not (tmp_path / "t").exists()


@pytest.mark.parametrize("text", ['{"token":"abcdefgh1234","token":null}', '[{"a":"envsecretvalue1","a":1}]'])
def test_a_key_that_stands_twice(text: str) -> None:
    """JSON has the last of them, and a secret in the first one is in no value: it goes."""
    done = Masking(values=["envsecretvalue1"]).text(text)
    assert json.loads(done) == json.loads(text)
    assert "abcdefgh1234" not in done
    assert "envsecretvalue1" not in done
