"""`breakpoint()` is refused in processes without a terminal."""

from __future__ import annotations

import os
import sys
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
