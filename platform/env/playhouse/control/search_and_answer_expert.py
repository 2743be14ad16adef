"""Looks at all that a question is about, in whatever room, looks a room over where that is needed, and answers."""

from __future__ import annotations

import math
from dataclasses import replace

from interplay.env.playhouse.control.place_skill import standing_for
from interplay.env.playhouse.control.skills import AT_THE_EDGE, SEARCH_PITCH, SEARCH_TURN, Skills
from interplay.env.playhouse.control.steering import MAX_TURN_RAD
from interplay.env.playhouse.tasks.questions.question import Question
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import Body, HouseFacts, Thing
from interplay.env.world import Action, Movement, World, WorldSpec

FACED = math.radians(20)  # off the middle of the view, within which something is well seen
WELL_INSIDE = 0.6  # meters from its walls, at least, of where one who has come into a room looks it over
DIRECTIONS = 36  # into which a look round a room is divided


class SearchAndAnswerExpert(Skills):
    """Sees what a question is about, and answers."""

    def __init__(self, question: Question, spec: WorldSpec) -> None:
        super().__init__(question, spec, MAX_TURN_RAD)
        self._question = question
        self._seen: set[int] = set()  # of what the question is about
        self._entering = False  # is it on its way into that room?
        self._looked: set[int] = set()  # directions into which it has looked, in the room that it looks over

    def act(self, world: World) -> Action:
        had_finished = self.finished
        action = super().act(world)
        return replace(action, utterance=self._question.answer) if self.finished and not had_finished else action

    def next_movement(self, facts: HouseFacts) -> Movement | None:
        if self.finished:
            return None
        for index in self._question.about:
            if (movement := self._look_at(facts, facts.things[index])) is not None:
                return movement
        return self._look_over(facts)

    def _look_at(self, facts: HouseFacts, thing: Thing) -> Movement | None:
        """Until a thing has been well seen, from the room that it is in."""
        body = facts.bodies[self.role]
        here = predicates.same_room(body.room, thing.room)
        if here and predicates.in_front(body, thing.xy, FACED):
            self._seen.add(thing.index)
        if thing.index in self._seen:
            return None
        if not here:
            return self.approach(facts, thing)
        pitch = self._gaze(body, thing)
        if (movement := self._search.look_around(body, thing, pitch=pitch)) is not None:
            return movement
        return self._steering.hold(yaw=predicates.bearing(body, thing.xy), pitch=pitch)

    def _look_over(self, facts: HouseFacts) -> Movement | None:
        """Until the whole of a room has been in view, from within it."""
        room = next((room for room in facts.rooms if room.name == self._question.room), None)
        if room is None:
            return None
        body = facts.bodies[self.role]
        self._entering = body.room != room.name or (
            self._entering and predicates.outside(room, body.position) > -WELL_INSIDE
        )
        if self._entering:
            goal = standing_for(room.middle, room.name, 0.5)
            return self._walk(facts, goal, lambda point: predicates.outside(room, point) + WELL_INSIDE, 0.0)
        self._looked |= _in_view(body)
        if len(self._looked) == DIRECTIONS:
            return None
        return self._steering.hold(yaw=SEARCH_TURN, pitch=SEARCH_PITCH - body.pitch)


def _in_view(body: Body) -> set[int]:
    """The directions in the middle of which a player looks, or nearly so."""
    across = math.tau / DIRECTIONS
    reach = body.half_view - AT_THE_EDGE
    return {i for i in range(DIRECTIONS) if abs(predicates.wrap(i * across - body.yaw)) <= reach}
