"""Memory over time, as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from watching.findings import STORES, rows
from watching.sample import Sample

MINUTE = 60.0


def draw(samples: Sequence[Sample], path: Path) -> None:
    """Writes a PNG file: above, the memory of every part; below, what Ray stores."""
    figure = Figure(figsize=(10, 8), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    above.set_prop_cycle(color=colormaps["tab20"](range(20)).tolist())  # as many as there are parts
    for name in dict.fromkeys(row.part for row in rows(samples) if row.of == "memory"):
        seen = [sample for sample in samples if name in sample.uses]
        above.plot([s.seconds / MINUTE for s in seen], [s.uses[name].own for s in seen], label=name, linewidth=1.2)
    for name, _, value in STORES:
        below.plot([s.seconds / MINUTE for s in samples], [value(s) for s in samples], label=name, linewidth=1.2)
    for axes, label in ((above, "memory of its own, MB"), (below, "store and disk, MB")):
        _finish(axes, label)
    below.set_xlabel("minutes")
    figure.savefig(path, dpi=110)


def _finish(axes: Axes, label: str) -> None:
    axes.set_ylabel(label)
    axes.set_ylim(bottom=0)
    axes.grid(axis="y", linewidth=0.4)
    if axes.get_lines():  # a run that broke at once leaves none
        axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
