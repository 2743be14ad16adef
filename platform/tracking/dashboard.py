"""Live dashboard of a run in a terminal: progress, rate, metrics with their curves, activity of each worker."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from rich import box
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from interplay.tracking.progress import PLAIN_LINE_SECONDS, format_duration, format_number
from interplay.tracking.run_summary import RunSummary

REDRAW_SECONDS = 1.0  # on a terminal
RATE_WINDOW_SECONDS = 60.0
SPARKLINE_BARS = "▁▂▃▄▅▆▇█"
SPARKLINE_COLUMNS = 24
# Parts of the names of metrics about the machine, not about learning.
DATA_FLOW_METRICS = ("lag", "idle", "ready", "unscored", "object_store", "restarts", "steps_per_second")
LONG_ACTIVITY_SECONDS = 60.0  # a worker busy with one activity for longer is shown in yellow


class UpdateRate:
    """Updates per second over the last `RATE_WINDOW_SECONDS`."""

    def __init__(self) -> None:
        self._stage = ""
        self._readings: deque[tuple[float, int]] = deque()

    def of(self, summary: RunSummary) -> float | None:
        """Adds a reading and returns the rate; None until two readings of a stage differ."""
        if summary.stage != self._stage:
            self._stage = summary.stage
            self._readings.clear()
        self._readings.append((summary.read_at, summary.update))
        while (
            self._readings[-1][0] - self._readings[0][0] > RATE_WINDOW_SECONDS or self._readings[0][1] > summary.update
        ):
            self._readings.popleft()
        (before, first), (now, last) = self._readings[0], self._readings[-1]
        return (last - first) / (now - before) if last > first else None


def watch(read: Callable[[], RunSummary], console: Console, wait: Callable[[float], None] = time.sleep) -> None:
    """Shows a run, one training stage after another, until it has ended; Ctrl-C ends only the dashboard.

    Without a terminal it prints a plain line at most every `PLAIN_LINE_SECONDS`, and only where it differs from the one
    before. `wait` sleeps for a number of seconds.
    """
    if not console.is_terminal:
        printed = ""
        for summary, rate in _readings(read, PLAIN_LINE_SECONDS, wait):
            if (line := format_line(summary, rate)) != printed:
                console.print(line, soft_wrap=True, highlight=False, markup=False)
                printed = line
        return
    with Live(console=console, screen=False, auto_refresh=False) as live:
        for summary, rate in _readings(read, REDRAW_SECONDS, wait):
            live.update(render_summary(summary, rate), refresh=True)


def _readings(
    read: Callable[[], RunSummary], every: float, wait: Callable[[float], None]
) -> Iterator[tuple[RunSummary, float | None]]:
    """Yields the run's summary and rate every `every` seconds until the run has ended."""
    rate = UpdateRate()
    while True:
        summary = read()
        yield summary, rate.of(summary)
        if summary.ended:
            return
        wait(every)


def format_line(summary: RunSummary, rate: float | None) -> str:
    """The summary as one line of text."""
    texts = [summary.run, _pace(summary, rate)]
    if summary.stage:
        texts[0] += f"/{summary.stage} {summary.update:,}/{summary.total:,} updates"
    texts += [f"{name} {format_number(value)}" for name, value in summary.newest.items()]
    texts += [f"[{worker['name']}: {worker['activity']}]" for worker in summary.workers]
    return "  ".join(text for text in texts if text)


def render_summary(summary: RunSummary, rate: float | None) -> RenderableType:
    """The summary as a terminal panel."""
    if not summary.stage:
        return Panel(Text(_pace(summary, rate)), title=summary.run, border_style="dim")
    head = Table.grid(padding=(0, 2))
    bar = ProgressBar(total=max(summary.total, 1), completed=summary.update, width=40)
    head.add_row(f"{summary.update:,} / {summary.total:,} updates", bar, _pace(summary, rate))
    parts: list[RenderableType] = [head, _metrics(summary)]
    if summary.workers:
        parts.append(_workers(summary))
    elif summary.status_age is not None and not summary.finished:
        parts.append(Text(f"its workers last reported {format_duration(summary.status_age)} ago", style="yellow"))
    return Panel(Group(*parts), title=f"{summary.run} · {summary.stage}", border_style="dim")


def sparkline(values: Sequence[float], width: int = SPARKLINE_COLUMNS) -> str:
    """A curve as one line of bars: means over equal stretches, scaled from the lowest to the highest."""
    if not values:
        return ""
    width = min(width, len(values))
    edges = [round(i * len(values) / width) for i in range(width + 1)]
    means = [sum(values[a:b]) / (b - a) for a, b in pairwise(edges)]
    low, spread = min(means), max(means) - min(means)
    return "".join(
        SPARKLINE_BARS[int((mean - low) / spread * (len(SPARKLINE_BARS) - 1) + 0.5) if spread else 0] for mean in means
    )


def _pace(summary: RunSummary, rate: float | None) -> str:
    texts = []
    if summary.finished:
        texts.append("done")
    elif summary.silent_seconds is None and not summary.rows:
        texts.append("starts")
    elif summary.ended:
        texts.append("stopped or failed before its end")
    elif rate is not None:
        texts.append(f"{format_number(rate)} updates/s")
        texts.append(f"{format_duration((summary.total - summary.update) / rate)} left")
    if summary.metrics_age > RATE_WINDOW_SECONDS and not summary.finished:
        texts.append(f"nothing written for {format_duration(summary.metrics_age)}")
    if summary.other_stage:
        texts.append(f"{summary.other_stage} is running")
    elif summary.silent_seconds is not None and not summary.ended:
        texts.append("waits for a training stage to begin")
    return "  ".join(texts)


def _metrics(summary: RunSummary) -> RenderableType:
    """Learning metrics on the left, data flow on the right."""
    names = list(summary.newest)
    flow = [name for name in names if any(word in name for word in DATA_FLOW_METRICS)]
    both = Table.grid(padding=(0, 4))
    both.add_row(
        _curves(summary, [name for name in names if name not in flow and name != "steps"]), _curves(summary, flow)
    )
    return both


def _curves(summary: RunSummary, names: Sequence[str]) -> RenderableType:
    table = Table.grid(padding=(0, 1))
    table.add_column()
    table.add_column(justify="right")
    table.add_column(style="cyan")
    for name in names:
        table.add_row(name, format_number(summary.newest[name]), sparkline(summary.curve(name)))
    return table


def _workers(summary: RunSummary) -> RenderableType:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in ("worker", "activity", "for", "idle", "completed", "restarts"):
        table.add_column(title, justify="left" if title in ("worker", "activity") else "right")
    for worker in summary.workers:
        busy = not worker["activity"].startswith("waits") and worker["activity_seconds"] > LONG_ACTIVITY_SECONDS
        style = "red" if worker["restarts"] else "yellow" if busy else ""
        cells = (
            format_duration(worker["activity_seconds"]),
            f"{worker['idle_fraction']:.0%}",
            f"{worker['completed']:,}",
            f"{worker['restarts']}",
        )
        table.add_row(worker["name"], worker["activity"], *cells, style=style)
    return table
