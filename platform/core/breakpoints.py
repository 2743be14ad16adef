"""`breakpoint()`: refused in processes without a terminal, and kept where a library replaces its debugger."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

VARIABLE = "PYTHONBREAKPOINT"  # read by Python at each `breakpoint()`


def refuse_breakpoints(where: str, remedy: str) -> None:
    """Makes `breakpoint()` raise an error in this process: no one could type, and the debugger would only read the end
    of its input.

    Args:
        where: what this process is, for the message.
        remedy: the settings with which the same code runs in the process of the command.
    """

    def refuse(*arguments: object, **options: object) -> NoReturn:
        raise RuntimeError(
            f"breakpoint() was called in {where}, which has no terminal; to stop there, type the same command with "
            f"{remedy}"
        )

    if VARIABLE not in os.environ:
        sys.breakpointhook = refuse


@contextmanager
def keeps_debugger() -> Iterator[None]:
    """Restores what `breakpoint()` calls, after code inside the block that replaces it, as Ray does."""
    before = os.environ.get(VARIABLE)
    try:
        yield
    finally:
        os.environ.pop(VARIABLE, None)
        if before is not None:
            os.environ[VARIABLE] = before
