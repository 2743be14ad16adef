"""Learning curves, read from a run's `metrics.jsonl`."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from interplay.core.files import JsonLines
from interplay.evaluation.report_data import KindTraining, MetricCurve

STEP = "step"


def read_curves(path: Path) -> dict[str, MetricCurve]:
    """Returns every numeric metric of a metrics.jsonl file as a curve over steps; {} if the file does not exist.

    A last line that a crash cut short is left out; a non-finite value leaves a gap in the curve.

    Raises:
        ValueError: a complete line is not a JSON object with a step.
    """
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for row in JsonLines(path, key=STEP).read():
        for key, value in row.items():
            if key != STEP and (value is None or isinstance(value, int | float)):
                found[key].append((float(row[STEP]), math.nan if value is None else float(value)))
    return {key: _curve(points) for key, points in found.items()}


def smoothed(curve: MetricCurve, points: int = 200) -> MetricCurve:
    """Reduces a curve to at most `points` points, each the mean of a stretch of equal length."""
    if len(curve.updates) <= points:
        return curve
    stretches = np.array_split(np.arange(len(curve.updates)), points)
    updates = np.array([curve.updates[stretch].mean() for stretch in stretches])
    values = np.array([curve.values[stretch].mean() for stretch in stretches])
    return MetricCurve(updates, values)


def tasks_by_kind(curves: Mapping[str, MetricCurve]) -> list[KindTraining]:
    """Summarizes the metrics `tasks/KIND`, `success/KIND`, `answered/KIND` and `return/KIND` of reinforcement.

    Means are over the tasks of the first and of the last third of the updates; files of older versions have none.
    """
    found = []
    end = max((curve.updates[-1] for curve in curves.values()), default=0.0)
    for kind in sorted(name.partition("/")[2] for name in curves if name.startswith("tasks/")):
        counts = curves[f"tasks/{kind}"]
        success, returns = (_first_and_last(counts, curves[f"{name}/{kind}"], end) for name in ("success", "return"))
        answered = curves.get(f"answered/{kind}")
        shares = None if answered is None else _first_and_last(counts, answered, end)
        found.append(KindTraining(kind, int(np.nansum(counts.values)), success, shares, returns))
    return found


def _first_and_last(counts: MetricCurve, means: MetricCurve, end: float) -> tuple[float, float]:
    """The mean over the tasks of the first third of the updates, and of the last; NaN without tasks there."""
    by_update = dict(zip(counts.updates, counts.values, strict=True))
    weights = np.array([by_update[update] for update in means.updates])
    first, last = (
        float(np.average(means.values[third], weights=weights[third])) if weights[third].sum() else math.nan
        for third in (means.updates <= end / 3, means.updates > end * 2 / 3)
    )
    return first, last


def _curve(points: list[tuple[float, float]]) -> MetricCurve:
    updates, values = zip(*points, strict=True)
    return MetricCurve(np.array(updates), np.array(values))
