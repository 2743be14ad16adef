"""Skills of experts that act on one thing with another that they hold."""

from __future__ import annotations

import math
from abc import abstractmethod

from interplay.env.playhouse.control.skills import Skills
from interplay.env.playhouse.control.steering import MAX_TURN_RAD
from interplay.env.playhouse.planning.reach import eye_distance, pitch_for_height
from interplay.env.playhouse.tasks.instructions.use_tool import UseTool
from interplay.env.playhouse.truth.facts import Body, HouseFacts, Thing
from interplay.env.world import Movement, World

CARRY_HEIGHT_M = 0.75  # of the middle of a carried tool
BENT_ARM_M = 1.1  # from the eye to a carried tool, at most, if the arm can be bent
TOOL_AIM_RAD = math.radians(5)
LOWEST_PITCH_RAD = math.radians(-72)


class UseToolExpert(Skills[UseTool]):
    """Fetches the tool, again if it is lost, and leaves its use to `strike`."""

    max_turn = MAX_TURN_RAD  # the ways are long

    def __init__(self, task: UseTool, world: World) -> None:
        super().__init__(task, world)
        self._was_held = False  # has the tool been in the hand?

    def next_movement(self, facts: HouseFacts) -> Movement | None:
        if self._task.is_done(facts):
            return None
        body, tool, other = facts.bodies[self.role], self._task.thing(facts), facts.things[self._task.other]
        if self._was_held and body.holding is None and (movement := self._search.look_around(body, tool)) is not None:
            return movement
        if (movement := self.fetch(facts, tool)) is not None:
            if self._was_held:
                self.restart()
            return movement
        self._was_held = True
        if (movement := self._search.look_around(body, other, pitch=tool_tilt(body, tool), grasp=True)) is not None:
            return self.drawing_in(movement, body, tool)
        return self.strike(facts, body, tool, other)

    @abstractmethod
    def strike(self, facts: HouseFacts, body: Body, tool: Thing, other: Thing) -> Movement:
        """The next step with the tool in hand."""

    def drawing_in(self, movement: Movement, body: Body, tool: Thing) -> Movement:
        """The same movement while bending the arm: in turning, walls knock a tool out of a stretched arm."""
        return self._steering.add(movement, push=-1) if self.can_bend(body, tool) else movement

    def can_bend(self, body: Body, tool: Thing) -> bool:
        """Is the arm stretched out, and can it be bent?"""
        return self._steering.supports("push") and eye_distance(body, tool) > BENT_ARM_M

    def restart(self) -> None:
        """Discards the progress of `strike`, after the tool was lost."""
        return


def tool_tilt(body: Body, tool: Thing, height: float = CARRY_HEIGHT_M) -> float:
    """The pitch change that brings a held tool to this height."""
    return max(pitch_for_height(height, body, eye_distance(body, tool)), LOWEST_PITCH_RAD) - body.pitch
