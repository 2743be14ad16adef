"""The table of scripted solvers by type of task, and how to build them. They act on the house's ground truth, through
the action interface only.

First the simplest: going to a thing, standing at a place, raising or pushing a thing, doing one task after another.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from interplay.env.playhouse.control.place_experts import (
    ArrangeExpert,
    HandOverExpert,
    PlaceObjectsExpert,
    PositionExpert,
    ReceiveExpert,
)
from interplay.env.playhouse.control.question_experts import question_expert
from interplay.env.playhouse.control.skills import APPROACH_AIM_RAD, START_RADIUS_M, Skills, Steering
from interplay.env.playhouse.control.throw_and_tool_experts import (
    HitExpert,
    PushWithExpert,
    ThrowExpert,
    ThrowOutExpert,
    TouchWithExpert,
)
from interplay.env.playhouse.planning.navigation import distance_in_room
from interplay.env.playhouse.planning.ways_ahead import PUSH_RUN_UP_M, PushPath, best_push_path, push_path_is_free
from interplay.env.playhouse.tasks.instructions.arrangement import Arrangement
from interplay.env.playhouse.tasks.instructions.bring_and_reposition import HandOver
from interplay.env.playhouse.tasks.instructions.go_and_stand import Go, StandAt
from interplay.env.playhouse.tasks.instructions.lift_and_throw import Lift, LiftContainer, Throw, ThrowOut
from interplay.env.playhouse.tasks.instructions.object_instruction import PlaceObjects
from interplay.env.playhouse.tasks.instructions.push_and_tools import Hit, Push, PushWith, TouchWith
from interplay.env.playhouse.tasks.instructions.put import Position
from interplay.env.playhouse.tasks.instructions.sequence import TaskSequence
from interplay.env.playhouse.tasks.questions.question import Question
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import XY, Body, HouseFacts, Thing
from interplay.env.task import Expert, Task
from interplay.env.world import Action, Movement, World

LIFT_PITCH_RAD = math.radians(25)  # in one step

SLOW_LIFT_PITCH_RAD = math.radians(6)  # in one step; any faster, the contents jump out
GRASP_DISTANCE_M = 1.05  # along the floor, from the nearest wall to the solver that grasps it
BELOW_RIM_M = 0.04  # from the wall's upper edge down to the point to look at
WALL_AIM_RAD = math.radians(1.6)  # off that point, at most, to grasp it: the finest turn is 2 degrees
AIM_PATIENCE_STEPS = 12  # then it is grasped anyway
WALL_SHARE = 0.93  # of the way from the middle to the near side, where it is grasped

SPOT_RADIUS_M = 0.25  # within which the solver stands at a spot; a step is half a meter
STAND_AT_PITCH_RAD = math.radians(-20)  # while walking
SPOT_PATIENCE_STEPS = 12  # at a spot or close to it, after which another one is looked for

CONFIRMATION_STEPS = 2  # for which the first task has to be done, or undone, before the expert switches

START_AIM_RAD = math.radians(8)
RUN_AIM_RAD = math.radians(25)  # off the thing, up to which a run continues: the thing may move aside
PUSH_RUN_STEPS = 8  # then a run has failed


class GoExpert(Skills[Go]):
    """Goes to a thing."""

    def next_movement(self, facts: HouseFacts) -> Movement | None:
        return self.approach(facts, self._task.thing(facts))


class LiftExpert(Skills[Lift]):
    """Fetches a thing and raises it."""

    def next_movement(self, facts: HouseFacts) -> Movement | None:
        if (movement := self.fetch(facts, self._task.thing(facts))) is not None:
            return movement
        return None if self._task.is_done(facts) else self._steering.hold(pitch=LIFT_PITCH_RAD, grasp=True)


class LiftContainerExpert(Skills[LiftContainer]):
    """Fetches a container and raises it slowly."""

    _aiming_steps = 0

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
    x, y = predicates.to_own_frame(thing, body.position)
    share = WALL_SHARE / max(abs(x) / thing.half_extents[0], abs(y) / thing.half_extents[1], 1e-6)
    spot = predicates.from_own_frame(thing, x * share, y * share)
    return replace(thing, position=(*spot, predicates.top(thing) - BELOW_RIM_M))


class StandAtExpert(Skills[StandAt]):
    """Goes to the nearest spot where the task would be done, and turns as it requires there."""

    def __init__(self, task: StandAt, world: World) -> None:
        super().__init__(task, world)
        self._spot: XY = task.spot
        self._spot_steps = 0  # spent close to the spot

    def next_movement(self, facts: HouseFacts) -> Movement | None:
        if self._task.is_done(facts):
            return None
        body = facts.bodies[self.role]
        away = math.dist(body.position, self._spot) > SPOT_RADIUS_M
        if away and not self._task.holds(facts, self._task.turned(facts, body)):
            return self._go(facts)
        turn = self._task.turn(facts, body)
        if abs(turn) > APPROACH_AIM_RAD:
            return self._steering.hold(yaw=turn, pitch=STAND_AT_PITCH_RAD - body.pitch, max_turn=self.max_turn)
        return self._go(facts)

    def _go(self, facts: HouseFacts) -> Movement:
        body = facts.bodies[self.role]
        self._spot_steps += math.dist(body.position, self._spot) <= 2 * SPOT_RADIUS_M
        if self._spot_steps > SPOT_PATIENCE_STEPS:
            self._spot, self._spot_steps = self._task.nearest_spot(facts) or self._spot, 0
        pitch = STAND_AT_PITCH_RAD - body.pitch
        return self._walker.to(facts, self._spot, SPOT_RADIUS_M, pitch=pitch)


class SequenceExpert(Expert):
    """Does the first of two tasks, then the second; goes back if the first comes undone."""

    def __init__(self, task: TaskSequence, world: World) -> None:
        self._task = task
        self._expert = task.first.expert(world)
        self._at_second = False
        self._contrary_steps = 0  # for which the first task has been done, or undone, contrary to `_at_second`

    def act(self, world: World) -> Action:
        done = self._task.first.success(world.facts(), ())
        self._contrary_steps = self._contrary_steps + 1 if done != self._at_second else 0
        if self._contrary_steps >= CONFIRMATION_STEPS:
            self._at_second, self._contrary_steps = done, 0
            self._expert = (self._task.second if done else self._task.first).expert(world)
        action = self._expert.act(world)
        self.finished = self._at_second and self._expert.finished
        return action


class PushExpert(Skills[Push]):
    """Goes to a spot with a clear way to a thing and beyond, and walks into the thing."""

    _path: PushPath | None = None
    _running_steps = 0  # since the run began; 0 before that

    def next_movement(self, facts: HouseFacts) -> Movement | None:
        body, thing = facts.bodies[self.role], self._task.thing(facts)
        if self._task.is_done(facts):
            return None
        if body.holding is not None:
            return self._steering.hold()
        if (movement := self._search.look_around(body, thing)) is not None:
            return movement
        if self._running_steps:
            return self._run(body, thing)
        return self._go_to_start(facts, body, thing)

    def _go_to_start(self, facts: HouseFacts, body: Body, thing: Thing) -> Movement:
        """Goes to the start of the run, anywhere that the way is clear."""
        near = predicates.edge_distance(body.position, thing) <= 2 * PUSH_RUN_UP_M
        near = near and predicates.same_room(body.room, thing.room)
        if near and push_path_is_free(facts, self.role, thing, body.position):
            return self._face(body, thing)
        if self._path is None or math.dist(self._path.through, thing.xy) > START_RADIUS_M:
            self._path = best_push_path(facts, self.role, thing, PUSH_RUN_UP_M + thing.radius)
        start = thing.xy if self._path is None else self._path.start
        if math.dist(start, body.position) <= START_RADIUS_M:
            return self._face(body, thing)
        return self._walker.to(facts, start, START_RADIUS_M, pitch=self._walking_pitch(body, thing))

    def _face(self, body: Body, thing: Thing) -> Movement:
        turn, pitch = predicates.bearing(body, thing.xy), self._walking_pitch(body, thing)
        self._running_steps = int(abs(turn) <= START_AIM_RAD)
        return self._steering.hold(forward=self._running_steps, yaw=turn, pitch=pitch, max_turn=self.max_turn)

    def _run(self, body: Body, thing: Thing) -> Movement:
        """Walks straight on, or ends this run if the thing has moved aside."""
        turn, pitch = predicates.bearing(body, thing.xy), self._walking_pitch(body, thing)
        self._running_steps += 1
        if abs(turn) > RUN_AIM_RAD or self._running_steps > PUSH_RUN_STEPS:
            self._running_steps, self._path = 0, None
        return self._steering.hold(forward=int(self._running_steps > 0), yaw=turn, pitch=pitch)


def _position_expert(task: Position, world: World) -> Expert:
    """Places the thing precisely where players can push, pull and strafe; a simpler way does without."""
    if not Steering(world.spec).supports("push", "strafe"):
        return PositionExpert(task, world)
    return PlaceObjectsExpert(task.as_placement(world.facts()), world)


# By the type of the task. The first match along its method resolution order counts.
EXPERTS: Mapping[type, Callable[[Any, World], Expert]] = {
    Go: GoExpert,
    Lift: LiftExpert,
    LiftContainer: LiftContainerExpert,
    PlaceObjects: PlaceObjectsExpert,
    Position: _position_expert,
    HandOver: HandOverExpert,
    Push: PushExpert,
    PushWith: PushWithExpert,
    TouchWith: TouchWithExpert,
    Hit: HitExpert,
    Throw: ThrowExpert,
    ThrowOut: ThrowOutExpert,
    StandAt: StandAtExpert,
    Arrangement: ArrangeExpert,
    TaskSequence: SequenceExpert,
    Question: question_expert,
}


def build_expert(task: Task, world: World) -> Expert:
    """A competent solver of a task of the Playhouse."""
    return next(EXPERTS[kind] for kind in type(task).__mro__ if kind in EXPERTS)(task, world)


def build_partner(task: Task, world: World) -> Expert | None:
    """The setter's expert in a task for two players, in which it takes the thing handed to it; None in others."""
    return ReceiveExpert(task, world) if isinstance(task, HandOver) else None
