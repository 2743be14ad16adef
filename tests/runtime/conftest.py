"""One Ray cluster for all tests that need one: it takes seconds to start. Each test process has its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from clusters import cluster


@pytest.fixture(scope="session")
def ray_cluster() -> Iterator[None]:
    """A small cluster that this process is connected to; see `clusters.cluster`."""
    with cluster():
        yield
