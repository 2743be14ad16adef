"""Going to a thing, and taking and raising one."""

from __future__ import annotations

import math

from interplay.env.playhouse.control.skills import Skills
from interplay.env.playhouse.tasks.instructions.go import Go
from interplay.env.playhouse.tasks.instructions.lift import Lift
from interplay.env.playhouse.truth.facts import HouseFacts
from interplay.env.world import Movement

LIFT_PITCH_RAD = math.radians(25)  # in one step


class GoExpert(Skills[Go]):
    """Goes to a thing."""

    def next_movement(self, facts: HouseFacts) -> Movement | None:
        return self.approach(facts, self._task.thing(facts))


class LiftExpert(Skills[Lift]):
    """Fetches a thing and raises it."""

    def next_movement(self, facts: HouseFacts) -> Movement | None:
        if (movement := self.fetch(facts, self._task.thing(facts))) is not None:
            return movement
        return None if self._task.is_done(facts) else self._steering.hold(pitch=LIFT_PITCH_RAD, grasp=True)
