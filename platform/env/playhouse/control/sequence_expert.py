"""Does one task after another."""

from __future__ import annotations

from interplay.env.playhouse.tasks.instructions.sequence import TaskSequence
from interplay.env.task import Expert
from interplay.env.world import Action, World

CONFIRMATION_STEPS = 2  # for which the first task has to be done, or undone, before the expert switches


class SequenceExpert(Expert):
    """Does the first of two tasks, then the second; goes back if the first comes undone."""

    def __init__(self, task: TaskSequence, world: World) -> None:
        self._task = task
        self._expert = task.first.expert(world)
        self._at_second = False
        self._contrary_steps = 0  # for which the first task has been done, or undone, contrary to `_at_second`

    def act(self, world: World) -> Action:
        done = self._task.first.success(world.facts(), ())
        self._contrary_steps = self._contrary_steps + 1 if done != self._at_second else 0
        if self._contrary_steps >= CONFIRMATION_STEPS:
            self._at_second, self._contrary_steps = done, 0
            self._expert = (self._task.second if done else self._task.first).expert(world)
        action = self._expert.act(world)
        self.finished = self._at_second and self._expert.finished
        return action
