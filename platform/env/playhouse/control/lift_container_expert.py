"""Takes a container by its wall and raises it without spilling."""

from __future__ import annotations

import math
from dataclasses import replace

from interplay.env.playhouse.control.skills import Skills, within_its_room
from interplay.env.playhouse.tasks.instructions.lift_container import LiftContainer
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import Body, HouseFacts, Thing
from interplay.env.world import Movement, WorldSpec

RAISING = math.radians(6)  # a step: slowly, or what is inside jumps
CLOSE_BY = 1.05  # meters from the nearest wall, along the floor, to where one stands to take hold of it
UNDER_RIM = 0.04  # meters under its upper edge, of where one looks at the wall
AIMED = math.radians(1.6)  # off that, at most, when one takes hold: the finest turn is 2 degrees
PATIENCE = 12  # steps of aiming, after which one takes hold anyhow
TOWARDS_EDGE = 0.93  # of the way from the middle to the near side, to where one takes hold


class LiftContainerExpert(Skills):
    """Fetches a container and raises it slowly."""

    def __init__(self, task: LiftContainer, spec: WorldSpec) -> None:
        super().__init__(task, spec)
        self._task = task
        self._aiming = 0  # steps

    def next_movement(self, facts: HouseFacts) -> Movement | None:
        thing, body = self._task.thing(facts), facts.bodies[self.role]
        wall = _near_wall(body, thing)
        if body.holding != thing.index:
            distance = within_its_room(facts, wall, lambda point: math.dist(point, wall.xy))
            if (movement := self._search.look_around(body, wall)) is not None:
                return movement
            if distance(body.position) > CLOSE_BY:
                return self._walk(facts, wall, distance, CLOSE_BY)
            turn, pitch = predicates.bearing(body, wall.xy), predicates.elevation(body, wall) - body.pitch
            if body.holding is None and max(abs(turn), abs(pitch)) > AIMED and self._aiming < PATIENCE:
                self._aiming += 1
                return self._steering.hold(yaw=turn, pitch=pitch)
        if (movement := self.fetch(facts, wall)) is not None:
            return movement
        if self._task.is_done(facts):
            return None
        return self._steering.hold(pitch=RAISING, grasp=True)


def _near_wall(body: Body, thing: Thing) -> Thing:
    """A container as if its middle were where its nearest wall ends at the top.

    Looking over that wall, one would take hold of what is inside; looking lower, one would not look at the middle of
    the container, which jumps into the line of sight when it is taken."""
    if "container" not in thing.attributes:
        return thing
    x, y = predicates.local(thing, body.position)
    share = TOWARDS_EDGE / max(abs(x) / thing.half_extents[0], abs(y) / thing.half_extents[1], 1e-6)
    dx, dy = x * share, y * share
    cos, sin = math.cos(thing.yaw), math.sin(thing.yaw)
    at = thing.position[0] + dx * cos - dy * sin, thing.position[1] + dx * sin + dy * cos
    return replace(thing, position=(*at, predicates.top(thing) - UNDER_RIM))
