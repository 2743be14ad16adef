"""Takes one thing to another and holds it against that."""

from __future__ import annotations

import math

from interplay.env.playhouse.control.use_tool_expert import TOOL_AIM_RAD, UseToolExpert, tool_tilt
from interplay.env.playhouse.planning.navigation import distance_in_room
from interplay.env.playhouse.planning.strikes import mean_half_extent, striking_point
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import XYZ, Body, HouseFacts, Thing
from interplay.env.world import Movement

FULL_ARM_M = 1.75  # from the eye to a tool in the hand of a stretched arm
MIN_DISTANCE_M = 0.45  # along the floor from the point to touch, at which one is close enough in any case
REACH_PATIENCE_STEPS = 8  # with a stretched arm, after which one walks on


class TouchWithExpert(UseToolExpert):
    """Walks up until its arm is long enough, points the tool at the other thing, and stretches out its arm."""

    _reach_steps = 0

    def restart(self) -> None:
        self._reach_steps = 0

    def strike(self, facts: HouseFacts, body: Body, tool: Thing, other: Thing) -> Movement:
        point = striking_point(body, other)
        within = _arm_range(body, tool, other, point)
        distance = distance_in_room(facts, other.room, lambda position: math.dist(position, point[:2]))
        if distance(body.position) > within and not self._reach_steps:
            tilt = tool_tilt(body, tool)
            walk = self._walker.towards(
                facts, other.xy, distance, within, pitch=tilt, grasp=True, max_turn=self.max_turn
            )
            return self.drawing_in(walk, body, tool)
        return self._reach(body, tool, point)

    def _reach(self, body: Body, tool: Thing, point: XYZ) -> Movement:
        turn = predicates.bearing(body, point[:2])
        tilt = math.atan2(point[2] - body.eye_height, math.dist(body.position, point[:2])) - body.pitch
        aimed = abs(turn) <= TOOL_AIM_RAD and abs(tilt) <= TOOL_AIM_RAD
        if not self._reach_steps and (not aimed or self.can_bend(body, tool)):
            movement = self._steering.hold(yaw=turn, pitch=tilt, grasp=True, max_turn=self.max_turn)
            return self.drawing_in(movement, body, tool)
        self._reach_steps += 1
        walks = not self._steering.supports("push") or self._reach_steps > REACH_PATIENCE_STEPS
        if self._reach_steps > 2 * REACH_PATIENCE_STEPS:
            self._reach_steps = 0
        push, forward = (0, 1) if walks else (1, 0)
        return self._steering.hold(forward=forward, yaw=turn, pitch=tilt, grasp=True, push=push)


def _arm_range(body: Body, tool: Thing, other: Thing, point: XYZ) -> float:
    """How near to the point, along the floor, one has to stand for the arm to reach it."""
    arm = FULL_ARM_M + 0.7 * (mean_half_extent(tool) + (0.0 if other.furniture else mean_half_extent(other)))
    return math.sqrt(max(arm**2 - (body.eye_height - point[2]) ** 2, MIN_DISTANCE_M**2))
