"""Takes one thing, and strikes another with it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from interplay.env.playhouse import queries
from interplay.env.playhouse.experts.rammer import ARM, Rammer, striking_height
from interplay.env.playhouse.experts.runs import Run
from interplay.env.playhouse.experts.wielder import aim, size
from interplay.env.playhouse.facts import XY, Body, HouseFacts, Thing
from interplay.env.playhouse.navigation import Ground, free_spots

SWING = (0.3, 0.9)  # metres between the tool and the other from which one walks at it
FOLLOW_THROUGH = 0.2  # metres that one may walk on
SPACING = 0.15  # metres between the points of a line that are looked at
ANEW = 0.6  # metres at least between a start that failed and the next one


class Hitter(Rammer):
    """A run at the other thing, which need not move on, and may stand on furniture or be furniture."""

    def __init__(self, *given: object) -> None:
        super().__init__(*given)  # type: ignore[arg-type]
        self._failed: list[XY] = []

    def _plan(self, facts: HouseFacts, tool: Thing, other: Thing) -> Run:
        body = facts.bodies[self.role]
        starts = [
            spot
            for spot in [body.position, *free_spots(facts, self.role)]
            if all(math.dist(spot, failed) > ANEW for failed in self._failed)
            and self._can_start(facts, replace(body, position=spot), tool, other)
        ]
        if not starts:
            self._failed.clear()
            return Run(body.position, other.xy)
        start = min(starts, key=lambda spot: queries.way(facts, body.position, spot))
        self._failed.append(start)
        return Run(start, other.xy)

    def _can_start(self, facts: HouseFacts, body: Body, tool: Thing, other: Thing) -> bool:
        """Can it walk at the other from here, the tool before it?"""
        if queries.nearest_room(facts, body.position).name != other.room:
            return False
        point = aim(body, other)
        height = striking_height(tool, other, point)
        ahead = math.sqrt(max(ARM**2 - (body.eye_height - height) ** 2, 0.1))
        length = math.dist(body.position, point[:2])
        left = length - ahead - size(tool) - (0.0 if other.furniture else size(other))
        if not SWING[0] <= left <= SWING[1]:
            return False
        along = ((point[0] - body.position[0]) / length, (point[1] - body.position[1]) / length)
        steps = np.arange(0.0, left + FOLLOW_THROUGH, SPACING)[:, None]
        ground = Ground(facts, self.role, (tool.index, other.index))
        if ground.price(np.asarray(body.position) + steps * np.asarray(along)).any():
            return False
        tall = [
            each
            for each in facts.things
            if each.index not in (tool.index, other.index) and queries.top(each) > height - tool.half_extents[2]
        ]
        line = [
            (body.position[0] + way * along[0], body.position[1] + way * along[1])
            for way in np.arange(ahead, length - size(other) * (not other.furniture), SPACING).tolist()
        ]
        return not any(queries.edge_distance(at, each) < size(tool) for at in line for each in tall)
