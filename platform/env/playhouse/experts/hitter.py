"""Takes one thing, and strikes another with it."""

from __future__ import annotations

import math

from interplay.env.playhouse import queries
from interplay.env.playhouse.errands.wield import Wield
from interplay.env.playhouse.experts.rammer import Rammer
from interplay.env.playhouse.facts import XY, HouseFacts, Thing
from interplay.env.playhouse.planning.runs import Run
from interplay.env.playhouse.planning.strikes import striking_spots
from interplay.env.world import WorldSpec

ANEW = 0.6  # metres at least between a start that failed and the next one


class Hitter(Rammer):
    """A run at the other thing, which need not move on, and may stand on furniture or be furniture."""

    def __init__(self, task: Wield, spec: WorldSpec) -> None:
        super().__init__(task, spec)
        self._failed: list[XY] = []

    def plan(self, facts: HouseFacts, tool: Thing, other: Thing) -> Run:
        here = facts.bodies[self.role].position
        starts = striking_spots(facts, self.role, tool, other)
        fresh = [spot for spot in starts if all(math.dist(spot, failed) > ANEW for failed in self._failed)]
        if not fresh:
            self._failed.clear()
        start = min(fresh or starts or [here], key=lambda spot: queries.walk(facts, here, spot))
        self._failed.append(start)
        return Run(start, other.xy)
