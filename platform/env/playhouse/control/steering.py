"""One movement action held over a whole step: translates an expert's turns and walks into the bins of a world."""

from __future__ import annotations

import math

import numpy as np

from interplay.env.playhouse.house.action_codec import BIN_VALUES, COMPONENTS
from interplay.env.world import Movement, WorldSpec

MAX_TURN_RAD = math.radians(25)  # in one step
CALM_TURN_RAD = math.radians(12.5)  # the same while looking around: more is seen, and learned, on the way
REQUIRED_COMPONENTS = ("forward", "yaw", "pitch", "grasp")  # without these, nothing can be fetched


class Steering:
    """Turns the intended motion of one step into a movement chunk whose frames are all alike.

    Raises:
        ValueError: the world does not offer the movements that an expert needs.
    """

    def __init__(self, spec: WorldSpec) -> None:
        names = [component.name for component in spec.movement]
        if missing := [name for name in REQUIRED_COMPONENTS if name not in names]:
            raise ValueError(
                f"the Playhouse's scripted solver moves by {', '.join(REQUIRED_COMPONENTS)}; this house lacks "
                f"{', '.join(missing)}: add them to env.components"
            )
        values = {component.name: BIN_VALUES[i] for i, component in enumerate(COMPONENTS)}
        self._column = {name: names.index(name) for name in names}
        # The angle that each bin turns by in a step, radians [bins].
        self._turns = {name: values[name] * spec.frames_per_step for name in ("yaw", "pitch")}
        self._rest = spec.rest()

    def hold(
        self,
        *,
        forward: int = 0,
        strafe: int = 0,
        yaw: float = 0.0,
        pitch: float = 0.0,
        grasp: bool = False,
        push: int = 0,
        rotate: int = 0,
        max_turn: float = MAX_TURN_RAD,
    ) -> Movement:
        """A chunk with these motions.

        `forward`, `strafe`: -1, 0 or 1; strafing is to the right. `yaw`, `pitch`: radians to turn by, rounded to the
        nearest bin; `max_turn` limits the yaw. `push`: 1 moves the held thing away, -1 closer. `rotate`: 1 turns it
        anticlockwise.

        Raises:
            ValueError: the chunk strafes, pushes or rotates in a world without that component.
        """
        movement = self._rest.copy()
        movement[:, self._column["forward"]] += forward
        movement[:, self._column["yaw"]] = self._nearest_bin("yaw", min(max(yaw, -max_turn), max_turn))
        movement[:, self._column["pitch"]] = self._nearest_bin("pitch", pitch)
        movement[:, self._column["grasp"]] = grasp
        return self.add(movement, strafe=strafe, push=push, rotate=rotate)

    def add(self, movement: Movement, **bins: int) -> Movement:
        """The same chunk with further components moved off their rest position by the given number of bins: `push=-1`.

        Raises:
            ValueError: the world lacks a component whose value is not 0.
        """
        movement = movement.copy()
        for name, value in bins.items():
            if value and name not in self._column:
                raise ValueError(f"this house has no {name}: add it to env.components")
            if value:
                movement[:, self._column[name]] += value
        return movement

    def supports(self, *names: str) -> bool:
        """Whether the world has all of these components."""
        return all(name in self._column for name in names)

    def _nearest_bin(self, name: str, angle: float) -> int:
        return int(np.abs(self._turns[name] - angle).argmin())
