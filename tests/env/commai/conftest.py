"""The names that CommAI-env's files import."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from interplay.env.commai import compat


@pytest.fixture
def old_names() -> Iterator[None]:
    """The old names are there within a test only."""
    compat.install()
    yield
    compat.uninstall()
