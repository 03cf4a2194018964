"""Every row of the tables of secrets: what it finds, and what looks like it and is none."""

from __future__ import annotations

import json

import pytest

from hookline.masking import MASK, Masking, filled, told
from hookline.spotting import NAMED, SHAPES, WORDS, hints, shaped, spots

C = "hunter2hunter2"
LONG = "c0" * 30
ROWS: dict[str, tuple[str, str]] = {
    "a private key": ("-----BEGIN PRIVATE KEY-----\nMIIc0c0\n-----END PRIVATE KEY-----", "-----BEGIN PUBLIC KEY-----"),
    "a JSON web token": (f"eyJ{LONG}.{LONG}.{LONG}", f"eyJ{LONG}"),
    "user and password in an address": (f"http://u:{C}@host/x", "http://host:80/x@y"),
    "a password with a slash in an address": (f"ftp://u:a/{C}@host", "ftp://host:2121/a@b"),
    "a token in an address": (f"https://{C}@host/x", "https://host/@types/node"),
    "a hook of Slack": (f"https://hooks.slack.com/services/T0/{C}", "https://hooks.slack.com/services/"),
    "a webhook": (f"https://x/api/webhooks/1/{C}", "https://x/api/webhooks/1"),
    "a token of GitHub": (f"ghp_{LONG}", "ghp_short"),
    "a fine token of GitHub": (f"github_pat_{LONG}", "github_pat_x"),
    "a token of GitLab": (f"glpat-{LONG}", "glpat-x"),
    "a token of Slack": (f"xoxb-{LONG}", "xoxo-xoxo-xoxo"),
    "a token of npm": (f"npm_{LONG}", "npm_config_cache"),
    "a token of PyPI": (f"pypi-{LONG}", "pypi-server"),
    "a token of Hugging Face": (f"hf_{LONG}", "hf_hub"),
    "a key of AWS": ("AKIA" + "C0" * 8, "AKIAc0"),
    "a key of Google": (f"AIza{LONG}", "AIza"),
    "a token of Google": (f"ya29.{LONG}", "ya29.x"),
    "a key of OpenAI": (f"sk-{LONG}", "task-management-of-the-team"),
    "a key of Stripe": (f"sk_live_{LONG}", "risk_test_c0"),
    "a bearer token": (f"bearer {C}", "the bearer certificates."),
    "basic authorization": (f"Basic {LONG}==", "basic knowledge of it=="),
    "a header": (f"Authorization: Digest {C}", "authorization is needed"),
    "a line of a .netrc": (f"machine h login u password {C}", "the password is needed"),
    "a last line of a .netrc": (f"login u\n  password {C}\n", "a new\n  password please\n"),
    "a user of curl": (f"curl --user u:{C} x", "docker run -u 1000:1000 x"),
    "a password for mysql": (f"mysql -h h -p{C} db", "mkdir -p some/folder"),
    "a signature in an address": (f"https://x/?a=1&sig={C}", "config=value"),
    "a flag for authorization": (f"x --proxy-auth {C}", "x --oauth please"),
    "a password": (f"password: {C}", "password: string;"),
    "a pwd": (f"Pwd={C};", "PWD=/home/u"),
    "a secret": (f"secret = {C}", "the secret is out"),
    "a token": (f'{{\\"token\\": \\"{C} x\\"}}', "token: Optional[str]"),
    "a credential": (f"credentials={C}", "credentials are needed"),
    "a connection string": (f"connection_string='{C}'", "connection: keep-alive"),
    "a key": (f"api_key={C}", "monkey: banana"),
    "a short word": (f"jwt={C}", "potp=bananas"),
}


@pytest.mark.parametrize("row", [*SHAPES, *NAMED, *WORDS], ids=lambda row: row.what)
def test_each_row(row: object) -> None:
    """A canary is found, what only looks alike is not, and there is no row without both."""
    secret, other = ROWS[row.what]  # type: ignore[attr-defined]
    done = Masking().text(f"see {secret} there" if "\n" not in secret else secret)
    assert "hunter" not in done
    assert "c0" not in done.lower()
    assert MASK in done
    assert Masking().text(other) == other


def test_each_row_finds_its_secret_itself() -> None:
    """The hints of a row are in its canary: without them it would not be looked at."""
    for row in (*SHAPES, *NAMED, *WORDS):
        secret = ROWS[row.what][0].lower()
        assert any(hint in secret for hint in row.hints), row.what
        assert any(hint in secret for hint in hints())
    assert set(ROWS) == {row.what for row in (*SHAPES, *NAMED, *WORDS)}


def test_shapes_alone() -> None:
    """A shape is a secret whatever stands before it; what only follows a word has none."""
    assert all(shaped(ROWS[row.what][0]) for row in SHAPES)
    assert not any(shaped(ROWS[row.what][0]) for row in (*NAMED, *WORDS))


QUOTED = [
    f'"password": "{C} \\" canary"', f"'password': '{C} \\' canary'", f'x \\"password\\": \\"{C} \\\\\\" canary\\" y',
    f"\\\\\"password\\\\\": \\\\\"it's {C} canary\\\\\" y",
    f'"{{\\"token\\": \\"{C} canary',
    f'password: str = "{C} canary"',
    f"const token: string | null = '{C} canary'",
]  # fmt: skip


@pytest.mark.parametrize("text", QUOTED)
def test_quotes_within_quotes(text: str) -> None:
    """A secret ends with the sign it began with, after no more backslashes, or with its line."""
    done = Masking().text(f"log {text}\nkept")
    assert "hunter" not in done
    assert "canary" not in done
    assert done.endswith("\nkept")
    assert Masking().text(done) == done


TYPES = [
    "token: Optional[str]", "password: string;", "const token = await getToken()", "token = get_token()",
    "def f(token: str, password: str | None = None) -> None:", "interface A { token: string, password?: string }",
    "Bearer Authentication", "the bearer certificates, that is",
]  # fmt: skip


@pytest.mark.parametrize("text", TYPES)
def test_programs_without_secrets(text: str) -> None:
    """The type of a token, or the call that gets one, is none."""
    assert Masking().text(text) == text


@pytest.mark.parametrize(
    "text", ["password: stringent7", "password=list2list", "token=await-7c0", "bearer abcdefghijklmnopqrstuvwxyz"]
)
def test_secrets_that_begin_like_types(text: str) -> None:
    """What only begins like a type is masked."""
    assert MASK in Masking().text(text)


ADDRESSES = [
    {"url": "https://www.npmjs.com/package/@types/node"}, {"repo_url": "https://github.com/actions/checkout@v4"},
    {"url": "http://localhost:8080/a@b"}, {"url": "ssh://git@github.com/a/b"}, {"uri": "https://h/?mail=a@b"},
    {"uri": "https://h#a@b"},
]  # fmt: skip


@pytest.mark.parametrize("value", ADDRESSES)
def test_addresses_without_credentials(value: dict[str, str]) -> None:
    """Only before the first /, ? or # of an address somebody is named."""
    assert Masking().masked(value) == (value, [])
    assert told(value) == []


@pytest.mark.parametrize(
    "address",
    ["postgres://u:p@h", "redis://:p@host", f"https://{C}@h/x", "postgres://u:pa/ss@h", f"pg://u@h/?password={C}"],
)
def test_addresses_with_credentials(address: str) -> None:
    """All of a DATABASE_URL that says who may use it is a secret, also where it turns up elsewhere."""
    assert told({"DATABASE_URL": address}) == [address]
    assert Masking().masked({"DATABASE_URL": address})[0] == {"DATABASE_URL": MASK}


def test_short_pins() -> None:
    """A number of less than four digits is the pin of a chip; a longer one opens something."""
    value = {"pin": 3, "userPin": [17, 4711]}
    done, places = Masking().masked(value)
    assert done == {"pin": 3, "userPin": [17, MASK]}
    assert places == ["/userPin/1"]
    assert filled(value, done) == done


def test_many_secrets_as_keys() -> None:
    """Keys that become the same are numbered: a tape grows with their number, not with its square."""
    value = {f"ghp_{number:030d}": number for number in range(4000)}
    done, places = Masking().masked(value)
    assert list(done.values()) == list(range(4000))
    assert len(json.dumps(done)) < 100_000
    assert list(done)[:3] == [MASK, f"{MASK} 2", f"{MASK} 3"]
    assert Masking().masked(done) == (done, places)
    assert filled(value, done) == done
    assert Masking([r"\d+"]).masked({"1": 1, "2": 2})[0] == {MASK: 1, f"{MASK} 2": 2}
    assert Masking([r"\d+"]).masked({MASK: 1, f"{MASK} 2": 2})[0] == {MASK: 1, f"{MASK} 2": 2}


def quoted(lengths: range) -> str:
    return "".join("token=" + "\\" * length + '"' for length in lengths)


PROSE = "the quick brown fox jumps over the lazy dog and sees what there is to be seen. " * 12_000
CODE = (
    "def token(self, key: str) -> str:\n    return self.tokens[key].api_key  # the secret token of a password\n" * 9000
)


@pytest.mark.parametrize(
    "text",
    [quoted(range(280, 0, -1)) * 25, quoted(range(1, 281)) * 25, quoted(range(1400, 0, -1)), PROSE + " key " + PROSE,
     CODE, "login a " * 100_000 + "password x", 'token="\\' * 100_000, "token='x\" " * 100_000, "\n{x" * 300_000,
     "-----BEGIN " + "PRIVATE KEY " * 80_000, "--a-" * 200_000 + "token x", "key " * 250_000, "://u:p/" * 140_000,
     "password " * 100_000, "bearer " * 140_000, " -p x" * 200_000, "login " * 160_000, "mysql -p" * 125_000,
         "login  a  " * 100_000, "\u0130 token=abcdef " * 60_000],
    ids=range(20),
)  # fmt: skip
def test_no_text_takes_long(text: str) -> None:
    """Megabytes of escaped quotes, of source code, of prose with one hint: each is looked through at once."""
    once = Masking().text(text)
    assert Masking().text(once) == once


def test_a_text_is_looked_at_near_its_hints_only() -> None:
    """No pattern begins anywhere else: of a megabyte with one secret, one place is found."""
    text = f"{PROSE}password={C} {PROSE}"
    assert list(spots(text)) == [(len(PROSE) + 9, len(PROSE) + 9 + len(C))]
    assert list(spots(PROSE + "the key of it" + PROSE)) == []
