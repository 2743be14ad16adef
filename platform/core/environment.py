"""Environment variables of this process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def keeps_variables(*names: str) -> Iterator[None]:
    """Restores these environment variables after code inside the block that sets or removes them, as Ray does."""
    before = {name: os.environ.get(name) for name in names}
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
