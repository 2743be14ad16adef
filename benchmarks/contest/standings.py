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
class Failure:
    """One run that failed, of a contestant or of the ideal."""

    turn: int  # from 1
    name: str
    reason: str  # the last of what it wrote is in it

    def line(self) -> str:
        """The reason's first line, and whose it is."""
        first, _, _ = self.reason.partition("\n")
        return f"turn {self.turn}: {self.name} failed: {first}"


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
    """A contestant's runs, in the turns in which it finished."""

    name: str
    runs: int
    frames_per_second: float
    cpu_seconds: float  # of the whole tree of processes, in a window
    frames_per_cpu_second: float
    share_of_ideal: Spread | None  # none where the ideal failed in all its turns
    times: dict[str, Spread]  # as many frames a CPU second as this one has each way of running Interplay; not of itself
    parameters: int


def standings(turns: Sequence[dict[str, Result]], ideals: Sequence[dict[str, float]]) -> list[Standing]:
    """From all turns, the best first; a ratio is of the turns in which both finished. A failed ideal is {}."""
    names = list(dict.fromkeys(name for turn in turns for name in turn))
    found = []
    for name in names:
        runs = [turn[name] for turn in turns if name in turn]
        shares = [
            turn[name].per_cpu * sum(parts.values())
            for turn, parts in zip(turns, ideals, strict=True)
            if name in turn and parts
        ]
        times = {
            mine: [turn[mine].per_cpu / turn[name].per_cpu for turn in turns if mine in turn and name in turn]
            for mine in names
            if mine.startswith("interplay") and mine != name
        }
        found.append(
            Standing(
                name=name,
                runs=len(runs),
                frames_per_second=statistics.median(run.frames / run.wall for run in runs),
                cpu_seconds=statistics.median(run.cpu for run in runs),
                frames_per_cpu_second=statistics.median(run.per_cpu for run in runs),
                share_of_ideal=Spread.of(shares) if shares else None,
                times={mine: Spread.of(ratios) for mine, ratios in times.items() if ratios},
                parameters=runs[0].parameters,
            )
        )
    return sorted(found, key=lambda standing: -standing.frames_per_cpu_second)


def table(heading: str, found: Sequence[Standing], ideals: Sequence[dict[str, float]], *, aim: str) -> str:
    """For people, below a heading; `aim`: the share of the ideal that Interplay is to have, or ""."""
    ours = [standing.name for standing in found if standing.name.startswith("interplay")]
    lines = [
        heading,
        _ideal([parts for parts in ideals if parts]),
        "",
        f"{'':24}{'turns':>6}{'frames/s':>10}{'CPU s':>8}{'per CPU s':>11}{'of the ideal':>22}"
        + "".join(f"{name + ' is':>24}" for name in ours)
        + f"{'goal':>8}{'parameters':>12}",
    ]
    for row in found:
        goal = aim if row.name in ours else f"{GOALS[row.name]:g} x" if row.name in GOALS else ""
        share = f"{of.median:.0%} ({of.least:.0%} - {of.most:.0%})" if (of := row.share_of_ideal) else ""
        times = [
            f"{spread.median:.2f} x ({spread.least:.2f} - {spread.most:.2f})" if (spread := row.times.get(name)) else ""
            for name in ours
        ]
        lines.append(
            f"{row.name:24}{row.runs:6}{row.frames_per_second:10,.0f}{row.cpu_seconds:8.1f}"
            f"{row.frames_per_cpu_second:11,.0f}{share:>22}"
            + "".join(f"{each:>24}" for each in times)
            + f"{goal:>8}{row.parameters:12,}"
        )
    return "\n".join(lines)


def _ideal(measured: Sequence[dict[str, float]]) -> str:
    if not measured:
        return "the ideal: not measured"
    each = ", ".join(f"{name} {1e6 * statistics.median(parts[name] for parts in measured):.0f}" for name in measured[0])
    of_all = Spread.of([1 / sum(parts.values()) for parts in measured])
    return (
        f"the ideal: {of_all.median:,.0f} ({of_all.least:,.0f} - {of_all.most:,.0f}) frames a CPU second (medians in "
        f"microseconds a frame: {each})"
    )
