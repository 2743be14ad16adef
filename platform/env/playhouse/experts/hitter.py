"""Takes one thing, and strikes another with it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from interplay.env.playhouse import queries
from interplay.env.playhouse.experts.rammer import ARM, Rammer, striking_height
from interplay.env.playhouse.experts.runs import Run
from interplay.env.playhouse.experts.wielder import aim, size
from interplay.env.playhouse.facts import XY, Body, HouseFacts, Thing
from interplay.env.playhouse.navigation import Ground, free_spots
from interplay.env.world import WorldSpec

if TYPE_CHECKING:
    from interplay.env.playhouse.errands.wield import Wield

SWING = (0.3, 0.9)  # metres between the tool and the other from which one walks at it
FOLLOW_THROUGH = 0.2  # metres that one may walk on
SPACING = 0.15  # metres between the points of a line that are looked at
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


def striking_spots(facts: HouseFacts, role: str, tool: Thing, other: Thing) -> list[XY]:
    """Where a player can stand to walk at a thing with a tool held out, nothing in the way of either."""
    body, ground = facts.bodies[role], Ground(facts, role, (tool.index, other.index))
    near = ARM + SWING[1] + size(tool) + other.radius
    spots = [
        spot
        for spot in (body.position, *free_spots(facts, role))
        if queries.edge_distance(spot, other) < near and queries.nearest_room(facts, spot).name == other.room
    ]
    return [spot for spot in spots if _can_strike(facts, ground, replace(body, position=spot), tool, other)]


def _can_strike(facts: HouseFacts, ground: Ground, body: Body, tool: Thing, other: Thing) -> bool:
    point = aim(body, other)
    height = striking_height(tool, other, point)
    ahead = math.sqrt(max(ARM**2 - (body.eye_height - height) ** 2, 0.1))
    length = math.dist(body.position, point[:2])
    edge = length - (0.0 if other.furniture else size(other))
    left = edge - ahead - size(tool)
    if not SWING[0] <= left <= SWING[1]:
        return False
    along = np.array([(point[k] - body.position[k]) / length for k in (0, 1)])
    steps = np.arange(0.0, left + FOLLOW_THROUGH, SPACING)[:, None]
    if ground.price(np.asarray(body.position) + steps * along).any():
        return False
    lowest = height - tool.half_extents[2]
    tall = [each for each in facts.things if each.index not in (tool.index, other.index) and queries.top(each) > lowest]
    swept = np.asarray(body.position) + np.arange(ahead, edge, SPACING)[:, None] * along
    return not any(queries.edge_distance((x, y), each) < size(tool) for x, y in swept.tolist() for each in tall)
