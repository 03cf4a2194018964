"""The public face."""

from __future__ import annotations

import subprocess
import sys

import pytest

import hookline


def test_all_is_what_is_there() -> None:
    """Every name of __all__ can be imported, and dir() lists them."""
    for name in hookline.__all__:
        assert getattr(hookline, name).__name__ == name
    assert set(hookline.__all__) <= set(dir(hookline))


def test_unknown_names_are_ordinary_attribute_errors() -> None:
    """A name that does not exist says so in the usual way."""
    with pytest.raises(AttributeError, match="no attribute 'Hoks'"):
        _ = hookline.Hoks


def test_importing_hookline_imports_almost_nothing() -> None:
    """`import hookline` costs nothing until something of it is used."""
    code = "import sys; before = set(sys.modules); import hookline; print(sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "msgspec" not in done.stdout
    assert "subprocess" not in done.stdout


def test_errors_share_one_root() -> None:
    """Everything hookline raises on purpose is a HooklineError."""
    for name in ("UsageError", "ConfigError", "HookDenied", "HookError", "TapeError", "Divergence"):
        assert issubclass(getattr(hookline, name), hookline.HooklineError)
    assert issubclass(hookline.Divergence, hookline.TapeError)
    error = hookline.HookDenied("PreStep", "not today", step="audit")
    assert (error.category, error.event, error.reason, error.step) == ("hook_denied", "PreStep", "not today", "audit")
    assert hookline.Divergence(7, "no such call").seq == 7
