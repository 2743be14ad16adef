"""Takes a thing to a doorway and throws it through."""

from __future__ import annotations

import math

from interplay.env.playhouse.control.throw_expert import ThrowExpert
from interplay.env.playhouse.planning.exits import doorway_exits
from interplay.env.playhouse.tasks.instructions.throw import ThrowOut
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import XY, HouseFacts, Thing
from interplay.env.world import Movement, World

STAND_RADIUS_M = 0.3  # from the spot to throw from
CARRY_PITCH_RAD = math.radians(-25)


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
            self._stand, self._aim = min(exits, key=lambda each: predicates.walk(facts, body.position, each[0]))
        if math.dist(body.position, self._stand) > STAND_RADIUS_M and not self._pulls:
            tilt = CARRY_PITCH_RAD - body.pitch
            return self._walker.to(facts, self._stand, STAND_RADIUS_M, pitch=tilt, grasp=True, max_turn=self.max_turn)
        return self._turn(body, thing, self._aim)
