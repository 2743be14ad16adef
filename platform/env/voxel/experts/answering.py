"""Scripted builders that speak: one answers questions, one asks back before it builds."""

from __future__ import annotations

from interplay.env.task import Expert
from interplay.env.voxel.body import BuilderBody, wrapped
from interplay.env.voxel.commands import Command
from interplay.env.voxel.controls import ControlScheme
from interplay.env.voxel.experts.building_expert import nearest_angle
from interplay.env.voxel.space import MIDDLE, Cell
from interplay.env.voxel.tasks.block_questions import BlockQuestion
from interplay.env.voxel.tasks.instructions import CLARIFICATION
from interplay.env.world import Action, World

SEEN_DEG = 25.0  # off the middle of the view, at most, of a block that has been looked at
LOOKING_STEPS = 12  # before it answers anyway
REPLY_STEPS = 2  # from a question to the setter's reply


class BlockAnswerExpert(Expert):
    """Looks at the nearest block that a question is about, and answers."""

    def __init__(self, question: BlockQuestion, scheme: ControlScheme) -> None:
        self._question = question
        self._scheme = scheme
        self._turns, self._looks = scheme.angles(), scheme.angles("pitch")
        self._steps = 0

    def act(self, world: World) -> Action:
        body = world.facts().body
        offsets = sorted((_angles(body, cell) for cell in self._question.about), key=lambda each: abs(each[0]))
        yaw, pitch = offsets[0] if offsets else (0.0, 0.0)
        self._steps += 1
        command = Command(yaw=nearest_angle(yaw, self._turns), pitch=nearest_angle(pitch, self._looks))
        movement = self._scheme.encode(*[command] * self._scheme.frames)
        seen = abs(yaw) < SEEN_DEG and abs(pitch) < SEEN_DEG
        if self.finished or not (seen or self._steps > LOOKING_STEPS):
            return Action(movement)
        self.finished = True
        return Action(movement, self._question.answer)


class AskingExpert(Expert):
    """Asks for what the words left out, waits for the reply, and then builds."""

    def __init__(self, lacks: str, builder: Expert, scheme: ControlScheme) -> None:
        self._question = CLARIFICATION[lacks]
        self._builder = builder
        self._rest = scheme.encode()
        self._steps = 0

    def act(self, world: World) -> Action:
        self._steps += 1
        if self._steps == 1:
            return Action(self._rest, self._question)
        if self._steps <= 1 + REPLY_STEPS:
            return Action(self._rest)
        action = self._builder.act(world)
        self.finished = self._builder.finished
        return action


def _angles(body: BuilderBody, cell: Cell) -> tuple[float, float]:
    """Degrees to turn and to look down so that a cell is in the middle of the view."""
    yaw, pitch = body.angles_to(cell[1] - MIDDLE, cell[0] + 0.5, cell[2] - MIDDLE)
    return wrapped(yaw - body.yaw), pitch - body.pitch
