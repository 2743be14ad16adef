"""Learning curves, read from a run's `metrics.jsonl`."""

from __future__ import annotations

import math
from collections import defaultdict
from pathlib import Path

import numpy as np

from interplay.core.files import JsonLines
from interplay.evaluation.report_data import MetricCurve

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


def _curve(points: list[tuple[float, float]]) -> MetricCurve:
    updates, values = zip(*points, strict=True)
    return MetricCurve(np.array(updates), np.array(values))
