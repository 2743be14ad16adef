"""Carries one thing to another and puts it down there."""

from __future__ import annotations

import math

from interplay.env.playhouse.control.skills import Skills, within_its_room
from interplay.env.playhouse.control.steering import MAX_TURN_RAD
from interplay.env.playhouse.tasks.instructions.position import Position
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import Body, HouseFacts, Thing
from interplay.env.world import Movement, WorldSpec

CARRY_HEIGHT = 0.75  # meters above the floor of what is carried
CARRIED_NEXT_TO = 0.42  # meters from edge to edge at which a carried thing is close enough to be let go
STILL_NEXT_TO = 0.52  # the same, once it has begun to be lowered
TOUCHING = 0.05  # meters from edge to edge at which it would be put on top
DROP = 0.12  # meters above the floor from which a thing is let go
LOWERING = 4  # steps after which it is let go anyhow


class PositionExpert(Skills):
    """Fetches a thing, carries it to another and lets it go there."""

    def __init__(self, task: Position, spec: WorldSpec) -> None:
        super().__init__(task, spec, MAX_TURN_RAD)  # its ways are long
        self._task = task
        self._lowering = 0  # steps spent on lowering it
        self._taken = False  # has it been in the hand?

    def next_movement(self, facts: HouseFacts) -> Movement | None:
        thing = self._task.thing(facts)
        if self._task.is_done(facts):
            return None
        other = facts.things[self._task.other]
        if (movement := self._recover(facts, other)) is not None:
            return movement
        if (movement := self.fetch(facts, thing)) is not None:
            return movement
        self._taken = True
        return self._carry(facts, thing, other)

    def _recover(self, facts: HouseFacts, other: Thing) -> Movement | None:
        """Once the thing was knocked out of the hand in turning round with it, looks for the other empty-handed."""
        body = facts.bodies[self.role]
        return self._search.look_around(body, other) if self._taken and body.holding is None else None

    def _carry(self, facts: HouseFacts, thing: Thing, other: Thing) -> Movement:
        """With the thing in hand: raises it, walks until it is beside the other, lowers it, lets it go."""
        body = facts.bodies[self.role]
        gap = predicates.gap(thing, other)
        if gap <= (STILL_NEXT_TO if self._lowering else CARRIED_NEXT_TO) and predicates.same_room(
            thing.room, other.room
        ):
            return self._put_down(thing, other)
        self._lowering = 0
        ahead = math.dist(body.position, thing.xy)
        carrying = self._carrying_pitch(body, thing)
        if (movement := self._search.look_around(body, other, pitch=carrying, grasp=True)) is not None:
            return movement
        distance = within_its_room(facts, other, lambda point: predicates.edge_distance(point, other))
        within = max(ahead + thing.radius + CARRIED_NEXT_TO - 0.25, 0.3)
        faces = predicates.in_front(body, other.xy, math.radians(40))
        if distance(body.position) <= within - 0.3 and faces:  # it is held up on something: let it go here
            return self._put_down(thing, other)
        return self._walker.step(facts, other, distance, within, pitch=carrying, grasp=True)

    def _put_down(self, thing: Thing, other: Thing) -> Movement:
        """Lowers the thing and lets it go; if it would land on top of the other, or lies there, steps back first."""
        over = predicates.edge_distance(thing.xy, other) == 0.0
        low = predicates.bottom(thing) <= DROP and not over
        self._lowering += 1
        if not low and self._lowering <= LOWERING:
            return self._steering.hold(pitch=math.radians(-12.5), grasp=True)
        if not low and predicates.gap(thing, other) <= TOUCHING:
            return self._steering.hold(forward=-1, yaw=math.radians(25), grasp=True)
        self._lowering = 0
        return self._steering.hold()

    def _carrying_pitch(self, body: Body, thing: Thing) -> float:
        """The pitch that is missing for carrying a thing at the right height."""
        arm = math.hypot(math.dist(body.position, thing.xy), body.eye_height - thing.position[2])
        down = min(max((CARRY_HEIGHT - body.eye_height) / max(arm, 0.1), -1.0), 1.0)
        return math.asin(down) - body.pitch
