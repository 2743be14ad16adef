"""Does it grow? A row of numbers over time, judged by its second half."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

HOUR = 3600.0
JUDGED_FROM = 600.0  # seconds of a watch: in a shorter one everything is still warming up
LEAST = 8  # looks
TENTHS = ((0.0, 0.1), (0.45, 0.55), (0.9, 1.0))  # of the watch: the first, the middle one, the last


@dataclass(frozen=True)
class Growth:
    """How one number went."""

    first: float  # the median of the first tenth
    middle: float
    last: float
    slope: float | None  # an hour, over the second half; None where it was too short to be judged

    def grew(self, flat: float) -> bool:
        """By more than `flat` an hour? What is too short to be judged has not."""
        return self.slope is not None and self.slope > flat


def growth(seconds: Sequence[float], values: Sequence[float]) -> Growth:
    """How a number went, of which there is at least one; `seconds` and `values` go together."""
    looks = list(zip(seconds, values, strict=True))
    begin, span = seconds[0], seconds[-1] - seconds[0]
    first, middle, last = (_between(looks, begin + low * span, begin + high * span) for low, high in TENTHS)
    second = [(at, value) for at, value in looks if at >= begin + span / 2]
    judged = span >= JUDGED_FROM and len(second) >= LEAST
    return Growth(first, middle, last, slope=_slope(second) * HOUR if judged else None)


def _between(looks: Sequence[tuple[float, float]], low: float, high: float) -> float:
    """The median of the values from `low` to `high` seconds; of few looks, the one nearest to there."""
    inside = [value for at, value in looks if low <= at <= high]
    return statistics.median(inside) if inside else min(looks, key=lambda look: abs(look[0] - (low + high) / 2))[1]


def _slope(looks: Sequence[tuple[float, float]]) -> float:
    """The median of the slopes between all pairs (Theil and Sen), a second: a single peak, as while a checkpoint is
    written, does not move it."""
    pairs = combinations(looks, 2)
    return statistics.median((later[1] - sooner[1]) / (later[0] - sooner[0]) for sooner, later in pairs)
