"""The progress line of a stage: steps done, rate, time left, and a few metrics; numbers and durations as short text."""

from __future__ import annotations

import math
import shutil
import sys
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TextIO

from interplay.core.stall_watch import StallWatch
from interplay.tracking.metrics import Tracker


def format_number(value: float) -> str:
    """Three significant digits, with an exponent only below 0.001 and from a million."""
    if value != value or abs(value) >= 1e6 or (value and abs(value) < 1e-3):
        return f"{value:.3g}"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def format_duration(seconds: float) -> str:
    """1:02:03, or 2:03 below an hour."""
    minutes, rest = divmod(max(0, round(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


REDRAW_SECONDS = 0.2  # on a terminal, where the line is redrawn
PLAIN_LINE_SECONDS = 15.0  # into a file, where each line is kept


class Progress(Tracker):
    """Shows progress and the latest metrics as one line.

    On a terminal the line is redrawn in place; elsewhere a plain line is written every `PLAIN_LINE_SECONDS`. The first
    and the last row are always shown. In a `with` block, the line is shown from the start, and long times without a row
    are logged with the stack of the thread.

    Args:
        total: number of steps.
        unit: name of a step, in the plural.
        show: the name of the metric of each label.
        title: begins the line.
        start: the step at which a resumed run starts; rate and time left do not count the steps before it.
        leaves_out_first: rate and time left are counted from the end of the first step, because a training reads data
            and compiles before it. Without it they are counted from the beginning, and shown from two steps on: the
            episodes of many lanes end almost together, so the first one alone would show too low a rate.
    """

    def __init__(
        self,
        total: int,
        unit: str,
        show: Mapping[str, str],
        *,
        title: str = "",
        start: int = 0,
        leaves_out_first: bool = False,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._total, self._unit, self._title = total, unit, title
        self._labels = dict(show)
        self._stream = sys.stderr if stream is None else stream
        self._clock = clock
        self._rewrite = self._stream.isatty()
        self._counted_from = None if leaves_out_first else (start, clock())  # step and time
        self._least = 1 if leaves_out_first else 2  # steps that show a rate
        self._step, self._rows = start, 0
        self._latest: dict[str, float] = {}
        self._shown_at = -math.inf
        self._has_news = True  # since the line was shown
        self._watch = StallWatch(f"{title} has finished no {unit}".strip())

    def __enter__(self) -> Progress:
        self._watch.__enter__()
        self.show()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, stack: TracebackType | None
    ) -> None:
        self._watch.__exit__(kind, error, stack)
        self.close()

    def show(self) -> None:
        """Shows the line now."""
        line = self.line()
        if self._rewrite:
            width = shutil.get_terminal_size().columns - 1
            self._stream.write("\r\x1b[K" + line[:width])
        else:
            self._stream.write(line + "\n")
        self._stream.flush()
        self._shown_at, self._has_news = self._clock(), False

    def advance(self, step: int) -> None:
        """Counts a step that is done, unless a row of its metrics has been logged."""
        if step == self._step:
            return
        self._count(step)

    def _count(self, step: int) -> None:
        self._watch.beat()
        self._step, self._has_news = step, True
        if self._counted_from is None:
            self._counted_from = step, self._clock()
        if self._clock() - self._shown_at >= (REDRAW_SECONDS if self._rewrite else PLAIN_LINE_SECONDS):
            self.show()

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        is_first = not self._rows
        self._rows += 1
        self._latest.update({label: metrics[name] for label, name in self._labels.items() if name in metrics})
        self._count(step)
        if is_first and self._has_news:
            self.show()

    def close(self) -> None:
        if self._has_news:
            self.show()
        if self._rewrite:
            self._stream.write("\n")
        self._stream.flush()

    def line(self) -> str:
        """The current text of the line."""
        first, since = self._counted_from or (self._step, self._clock())
        done, elapsed = self._step - first, self._clock() - since
        parts = [f"{self._title} {self._step:,}/{self._total:,} {self._unit}".strip()]
        if elapsed > 0 and done >= self._least:
            rate = done / elapsed
            parts.append(f"{format_number(rate)} {self._unit}/s")
            parts.append(f"{format_duration((self._total - self._step) / rate)} left")
        parts += [f"{label} {format_number(value)}" for label, value in self._latest.items()]
        return "  ".join(parts)
