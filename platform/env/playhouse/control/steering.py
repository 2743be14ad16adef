"""One movement action held over a whole step: what an expert wants, as the bins that a world's players have."""

from __future__ import annotations

import math

import numpy as np

from interplay.env.playhouse.house.action_codec import BIN_VALUES, COMPONENTS
from interplay.env.world import Movement, WorldSpec

MAX_TURN_RAD = math.radians(25)  # a step's turn, at most
CALM_TURN_RAD = math.radians(12.5)  # the same of who looks at what they turn to: more is seen, and learned, on the way
NEEDED = ("forward", "yaw", "pitch", "grasp")  # without these, nothing can be fetched
FINER = ("strafe", "push", "rotate")  # needed only for what is put down precisely


class Steering:
    """Turns wishes for the coming step into a movement chunk whose frames are all alike.

    Raises:
        ValueError: the world does not offer the movements that an expert needs.
    """

    def __init__(self, spec: WorldSpec) -> None:
        names = [component.name for component in spec.movement]
        if missing := [name for name in NEEDED if name not in names]:
            raise ValueError(
                f"the Playhouse's scripted solver moves by {', '.join(NEEDED)}; this house lacks "
                f"{', '.join(missing)}: add them to env.components"
            )
        values = {component.name: BIN_VALUES[i] for i, component in enumerate(COMPONENTS)}
        self._column = {name: names.index(name) for name in names}
        # What each bin turns by in a step, radians [bins].
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
        most: float = MAX_TURN_RAD,
        rotate: int = 0,
    ) -> Movement:
        """The chunk that walks (-1, 0 or 1; strafing is to the right), turns by about these angles (radians; `most`
        limits the yaw), grasps or not, moves what is held away (1) or closer (-1), and turns it (1 is
        anticlockwise).

        Raises:
            ValueError: it is to strafe or push in a world whose players can not.
        """
        movement = self._rest.copy()
        yaw = min(max(yaw, -most), most)
        movement[:, self._column["forward"]] += forward
        movement[:, self._column["yaw"]] = self._nearest("yaw", yaw)
        movement[:, self._column["pitch"]] = self._nearest("pitch", pitch)
        movement[:, self._column["grasp"]] = grasp
        return self.also(movement, strafe=strafe, push=push, rotate=rotate)

    def also(self, movement: Movement, **more: int) -> Movement:
        """The same chunk with further components off their rest by so many bins: `push=-1`.

        Raises:
            ValueError: the world lacks one that is not 0.
        """
        movement = movement.copy()
        for name, value in more.items():
            if value and name not in self._column:
                raise ValueError(f"this house has no {name}: add it to env.components")
            if value:
                movement[:, self._column[name]] += value
        return movement

    def can(self, *names: str) -> bool:
        """Have this world's players these movements?"""
        return all(name in self._column for name in names)

    def _nearest(self, name: str, angle: float) -> int:
        return int(np.abs(self._turns[name] - angle).argmin())
