"""The names that CommAI-env's files import, and their module `random`: in the process within one test only."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from interplay.env.commai import compat


@pytest.fixture(autouse=True)
def _without_old_names() -> Iterator[None]:
    """Removes the old names, which every loaded configuration installs."""
    yield
    compat.uninstall()


@pytest.fixture
def old_names() -> None:
    """The old names are there."""
    compat.install()
