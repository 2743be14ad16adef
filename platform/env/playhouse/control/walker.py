"""Walking for a scripted solver: goes to a point around obstacles and through doorways, looking where it walks."""

from __future__ import annotations

import math

from interplay.env.playhouse.control.steering import MAX_TURN_RAD, Steering
from interplay.env.playhouse.planning.navigation import Distance, Ground, distance_in_room, doorway_crossing
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import XY, Body, HouseFacts
from interplay.env.world import Movement

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
