"""Takes one thing, and strikes another with it."""

from __future__ import annotations

import math

from interplay.env.playhouse.control.push_with_expert import PushWithExpert
from interplay.env.playhouse.planning.pushes import PushPath
from interplay.env.playhouse.planning.strikes import striking_spots
from interplay.env.playhouse.tasks.instructions.use_tool import UseTool
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import XY, HouseFacts, Thing
from interplay.env.world import World

NEW_START_DISTANCE_M = 0.6  # from the starts that failed to the next one, at least


class HitExpert(PushWithExpert):
    """A run at the other thing, which need not move on, and may stand on furniture or be furniture."""

    def __init__(self, task: UseTool, world: World) -> None:
        super().__init__(task, world)
        self._failed_starts: list[XY] = []

    def plan(self, facts: HouseFacts, tool: Thing, other: Thing) -> PushPath:
        here = facts.bodies[self.role].position
        starts = striking_spots(facts, self.role, tool, other)
        failed = self._failed_starts
        untried = [spot for spot in starts if all(math.dist(spot, each) > NEW_START_DISTANCE_M for each in failed)]
        if not untried:
            failed.clear()
        start = min(untried or starts or [here], key=lambda spot: predicates.walk(facts, here, spot))
        failed.append(start)
        return PushPath(start, other.xy)
