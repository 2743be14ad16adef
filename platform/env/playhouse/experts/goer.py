"""Goes to a thing."""

from __future__ import annotations

from interplay.env.playhouse.errands.go import Go
from interplay.env.playhouse.experts.errander import Errander
from interplay.env.playhouse.facts import HouseFacts
from interplay.env.world import Movement, WorldSpec


class Goer(Errander):
    """Goes to a thing."""

    def __init__(self, task: Go, spec: WorldSpec) -> None:
        super().__init__(task, spec)
        self._task = task

    def carry_out(self, facts: HouseFacts) -> Movement | None:
        return self.approach(facts, self._task.thing(facts))
