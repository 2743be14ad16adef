"""Takes one thing, and strikes another with it."""

from __future__ import annotations

import math

from interplay.env.playhouse.control.push_with_expert import PushWithExpert
from interplay.env.playhouse.planning.pushes import PushPath
from interplay.env.playhouse.planning.strikes import striking_spots
from interplay.env.playhouse.tasks.instructions.use_tool import UseTool
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import XY, HouseFacts, Thing
from interplay.env.world import WorldSpec

ANEW = 0.6  # meters at least between a start that failed and the next one


class HitExpert(PushWithExpert):
    """A run at the other thing, which need not move on, and may stand on furniture or be furniture."""

    def __init__(self, task: UseTool, spec: WorldSpec) -> None:
        super().__init__(task, spec)
        self._failed: list[XY] = []

    def plan(self, facts: HouseFacts, tool: Thing, other: Thing) -> PushPath:
        here = facts.bodies[self.role].position
        starts = striking_spots(facts, self.role, tool, other)
        fresh = [spot for spot in starts if all(math.dist(spot, failed) > ANEW for failed in self._failed)]
        if not fresh:
            self._failed.clear()
        start = min(fresh or starts or [here], key=lambda spot: predicates.walk(facts, here, spot))
        self._failed.append(start)
        return PushPath(start, other.xy)
