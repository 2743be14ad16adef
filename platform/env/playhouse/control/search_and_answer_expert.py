"""Looks at everything that a question is about, in any room, looks a whole room over if needed, and answers."""

from __future__ import annotations

import math

from interplay.env.playhouse.control.answer_expert import WELL_SEEN_RAD, AnsweringSkills
from interplay.env.playhouse.control.skills import (
    LOWEST_WALKING_PITCH_RAD,
    SEARCH_PITCH_RAD,
    SEARCH_TURN_RAD,
    VIEW_MARGIN_RAD,
)
from interplay.env.playhouse.tasks.questions.question import Question
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import Body, HouseFacts, Room, Thing
from interplay.env.world import Movement, World

INSIDE_M = 0.6  # from the walls of a room, at least, of the spot from which it is looked over
DIRECTIONS = 36  # into which a look around a room is divided
ROOM_GAZE_HEIGHT_M = 0.5  # of the point in the middle of a room that one looks at while entering


class SearchAndAnswerExpert(AnsweringSkills):
    """Sees everything that a question is about, and answers."""

    def __init__(self, question: Question, world: World) -> None:
        super().__init__(question, world)
        self._seen: set[int] = set()  # of the things that the question is about
        self._entering = False  # is it on its way into the room to look over?
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
        if len(self._viewed) == DIRECTIONS:
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
    step = math.tau / DIRECTIONS
    reach = body.half_view - VIEW_MARGIN_RAD
    return {i for i in range(DIRECTIONS) if abs(predicates.wrap(i * step - body.yaw)) <= reach}
