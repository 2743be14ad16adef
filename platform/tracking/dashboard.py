"""A live view of a run in a terminal: how far, how fast, the metrics with their curves, what every part is doing."""

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

from interplay.tracking.format import duration, short
from interplay.tracking.run_summary import RunSummary

REDRAW = 1.0  # seconds
PLAIN = 15.0  # seconds between lines, where there is no terminal
RATE_OVER = 60.0  # seconds over which a rate is taken
BARS = "▁▂▃▄▅▆▇█"
CURVE = 24  # columns
FLOW = (
    "lag",
    "idle",
    "ready",
    "unpaid",
    "object_store",
    "restarts",
    "steps_per_second",
)  # metrics of the machine, not of learning
BUSY_LONG = 60.0  # seconds at one thing, from which a part is shown in yellow


class Rate:
    """Updates a second over the last minute."""

    def __init__(self) -> None:
        self._stage = ""
        self._seen: deque[tuple[float, int]] = deque()

    def of(self, standing: RunSummary) -> float | None:
        """None until two readings of a stage differ."""
        if standing.stage != self._stage:
            self._stage = standing.stage
            self._seen.clear()
        self._seen.append((standing.clock, standing.update))
        while self._seen[-1][0] - self._seen[0][0] > RATE_OVER or self._seen[0][1] > standing.update:
            self._seen.popleft()
        (before, first), (now, last) = self._seen[0], self._seen[-1]
        return (last - first) / (now - before) if last > first else None


def watch(read: Callable[[], RunSummary], console: Console, wait: Callable[[float], None] = time.sleep) -> None:
    """Shows a run, one training stage after another, until it has ended; Ctrl-C ends the watching alone.

    Where there is no terminal, a plain line every quarter of a minute. `wait` lets so many seconds pass.
    """
    if not console.is_terminal:
        for standing, rate in _readings(read, PLAIN, wait):
            console.print(line(standing, rate), soft_wrap=True, highlight=False, markup=False)
        return
    with Live(console=console, screen=False, auto_refresh=False) as live:
        for standing, rate in _readings(read, REDRAW, wait):
            live.update(picture(standing, rate), refresh=True)


def _readings(
    read: Callable[[], RunSummary], every: float, wait: Callable[[float], None]
) -> Iterator[tuple[RunSummary, float | None]]:
    """How the run stands and how fast it is, every so many seconds; the last is of the run that has ended."""
    rate = Rate()
    while True:
        standing = read()
        yield standing, rate.of(standing)
        if standing.ended:
            return
        wait(every)


def line(standing: RunSummary, rate: float | None) -> str:
    """All that one line can hold."""
    told = [standing.run, _pace(standing, rate)]
    if standing.stage:
        told[0] += f"/{standing.stage} {standing.update:,}/{standing.total:,} updates"
    told += [f"{name} {short(value)}" for name, value in standing.newest.items()]
    told += [f"[{worker['name']}: {worker['activity']}]" for worker in standing.workers]
    return "  ".join(each for each in told if each)


def picture(standing: RunSummary, rate: float | None) -> RenderableType:
    """The whole view."""
    if not standing.stage:
        return Panel(Text(_pace(standing, rate)), title=standing.run, border_style="dim")
    head = Table.grid(padding=(0, 2))
    bar = ProgressBar(total=max(standing.total, 1), completed=standing.update, width=40)
    head.add_row(f"{standing.update:,} / {standing.total:,} updates", bar, _pace(standing, rate))
    parts: list[RenderableType] = [head, _metrics(standing)]
    if standing.workers:
        parts.append(_workers(standing))
    elif standing.status_age is not None and not standing.finished:
        parts.append(Text(f"the last report of its workers was {duration(standing.status_age)} ago", style="yellow"))
    return Panel(Group(*parts), title=f"{standing.run} · {standing.stage}", border_style="dim")


def spark(values: Sequence[float], width: int = CURVE) -> str:
    """A curve in one line of text: means of equal stretches, from the lowest to the highest."""
    if not values:
        return ""
    width = min(width, len(values))
    edges = [round(i * len(values) / width) for i in range(width + 1)]
    means = [sum(values[a:b]) / (b - a) for a, b in pairwise(edges)]
    low, spread = min(means), max(means) - min(means)
    return "".join(BARS[int((mean - low) / spread * (len(BARS) - 1) + 0.5) if spread else 0] for mean in means)


def _pace(standing: RunSummary, rate: float | None) -> str:
    told = []
    if standing.finished:
        told.append("done")
    elif standing.quiet is None and not standing.rows:
        told.append("starts")
    elif rate is not None:
        told.append(f"{short(rate)} updates/s")
        told.append(f"{duration((standing.total - standing.update) / rate)} left")
    if standing.age > RATE_OVER and not standing.finished:
        told.append(f"nothing written for {duration(standing.age)}")
    if standing.quiet is not None and not standing.ended:
        told.append("waits for a training stage to begin")
    return "  ".join(told)


def _metrics(standing: RunSummary) -> RenderableType:
    """Learning on the left, the flow of data on the right."""
    names = list(standing.newest)
    flow = [name for name in names if any(word in name for word in FLOW)]
    both = Table.grid(padding=(0, 4))
    both.add_row(
        _curves(standing, [name for name in names if name not in flow and name != "steps"]), _curves(standing, flow)
    )
    return both


def _curves(standing: RunSummary, names: Sequence[str]) -> RenderableType:
    table = Table.grid(padding=(0, 1))
    table.add_column()
    table.add_column(justify="right")
    table.add_column(style="cyan")
    for name in names:
        table.add_row(name, short(standing.newest[name]), spark(standing.curve(name)))
    return table


def _workers(standing: RunSummary) -> RenderableType:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in ("worker", "activity", "for", "idle", "completed", "restarts"):
        table.add_column(title, justify="left" if title in ("worker", "activity") else "right")
    for worker in standing.workers:
        busy = not worker["activity"].startswith("waits") and worker["activity_seconds"] > BUSY_LONG
        style = "red" if worker["restarts"] else "yellow" if busy else ""
        cells = (
            duration(worker["activity_seconds"]),
            f"{worker['idle_fraction']:.0%}",
            f"{worker['completed']:,}",
            f"{worker['restarts']}",
        )
        table.add_row(worker["name"], worker["activity"], *cells, style=style)
    return table
