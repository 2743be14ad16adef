"""Throwing a thing: anywhere, or out of a room."""

from __future__ import annotations

import math

import numpy as np

from interplay.env.playhouse.control.skills import Skills
from interplay.env.playhouse.control.steering import MAX_TURN_RAD
from interplay.env.playhouse.control.tolerances import BENT_ARM_M, CARRY_PITCH_RAD, START_RADIUS_M
from interplay.env.playhouse.planning.exits import doorway_exits
from interplay.env.playhouse.tasks.instructions.throw import Throw, ThrowOut
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import XY, Body, HouseFacts, Thing
from interplay.env.world import Movement, World

THROW_PITCH_RAD = math.radians(8)
THROW_YAW_AIM_RAD = math.radians(2.5)
THROW_PITCH_AIM_RAD = math.radians(6)
MAX_PULLS = 6  # steps of bending the arm
ENOUGH_ROOM_M = 4.0  # any more makes no difference
MIN_OBSTACLE_TOP_M = 0.6  # height of furniture that is an obstacle to a throw
THROW_SPACING_M = 0.15  # between the samples of a line
THROW_DIRECTIONS = 24


class ThrowExpert(Skills[Throw]):
    """Fetches a thing, raises and draws it in, turns to the longest free line, and throws."""

    max_turn = MAX_TURN_RAD

    def __init__(self, task: Throw, world: World) -> None:
        super().__init__(task, world)
        self._aim: XY | None = None  # set once the thing is in hand
        self._pulls = 0  # steps spent on drawing the thing in

    def next_movement(self, facts: HouseFacts) -> Movement | None:
        thing = self._task.thing(facts)
        if self._task.is_done(facts):
            return None
        if self._is_flying(thing):
            return self._steering.hold()
        if (movement := self.fetch(facts, thing)) is not None:
            self._aim, self._pulls = None, 0
            return movement
        if (movement := self._prepare(facts, thing)) is not None:
            return movement
        return self._steering.add(self._steering.hold(grasp=True), throw=1)

    def _prepare(self, facts: HouseFacts, thing: Thing) -> Movement | None:
        """The next step before the throw, with the thing in hand; None once ready to throw."""
        body = facts.bodies[self.role]
        if self._aim is None:
            self._aim = farthest_point(facts, body)
        return self._turn(body, thing, self._aim)

    def _turn(self, body: Body, thing: Thing, aim: XY) -> Movement | None:
        """Draws the thing in, which would hit walls in turning, then turns to the aim."""
        tilt, push = THROW_PITCH_RAD - body.pitch, self._pull(body, thing)
        if push and abs(tilt) > THROW_PITCH_AIM_RAD:
            return self._steering.hold(pitch=tilt, grasp=True, push=push)
        turn = predicates.bearing(body, aim)
        if abs(turn) > THROW_YAW_AIM_RAD or abs(tilt) > THROW_PITCH_AIM_RAD or push:
            yaw = 0.0 if push else turn
            return self._steering.hold(yaw=yaw, pitch=tilt, grasp=True, push=push, max_turn=self.max_turn)
        return None

    def _pull(self, body: Body, thing: Thing) -> int:
        """-1 as long as the arm has to be bent, else 0."""
        bent = math.dist(body.position, thing.xy) <= BENT_ARM_M
        if not self._steering.supports("push") or self._pulls >= MAX_PULLS or bent:
            return 0
        self._pulls += 1
        return -1

    def _is_flying(self, thing: Thing) -> bool:
        released = thing.let_go is not None and thing.let_go.time >= self._task.since
        return released and thing.held_by is None and not thing.at_rest


def farthest_point(facts: HouseFacts, body: Body) -> XY:
    """The farthest of the points all round that a throw would reach; of equally far ones, that with the least turn."""
    ends = []
    for turn in np.arange(THROW_DIRECTIONS) * math.tau / THROW_DIRECTIONS:
        yaw = body.yaw + float(turn)
        along = (math.cos(yaw), math.sin(yaw))
        free = _free_distance(facts, body, along)
        ends.append((min(free, ENOUGH_ROOM_M), math.cos(turn), along))
    free, _, along = max(ends)
    return body.position[0] + free * along[0], body.position[1] + free * along[1]


def _free_distance(facts: HouseFacts, body: Body, along: XY) -> float:
    """Meters in this direction to the wall or to the first tall furniture."""
    room = predicates.nearest_room(facts, body.position)
    tall = [thing for thing in facts.things if thing.furniture and predicates.top(thing) > MIN_OBSTACLE_TOP_M]
    free = THROW_SPACING_M
    while True:
        point = (body.position[0] + free * along[0], body.position[1] + free * along[1])
        blocked = any(predicates.edge_distance(point, thing) < THROW_SPACING_M for thing in tall)
        if blocked or predicates.outside(room, point) > 0.0:
            return free
        free += THROW_SPACING_M


class ThrowOutExpert(ThrowExpert):
    """Fetches a thing, carries it before a doorway of its room, and throws it through."""

    def __init__(self, task: ThrowOut, world: World) -> None:
        super().__init__(task, world)
        self._room = task.room
        self._stand: XY | None = None

    def _prepare(self, facts: HouseFacts, thing: Thing) -> Movement | None:
        body = facts.bodies[self.role]
        if self._aim is None or self._stand is None:
            exits = doorway_exits(facts, self.role, self._room)
            self._stand, self._aim = min(exits, key=lambda each: predicates.route_length(facts, body.position, each[0]))
        if math.dist(body.position, self._stand) > START_RADIUS_M and not self._pulls:
            tilt = CARRY_PITCH_RAD - body.pitch
            return self._walker.to(facts, self._stand, START_RADIUS_M, pitch=tilt, grasp=True, max_turn=self.max_turn)
        return self._turn(body, thing, self._aim)
