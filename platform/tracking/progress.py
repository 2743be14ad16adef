"""One line that tells a person how a run is doing: how far, how fast, how long still, and the numbers that matter."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Mapping
from typing import TextIO

from interplay.tracking.format import duration, short
from interplay.tracking.tracker import Tracker

REDRAW_SECONDS = 0.2  # on a terminal, where the line is rewritten
PLAIN_SECONDS = 15.0  # into a file, where every line stays


class Progress(Tracker):
    """Shows the last metrics under the labels of `show`, which maps a label to the metric's name.

    On a terminal one line is rewritten; elsewhere a plain line comes every `PLAIN_SECONDS`. The first row and the
    last are always shown. `start` is the step that a resumed run begins at: rate and time left leave it out.
    """

    def __init__(
        self,
        total: int,
        unit: str,
        show: Mapping[str, str],
        *,
        title: str = "",
        start: int = 0,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._total, self._unit, self._title = total, unit, title
        self._show = dict(show)
        self._stream = sys.stderr if stream is None else stream
        self._clock = clock
        self._rewrite = self._stream.isatty()
        self._start_step, self._start_time = start, clock()
        self._step = start
        self._latest: dict[str, float] = {}
        self._shown_at: float | None = None
        self._shown_step: int | None = None

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        self._step = step
        self._latest.update({label: metrics[name] for label, name in self._show.items() if name in metrics})
        wait = REDRAW_SECONDS if self._rewrite else PLAIN_SECONDS
        if self._shown_at is None or self._clock() - self._shown_at >= wait:
            self._draw()

    def close(self) -> None:
        if self._step != self._shown_step:
            self._draw()
        if self._rewrite:
            self._stream.write("\n")
        self._stream.flush()

    def line(self) -> str:
        """What the line says now."""
        elapsed = self._clock() - self._start_time
        done = self._step - self._start_step
        parts = [f"{self._title} {self._step:,}/{self._total:,} {self._unit}".strip()]
        if elapsed > 0 and done > 0:
            rate = done / elapsed
            parts.append(f"{short(rate)} {self._unit}/s")
            parts.append(f"{duration((self._total - self._step) / rate)} left")
        parts += [f"{label} {short(value)}" for label, value in self._latest.items()]
        return "  ".join(parts)

    def _draw(self) -> None:
        line = self.line()
        if self._rewrite:
            width = shutil.get_terminal_size().columns - 1
            self._stream.write("\r\x1b[K" + line[:width])
        else:
            self._stream.write(line + "\n")
        self._stream.flush()
        self._shown_at, self._shown_step = self._clock(), self._step
