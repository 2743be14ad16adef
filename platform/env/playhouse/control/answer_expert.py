"""Looks for what a question is about, and answers it."""

from __future__ import annotations

import math
from dataclasses import replace

from interplay.env.playhouse.control.skills import Search, Skills
from interplay.env.playhouse.control.steering import MAX_TURN_RAD, Steering
from interplay.env.playhouse.tasks.questions.question import Question
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts
from interplay.env.task import Expert
from interplay.env.world import Action, Movement, World

ANSWER_WITHIN_STEPS = 16
LOWEST_PITCH_RAD = math.radians(-35)
WELL_SEEN_RAD = math.radians(20)  # off the middle of the view


class AnswerExpert(Expert):
    """Looks at what a question is about, and answers."""

    def __init__(self, question: Question, world: World) -> None:
        self._question = question
        self._steering = Steering(world.spec)
        self._search = Search(self._steering)
        self._steps = 0

    def act(self, world: World) -> Action:
        facts: HouseFacts = world.facts()
        body = facts.bodies[self._question.solver]
        point = self._question.look_at(facts)
        for index in self._question.about[:1]:
            searching = self._search.look_around(body, facts.things[index])
            if self._steps < ANSWER_WITHIN_STEPS and searching is not None:
                self._steps += 1
                return Action(searching)
        turn = predicates.bearing(body, point)
        down = -math.atan2(body.eye_height, max(math.dist(body.position, point), 0.1))
        pitch = max(down, LOWEST_PITCH_RAD) - body.pitch
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
