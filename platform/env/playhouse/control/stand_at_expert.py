"""Walks to a place and stays there."""

from __future__ import annotations

import math

from interplay.env.playhouse.control.skills import FACING_RAD, Skills
from interplay.env.playhouse.tasks.instructions.stand_at import StandAt
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import XY, HouseFacts
from interplay.env.world import Movement, World

SPOT_RADIUS_M = 0.25  # within which the solver stands at a spot; a step is half a meter
GAZE_PITCH_RAD = math.radians(-20)  # while walking
SPOT_PATIENCE_STEPS = 12  # at a spot or close to it, after which another one is looked for


class StandAtExpert(Skills[StandAt]):
    """Goes to the nearest spot where the task would be done, and turns as it requires there."""

    def __init__(self, task: StandAt, world: World) -> None:
        super().__init__(task, world)
        self._spot: XY = task.spot
        self._spot_steps = 0  # spent close to the spot

    def next_movement(self, facts: HouseFacts) -> Movement | None:
        if self._task.is_done(facts):
            return None
        body = facts.bodies[self.role]
        away = math.dist(body.position, self._spot) > SPOT_RADIUS_M
        if away and not self._task.holds(facts, self._task.turned(facts, body)):
            return self._go(facts)
        turn = predicates.bearing(body, self._task.facing(facts, body))
        if abs(turn) > FACING_RAD:
            return self._steering.hold(yaw=turn, pitch=GAZE_PITCH_RAD - body.pitch, max_turn=self.max_turn)
        return self._go(facts)

    def _go(self, facts: HouseFacts) -> Movement:
        body = facts.bodies[self.role]
        self._spot_steps += math.dist(body.position, self._spot) <= 2 * SPOT_RADIUS_M
        if self._spot_steps > SPOT_PATIENCE_STEPS:
            self._spot, self._spot_steps = self._task.nearest_spot(facts) or self._spot, 0
        pitch = GAZE_PITCH_RAD - body.pitch
        return self._walker.to(facts, self._spot, SPOT_RADIUS_M, pitch=pitch, max_turn=self.max_turn)
