"""Takes a container by its wall and raises it without spilling."""

from __future__ import annotations

import math
from dataclasses import replace

from interplay.env.playhouse.control.skills import Skills
from interplay.env.playhouse.planning.navigation import distance_in_room
from interplay.env.playhouse.tasks.instructions.lift_container import LiftContainer
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import Body, HouseFacts, Thing
from interplay.env.world import Movement, World

SLOW_LIFT_PITCH_RAD = math.radians(6)  # in one step; any faster, the contents jump out
GRASP_DISTANCE_M = 1.05  # from the nearest wall, along the floor, to where one stands to grasp it
BELOW_RIM_M = 0.04  # under the wall's upper edge, where one looks at it
WALL_AIM_RAD = math.radians(1.6)  # off that point, at most, to grasp it: the finest turn is 2 degrees
AIM_PATIENCE_STEPS = 12  # after which it is grasped anyway
WALL_SHARE = 0.93  # of the way from the middle to the near side, where it is grasped


class LiftContainerExpert(Skills[LiftContainer]):
    """Fetches a container and raises it slowly."""

    def __init__(self, task: LiftContainer, world: World) -> None:
        super().__init__(task, world)
        self._aiming_steps = 0

    def next_movement(self, facts: HouseFacts) -> Movement | None:
        thing, body = self._task.thing(facts), facts.bodies[self.role]
        wall = _near_wall(body, thing)
        if body.holding != thing.index:
            distance = distance_in_room(facts, wall.room, lambda point: math.dist(point, wall.xy))
            if (movement := self._search.look_around(body, wall)) is not None:
                return movement
            if distance(body.position) > GRASP_DISTANCE_M:
                return self._walk(facts, wall, distance, GRASP_DISTANCE_M)
            turn, pitch = predicates.bearing(body, wall.xy), predicates.elevation(body, wall) - body.pitch
            aimed = max(abs(turn), abs(pitch)) <= WALL_AIM_RAD
            if body.holding is None and not aimed and self._aiming_steps < AIM_PATIENCE_STEPS:
                self._aiming_steps += 1
                return self._steering.hold(yaw=turn, pitch=pitch)
        if (movement := self.fetch(facts, wall)) is not None:
            return movement
        return None if self._task.is_done(facts) else self._steering.hold(pitch=SLOW_LIFT_PITCH_RAD, grasp=True)


def _near_wall(body: Body, thing: Thing) -> Thing:
    """A container as if its middle were at the upper end of its nearest wall.

    Looking over that wall, the hand would grasp the contents; looking lower, the line of sight would miss the middle
    of the container, which jumps onto that line when it is grasped."""
    if "container" not in thing.attributes:
        return thing
    x, y = predicates.local(thing, body.position)
    share = WALL_SHARE / max(abs(x) / thing.half_extents[0], abs(y) / thing.half_extents[1], 1e-6)
    dx, dy = x * share, y * share
    cos, sin = math.cos(thing.yaw), math.sin(thing.yaw)
    at = thing.position[0] + dx * cos - dy * sin, thing.position[1] + dx * sin + dy * cos
    return replace(thing, position=(*at, predicates.top(thing) - BELOW_RIM_M))
