"""Takes a thing to a doorway and throws it through."""

from __future__ import annotations

import math

from interplay.env.playhouse.control.throw_expert import ThrowExpert
from interplay.env.playhouse.control.walker import Spot
from interplay.env.playhouse.planning.exits import doorway_exits
from interplay.env.playhouse.tasks.instructions.throw import ThrowOut
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import XY, HouseFacts, Thing
from interplay.env.world import Movement, WorldSpec

REACHED = 0.3  # meters from there
CARRY = math.radians(-25)  # the pitch at which a thing is carried


class ThrowOutExpert(ThrowExpert):
    """Fetches a thing, carries it before a doorway of its room, and throws it through."""

    def __init__(self, task: ThrowOut, spec: WorldSpec) -> None:
        super().__init__(task, spec)
        self._room = task.room
        self._stand: XY | None = None

    def _ready(self, facts: HouseFacts, thing: Thing) -> Movement | None:
        body = facts.bodies[self.role]
        if self._aim is None or self._stand is None:
            ways = doorway_exits(facts, self.role, self._room)
            self._stand, self._aim = min(ways, key=lambda way: predicates.walk(facts, body.position, way[0]))
        stand = self._stand
        if math.dist(body.position, stand) > REACHED and not self._drawn:
            return self._walker.step(
                facts,
                Spot(stand),
                lambda point: math.dist(point, stand),
                REACHED,
                pitch=CARRY - body.pitch,
                grasp=True,
                most=self._haste,
            )
        return self._turn(body, thing, self._aim)
