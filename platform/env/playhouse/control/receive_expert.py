"""The setter's part in handing over: it stands, faces the solver, and takes what is held out to it."""

from __future__ import annotations

import math

from interplay.env.playhouse.control.steering import CALM_TURN_RAD, Steering
from interplay.env.playhouse.physics.hand import is_offered
from interplay.env.playhouse.tasks.instructions.hand_over import HandOver
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import Body, HouseFacts, Thing
from interplay.env.task import Expert
from interplay.env.world import Action, World, WorldSpec

LEVEL_GAZE = math.radians(-15)  # of who looks at somebody and at what that one holds
LOOKS = math.radians(10)  # off the solver, at most, of who faces it


class ReceiveExpert(Expert):
    """Turns to the solver, and takes the thing once it is held out within reach."""

    def __init__(self, task: HandOver, spec: WorldSpec) -> None:
        self._task = task
        self._steering = Steering(spec)

    def act(self, world: World) -> Action:
        facts: HouseFacts = world.facts()
        body, other = facts.bodies[self._task.setter], facts.bodies[self._task.solver]
        thing = self._task.thing(facts)
        if body.holding == thing.index:
            self.finished = True
            return Action(self._steering.hold(grasp=True))
        if thing.held_by == self._task.solver and self._held_out(body, other, thing):
            aimed = body.looking_at == thing.index
            turn = predicates.bearing(body, thing.xy)
            pitch = predicates.elevation(body, thing) - body.pitch
            return Action(self._steering.hold(yaw=0.0 if aimed else turn, pitch=0.0 if aimed else pitch, grasp=aimed))
        if not predicates.same_room(body.room, other.room):
            return Action(self._steering.hold())
        turn = predicates.bearing(body, other.position)
        return Action(
            self._steering.hold(
                yaw=turn if abs(turn) > LOOKS else 0.0, pitch=LEVEL_GAZE - body.pitch, most=CALM_TURN_RAD
            )
        )

    def _held_out(self, body: Body, other: Body, thing: Thing) -> bool:
        away = math.hypot(math.dist(body.position, thing.xy), body.eye_height - thing.position[2])
        return away <= body.reach and is_offered(other.position, other.yaw, body.position)
