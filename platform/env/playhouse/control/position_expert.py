"""Carries one thing to another and puts it down there, for players that can neither push, pull nor strafe.

With those movements, `PlaceObjectsExpert` does the same more precisely.
"""

from __future__ import annotations

import math

from interplay.env.playhouse.control.skills import Skills
from interplay.env.playhouse.control.steering import MAX_TURN_RAD
from interplay.env.playhouse.control.tolerances import CARRY_HEIGHT_M, STEP_PITCH_RAD
from interplay.env.playhouse.planning.navigation import distance_in_room
from interplay.env.playhouse.planning.reach import eye_distance, pitch_for_height
from interplay.env.playhouse.tasks.instructions.position import Position
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Thing
from interplay.env.world import Movement, World

RELEASE_GAP_M = 0.42  # from edge to edge, at which a carried thing is close enough to be released
LOWERING_GAP_M = 0.52  # the same, once lowering has begun
TOUCHING_GAP_M = 0.05  # from edge to edge, at which the thing would land on top of the other
MAX_RELEASE_HEIGHT_M = 0.12
MAX_LOWERING_STEPS = 4
OBSTACLE_AIM_RAD = math.radians(40)


class PositionExpert(Skills[Position]):
    """Fetches a thing, carries it to another and releases it there."""

    max_turn = MAX_TURN_RAD  # the ways are long

    def __init__(self, task: Position, world: World) -> None:
        super().__init__(task, world)
        self._lowering_steps = 0
        self._was_held = False

    def next_movement(self, facts: HouseFacts) -> Movement | None:
        thing, other = self._task.thing(facts), facts.things[self._task.other]
        body = facts.bodies[self.role]
        if self._task.is_done(facts):
            return None
        lost = self._was_held and body.holding is None  # knocked out of the hand in a turn
        if lost and (movement := self._search.look_around(body, other)) is not None:
            return movement
        if (movement := self.fetch(facts, thing)) is not None:
            return movement
        self._was_held = True
        return self._carry(facts, thing, other)

    def _carry(self, facts: HouseFacts, thing: Thing, other: Thing) -> Movement:
        """With the thing in hand: raises it, walks until it is next to the other, lowers and releases it."""
        body = facts.bodies[self.role]
        near = predicates.gap(thing, other) <= (LOWERING_GAP_M if self._lowering_steps else RELEASE_GAP_M)
        if near and predicates.same_room(thing.room, other.room):
            return self._put_down(thing, other)
        self._lowering_steps = 0
        pitch = pitch_for_height(CARRY_HEIGHT_M, body, eye_distance(body, thing)) - body.pitch
        if (movement := self._search.look_around(body, other, pitch=pitch, grasp=True)) is not None:
            return movement
        distance = distance_in_room(facts, other.room, lambda point: predicates.edge_distance(point, other))
        within = max(math.dist(body.position, thing.xy) + thing.radius + RELEASE_GAP_M - 0.25, 0.3)
        if distance(body.position) <= within - 0.3 and predicates.in_front(body, other.xy, OBSTACLE_AIM_RAD):
            return self._put_down(thing, other)  # an obstacle holds it up
        return self._walker.towards(facts, other.xy, distance, within, pitch=pitch, grasp=True)

    def _put_down(self, thing: Thing, other: Thing) -> Movement:
        """Lowers and releases the thing; steps back first if it would land on top of the other, or lies there."""
        over = predicates.edge_distance(thing.xy, other) == 0.0
        low = predicates.bottom(thing) <= MAX_RELEASE_HEIGHT_M and not over
        self._lowering_steps += 1
        if not low and self._lowering_steps <= MAX_LOWERING_STEPS:
            return self._steering.hold(pitch=-STEP_PITCH_RAD, grasp=True)
        if not low and predicates.gap(thing, other) <= TOUCHING_GAP_M:
            return self._steering.hold(forward=-1, yaw=MAX_TURN_RAD, grasp=True)
        self._lowering_steps = 0
        return self._steering.hold()
