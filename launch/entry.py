"""Entry point of the `interplay` command. Imports for a verb take seconds; Ctrl-C or SIGTERM during them ends it with a
line.

Whatever this module imports delays the handlers of signals, so it imports nothing that Python has not loaded by then.
"""

from __future__ import annotations

import os
import signal
import sys

INTERRUPTED = 130  # that of `interplay.runtime.interruption`, whose import takes longer


def console() -> None:
    """Runs the command and exits the process."""
    _end_by_signals()
    _open_closed_streams()
    from interplay.launch.usage import answer

    if (code := answer(sys.argv[1:])) is not None:
        sys.exit(code)
    try:
        from interplay.launch import cli

        cli.console()
    except Exception as error:  # of an import, too, where little memory is allowed
        from interplay.launch.memory_errors import out_of_memory_line

        if not (line := out_of_memory_line("interplay", error)):
            raise
        import traceback

        sys.stderr.write(f"{''.join(traceback.format_exception(error))}{line}")
        sys.exit(1)


def _open_closed_streams() -> None:
    """Gives a command that is started without stdin, stdout or stderr, as by `>&-`, an empty one: its output would
    raise an error, or be written to the next file that is opened."""
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(descriptor)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the lowest free descriptor is this one
            if getattr(sys, name) is None:
                setattr(sys, name, os.fdopen(descriptor, "w" if descriptor else "r", closefd=False))


def _end_by_signals() -> None:
    """Makes signals end the process with a message, because nothing has begun."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as in the background of a script, or under nohup
            signal.signal(number, _end)


def _end(number: int, frame: object) -> None:
    """Ends the process. A module that is being imported could swallow an exception."""
    try:
        os.write(2, b"interplay: stopped\n")
    finally:  # also where the terminal has been closed
        os._exit(INTERRUPTED)
