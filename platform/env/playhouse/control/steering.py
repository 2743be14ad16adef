"""One movement action held over a whole step: translates an expert's turns and walks into the bins of a world. And
walking to a point, around obstacles and through doorways, looking where one walks."""

from __future__ import annotations

import math

import numpy as np

from interplay.env.playhouse.house.action_codec import BIN_VALUES, COMPONENTS
from interplay.env.playhouse.planning.navigation import Distance, Ground, distance_in_room, doorway_crossing
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import XY, Body, HouseFacts
from interplay.env.world import Movement, WorldSpec

APPROACH_AIM_RAD = math.radians(12)  # off a thing that an expert has walked up to
START_RADIUS_M = 0.3  # from the start of a run, and from the spot to throw from
BENT_ARM_M = 1.1  # from the body to a carried thing, at most, if the arm can be bent
CARRY_HEIGHT_M = 0.75  # of the middle of a carried tool, or of a thing that is carried without pushing and pulling
CARRY_PITCH_RAD = math.radians(-25)
STEP_PITCH_RAD = math.radians(12.5)  # up or down in one step, with a thing in hand


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


TURN_IN_PLACE_RAD = math.radians(28)  # a walker that faces farther off its way turns on the spot
CORNER_RADIUS_M = 0.35  # from a corner of the path, at which the next one is taken
STUCK_DISTANCE_M = 0.05  # a walker that covered less in a step is stuck
TRUSTED_STEPS = 3  # for which a straight way that was clear is not checked again
STUCK_PATIENCE_STEPS = 2  # stuck in a row, before it backs off
BACK_OFF_STEPS = 2


class Walker:
    """Walks one role, a step at a time, and remembers its path from one step to the next."""

    def __init__(self, role: str, steering: Steering) -> None:
        self._role = role
        self._steering = steering
        self._corners: list[XY] = []
        self._target: XY = (math.inf, math.inf)  # of the straight way that was last found clear
        self._trusted = 0  # steps for which that way still counts as clear
        self._last_position: XY | None = None  # when it last walked forward
        self._stuck = 0
        self._backing_off = 0

    def to(
        self,
        facts: HouseFacts,
        point: XY,
        within: float,
        *,
        pitch: float,
        room: str | None = None,
        grasp: bool = False,
        max_turn: float = MAX_TURN_RAD,
    ) -> Movement:
        """One step towards a point, to within the given distance in meters.

        `room`: the one that the point has to be reached from. The other arguments are those of `towards`.
        """
        distance = distance_in_room(facts, room, lambda position: math.dist(position, point))
        return self.towards(facts, point, distance, within, pitch=pitch, grasp=grasp, max_turn=max_turn)

    def towards(
        self,
        facts: HouseFacts,
        target: XY,
        distance: Distance,
        within: float,
        *,
        pitch: float,
        grasp: bool = False,
        max_turn: float = MAX_TURN_RAD,
    ) -> Movement:
        """One step towards where `distance`, a function of the body's position, is at most `within`.

        `target`: the point to head for. `pitch`: radians to pitch by in this step. `grasp`: keeps the hand closed.
        `max_turn`: radians.
        """
        body = facts.bodies[self._role]
        if self._backs_off(body):
            yaw = MAX_TURN_RAD if self._backing_off % 2 else 0.0
            return self._steering.hold(forward=-1, yaw=yaw, pitch=pitch, grasp=grasp)
        turn = predicates.bearing(body, self._next_corner(facts, body, target, distance, within))
        forward = int(abs(turn) < TURN_IN_PLACE_RAD)
        self._last_position = body.position if forward else None
        return self._steering.hold(forward=forward, yaw=turn, pitch=pitch, grasp=grasp, max_turn=max_turn)

    def _backs_off(self, body: Body) -> bool:
        """Counts stuck steps; returns whether to back away from an obstacle in this step."""
        if self._backing_off:
            self._backing_off -= 1
            return self._backing_off > 0
        if self._last_position is not None and math.dist(self._last_position, body.position) < STUCK_DISTANCE_M:
            self._stuck += 1
            if self._stuck >= STUCK_PATIENCE_STEPS:
                self._stuck, self._backing_off, self._last_position, self._corners = 0, BACK_OFF_STEPS + 1, None, []
                self._trusted = 0
                return True
        elif self._last_position is not None:
            self._stuck = 0
        return False

    def _next_corner(self, facts: HouseFacts, body: Body, target: XY, distance: Distance, within: float) -> XY:
        """The target where the straight way is clear, else the next doorway, else the next corner of a path around the
        obstacles; the path is planned again once it has been walked."""
        if self._trusted > 0 and math.dist(self._target, target) < STUCK_DISTANCE_M:
            self._trusted -= 1
            return target
        ground = Ground(facts, self._role, () if body.holding is None else (body.holding,))
        if ground.is_clear(body.position, target, distance, within):
            self._corners, self._target, self._trusted = [], target, TRUSTED_STEPS
            return target
        while self._corners and math.dist(body.position, self._corners[0]) < CORNER_RADIUS_M:
            del self._corners[0]
        if not self._corners:
            self._corners = self._plan(ground, body, target, distance, within)
        return self._corners[0] if self._corners else target

    def _plan(self, ground: Ground, body: Body, target: XY, distance: Distance, within: float) -> list[XY]:
        """The corners of a path to the next doorway and through it, or to the target if there is none between."""
        doorways = predicates.route(ground.facts, body.position, target)
        if not doorways:
            return ground.path(body.position, distance, within)
        before, beyond = doorway_crossing(doorways[0], ground.facts, body.position)

        def to_doorway(point: XY) -> float:
            return math.dist(point, before)

        if math.dist(body.position, before) < CORNER_RADIUS_M:
            return [beyond]
        if ground.is_clear(body.position, before, to_doorway, 0.0):
            return [before, beyond]
        return [*ground.path(body.position, to_doorway, CORNER_RADIUS_M / 2), beyond]
