"""A file that this process may not read, also where the tests run as root."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NOBODY = 65534


@contextmanager
def unreadable(file: Path) -> Iterator[None]:
    """Takes away the right to read a file; root, who needs none, is another user meanwhile."""
    user, mode = os.geteuid(), file.stat().st_mode
    file.chmod(0)
    if user == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if user == 0:
            os.seteuid(user)
        file.chmod(mode)
