"""A rater without eyes: marks where the true progress of a task rises or falls, late and wrong at times like people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from interplay.env.task import Task

StepMark = tuple[int, int]  # the step it is set at, and its sign, +1 or -1


@dataclass(frozen=True)
class RaterConfig:
    """When a rater marks, and how well."""

    threshold: float = 0.2  # rise or fall of progress, since its last mark, that is worth a mark
    delay_steps: tuple[int, int] = (0, 2)  # least and most steps between what it saw and its mark
    misses: float = 0.05  # chance to set no mark where one is due
    errors: float = 0.1  # chance that a mark has the wrong sign

    def __post_init__(self) -> None:
        wrong = []
        if not 0.0 < self.threshold <= 1.0:
            wrong.append(f"threshold={self.threshold}: above 0 and at most 1")
        if not 0 <= self.delay_steps[0] <= self.delay_steps[1]:
            wrong.append(f"delay_steps={self.delay_steps}: (least, most) with 0 <= least <= most")
        wrong += [f"{n}={getattr(self, n)}: a chance" for n in ("misses", "errors") if not 0 <= getattr(self, n) <= 1]
        if wrong:
            raise ValueError("rater: " + "; ".join(wrong))


class ScriptedRater:
    """Watches one episode of one task, step by step::

        rater.begin(task, world.facts())              # when the task has been asked
        for step ...:
            marks += rater.observe(step, world.facts(), what_the_solver_said_in_it)

    `step` is the step that has just ended. A mark may lie up to `delay_steps` after it, and so beyond an episode that
    ends meanwhile: its reader decides.
    """

    def __init__(self, config: RaterConfig, rng: np.random.Generator) -> None:
        self._config = config
        self._rng = rng
        self._task: Task | None = None
        self._said: list[str] = []
        self._level = 0.0  # the progress that it last marked
        self._succeeded = False

    def begin(self, task: Task, facts: Any) -> None:
        self._task = task
        self._said = []
        self._level = task.progress(facts)
        self._succeeded = task.success(facts, ())

    def observe(self, step: int, facts: Any, utterance: str | None) -> list[StepMark]:
        """The marks for what happened in a step; what the solver said in it, or None."""
        assert self._task is not None, "a rater begins with a task"
        if utterance is not None:
            self._said.append(utterance)
        signs = []
        if (moved := self._moved(self._task, facts)) != 0:
            signs.append(moved)
        # An answer is final: only the first one is rated.
        if utterance is not None and len(self._said) == 1 and (rating := self._task.rate_answer(utterance)) != 0:
            signs.append(rating)
        return [mark for sign in signs if (mark := self._click(step, sign)) is not None]

    def _moved(self, task: Task, facts: Any) -> int:
        """+1 or -1 where progress has risen or fallen enough since the last mark, or success has just come."""
        if task.answer is not None:
            return 0
        level, succeeded = task.progress(facts), task.success(facts, self._said)
        came = succeeded and not self._succeeded
        self._succeeded = succeeded
        if came or abs(level - self._level) >= self._config.threshold:
            sign = 1 if came or level > self._level else -1
            self._level = level
            return sign
        return 0

    def _click(self, step: int, sign: int) -> StepMark | None:
        missed, wrong = self._rng.random(2) < (self._config.misses, self._config.errors)
        least, most = self._config.delay_steps
        delay = int(self._rng.integers(least, most + 1))
        return None if missed else (step + delay, -sign if wrong else sign)
