"""Carries a thing to the setter and holds it out."""

from __future__ import annotations

import math
from dataclasses import replace

from interplay.env.playhouse.control.place_skill import CARRYING_PITCH, PlaceSkill
from interplay.env.playhouse.planning.placement import Placement, reachable_placements
from interplay.env.playhouse.tasks.instructions.hand_over import HandOver
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts
from interplay.env.world import Movement, WorldSpec

OPPOSITE = (1.3, 1.45)  # meters from the setter, at which one stands before it
HELD_OUT = 1.0  # meters above the floor of what is held out
SIDES = 12  # of the setter, on which one may stand
PATIENCE = 12  # steps after which one holds it out from elsewhere
TURNED = math.radians(8)  # off the setter, at most, when one holds something out to it


class HandOverExpert(PlaceSkill):
    """Fetches a thing, walks up to the setter, and holds it out until it is taken."""

    def __init__(self, task: HandOver, spec: WorldSpec) -> None:
        super().__init__(task, spec)
        self._task = task
        self._landing: Placement | None = None  # where it stands to hold it out
        self._tries = 0
        self._waited = 0  # steps

    def next_movement(self, facts: HouseFacts) -> Movement | None:
        if self._task.is_done(facts):
            return None
        thing = self._task.thing(facts)
        if (movement := self.fetch(facts, thing)) is not None:
            return movement
        body, setter = facts.bodies[self.role], facts.bodies[self._task.setter]
        if (movement := self.draw_in(body, thing, CARRYING_PITCH)) is not None:
            return movement
        if self._landing is None or self._waited > PATIENCE:
            sides = [math.tau * k / SIDES for k in range(SIDES)]
            before = Placement(setter.position, HELD_OUT, setter.room, 0.0, ring=OPPOSITE)
            options = reachable_placements(
                facts, self.role, thing, [replace(before, approach_angle=side) for side in sides]
            )
            if not options:
                return self._steering.hold(grasp=True)
            self._landing, self._waited = options[self._tries % len(options)], 0
            self._tries += 1
        if (movement := self.walk_to(facts, body, self._landing, CARRYING_PITCH - body.pitch)) is not None:
            return movement
        self._waited += 1
        turn = predicates.bearing(body, setter.position)
        return self._steering.hold(
            yaw=turn if abs(turn) > TURNED else 0.0, pitch=CARRYING_PITCH - body.pitch, grasp=True
        )
