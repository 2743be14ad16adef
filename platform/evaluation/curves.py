"""Reads learning curves back from `metrics.jsonl`, the record that every run keeps."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from pathlib import Path

import numpy as np

from interplay.evaluation.material import Curve

STEP = "step"


def read_curves(path: Path) -> dict[str, Curve]:
    """Every numeric metric of a metrics.jsonl file as a curve over its step; {} where the file does not exist.

    A last line that a crash cut short is left out; a metric that was not finite breaks its line in the figure.

    Raises:
        ValueError: a line before the last is not a JSON object with a step.
    """
    if not path.exists():
        return {}
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    lines = path.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
            step = float(row[STEP])
        except (json.JSONDecodeError, KeyError, TypeError) as error:
            if number == len(lines):
                break
            raise ValueError(f"{path}:{number} is not a metrics row with a {STEP!r}: {line[:80]!r}") from error
        for key, value in row.items():
            if key != STEP and (value is None or isinstance(value, int | float)):
                found[key].append((step, math.nan if value is None else float(value)))
    return {key: _curve(points) for key, points in found.items()}


def smoothed(curve: Curve, points: int = 200) -> Curve:
    """At most `points` points, each the mean of its stretch: what an eye can tell apart."""
    if len(curve.updates) <= points:
        return curve
    stretches = np.array_split(np.arange(len(curve.updates)), points)
    updates = np.array([curve.updates[stretch].mean() for stretch in stretches])
    values = np.array([curve.values[stretch].mean() for stretch in stretches])
    return Curve(updates, values)


def _curve(points: list[tuple[float, float]]) -> Curve:
    updates, values = zip(*points, strict=True)
    return Curve(np.array(updates), np.array(values))
