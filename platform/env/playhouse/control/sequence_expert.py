"""Does one thing after another."""

from __future__ import annotations

from interplay.env.playhouse.tasks.instructions.sequence import TaskSequence
from interplay.env.task import Expert
from interplay.env.world import Action, World

SURE = 2  # steps for which the first errand has to be done, or undone, for its solver to believe it


class SequenceExpert(Expert):
    """Does the first of two errands, then the second; goes back where the first has come undone."""

    def __init__(self, task: TaskSequence, world: World) -> None:
        self._task = task
        self._expert = task.first.expert(world)
        self._second = False  # is it about the second?
        self._otherwise = 0  # steps for which the first has been done, or undone, against what was believed

    def act(self, world: World) -> Action:
        done = self._task.first.success(world.facts(), ())
        self._otherwise = self._otherwise + 1 if done != self._second else 0
        if self._otherwise >= SURE:
            self._second, self._otherwise = done, 0
            self._expert = (self._task.second if done else self._task.first).expert(world)
        action = self._expert.act(world)
        self.finished = self._second and self._expert.finished
        return action
