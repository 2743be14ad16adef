"""Walks to a place and stays there."""

from __future__ import annotations

import math

from interplay.env.playhouse.control.skills import FACED, Skills
from interplay.env.playhouse.control.walker import Spot
from interplay.env.playhouse.tasks.instructions.stand_at import StandAt
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import XY, HouseFacts
from interplay.env.world import Movement, WorldSpec

REACHED = 0.25  # meters from a spot at which one stands there; a step is half a meter
GAZE = math.radians(-20)  # where one looks while walking
TRIES = 12  # steps there, or beside it, after which another spot is looked for


class StandAtExpert(Skills):
    """Goes to the nearest spot where it would stand as asked, and turns to what it should face there."""

    def __init__(self, task: StandAt, spec: WorldSpec) -> None:
        super().__init__(task, spec)
        self._task = task
        self._spot: XY = task.spot
        self._tried = 0

    def next_movement(self, facts: HouseFacts) -> Movement | None:
        if self._task.is_done(facts):
            return None
        body = facts.bodies[self.role]
        if math.dist(body.position, self._spot) > REACHED and not self._task.holds(
            facts, self._task.turned(facts, body)
        ):
            return self._go(facts)
        turn = predicates.bearing(body, self._task.facing(facts, body))
        if abs(turn) > FACED:
            return self._steering.hold(yaw=turn, pitch=GAZE - body.pitch, most=self._haste)
        return self._go(facts)

    def _go(self, facts: HouseFacts) -> Movement:
        body = facts.bodies[self.role]
        self._tried += math.dist(body.position, self._spot) <= 2 * REACHED
        if self._tried > TRIES:
            anew = self._task.nearest_spot(facts)
            self._spot, self._tried = anew or self._spot, 0
        pitch = GAZE - body.pitch
        goal = self._spot
        return self._walker.step(
            facts, Spot(goal), lambda point: math.dist(point, goal), REACHED, pitch=pitch, grasp=False, most=self._haste
        )
