"""Entry point of the `interplay` command. Its imports take seconds; Ctrl-C during them ends it with a line."""

from __future__ import annotations

import os
import signal
from types import FrameType
from typing import NoReturn

from interplay.runtime.interruption import INTERRUPTED


def console() -> NoReturn:
    """Runs the command and exits the process."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # as in the background of a script
        signal.signal(signal.SIGINT, _end)
    from interplay.launch import cli

    cli.console()


def _end(number: int, frame: FrameType | None) -> None:
    """Ends the process: nothing has begun. An exception could be lost in a module that is being imported."""
    os.write(2, b"interplay: stopped\n")
    os._exit(INTERRUPTED)
