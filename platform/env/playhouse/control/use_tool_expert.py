"""The skills of who does something to one thing with another that it holds."""

from __future__ import annotations

import math
from abc import abstractmethod

from interplay.env.playhouse.control.skills import Skills
from interplay.env.playhouse.control.steering import MAX_TURN_RAD
from interplay.env.playhouse.tasks.instructions.use_tool import UseTool
from interplay.env.playhouse.truth.facts import Body, HouseFacts, Thing
from interplay.env.world import Movement, WorldSpec

CARRY_HEIGHT = 0.75  # meters above the floor of what is carried
BENT = 1.1  # meters from the eye to what is carried, at most, where the arm can be bent
FACED = math.radians(5)
STEEPEST = math.radians(-72)


class UseToolExpert(Skills):
    """Fetches the tool, fetches it again where it was lost, and leaves the deed itself to `strike`."""

    def __init__(self, task: UseTool, spec: WorldSpec) -> None:
        super().__init__(task, spec, MAX_TURN_RAD)  # its ways are long
        self._task = task
        self._taken = False  # has the tool been in the hand?

    def next_movement(self, facts: HouseFacts) -> Movement | None:
        if self._task.is_done(facts):
            return None
        body, tool, other = facts.bodies[self.role], self._task.thing(facts), facts.things[self._task.other]
        if self._taken and body.holding is None and (movement := self._search.look_around(body, tool)) is not None:
            return movement
        if (movement := self.fetch(facts, tool)) is not None:
            if self._taken:
                self.restart()
            return movement
        self._taken = True
        if (movement := self._search.look_around(body, other, pitch=carrying(body, tool), grasp=True)) is not None:
            return self.drawing_in(movement, body, tool)
        return self.strike(facts, body, tool, other)

    @abstractmethod
    def strike(self, facts: HouseFacts, body: Body, tool: Thing, other: Thing) -> Movement:
        """The next step of who has the tool in hand."""

    def drawing_in(self, movement: Movement, body: Body, tool: Thing) -> Movement:
        """The same, with the arm bending: what is held far out is knocked out of the hand by walls, in turning."""
        return self._steering.also(movement, push=-1) if self.can_bend(body, tool) else movement

    def can_bend(self, body: Body, tool: Thing) -> bool:
        """Is the arm stretched out, and can it be bent?"""
        return self._steering.can("push") and stretched(body, tool) > BENT

    def restart(self) -> None:
        """The tool was lost: what was under way is void."""
        return


def stretched(body: Body, thing: Thing) -> float:
    """Meters from the eye to the middle of a thing."""
    return math.dist((*body.position, body.eye_height), thing.position)


def carrying(body: Body, tool: Thing, height: float = CARRY_HEIGHT) -> float:
    """The pitch that is missing for holding a tool at this height."""
    down = min(max((height - body.eye_height) / max(stretched(body, tool), 0.1), -1.0), 1.0)
    return max(math.asin(down), STEEPEST) - body.pitch
