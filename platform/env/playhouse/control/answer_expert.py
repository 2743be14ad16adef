"""Look for what a question is about, and answer it."""

from __future__ import annotations

import math
from dataclasses import replace

from interplay.env.playhouse.control.skills import Search, Skills
from interplay.env.playhouse.control.steering import MAX_TURN_RAD, Steering
from interplay.env.playhouse.tasks.questions.question import Question
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts
from interplay.env.task import Expert
from interplay.env.world import Action, Movement, World, WorldSpec

ANSWER_WITHIN = 16  # steps to look before answering
SEEN = math.radians(20)  # off the middle of the view, within which something is well seen


class AnswerExpert(Expert):
    """Looks at what a question is about, and answers."""

    def __init__(self, question: Question, spec: WorldSpec) -> None:
        self._question = question
        self._steering = Steering(spec)
        self._search = Search(self._steering)
        self._steps = 0

    def act(self, world: World) -> Action:
        facts: HouseFacts = world.facts()
        body = facts.bodies[self._question.solver]
        point = self._question.look_at(facts)
        for index in self._question.about[:1]:
            if (
                self._steps < ANSWER_WITHIN
                and (seeking := self._search.look_around(body, facts.things[index])) is not None
            ):
                self._steps += 1
                return Action(seeking)
        turn = predicates.bearing(body, point)
        down = -math.atan2(body.eye_height, max(math.dist(body.position, point), 0.1))
        pitch = max(down, math.radians(-35)) - body.pitch
        movement = self._steering.hold(yaw=turn, pitch=pitch)
        self._steps += 1
        seen = abs(turn) < SEEN and abs(pitch) < SEEN
        if self.finished or not (seen or self._steps > ANSWER_WITHIN):
            return Action(movement)
        self.finished = True
        return Action(movement, utterance=self._question.answer)


class LocateExpert(Skills):
    """Goes through the house until it has a thing in view, and answers."""

    def __init__(self, question: Question, spec: WorldSpec) -> None:
        super().__init__(question, spec, MAX_TURN_RAD)
        self._question = question

    def act(self, world: World) -> Action:
        had_finished = self.finished
        action = super().act(world)
        return replace(action, utterance=self._question.answer) if self.finished and not had_finished else action

    def next_movement(self, facts: HouseFacts) -> Movement | None:
        body, thing = facts.bodies[self.role], facts.things[self._question.about[0]]
        if predicates.same_room(body.room, thing.room) and predicates.in_front(body, thing.xy, SEEN):
            return None
        return self.approach(facts, thing)
