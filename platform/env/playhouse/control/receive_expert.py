"""The setter's part in handing over: it stands still, faces the solver, and takes the thing that is held out to it."""

from __future__ import annotations

import math

from interplay.env.playhouse.control.steering import CALM_TURN_RAD, Steering
from interplay.env.playhouse.physics.hand import is_offered
from interplay.env.playhouse.tasks.instructions.hand_over import HandOver
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import Body, HouseFacts, Thing
from interplay.env.task import Expert
from interplay.env.world import Action, World

GAZE_PITCH_RAD = math.radians(-15)  # while looking at the solver and at the thing in its hand
FACING_RAD = math.radians(10)


class ReceiveExpert(Expert):
    """Turns to the solver, and takes the thing once it is held out within reach."""

    def __init__(self, task: HandOver, world: World) -> None:
        self._task = task
        self._steering = Steering(world.spec)

    def act(self, world: World) -> Action:
        facts: HouseFacts = world.facts()
        body, other = facts.bodies[self._task.setter], facts.bodies[self._task.solver]
        thing = self._task.thing(facts)
        if body.holding == thing.index:
            self.finished = True
            return Action(self._steering.hold(grasp=True))
        if thing.held_by == self._task.solver and _is_held_out(body, other, thing):
            if body.looking_at == thing.index:
                return Action(self._steering.hold(grasp=True))
            turn = predicates.bearing(body, thing.xy)
            return Action(self._steering.hold(yaw=turn, pitch=predicates.elevation(body, thing) - body.pitch))
        if not predicates.same_room(body.room, other.room):
            return Action(self._steering.hold())
        turn, pitch = predicates.bearing(body, other.position), GAZE_PITCH_RAD - body.pitch
        yaw = turn if abs(turn) > FACING_RAD else 0.0
        return Action(self._steering.hold(yaw=yaw, pitch=pitch, max_turn=CALM_TURN_RAD))


def _is_held_out(body: Body, other: Body, thing: Thing) -> bool:
    away = math.hypot(math.dist(body.position, thing.xy), body.eye_height - thing.position[2])
    return away <= body.reach and is_offered(other.position, other.yaw, body.position)
