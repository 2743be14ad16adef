"""Takes a thing, turns to where there is room, and throws it."""

from __future__ import annotations

import math

import numpy as np

from interplay.env.playhouse.control.skills import Skills
from interplay.env.playhouse.control.steering import MAX_TURN_RAD
from interplay.env.playhouse.tasks.instructions.throw import Throw
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import XY, Body, HouseFacts, Thing
from interplay.env.world import Movement, WorldSpec

UP = math.radians(8)  # the pitch at which one throws
AIMED = math.radians(2.5)
LEVEL = math.radians(6)
DRAWN_IN = 1.1  # meters ahead of the body, at most, of what is about to be thrown, where the arm can be bent
DRAWS = 6  # steps spent on bending it, at most
ROOM_TO_THROW = 4.0  # meters that are as good as more
TALL = 0.6  # meters above the floor of the top of what a throw may hit
SAMPLE = 0.15  # meters from one point of a line to the next
DIRECTIONS = 24


class ThrowExpert(Skills):
    """Fetches a thing, raises and draws it in, turns to the longest free line, and throws."""

    def __init__(self, task: Throw, spec: WorldSpec) -> None:
        super().__init__(task, spec, MAX_TURN_RAD)
        self._task = task
        self._aim: XY | None = None  # what it turns to, once it has the thing
        self._drawn = 0  # steps spent on drawing the thing in

    def next_movement(self, facts: HouseFacts) -> Movement | None:
        thing = self._task.thing(facts)
        if self._task.is_done(facts):
            return None
        if self._flies(thing):
            return self._steering.hold()
        if (movement := self.fetch(facts, thing)) is not None:
            self._aim, self._drawn = None, 0
            return movement
        if (movement := self._ready(facts, thing)) is not None:
            return movement
        return self._steering.also(self._steering.hold(grasp=True), throw=1)

    def _ready(self, facts: HouseFacts, thing: Thing) -> Movement | None:
        """What is still to be done before the throw, thing in hand."""
        body = facts.bodies[self.role]
        if self._aim is None:
            self._aim = farthest(facts, body)
        return self._turn(body, thing, self._aim)

    def _turn(self, body: Body, thing: Thing, aim: XY) -> Movement | None:
        """Draws the thing in, as it would hit walls in turning, then turns to the aim."""
        rise, push = UP - body.pitch, self._draw_in(body, thing)
        if push and abs(rise) > LEVEL:
            return self._steering.hold(pitch=rise, grasp=True, push=push)
        turn = predicates.bearing(body, aim)
        if abs(turn) > AIMED or abs(rise) > LEVEL or push:
            return self._steering.hold(yaw=0.0 if push else turn, pitch=rise, grasp=True, push=push, most=self._haste)
        return None

    def _draw_in(self, body: Body, thing: Thing) -> int:
        """-1 while the arm is still to be bent."""
        if not self._steering.can("push") or self._drawn >= DRAWS or math.dist(body.position, thing.xy) <= DRAWN_IN:
            return 0
        self._drawn += 1
        return -1

    def _flies(self, thing: Thing) -> bool:
        """Is it on its way, thrown?"""
        gone = thing.let_go is not None and thing.let_go.time >= self._task.since
        return gone and thing.held_by is None and not thing.at_rest


def farthest(facts: HouseFacts, body: Body) -> XY:
    """Of the points all round that a throw would reach, the one farthest off; of those as good, least aside."""
    ends = []
    for turn in np.arange(DIRECTIONS) * math.tau / DIRECTIONS:
        yaw = body.yaw + float(turn)
        along = (math.cos(yaw), math.sin(yaw))
        free = _free(facts, body, along)
        ends.append((min(free, ROOM_TO_THROW), math.cos(turn), along))
    free, _, along = max(ends)
    return body.position[0] + free * along[0], body.position[1] + free * along[1]


def _free(facts: HouseFacts, body: Body, along: XY) -> float:
    """How far one can throw this way: meters to the wall, or to what stands tall before it."""
    room = predicates.nearest_room(facts, body.position)
    tall = [thing for thing in facts.things if thing.furniture and predicates.top(thing) > TALL]
    free = SAMPLE
    while True:
        point = (body.position[0] + free * along[0], body.position[1] + free * along[1])
        if predicates.outside(room, point) > 0.0 or any(
            predicates.edge_distance(point, thing) < SAMPLE for thing in tall
        ):
            return free
        free += SAMPLE
