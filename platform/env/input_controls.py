"""Controls by which a person moves a role: keys and the pointer, and the bins of the movement that they choose."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

logger = logging.getLogger(__name__)

MU_LAW_CURVATURE = 20.0  # of the mu-law: bins are finer near zero
DEFAULT_DEGREES_PER_FRAME = 6.0  # of the largest bin of an angle, where a world does not say
DEFAULT_KEYS = tuple([f"Digit{n}" for n in (*range(1, 10), 0)] + [f"Key{c}" for c in "QWERTYUIOPASDFGHJKLZXCVBNM"])
MAX_CONTROLS = 32  # of a role: the held ones are the bits of one number
SWITCH_BINS, SIGNED_BINS = 2, 3

ControlMode = Literal["hold", "press", "toggle", "pulse", "axis"]


@dataclass(frozen=True)
class InputControl:
    """One control of a role.

    `mode`: "hold" chooses its bin while the key is down, "press" for one frame after a press, "toggle" from one press
    to the next, "pulse" for one step of the world after a press. "axis" follows the pointer: the first axis of a role
    its way to the right, the second its way up; `degrees` is what each of its bins turns in a frame, and its two keys
    turn down and up that scale.
    """

    name: str
    label: str  # as people read it
    keys: tuple[str, ...]  # `KeyboardEvent.code`, "Mouse0" to "Mouse2", "WheelUp" or "WheelDown"
    component: str  # of the movement
    bins: tuple[int, ...]  # one, or all of an axis
    mode: ControlMode = "hold"
    degrees: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if self.mode == "axis" and len(self.degrees) != len(self.bins):
            raise ValueError(f"the axis {self.name!r} has {len(self.bins)} bins and {len(self.degrees)} angles")
        if self.mode != "axis" and len(self.bins) != 1:
            raise ValueError(f"the control {self.name!r} chooses one bin, not {list(self.bins)}")


class AxisCarry:
    """Rounds the way of a pointer to bins, and keeps what rounding left for the next frame.

    The rest is capped at two frames of the largest bin, so that a hurried movement does not go on by itself.
    """

    def __init__(self, degrees: Sequence[float]) -> None:
        self._degrees = np.array(degrees)
        self._cap = 2 * float(np.abs(self._degrees).max())
        self.carry = 0.0

    def bin(self, moved: float) -> int:
        """The bin of a frame in which the pointer moved by `moved` degrees."""
        self.carry = min(max(self.carry + moved, -self._cap), self._cap)
        chosen = int(np.abs(self._degrees - self.carry).argmin())
        self.carry -= float(self._degrees[chosen])
        return chosen


def mu_law_bins(bins: int, most: float) -> NDArray[np.float64]:
    """Bin values in -most..most, denser near 0: most sign(x) ((1 + mu)^|x| - 1) / mu for x uniform in -1..1."""
    x = np.linspace(-1.0, 1.0, bins)
    return np.sign(x) * ((1.0 + MU_LAW_CURVATURE) ** np.abs(x) - 1.0) / MU_LAW_CURVATURE * most


def is_angle(bins: int, rest: int) -> bool:
    """Whether the bins of a component are angles: an odd number above three that rests in the middle, mu-law."""
    return bins > SIGNED_BINS and rest * 2 + 1 == bins


def default_controls(movement: Sequence[tuple[str, int, int]], *, turn_based: bool) -> tuple[InputControl, ...]:
    """Controls for worlds that name none: bins on the keys 1 to 0 and Q to M, and the pointer for angles.

    `movement`: name, bins and rest of each component. In a turn-based world each press is one step.
    """
    controls: list[InputControl] = []
    keys, wanted = iter(DEFAULT_KEYS), 0
    for component, bins, rest in movement:
        if is_angle(bins, rest) and not turn_based:
            degrees = tuple(mu_law_bins(bins, DEFAULT_DEGREES_PER_FRAME).tolist())
            controls.append(InputControl(component, component, (), component, tuple(range(bins)), "axis", degrees))
            wanted += 1
            continue
        wanted += bins - 1
        for chosen in range(bins):
            if chosen != rest and (key := next(keys, None)):
                name = component if bins == SWITCH_BINS else f"{component} {chosen}"
                mode: ControlMode = "pulse" if turn_based else "hold"
                controls.append(InputControl(name, name, (key,), component, (chosen,), mode))
    warn_of_choices_without_key(wanted)
    return tuple(controls[:MAX_CONTROLS])


@cache
def warn_of_choices_without_key(wanted: int) -> None:
    """Logs a warning, once, where a role has more choices than a person has controls."""
    if wanted > MAX_CONTROLS:
        logger.warning(
            "a person can choose only %d of %d actions of this world by keys: for people, let a wrapper of the "
            "environment offer fewer actions, or define `World.controls`",
            *(MAX_CONTROLS, wanted),
        )
