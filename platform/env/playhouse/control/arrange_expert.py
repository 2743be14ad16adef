"""Arranges several things: stacks them, or lays them out in a shape; puts right what was knocked over on the way."""

from __future__ import annotations

from interplay.env.playhouse.control.delivery_skill import DeliverySkill
from interplay.env.playhouse.control.skills import Skills
from interplay.env.playhouse.control.steering import MAX_TURN_RAD
from interplay.env.playhouse.planning.layouts import ArrangementPlan
from interplay.env.playhouse.planning.stacks import Stack
from interplay.env.playhouse.tasks.instructions.arrangement import Arrangement
from interplay.env.playhouse.truth.facts import HouseFacts
from interplay.env.world import Movement, WorldSpec

IN_PLACE = 0.1  # meters off its spot, at most, of what need not be moved again
EXACT = 0.04  # the same, where all lay in place and it was not yet what was asked
SETTLING = 5  # steps to wait for what was put down to hold still
ROUNDS = 3  # times that one begins anew, where all is as planned and yet not as asked


class ArrangeExpert(Skills):
    """Makes a plan of which thing goes where, and carries it out, one thing after another."""

    def __init__(self, task: Arrangement, spec: WorldSpec) -> None:
        super().__init__(task, spec, MAX_TURN_RAD)  # its ways are long
        self._task = task
        self._delivery = DeliverySkill(self.role, self._steering, self._walker)
        self._plan: Stack | ArrangementPlan | None = None
        self._held = False  # was something in the hand a step ago?
        self._off = IN_PLACE
        self._idle = 0
        self._rounds = 0

    def next_movement(self, facts: HouseFacts) -> Movement | None:
        if (movement := self._delivery.step_back(facts)) is not None:
            return movement
        if self._task.is_done(facts):
            return None
        holding = facts.bodies[self.role].holding
        emptied, self._held = self._held and holding is None, holding is not None
        if self._plan is None or (emptied and isinstance(self._plan, Stack)) or self._plan.spoilt(facts):
            self._plan = self._task.plan(facts)
        aim = None if self._plan is None else self._plan.next(facts, self._off)
        if aim is None:
            return self._settle()
        index, place = aim
        thing, self._idle = facts.things[index], 0
        if holding != index:
            self._delivery.empty()
            return self.fetch(facts, thing)
        return self._delivery.bring(facts, thing, place)

    def _settle(self) -> Movement | None:
        """Nothing is left to carry: waits for things to hold still, then looks again, more closely; then gives up."""
        self._idle += 1
        if self._idle > SETTLING:
            self._idle, self._plan, self._off = 0, None, EXACT
            self._rounds += 1
        return self._steering.hold() if self._rounds < ROUNDS else None
