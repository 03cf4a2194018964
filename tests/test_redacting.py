"""What is taken for a secret in an environment, by its name and by its value."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.model import Redaction
from hookline.redacting import KEPT, redacted, secret_name, secret_value


@pytest.mark.parametrize(
    "name",
    [
        "GITHUB_TOKEN", "my_secret", "DbPassword", "PASSWD", "API_KEY", "AWS_ACCESS_KEY_ID", "AUTH", "OAUTH_ID",
        "GOOGLE_APPLICATION_CREDENTIALS", "creds", "PRIVATE_THING", "SSL_CERT_FILE", "DATABASE_URL", "database_url",
        "GOOGLE_CLOUD_PROJECT",
    ],
)  # fmt: skip
def test_names_of_secrets(name: str) -> None:
    """A word that speaks of secrets anywhere in a name, in whatever case, or one of the well-known names."""
    assert secret_name(name.encode())


@pytest.mark.parametrize("name", ["PATH", "EDITOR", "NODE_ENV", "CI", "PROJECT", "URL", "LLXPRT_PROJECT_DIR"])
def test_names_that_are_none(name: str) -> None:
    """Ordinary names are not taken for secrets."""
    assert not secret_name(name.encode())


@pytest.mark.parametrize(
    "value",
    [
        "-----BEGIN RSA PRIVATE KEY-----\nMII",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmN",
        "postgres://user:hunter2@db.example.org/x",
        "ghp_0123456789abcdef0123",
        "AKIAIOSFODNN7EXAMPLE",
        "AIza" + "x" * 35,
        "sk-" + "a" * 24,
        "Bearer xoxb-0123456789-abc",
    ],
)
def test_values_of_secrets(value: str) -> None:
    """Keys, tokens and addresses with a password in them."""
    assert secret_value(value.encode())


@pytest.mark.parametrize(
    "value", ["", "/usr/bin:/bin", "https://example.org/a:b@c", "user@host:path", "sk-short", "eyJ"]
)
def test_values_that_are_none(value: str) -> None:
    """Paths, addresses without a password and short words stay."""
    assert not secret_value(value.encode())


def kept(environ: dict[str, str], **lists: tuple[str, ...]) -> set[str]:
    given = {name.encode(): value.encode() for name, value in environ.items()}
    return {name.decode() for name in redacted(given, Redaction(**lists))}


def test_the_lists() -> None:
    """An allowed name outweighs what names say, not what values look like; a blocked name goes; case does not count."""
    environ = {"A_TOKEN": "1", "B_TOKEN": "1", "C": "sk-" + "a" * 24, "D": "1", "E": "1"}
    assert kept(environ, allowed=("a_token", "C"), blocked=("d",)) == {"A_TOKEN", "E"}


def test_a_build_server_of_github() -> None:
    """There, only what no program does without stays, and what is allowed."""
    environ = {"GITHUB_SHA": "1", "PATH": "/bin", "HOME": "/h", "EDITOR": "vi", "MINE": "1"}
    assert kept(environ, allowed=("MINE",)) == {"PATH", "HOME", "MINE"}


NAMES = st.sampled_from(["PATH", "HOME", "A_TOKEN", "KEY", "PLAIN", "GITHUB_SHA", "DATABASE_URL", "x"])
ENVIRONS = st.dictionaries(NAMES, st.text(st.characters(codec="ascii"), max_size=30))
LISTS = st.lists(NAMES, max_size=3).map(tuple)


@given(ENVIRONS, LISTS, LISTS)
def test_nothing_is_changed_and_the_indispensable_stays(environ, allowed, blocked) -> None:
    """Redaction only leaves out: never PATH and its like, and no value is altered."""
    given = {name.encode(): value.encode() for name, value in environ.items()}
    left = redacted(given, Redaction(allowed, blocked))
    assert left.items() <= given.items()
    assert left.keys() >= given.keys() & KEPT
