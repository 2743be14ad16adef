"""Takes a container by its wall and raises it without spilling."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from interplay.env.playhouse import queries
from interplay.env.playhouse.experts.errander import Errander
from interplay.env.playhouse.facts import Body, HouseFacts, Thing
from interplay.env.world import Movement, WorldSpec

if TYPE_CHECKING:
    from interplay.env.playhouse.errands.lift_container import LiftContainer

RAISING = math.radians(6)  # a step: slowly, or what is inside jumps
TOWARDS_EDGE = 0.93  # of the way from the middle to the near side, to where one takes hold


class Hoister(Errander):
    """Fetches a container and raises it slowly."""

    def __init__(self, task: LiftContainer, spec: WorldSpec) -> None:
        super().__init__(task, spec)
        self._task = task

    def carry_out(self, facts: HouseFacts) -> Movement | None:
        thing = self._task.thing(facts)
        if (movement := self.fetch(facts, _near_wall(facts.bodies[self.role], thing))) is not None:
            return movement
        if self._task.fulfilled(facts):
            return None
        return self._steering.hold(pitch=RAISING, grasp=True)


def _near_wall(body: Body, thing: Thing) -> Thing:
    """A container as if its middle were where its nearest wall is: looking over that, one would see what is in it."""
    if "container" not in thing.attributes:
        return thing
    x, y = queries.local(thing, body.position)
    share = TOWARDS_EDGE / max(abs(x) / thing.half_extents[0], abs(y) / thing.half_extents[1], 1e-6)
    dx, dy = x * share, y * share
    cos, sin = math.cos(thing.yaw), math.sin(thing.yaw)
    at = thing.position[0] + dx * cos - dy * sin, thing.position[1] + dx * sin + dy * cos
    return replace(thing, position=(*at, thing.position[2]))
