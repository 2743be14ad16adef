"""Takes one thing to another and holds it against that."""

from __future__ import annotations

import math

from interplay.env.playhouse.control.skills import within_its_room
from interplay.env.playhouse.control.use_tool_expert import FACED, UseToolExpert, carrying
from interplay.env.playhouse.planning.strikes import mean_half_extent, striking_point
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import XYZ, Body, HouseFacts, Thing
from interplay.env.world import Movement

FULL = 1.75  # meters from the eye to a tool at the end of an arm that is stretched out
LEAST = 0.45  # meters from the point to touch, along the floor, at which one stands close enough anyhow
REACHES = 8  # steps with an arm stretched out, after which one walks on


class TouchWithExpert(UseToolExpert):
    """Walks up until its arm is long enough, points the tool at the other thing, and stretches out its arm."""

    _reaching = 0  # steps spent on that

    def restart(self) -> None:
        self._reaching = 0

    def strike(self, facts: HouseFacts, body: Body, tool: Thing, other: Thing) -> Movement:
        point = striking_point(body, other)
        within = self._within(body, tool, other, point)
        distance = within_its_room(facts, other, lambda at: math.dist(at, point[:2]))
        if distance(body.position) > within and not self._reaching:
            pitch = carrying(body, tool)
            walk = self._walker.step(facts, other, distance, within, pitch=pitch, grasp=True, most=self._haste)
            return self.drawing_in(walk, body, tool)
        return self._reach(body, tool, point)

    def _within(self, body: Body, tool: Thing, other: Thing, point: XYZ) -> float:
        """How near to the point one has to stand for the arm to reach it, meters along the floor."""
        arm = FULL + 0.7 * (mean_half_extent(tool) + (0.0 if other.furniture else mean_half_extent(other)))
        return math.sqrt(max(arm**2 - (body.eye_height - point[2]) ** 2, LEAST**2))

    def _reach(self, body: Body, tool: Thing, point: XYZ) -> Movement:
        turn = predicates.bearing(body, point[:2])
        pitch = math.atan2(point[2] - body.eye_height, math.dist(body.position, point[:2])) - body.pitch
        if not self._reaching and (abs(turn) > FACED or abs(pitch) > FACED or self.can_bend(body, tool)):
            return self.drawing_in(self._steering.hold(yaw=turn, pitch=pitch, grasp=True, most=self._haste), body, tool)
        self._reaching += 1
        walks = not self._steering.can("push") or self._reaching > REACHES
        if self._reaching > 2 * REACHES:
            self._reaching = 0
        push, forward = (0, 1) if walks else (1, 0)
        return self._steering.hold(forward=forward, yaw=turn, pitch=pitch, grasp=True, push=push)
