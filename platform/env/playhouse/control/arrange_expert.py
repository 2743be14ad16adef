"""Stacks several things or lays them out in a shape, and repairs what was knocked over on the way."""

from __future__ import annotations

import math
from dataclasses import replace

from interplay.env.playhouse.control.place_skill import PlaceSkill
from interplay.env.playhouse.planning.layouts import ArrangementPlan
from interplay.env.playhouse.planning.placement import Placement, standing_here_or_near
from interplay.env.playhouse.planning.stacks import Stack
from interplay.env.playhouse.tasks.instructions.arrangement import Arrangement
from interplay.env.playhouse.truth.facts import HouseFacts
from interplay.env.world import Movement, World

IN_PLACE_M = 0.1  # off its spot, at most, of a thing that need not be moved again
EXACT_M = 0.04  # the same, once everything is in place and the task is not yet done
ARRANGEMENT_SETTLING_STEPS = 5  # to wait for a thing that was put down to come to rest
MAX_ROUNDS = 3  # of planning, where everything is in place and the task is not yet done


class ArrangeExpert(PlaceSkill[Arrangement]):
    """Plans which thing goes where, and carries one after the other."""

    def __init__(self, task: Arrangement, world: World) -> None:
        super().__init__(task, world)
        self._plan: Stack | ArrangementPlan | None = None
        self._placement: Placement | None = None
        self._was_holding = False  # in the step before
        self._in_place = IN_PLACE_M
        self._idle_steps = 0
        self._rounds = 0

    def next_movement(self, facts: HouseFacts) -> Movement | None:
        if (movement := self.step_back(facts)) is not None:
            return movement
        if self._task.is_done(facts):
            return None
        holding = facts.bodies[self.role].holding
        emptied, self._was_holding = self._was_holding and holding is None, holding is not None
        if self._plan is None or (emptied and isinstance(self._plan, Stack)) or self._plan.is_obstructed(facts):
            self._plan = self._task.plan(facts)
        following = None if self._plan is None else self._plan.next(facts, self._in_place)
        if following is None:
            return self._settle()
        self._idle_steps = 0
        return self._bring(facts, *following)

    def _bring(self, facts: HouseFacts, index: int, placement: Placement) -> Movement:
        thing = facts.things[index]
        if (movement := self.fetch(facts, thing)) is not None:
            self._placement = None
            return movement
        if self._placement is None or math.dist(placement.spot, self._placement.spot) > EXACT_M:
            self._placement = standing_here_or_near(facts, self.role, thing, placement)
            self.start_placing(arrived=self._placement.stand == facts.bodies[self.role].position)
        placement = replace(placement, stand=self._placement.stand)
        movement = self.place(facts, thing, placement)
        return self.release(thing) if movement is None else movement

    def _settle(self) -> Movement | None:
        """With nothing left to carry: waits until things are at rest, then plans again, more exactly; then gives up."""
        self._idle_steps += 1
        if self._idle_steps > ARRANGEMENT_SETTLING_STEPS:
            self._idle_steps, self._plan, self._in_place = 0, None, EXACT_M
            self._rounds += 1
        return self._steering.hold() if self._rounds < MAX_ROUNDS else None
