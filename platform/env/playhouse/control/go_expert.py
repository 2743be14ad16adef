"""Goes to a thing."""

from __future__ import annotations

from interplay.env.playhouse.control.skills import Skills
from interplay.env.playhouse.tasks.instructions.go import Go
from interplay.env.playhouse.truth.facts import HouseFacts
from interplay.env.world import Movement, WorldSpec


class GoExpert(Skills):
    """Goes to a thing."""

    def __init__(self, task: Go, spec: WorldSpec) -> None:
        super().__init__(task, spec)
        self._task = task

    def next_movement(self, facts: HouseFacts) -> Movement | None:
        return self.approach(facts, self._task.thing(facts))
