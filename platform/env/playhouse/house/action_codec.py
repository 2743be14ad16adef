"""Conversion between the bins of a movement action and the floats of the simulation.

A float movement has the columns of `COMPONENTS`, per frame: forward and strafe in -1..1 (of the avatar's full speed;
strafe to the right is positive), yaw and pitch in radians per frame (yaw counterclockwise, pitch upwards),
grasp 0 or 1 (held while 1), push -1..1 (away is positive), rotate -1..1, throw 0 or 1 (the object flies on release).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from interplay.env.input_controls import InputControl, mu_law_bins
from interplay.env.world import Component, Movement

FRAMES_PER_STEP = 8
FORWARD, STRAFE, YAW, PITCH, GRASP, PUSH, ROTATE, THROW = range(8)

COMPONENTS = (
    Component("forward", 3, 1),
    Component("strafe", 3, 1),
    Component("yaw", 11, 5),
    Component("pitch", 11, 5),
    Component("grasp", 2, 0),
    Component("push", 3, 1),
    Component("rotate", 3, 1),
    Component("throw", 2, 0),
)

MAX_YAW_RAD_PER_FRAME = math.radians(6.0)
MAX_PITCH_RAD_PER_FRAME = math.radians(3.0)

_SIGNED_BINS = np.array([-1.0, 0.0, 1.0])
_SWITCH_BINS = np.array([0.0, 1.0])
BIN_VALUES: tuple[NDArray[np.float64], ...] = (
    _SIGNED_BINS,
    _SIGNED_BINS,
    mu_law_bins(11, MAX_YAW_RAD_PER_FRAME),
    mu_law_bins(11, MAX_PITCH_RAD_PER_FRAME),
    _SWITCH_BINS,
    _SIGNED_BINS,
    _SIGNED_BINS,
    _SWITCH_BINS,
)


def _axis(name: str, label: str, keys: tuple[str, str], column: int, sign: int) -> InputControl:
    """The control of a turn; `sign` -1 where a positive bin turns against the pointer."""
    degrees = sign * np.degrees(BIN_VALUES[column])
    bins = tuple(range(COMPONENTS[column].bins))
    return InputControl(name, label, keys, name, bins, "axis", tuple(degrees.tolist()))


CONTROLS = (
    InputControl("forward", "walk forward", ("KeyW",), "forward", (2,)),
    InputControl("back", "walk back", ("KeyS",), "forward", (0,)),
    InputControl("left", "walk left", ("KeyA",), "strafe", (0,)),
    InputControl("right", "walk right", ("KeyD",), "strafe", (2,)),
    _axis("yaw", "look left and right", ("ArrowLeft", "ArrowRight"), YAW, -1),
    _axis("pitch", "look up and down", ("ArrowDown", "ArrowUp"), PITCH, 1),
    InputControl("grasp", "take hold of it, let go", ("Mouse0", "Space"), "grasp", (1,), "toggle"),
    InputControl("push", "push it away", ("KeyR", "WheelUp"), "push", (2,)),
    InputControl("pull", "pull it closer", ("KeyF", "WheelDown"), "push", (0,)),
    InputControl("turn_left", "turn it left", ("KeyQ",), "rotate", (0,)),
    InputControl("turn_right", "turn it right", ("KeyE",), "rotate", (2,)),
    InputControl("throw", "throw it", ("KeyG",), "throw", (1,), "pulse"),
)


class MovementCodec:
    """Converts between a policy's components and float movements; components that it lacks are 0."""

    def __init__(self, names: tuple[str, ...]) -> None:
        index = {component.name: i for i, component in enumerate(COMPONENTS)}
        self.columns = tuple(index[name] for name in names)
        self.components = tuple(COMPONENTS[i] for i in self.columns)
        self._bins = np.array([component.bins for component in self.components])
        self._values = np.zeros((len(self.columns), int(self._bins.max(initial=0))))  # [component, bin]
        for i, column in enumerate(self.columns):
            self._values[i, : self._bins[i]] = BIN_VALUES[column]
        self._columns = np.array(self.columns, dtype=int)
        # Here, because numba takes half a second to import, and settings need only the names of the components.
        from interplay.env.playhouse.house.bin_lookup import look_up

        self._look_up = look_up

    def decode(self, movement: Movement) -> NDArray[np.float64]:
        """Bins [frames, len(components)] -> floats [frames, 8].

        Raises:
            ValueError: wrong shape or type, or a bin out of range.
        """
        if movement.ndim != 2 or movement.shape[1] != len(self.columns):
            names = ", ".join(component.name for component in self.components)
            raise ValueError(
                f"a movement is [frames, {len(self.columns)}] bins of {names}; got shape {list(movement.shape)}"
            )
        if movement.dtype.kind not in "iu":
            raise ValueError(f"a movement is int8, the bins of its components; got {movement.dtype}")
        floats = np.zeros((len(movement), len(COMPONENTS)))
        if not self._look_up(floats, np.ascontiguousarray(movement), self._bins, self._columns, self._values):
            raise ValueError(_out_of_range(movement, self.components))
        return floats

    def encode(self, floats: NDArray[np.float64]) -> Movement:
        """Floats [frames, 8] -> the nearest bins [frames, len(components)], int8."""
        bins = np.empty((len(floats), len(self.columns)), dtype=np.int8)
        for i, column in enumerate(self.columns):
            bins[:, i] = np.abs(floats[:, column, None] - BIN_VALUES[column]).argmin(axis=1)
        return bins


def _out_of_range(movement: Movement, components: tuple[Component, ...]) -> str:
    for i, component in enumerate(components):
        column = movement[:, i]
        if column.min() < 0 or column.max() >= component.bins:
            seen = sorted({int(b) for b in column})
            return f"{component.name} has the bins 0..{component.bins - 1}; got {seen}"
    raise AssertionError("called with every bin in range")
