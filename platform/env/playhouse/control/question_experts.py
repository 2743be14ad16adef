"""Scripted solvers that answer questions: they look at the things in question, in this room or anywhere in the house,
and answer."""

from __future__ import annotations

import math
from dataclasses import replace

from interplay.env.playhouse.control.skills import (
    LOWEST_WALKING_PITCH_RAD,
    MAX_TURN_RAD,
    SEARCH_PITCH_RAD,
    SEARCH_TURN_RAD,
    VIEW_MARGIN_RAD,
    Search,
    Skills,
    Steering,
)
from interplay.env.playhouse.tasks.questions.question import Question
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import Body, HouseFacts, Room, Thing
from interplay.env.task import Expert
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
        points = [facts.things[index].xy for index in self._question.about] or [point]
        in_view = all(predicates.in_front(body, each, body.half_view - VIEW_MARGIN_RAD) for each in points)
        if not self._question.look_first and not self.finished and in_view:
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
        step, reach = math.tau / VIEW_DIRECTIONS, body.half_view - VIEW_MARGIN_RAD
        directions = range(VIEW_DIRECTIONS)
        self._viewed |= {i for i in directions if abs(predicates.wrap_angle(i * step - body.yaw)) <= reach}
        if len(self._viewed) == VIEW_DIRECTIONS:
            return None
        return self._steering.hold(yaw=SEARCH_TURN_RAD, pitch=SEARCH_PITCH_RAD - body.pitch)

    def _enter(self, facts: HouseFacts, body: Body, room: Room) -> Movement:
        down = math.atan2(ROOM_GAZE_HEIGHT_M - body.eye_height, math.dist(body.position, room.middle))
        pitch = max(down, LOWEST_WALKING_PITCH_RAD) - body.pitch
        return self._walker.towards(
            facts, room.middle, lambda point: predicates.outside(room, point) + INSIDE_M, 0.0, pitch=pitch
        )


def question_expert(task: Question, world: World) -> Expert:
    """Whereabouts require finding the thing; the other questions of room scope are about the solver's room."""
    if task.scope == "house":
        return SearchAndAnswerExpert(task, world)
    return LocateExpert(task, world) if task.kind == "where" else AnswerExpert(task, world)
