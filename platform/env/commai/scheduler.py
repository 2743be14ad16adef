"""Schedulers, which choose the next task.

A scheduler has `get_next_task(train_mode=True)` and `step(reward, train_mode=True)`, which takes the reward of the
task that has just ended. `rng` is set by the environment before the first task is drawn.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Any

from interplay.core.settings_validation import did_you_mean


class TaskScheduler:
    """Base class: a list of tasks."""

    def __init__(self, tasks: Sequence[Any]) -> None:
        self.tasks = list(tasks) if isinstance(tasks, Iterable) else []
        if not self.tasks:
            raise ValueError(f"{type(self).__name__} needs a list of at least one task, got {tasks!s}")
        self.rng: random.Random | None = None

    def get_next_task(self, train_mode: bool = True) -> Any:
        """Returns the next task."""
        raise NotImplementedError

    def step(self, reward: float, train_mode: bool = True) -> None:
        """Receives the reward of the task that has ended."""
        return

    def reward(self, reward: float) -> None:
        """The same as `step`."""
        self.step(reward)

    def _draw(self, tasks: Sequence[Any]) -> Any:
        if self.rng is None:
            self.rng = random.Random()
        return self.rng.choice(tasks)


class RandomTaskScheduler(TaskScheduler):
    """Draws each task at random."""

    def get_next_task(self, train_mode: bool = True) -> Any:
        return self._draw(self.tasks)


class SequentialTaskScheduler(TaskScheduler):
    """Cycles through the tasks in order."""

    def __init__(self, tasks: Sequence[Any]) -> None:
        super().__init__(tasks)
        self._next = 0

    def get_next_task(self, train_mode: bool = True) -> Any:
        task = self.tasks[self._next]
        self._next = (self._next + 1) % len(self.tasks)
        return task


class IncrementalTaskScheduler(TaskScheduler):
    """Stays with a task until its rewards add up to `success_threshold` or more, then advances to the next
    one, from the last to the first."""

    def __init__(self, tasks: Sequence[Any], success_threshold: float = 2) -> None:
        super().__init__(tasks)
        self.success_threshold = _number("success_threshold", success_threshold)
        self._at = 0
        self._sum = 0.0

    def get_next_task(self, train_mode: bool = True) -> Any:
        return self.tasks[self._at]

    def step(self, reward: float, train_mode: bool = True) -> None:
        self._sum += reward
        if self._sum >= self.success_threshold:
            self._at = (self._at + 1) % len(self.tasks)
            self._sum = 0.0


class DependenciesTaskScheduler(TaskScheduler):
    """Draws among the tasks that are unlocked. `tasks_dependencies` lists pairs [a, b]: b is unlocked once the rewards
    of a add up to `unlock_threshold` or more; a task with several conditions needs them all."""

    def __init__(
        self, tasks: Sequence[Any], tasks_dependencies: Sequence[Sequence[Any]], unlock_threshold: float = 10
    ) -> None:
        super().__init__(tasks)
        self.unlock_threshold = _number("unlock_threshold", unlock_threshold)
        self._needs: dict[int, list[int]] = {index: [] for index in range(len(self.tasks))}
        for first, then in _pairs("tasks_dependencies", tasks_dependencies):
            self._needs[self._index(then)].append(self._index(first))
        self._sums = [0.0] * len(self.tasks)
        self._under_way = 0
        if not self._unlocked():
            raise ValueError("every task depends on another: tasks_dependencies must leave one to begin with")

    def get_next_task(self, train_mode: bool = True) -> Any:
        task = self._draw(self._unlocked())
        self._under_way = self._index(task)
        return task

    def step(self, reward: float, train_mode: bool = True) -> None:
        self._sums[self._under_way] += reward

    def _unlocked(self) -> list[Any]:
        done = [total >= self.unlock_threshold for total in self._sums]
        return [task for index, task in enumerate(self.tasks) if all(done[need] for need in self._needs[index])]

    def _index(self, task: Any) -> int:
        for index, known in enumerate(self.tasks):
            if known is task:
                return index
        names = [str(known) for known in self.tasks]
        raise ValueError(
            f"tasks_dependencies names {task!s}, which is none of the tasks.{did_you_mean(str(task), names)}"
        )


class IntervalTaskScheduler(TaskScheduler):
    """Draws among the tasks whose interval contains the number of the draw, counted from 0.

    `intervals` has a pair (first, last) for each task, both included; after the last interval, the tasks that lasted
    longest stay. In test mode it draws from `tasks_test`, by default all tasks, without counting.
    """

    def __init__(
        self, tasks: Sequence[Any], intervals: Sequence[Sequence[int]], tasks_test: Sequence[Any] | None = None
    ) -> None:
        super().__init__(tasks)
        self.intervals = [
            (int(_number("intervals", first)), int(_number("intervals", last)))
            for first, last in _pairs("intervals", intervals)
        ]
        self.tasks_test = list(self.tasks if tasks_test is None else tasks_test)
        if len(self.intervals) != len(self.tasks):
            raise ValueError(f"{len(self.intervals)} intervals for {len(self.tasks)} tasks: give one pair for each")
        self._end = max(last for _, last in self.intervals)
        self._drawn = 0
        empty = [draw for draw in self._edges() if not self._open(draw)]
        if empty:
            raise ValueError(f"no task has an interval that contains draw {empty[0]}: intervals={self.intervals}")

    def get_next_task(self, train_mode: bool = True) -> Any:
        if not train_mode:
            return self._draw(self.tasks_test)
        now = min(self._drawn, self._end)
        self._drawn += 1
        return self._draw(self._open(now))

    def _open(self, draw: int) -> list[Any]:
        """The tasks whose interval contains the number of a draw."""
        return [t for t, (first, last) in zip(self.tasks, self.intervals, strict=True) if first <= draw <= last]

    def _edges(self) -> list[int]:
        """The first draw, and those after each interval: where one has an open task, all have."""
        return [0, *(last + 1 for _, last in self.intervals if last < self._end)]


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{name} must consist of numbers, got {value!r}")
    return value


def _pairs(name: str, value: Any) -> Sequence[Sequence[Any]]:
    pairs: Sequence[Sequence[Any]] = value
    if not isinstance(pairs, list | tuple) or not all(isinstance(p, list | tuple) and len(p) == 2 for p in pairs):
        raise ValueError(f"{name} must be a list of pairs, got {value!r}")
    return pairs
