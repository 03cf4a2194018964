"""Every test that takes `way` runs twice: with the blocking calls, and with their async twins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import stages


@pytest.fixture(params=stages.WAYS.values(), ids=stages.WAYS.keys())
def way(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """`with way(hooks, ...) as s:`"""
    found: Callable[..., Any] = request.param
    return found
