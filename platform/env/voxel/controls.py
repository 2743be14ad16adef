"""Control schemes: components of the agent's movement, their conversion to commands, and the keys for people.

`human` walks and jumps in 5 frames a step, `discrete` moves by cells, `fly` flies through blocks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

import numpy as np

from interplay.core.settings_validation import did_you_mean
from interplay.env.arrays import Float64Array
from interplay.env.input_controls import ControlMode, InputControl, mu_law_bins
from interplay.env.voxel.body import Way
from interplay.env.voxel.commands import COLUMNS, LENGTH, Command
from interplay.env.voxel.space import COLORS
from interplay.env.world import Component, Movement

Control = Literal["human", "discrete", "fly"]
_ANGLES = (-45.0, -15.0, 0.0, 15.0, 45.0)
_SIGNS = (-1.0, 0.0, 1.0)
_FINE_SIGNS = (-1.0, -0.25, 0.0, 0.25, 1.0)
_SWITCH = (0.0, 1.0)
_HOTBAR = tuple(float(color) for color in range(7))


class _Part(NamedTuple):
    """One component: its name, the field of `Command` that it sets, and the value of each bin."""

    name: str
    sets: str
    values: tuple[float, ...]

    @property
    def component(self) -> Component:
        return Component(self.name, len(self.values), self.values.index(0.0))


_HANDS = (_Part("attack", "attack", _SWITCH), _Part("use", "use", _SWITCH), _Part("hotbar", "select", _HOTBAR))
_PARTS: Mapping[str, tuple[_Part, ...]] = {
    "human": (
        _Part("forward", "forward", _SIGNS),
        _Part("strafe", "strafe", _SIGNS),
        _Part("jump", "jump", _SWITCH),
        _Part("yaw", "yaw", tuple(mu_law_bins(11, 15.0).tolist())),
        _Part("pitch", "pitch", tuple(mu_law_bins(11, 10.0).tolist())),
        *_HANDS,
    ),
    "discrete": (
        _Part("move", "forward", _SIGNS),
        _Part("strafe", "strafe", _SIGNS),
        _Part("jump", "jump", _SWITCH),
        _Part("turn", "yaw", _ANGLES),
        _Part("look", "pitch", _ANGLES),
        *_HANDS,
    ),
    "fly": (
        _Part("forward", "forward", _FINE_SIGNS),
        _Part("strafe", "strafe", _FINE_SIGNS),
        _Part("up", "up", _FINE_SIGNS),
        _Part("turn", "yaw", _ANGLES),
        _Part("look", "pitch", _ANGLES),
        *_HANDS,
    ),
}
_WAYS: Mapping[str, Way] = {"human": "walk", "discrete": "cells", "fly": "fly"}
_FRAMES: Mapping[str, int] = {"human": 5, "discrete": 1, "fly": 1}


class ControlScheme:
    """Components of one control, all or a choice of them; those left out do nothing.

    Args:
        control: human, discrete or fly.
        components: names of the components to keep, in any order; None for all.
        select_and_place: choosing a color on the hotbar places a block at once, and `use` does not exist.

    Raises:
        ValueError: an unknown control or component.
    """

    def __init__(
        self, control: Control, components: tuple[str, ...] | None = None, select_and_place: bool = False
    ) -> None:
        if control not in _PARTS:
            raise ValueError(f"control={control!r} is unknown.{did_you_mean(control, tuple(_PARTS))}")
        parts = [part for part in _PARTS[control] if not (select_and_place and part.name == "use")]
        names = [part.name for part in parts]
        for name in components or ():
            if name not in names:
                raise ValueError(
                    f"control={control} has no component {name!r}.{did_you_mean(name, names)} "
                    f"Components: {', '.join(names)}"
                )
        kept = [part for part in parts if components is None or part.name in components]
        if not kept:
            raise ValueError(f"components=[] leaves nothing to do; choose from {', '.join(names)}")
        self.control = control
        self.way = _WAYS[control]
        self.frames = _FRAMES[control]
        self.select_and_place = select_and_place
        self.components = tuple(part.component for part in kept)
        self.names = frozenset(part.name for part in kept)  # of the components
        self._parts = tuple(kept)
        self._bins = np.array([len(part.values) for part in kept])
        self._values = np.zeros((len(kept), int(self._bins.max())))  # [component, bin]
        for row, part in enumerate(kept):
            self._values[row, : len(part.values)] = part.values
        self._rows = np.arange(len(kept))
        self._columns = np.array([COLUMNS[part.sets] for part in kept])

    def decode(self, movement: Movement, frames: int | None = None) -> Float64Array:
        """Commands float64 [frames, 9] of bins [frames, components]; by default the frames of a step.

        Raises:
            ValueError: another shape or type, or a bin out of range.
        """
        movement, frames = np.asarray(movement), frames or self.frames
        expected = (frames, len(self._parts))
        if movement.shape != expected:
            names = ", ".join(part.name for part in self._parts)
            raise ValueError(f"the movement has shape {movement.shape}, expected {expected}: bins of {names}")
        if movement.dtype.kind not in "iu":
            raise ValueError(f"the movement is {movement.dtype}; it is int8, the bins of its components")
        if (movement < 0).any() or (movement >= self._bins).any():
            raise ValueError(f"the movement is {movement.tolist()}; bins go from 0 to {(self._bins - 1).tolist()}")
        commands = np.zeros((frames, LENGTH))
        commands[:, self._columns] = self._values[self._rows, movement]
        if self.select_and_place:
            commands[:, COLUMNS["use"]] = commands[:, COLUMNS["select"]] > 0
        return commands

    def frame(self, command: Command) -> Movement:
        """Bins int8 [components] whose values are nearest to a command; fields without a component are dropped."""
        row = np.empty(len(self._parts), np.int8)
        for column, part in enumerate(self._parts):
            wanted = getattr(command, part.sets)
            row[column] = min(range(len(part.values)), key=lambda bin_: abs(part.values[bin_] - wanted))
        return row

    def encode(self, *commands: Command) -> Movement:
        """Movement of one step, int8 [frames, components], from at most `frames` commands; the others do nothing."""
        if len(commands) > self.frames:
            raise ValueError(f"{len(commands)} commands for a step of {self.frames} frames (control={self.control})")
        padded = [*commands, *[Command()] * (self.frames - len(commands))]
        return np.stack([self.frame(command) for command in padded])

    def values(self, name: str) -> tuple[float, ...]:
        """What each bin of a component means; empty if there is no such component."""
        return next((part.values for part in self._parts if part.name == name), ())

    def angles(self, field: str = "yaw") -> tuple[float, ...]:
        """Degrees by which one frame can turn the yaw, or the pitch; empty if no component does."""
        return next((part.values for part in self._parts if part.sets == field), ())


# By component: name, label, keys, and the value of the bin that they choose.
_KEYS: dict[str, tuple[tuple[str, str, tuple[str, ...], float], ...]] = {
    "forward": (("forward", "forward", ("KeyW",), 1.0), ("back", "back", ("KeyS",), -1.0)),
    "strafe": (("left", "left", ("KeyA",), -1.0), ("right", "right", ("KeyD",), 1.0)),
    "up": (("up", "up", ("Space",), 1.0), ("down", "down", ("ShiftLeft",), -1.0)),
    "jump": (("jump", "jump", ("Space",), 1.0),),
    "turn": (
        ("turn_left", "turn left", ("KeyQ",), -15.0),
        ("turn_right", "turn right", ("KeyE",), 15.0),
        ("turn_far_left", "turn far to the left", ("ArrowLeft",), -45.0),
        ("turn_far_right", "turn far to the right", ("ArrowRight",), 45.0),
    ),
    "look": (
        ("look_up", "look up", ("ArrowUp", "WheelUp"), -15.0),
        ("look_down", "look down", ("ArrowDown", "WheelDown"), 15.0),
    ),
    "attack": (("attack", "break", ("Mouse0", "KeyR"), 1.0),),
    "use": (("use", "place", ("Mouse2", "KeyF"), 1.0),),
    "hotbar": tuple((color, color, (f"Digit{number}",), float(number)) for number, color in enumerate(COLORS, 1)),
}
_KEYS["move"] = _KEYS["forward"]
_HELD = frozenset({"forward", "strafe", "jump"})  # while walking; everything else happens once a press


def playing_controls(scheme: ControlScheme) -> tuple[InputControl, ...]:
    """The controls of the builder: held keys and the pointer for walking, presses for what moves by cells."""
    walks = scheme.control == "human"
    controls = []
    for component in scheme.components:
        values = scheme.values(component.name)
        if component.name in ("yaw", "pitch"):
            controls.append(_axis(component.name, values))
            continue
        held = component.name == "jump" or (walks and component.name in _HELD)
        mode: ControlMode = "hold" if held else "press"
        for name, label, keys, value in _KEYS[component.name]:
            controls.append(InputControl(name, label, keys, component.name, (values.index(value),), mode))
    return tuple(controls)


def _axis(component: str, values: tuple[float, ...]) -> InputControl:
    """Looking around by the pointer; positive pitch is down, and a pointer's way up is positive."""
    ways, keys, sign = (
        ("left and right", ("ArrowLeft", "ArrowRight"), 1.0)
        if component == "yaw"
        else ("up and down", ("ArrowDown", "ArrowUp"), -1.0)
    )
    degrees = tuple(sign * value for value in values)
    return InputControl(component, f"look {ways}", keys, component, tuple(range(len(values))), "axis", degrees)
