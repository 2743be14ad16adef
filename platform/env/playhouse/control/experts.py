"""The table of scripted solvers by type of task, and how to build them. They act on the house's ground truth, through
the action interface only.

First the simplest: going to a thing, standing at a place, raising or pushing a thing, doing one task after another; and
answering questions: looking at the things in question, in this room or anywhere in the house, and answering.
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
from interplay.env.playhouse.control.skills import (
    APPROACH_AIM_RAD,
    LOWEST_WALKING_PITCH_RAD,
    MAX_TURN_RAD,
    SEARCH_PITCH_RAD,
    SEARCH_TURN_RAD,
    START_RADIUS_M,
    VIEW_MARGIN_RAD,
    Search,
    Skills,
    Steering,
)
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
from interplay.env.playhouse.truth.facts import XY, Body, HouseFacts, Room, Thing
from interplay.env.task import Expert, Task
from interplay.env.world import Action, Movement, World

ANSWER_WITHIN_STEPS = 16
LOWEST_QUESTION_PITCH_RAD = math.radians(-35)
WELL_SEEN_RAD = math.radians(20)  # off the middle of the view

INSIDE_M = 0.6  # from the walls of a room, at least, of the spot from which it is looked over
VIEW_DIRECTIONS = 36  # into which a look around a room is divided
ROOM_GAZE_HEIGHT_M = 0.5  # of the point in the middle of a room to look at while entering


class AnswerExpert(Expert):
    """Looks at the things that a question is about, and answers."""

    def __init__(self, question: Question, world: World) -> None:
        self._question = question
        self._steering = Steering(world.spec)
        self._search = Search(self._steering)
        self._steps = 0

    def act(self, world: World) -> Action:
        facts: HouseFacts = world.facts()
        body = facts.bodies[self._question.solver]
        point = self._question.look_at(facts)
        if not self._question.look_first and not self.finished and self._is_in_view(facts, body, point):
            self.finished = True
            return Action(self._steering.hold(), utterance=self._question.answer)
        for index in self._question.about[:1]:
            searching = self._search.look_around(body, facts.things[index])
            if self._steps < ANSWER_WITHIN_STEPS and searching is not None:
                self._steps += 1
                return Action(searching)
        turn = predicates.bearing(body, point)
        down = -math.atan2(body.eye_height, max(math.dist(body.position, point), 0.1))
        pitch = max(down, LOWEST_QUESTION_PITCH_RAD) - body.pitch
        movement = self._steering.hold(yaw=turn, pitch=pitch)
        self._steps += 1
        seen = abs(turn) < WELL_SEEN_RAD and abs(pitch) < WELL_SEEN_RAD
        if self.finished or not (seen or self._steps > ANSWER_WITHIN_STEPS):
            return Action(movement)
        self.finished = True
        return Action(movement, utterance=self._question.answer)

    def _is_in_view(self, facts: HouseFacts, body: Body, point: XY) -> bool:
        """Whether everything that the question is about is in view, or else the middle of the room."""
        points = [facts.things[index].xy for index in self._question.about] or [point]
        return all(predicates.in_front(body, each, body.half_view - VIEW_MARGIN_RAD) for each in points)


class AnsweringSkills(Skills[Question]):
    """Says the answer once its movements are done."""

    max_turn = MAX_TURN_RAD

    def act(self, world: World) -> Action:
        had_finished = self.finished
        action = super().act(world)
        return replace(action, utterance=self._task.answer) if self.finished and not had_finished else action


class LocateExpert(AnsweringSkills):
    """Walks through the house until a thing is in view, and answers."""

    def next_movement(self, facts: HouseFacts) -> Movement | None:
        body, thing = facts.bodies[self.role], facts.things[self._task.about[0]]
        if predicates.same_room(body.room, thing.room) and predicates.in_front(body, thing.xy, WELL_SEEN_RAD):
            return None
        return self.approach(facts, thing)


class SearchAndAnswerExpert(AnsweringSkills):
    """Sees everything that a question is about, and answers."""

    def __init__(self, question: Question, world: World) -> None:
        super().__init__(question, world)
        self._seen: set[int] = set()  # of the things that the question is about
        self._entering = False  # whether it is on its way into the room to look over
        self._viewed: set[int] = set()  # directions of that room that have been in view

    def next_movement(self, facts: HouseFacts) -> Movement | None:
        if self.finished:
            return None
        for index in self._task.about:
            if (movement := self._look_at(facts, facts.things[index])) is not None:
                return movement
        return self._look_over(facts)

    def _look_at(self, facts: HouseFacts, thing: Thing) -> Movement | None:
        """The next step until a thing has been well in view, from the room that it is in."""
        body = facts.bodies[self.role]
        here = predicates.same_room(body.room, thing.room)
        if here and predicates.in_front(body, thing.xy, WELL_SEEN_RAD):
            self._seen.add(thing.index)
        if thing.index in self._seen:
            return None
        if not here:
            return self.approach(facts, thing)
        pitch = self._walking_pitch(body, thing)
        if (movement := self._search.look_around(body, thing, pitch=pitch)) is not None:
            return movement
        return self._steering.hold(yaw=predicates.bearing(body, thing.xy), pitch=pitch)

    def _look_over(self, facts: HouseFacts) -> Movement | None:
        """The next step until the whole of a room has been in view, from within it."""
        room = next((room for room in facts.rooms if room.name == self._task.room), None)
        if room is None:
            return None
        body = facts.bodies[self.role]
        outside = body.room != room.name
        self._entering = outside or (self._entering and predicates.outside(room, body.position) > -INSIDE_M)
        if self._entering:
            return self._enter(facts, body, room)
        self._viewed |= _directions_in_view(body)
        if len(self._viewed) == VIEW_DIRECTIONS:
            return None
        return self._steering.hold(yaw=SEARCH_TURN_RAD, pitch=SEARCH_PITCH_RAD - body.pitch)

    def _enter(self, facts: HouseFacts, body: Body, room: Room) -> Movement:
        down = math.atan2(ROOM_GAZE_HEIGHT_M - body.eye_height, math.dist(body.position, room.middle))
        return self._walker.towards(
            facts,
            room.middle,
            lambda point: predicates.outside(room, point) + INSIDE_M,
            0.0,
            pitch=max(down, LOWEST_WALKING_PITCH_RAD) - body.pitch,
            max_turn=self.max_turn,
        )


def _directions_in_view(body: Body) -> set[int]:
    """The directions that are in a player's view, except near its edges."""
    step = math.tau / VIEW_DIRECTIONS
    reach = body.half_view - VIEW_MARGIN_RAD
    return {i for i in range(VIEW_DIRECTIONS) if abs(predicates.wrap_angle(i * step - body.yaw)) <= reach}


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
RUN_AIM_RAD = math.radians(25)  # off the thing, up to which a run continues: the thing may slip aside
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

    def __init__(self, task: LiftContainer, world: World) -> None:
        super().__init__(task, world)
        self._aiming_steps = 0

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
    dx, dy = x * share, y * share
    cos, sin = math.cos(thing.yaw), math.sin(thing.yaw)
    at = thing.position[0] + dx * cos - dy * sin, thing.position[1] + dx * sin + dy * cos
    return replace(thing, position=(*at, predicates.top(thing) - BELOW_RIM_M))


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
        return self._walker.to(facts, self._spot, SPOT_RADIUS_M, pitch=pitch, max_turn=self.max_turn)


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

    def __init__(self, task: Push, world: World) -> None:
        super().__init__(task, world)
        self._path: PushPath | None = None
        self._running_steps = 0  # since the run began; 0 before that

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
        pitch = self._walking_pitch(body, thing)
        return self._walker.to(facts, start, START_RADIUS_M, pitch=pitch, max_turn=self.max_turn)

    def _face(self, body: Body, thing: Thing) -> Movement:
        turn, pitch = predicates.bearing(body, thing.xy), self._walking_pitch(body, thing)
        self._running_steps = int(abs(turn) <= START_AIM_RAD)
        return self._steering.hold(forward=self._running_steps, yaw=turn, pitch=pitch, max_turn=self.max_turn)

    def _run(self, body: Body, thing: Thing) -> Movement:
        """Walks straight on, or ends this run if the thing has slipped aside."""
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


def _question_expert(task: Question, world: World) -> Expert:
    """Whereabouts require finding the thing; the other questions of room scope are about the solver's room."""
    if task.scope == "house":
        return SearchAndAnswerExpert(task, world)
    return LocateExpert(task, world) if task.kind == "where" else AnswerExpert(task, world)


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
    Question: _question_expert,
}


def build_expert(task: Task, world: World) -> Expert:
    """A competent solver of a task of the Playhouse."""
    return next(EXPERTS[kind] for kind in type(task).__mro__ if kind in EXPERTS)(task, world)


def build_partner(task: Task, world: World) -> Expert | None:
    """The setter's expert in a task for two players, in which it takes the thing handed to it; None in others."""
    return ReceiveExpert(task, world) if isinstance(task, HandOver) else None
