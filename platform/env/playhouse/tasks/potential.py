"""Progress of an instruction as a potential: a function of the present moment and of the task's baseline.

A potential has no memory: what a player undoes, progress loses.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, kw_only=True)
class Potential:
    """Weights of the stages of fetching an object and carrying it to a place.

    Before the object is held the potential is `looking * (look + approach * nearness) + keep * carried`, while it is
    held it is `hold + carry * carried`; `looking`, `nearness` and `carried` are in [0, 1].
    """

    look: float  # for turning towards the object
    approach: float  # for the way to it, with the object in view
    hold: float = 0.0  # for holding it
    carry: float = 0.0  # for carrying it to the place
    keep: float = 0.0  # for having carried it, once it is let go

    def __call__(self, *, looking: float, nearness: float, held: bool, carried: float = 0.0) -> float:
        if held:
            return self.hold + self.carry * carried
        return looking * (self.look + self.approach * nearness) + self.keep * carried


# Bring an object to a place and let go of it there.
CARRY_AND_RELEASE = Potential(look=0.1, approach=0.1, hold=0.45, carry=0.35, keep=0.35)


def fraction_covered(start: float, remaining: float, goal: float) -> float:
    """Returns the fraction in [0, 1] of the distance from `start` down to `goal` that is covered (meters)."""
    if remaining <= goal:
        return 1.0
    return float(np.clip((start - remaining) / max(start - goal, 1e-6), 0.0, 1.0))


def ramp_down(value: float, limits: tuple[float, float]) -> float:
    """Returns 1 up to the lower limit, 0 from the upper one on, and interpolates linearly in between."""
    low, high = limits
    return float(np.clip((high - value) / (high - low), 0.0, 1.0))
