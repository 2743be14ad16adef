"""What the turns of a contest come to: medians, ratios within a turn, and a table."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

KEEPING = "_keeping"  # ends the name of a contestant that runs with memory kept; see `interplay.runtime.allocator`
GOALS = {"rllib": 3.0, "torchrl": 2.0, "sample_factory": 1.5, "loop": 0.95, f"loop{KEEPING}": 0.95}


@dataclass(frozen=True)
class Result:
    """One run of one contestant."""

    name: str
    frames: int
    wall: float  # seconds
    cpu: float  # seconds, of the whole tree of processes
    busiest: float  # CPU seconds of the process that took the most
    parameters: int

    @property
    def per_cpu(self) -> float:
        """Frames a CPU second."""
        return self.frames / self.cpu


@dataclass(frozen=True)
class Spread:
    """Of one number over the turns."""

    median: float
    least: float
    most: float

    @classmethod
    def of(cls, numbers: Sequence[float]) -> Spread:
        """Over these."""
        return cls(statistics.median(numbers), min(numbers), max(numbers))


@dataclass(frozen=True)
class Standing:
    """A contestant's runs."""

    name: str
    runs: int
    frames_per_second: float
    cpu_seconds: float  # of the whole tree of processes, in a window
    frames_per_cpu_second: float
    share_of_ideal: Spread
    times: dict[str, Spread]  # as many frames a CPU second as this one has each way of running Interplay; not of itself
    parameters: int


def standings(turns: Sequence[dict[str, Result]], ideals: Sequence[dict[str, float]]) -> list[Standing]:
    """From all turns, the best first."""
    ours = [name for name in turns[0] if name.startswith("interplay")]
    found = []
    for name in turns[0]:
        runs = [turn[name] for turn in turns]
        shares = [run.per_cpu * sum(parts.values()) for run, parts in zip(runs, ideals, strict=True)]
        times = {mine: Spread.of([turn[mine].per_cpu / turn[name].per_cpu for turn in turns]) for mine in ours}
        found.append(
            Standing(
                name=name,
                runs=len(runs),
                frames_per_second=statistics.median(run.frames / run.wall for run in runs),
                cpu_seconds=statistics.median(run.cpu for run in runs),
                frames_per_cpu_second=statistics.median(run.per_cpu for run in runs),
                share_of_ideal=Spread.of(shares),
                times={mine: spread for mine, spread in times.items() if mine != name},
                parameters=runs[0].parameters,
            )
        )
    return sorted(found, key=lambda standing: -standing.frames_per_cpu_second)


def table(heading: str, found: Sequence[Standing], ideals: Sequence[dict[str, float]], *, aim: str) -> str:
    """For people, below a heading; `aim`: the share of the ideal that Interplay is to have, or ""."""
    each = ", ".join(f"{name} {1e6 * statistics.median(parts[name] for parts in ideals):.0f}" for name in ideals[0])
    of_all = Spread.of([1 / sum(parts.values()) for parts in ideals])
    ours = [standing.name for standing in found if standing.name.startswith("interplay")]
    lines = [
        heading,
        f"the ideal: {of_all.median:,.0f} ({of_all.least:,.0f} - {of_all.most:,.0f}) frames a CPU second (medians in "
        f"microseconds a frame: {each})",
        "",
        f"{'':24}{'frames/s':>10}{'CPU s':>8}{'per CPU s':>11}{'of the ideal':>22}"
        + "".join(f"{name + ' is':>24}" for name in ours)
        + f"{'goal':>8}{'parameters':>12}",
    ]
    for row in found:
        goal = aim if row.name in ours else f"{GOALS[row.name]:g} x" if row.name in GOALS else ""
        share = row.share_of_ideal
        times = [
            f"{spread.median:.2f} x ({spread.least:.2f} - {spread.most:.2f})" if (spread := row.times.get(name)) else ""
            for name in ours
        ]
        lines.append(
            f"{row.name:24}{row.frames_per_second:10,.0f}{row.cpu_seconds:8.1f}{row.frames_per_cpu_second:11,.0f}"
            f"{f'{share.median:.0%} ({share.least:.0%} - {share.most:.0%})':>22}"
            + "".join(f"{each:>24}" for each in times)
            + f"{goal:>8}{row.parameters:12,}"
        )
    return "\n".join(lines)
