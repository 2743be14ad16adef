"""A program on a pseudo-terminal: what its screen shows, keys that are typed, and a window that changes its size."""

from __future__ import annotations

import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import termios
import time
from pathlib import Path
from types import TracebackType

PATIENCE = 120.0  # seconds until a wait fails; on a busy machine a program starts slowly
CONTROL = re.compile(r"\x1b\[([?\d;]*)([A-Za-z])|\x1b[()][AB012]|\x1b[=>78MDE]|\x0f|\x0e|\x07")


class Screen:
    """The rows of a terminal of type vt100, from the bytes that a program writes."""

    def __init__(self, rows: int, columns: int) -> None:
        self.cells = [[" "] * columns for _ in range(rows)]
        self.row = self.column = 0

    def text(self) -> str:
        """The rows, without blanks at their ends."""
        return "\n".join("".join(row).rstrip() for row in self.cells)

    def resize(self, rows: int, columns: int) -> None:
        """Cuts or extends the screen."""
        kept = [(row + [" "] * columns)[:columns] for row in self.cells[:rows]]
        self.cells = kept + [[" "] * columns for _ in range(rows - len(kept))]

    def feed(self, written: str) -> None:
        """Draws what a program writes."""
        at = 0
        while at < len(written):
            control = CONTROL.match(written, at)
            if control:
                self._control(control)
                at = control.end()
            else:
                self._put(written[at])
                at += 1

    def _put(self, character: str) -> None:
        if character == "\r":
            self.column = 0
        elif character == "\n":
            if self.row == len(self.cells) - 1:
                self.cells = [*self.cells[1:], [" "] * len(self.cells[0])]
            self.row = min(self.row + 1, len(self.cells) - 1)
        elif character == "\b":
            self.column = max(0, self.column - 1)
        elif self.column < len(self.cells[0]) and self.row < len(self.cells):
            self.cells[self.row][self.column] = character
            self.column += 1

    def _control(self, control: re.Match[str]) -> None:
        numbers = [int(number) for number in re.findall(r"\d+", control[1] or "")]
        count, letter = (numbers or [1])[0] or 1, control[2]
        if letter == "H":
            self.row, self.column = (numbers[0] - 1, numbers[1] - 1) if len(numbers) == 2 else (0, 0)
        elif letter in ("K", "J"):
            self._erase(letter, (numbers or [0])[0])
        elif letter == "A":
            self.row = max(0, self.row - count)
        elif letter == "B":
            self.row = min(len(self.cells) - 1, self.row + count)
        elif letter in ("C", "D"):
            self.column = max(0, self.column + (count if letter == "C" else -count))

    def _erase(self, letter: str, which: int) -> None:
        row = self.cells[self.row]
        first, last = (0, self.column + 1) if which == 1 else (0 if which == 2 else self.column, len(row))
        row[first:last] = [" "] * len(row[first:last])
        if letter == "J":
            for other in self.cells[self.row + 1 :]:
                other[:] = [" "] * len(other)


def _take_terminal() -> None:
    """Makes standard input the terminal of this process, with Ctrl-C even where the tests' own process ignores it."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Terminal:
    """A program that runs on a terminal, to be used in a `with` statement."""

    def __init__(self, command: list[str], folder: Path, rows: int = 24, columns: int = 80) -> None:
        self.screen = Screen(rows, columns)
        self.written = ""
        self._master, slave = os.openpty()
        self._slave = slave
        self._set_size(rows, columns)
        self.modes = termios.tcgetattr(slave)
        hidden = ("LINES", "COLUMNS")
        plain = {"TERM": "vt100", "PYTHON_COLORS": "0"}  # from Python 3.13 on, tracebacks have colors on a terminal
        environment = {name: value for name, value in os.environ.items() if name not in hidden} | plain
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            preexec_fn=_take_terminal,
        )

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(PATIENCE)
        os.close(self._master)
        os.close(self._slave)

    def type(self, keys: str) -> None:
        """Types keys."""
        os.write(self._master, keys.encode())

    def resize(self, rows: int, columns: int) -> None:
        """Changes the size of the window."""
        self.screen.resize(rows, columns)
        self._set_size(rows, columns)

    def until(self, shown: str) -> str:
        """Waits until the screen shows a pattern; returns the screen."""
        deadline = time.monotonic() + PATIENCE
        while not re.search(shown, self.screen.text()):
            left = deadline - time.monotonic()
            assert left > 0 and self.process.poll() is None, f"{shown!r} is not shown:\n{self.screen.text()}"
            self._read(min(left, 0.1))
        return self.screen.text()

    def end(self) -> int:
        """Waits for the end of the program; returns its exit status."""
        deadline = time.monotonic() + PATIENCE
        while self.process.poll() is None and time.monotonic() < deadline:
            self._read(0.1)
        while self._read(0.0):
            pass
        return self.process.wait(1)

    def is_as_before(self) -> bool:
        """Whether the modes of the terminal (echo, lines) are those that the program found."""
        return termios.tcgetattr(self._slave) == self.modes

    def _read(self, limit: float) -> bool:
        if not select.select([self._master], [], [], limit)[0]:
            return False
        written = os.read(self._master, 65536).decode(errors="replace")
        self.written += written
        self.screen.feed(written)
        return True

    def _set_size(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self._slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
