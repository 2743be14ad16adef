"""Carries a thing to the setter and holds it out."""

from __future__ import annotations

import math
from dataclasses import replace

from interplay.env.playhouse.control.place_skill import CARRY_PITCH_RAD, PlaceSkill
from interplay.env.playhouse.planning.placement import Placement, reachable_placements
from interplay.env.playhouse.tasks.instructions.hand_over import HandOver
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts
from interplay.env.world import Movement, World

FACING_DISTANCES_M = (1.3, 1.45)  # from the setter to where one stands before it
HOLD_OUT_HEIGHT_M = 1.0
SIDES = 12  # of the setter to stand on
HOLD_OUT_PATIENCE_STEPS = 12  # after which the thing is held out from elsewhere
HOLD_OUT_AIM_RAD = math.radians(8)  # off the setter, at most


class HandOverExpert(PlaceSkill[HandOver]):
    """Fetches a thing, walks up to the setter, and holds it out until it is taken."""

    def __init__(self, task: HandOver, world: World) -> None:
        super().__init__(task, world)
        self._placement: Placement | None = None  # where it stands to hold the thing out
        self._placements = 0  # tried so far
        self._waited_steps = 0

    def next_movement(self, facts: HouseFacts) -> Movement | None:
        if self._task.is_done(facts):
            return None
        thing = self._task.thing(facts)
        if (movement := self.fetch(facts, thing)) is not None:
            return movement
        body, setter = facts.bodies[self.role], facts.bodies[self._task.setter]
        if (movement := self.draw_in(body, thing, CARRY_PITCH_RAD)) is not None:
            return movement
        if self._placement is None or self._waited_steps > HOLD_OUT_PATIENCE_STEPS:
            angles = [math.tau * k / SIDES for k in range(SIDES)]
            before = Placement(setter.position, HOLD_OUT_HEIGHT_M, setter.room, stand_distances=FACING_DISTANCES_M)
            sides = [replace(before, approach_angle=angle) for angle in angles]
            options = reachable_placements(facts, self.role, thing, sides)
            if not options:
                return self._steering.hold(grasp=True)
            self._placement, self._waited_steps = options[self._placements % len(options)], 0
            self._placements += 1
        tilt = CARRY_PITCH_RAD - body.pitch
        if (movement := self.walk_to_stand(facts, body, self._placement, tilt)) is not None:
            return movement
        self._waited_steps += 1
        turn = predicates.bearing(body, setter.position)
        return self._steering.hold(yaw=turn if abs(turn) > HOLD_OUT_AIM_RAD else 0.0, pitch=tilt, grasp=True)
