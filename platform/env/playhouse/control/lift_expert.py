"""Takes a thing and raises it."""

from __future__ import annotations

import math

from interplay.env.playhouse.control.skills import Skills
from interplay.env.playhouse.tasks.instructions.lift import Lift
from interplay.env.playhouse.truth.facts import HouseFacts
from interplay.env.world import Movement, WorldSpec


class LiftExpert(Skills):
    """Fetches a thing and raises it."""

    def __init__(self, task: Lift, spec: WorldSpec) -> None:
        super().__init__(task, spec)
        self._task = task

    def next_movement(self, facts: HouseFacts) -> Movement | None:
        if (movement := self.fetch(facts, self._task.thing(facts))) is not None:
            return movement
        if self._task.is_done(facts):
            return None
        return self._steering.hold(pitch=math.radians(25), grasp=True)
