"""Handing a thing over: the solver holds it out, the setter takes it."""

from __future__ import annotations

import math
from dataclasses import replace

from interplay.env.playhouse.control.place_skill import PlaceSkill
from interplay.env.playhouse.control.steering import CALM_TURN_RAD, Steering
from interplay.env.playhouse.control.tolerances import CARRY_PITCH_RAD
from interplay.env.playhouse.physics.hand import is_offered
from interplay.env.playhouse.planning.placement import Placement, reachable_placements
from interplay.env.playhouse.tasks.instructions.bring import HandOver
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import Body, HouseFacts, Thing
from interplay.env.task import Expert
from interplay.env.world import Action, Movement, World

FACING_DISTANCES_M = (1.3, 1.45)  # from the setter to the solver in front of it
HOLD_OUT_HEIGHT_M = 1.0
DIRECTIONS_FROM_SETTER = 12  # directions from the setter in which the solver may stand
HOLD_OUT_PATIENCE_STEPS = 12  # then the thing is held out from elsewhere
HOLD_OUT_AIM_RAD = math.radians(8)  # off the setter, at most

SETTER_PITCH_RAD = math.radians(-15)  # while looking at the solver and at the thing in its hand
SOLVER_AIM_RAD = math.radians(10)


class HandOverExpert(PlaceSkill[HandOver]):
    """Fetches a thing, walks up to the setter, and holds it out until it is taken."""

    def __init__(self, task: HandOver, world: World) -> None:
        super().__init__(task, world)
        self._placement: Placement | None = None  # where it stands to hold the thing out
        self._placements = 0  # tried so far
        self._waited_steps = 0

    def next_movement(self, facts: HouseFacts) -> Movement | None:
        if self._task.is_done(facts):
            return None
        thing = self._task.thing(facts)
        if (movement := self.fetch(facts, thing)) is not None:
            return movement
        body, setter = facts.bodies[self.role], facts.bodies[self._task.setter]
        if (movement := self.draw_in(body, thing, CARRY_PITCH_RAD)) is not None:
            return movement
        if self._placement is None or self._waited_steps > HOLD_OUT_PATIENCE_STEPS:
            angles = [math.tau * k / DIRECTIONS_FROM_SETTER for k in range(DIRECTIONS_FROM_SETTER)]
            before = Placement(setter.position, HOLD_OUT_HEIGHT_M, setter.room, stand_distances=FACING_DISTANCES_M)
            sides = [replace(before, approach_angle=angle) for angle in angles]
            options = reachable_placements(facts, self.role, thing, sides)
            if not options:
                return self._steering.hold(grasp=True)
            self._placement, self._waited_steps = options[self._placements % len(options)], 0
            self._placements += 1
        tilt = CARRY_PITCH_RAD - body.pitch
        if (movement := self.walk_to_stand(facts, body, self._placement, tilt)) is not None:
            return movement
        self._waited_steps += 1
        turn = predicates.bearing(body, setter.position)
        return self._steering.hold(yaw=turn if abs(turn) > HOLD_OUT_AIM_RAD else 0.0, pitch=tilt, grasp=True)


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
        turn, pitch = predicates.bearing(body, other.position), SETTER_PITCH_RAD - body.pitch
        yaw = turn if abs(turn) > SOLVER_AIM_RAD else 0.0
        return Action(self._steering.hold(yaw=yaw, pitch=pitch, max_turn=CALM_TURN_RAD))


def _is_held_out(body: Body, other: Body, thing: Thing) -> bool:
    away = math.hypot(math.dist(body.position, thing.xy), body.eye_height - thing.position[2])
    return away <= body.reach and is_offered(other.position, other.yaw, body.position)
