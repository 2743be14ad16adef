"""A rater without eyes: marks where the true progress of a task rises or falls, late and wrong at times like people."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from interplay.env.task import Task
from interplay.players.rater_traits import RaterPopulation, RaterTraits

StepMark = tuple[int, int]  # the step it is set at, and its sign, +1 or -1


@dataclass(frozen=True)
class RaterConfig:
    """When a rater marks, and how well."""

    threshold: float = 0.2  # rise or fall of progress, since its last mark, that is worth a mark
    delay_steps: tuple[int, int] = (0, 2)  # least and most steps between what it saw and its mark
    misses: float = 0.05  # chance to set no mark where one is due
    errors: float = 0.1  # chance that a mark has the wrong sign
    marks_undoing: bool = False  # a task that is done no longer is a slip, however small the fall of progress
    chatter: float = 0.0  # chance that what is said to no purpose is marked as a slip
    bored_after: int = 0  # steps without any mark after which it marks a slip: nothing comes of it; 0: never
    population: RaterPopulation = field(default_factory=RaterPopulation)  # how far raters differ from all this

    def __post_init__(self) -> None:
        wrong = []
        if not 0.0 < self.threshold <= 1.0:
            wrong.append(f"threshold={self.threshold}: above 0 and at most 1")
        if not 0 <= self.delay_steps[0] <= self.delay_steps[1]:
            wrong.append(f"delay_steps={self.delay_steps}: (least, most) with 0 <= least <= most")
        chances = ("misses", "errors", "chatter")
        wrong += [f"{n}={getattr(self, n)}: a chance" for n in chances if not 0 <= getattr(self, n) <= 1]
        if self.bored_after < 0:
            wrong.append(f"bored_after={self.bored_after}: steps, 0 for never")
        if wrong:
            raise ValueError("rater: " + "; ".join(wrong))


class ScriptedRater:
    """Watches an episode step by step, one task after another::

        rater.begin(task, world.facts())              # when a task has been asked
        for step ...:                                 # until the setter puts an end to it
            marks += rater.observe(step, world.facts(), what_the_solver_said_in_it)

    `step` is the step that has just ended. A mark may lie up to `delay_steps` after it, and so beyond an episode that
    ends meanwhile: its reader decides.
    """

    def __init__(self, config: RaterConfig, rng: np.random.Generator, temper: RaterTraits | None = None) -> None:
        self._config = config
        self._rng = rng
        self._temper = temper or RaterTraits()
        self._threshold = min(config.threshold * self._temper.threshold_factor, 1.0)
        self._task: Task | None = None
        self._said: list[str] = []
        self._level = 0.0  # the progress that it last marked
        self._succeeded = False
        self._idle = 0  # steps since it last saw something worth a mark

    def begin(self, task: Task, facts: Any) -> None:
        """From now on, this is what the solver should do."""
        self._task = task
        self._said = []
        self._level = task.progress(facts)
        self._succeeded = task.success(facts, ())
        self._idle = 0

    def observe(self, step: int, facts: Any, utterance: str | None) -> list[StepMark]:
        """The marks for what happened in a step; what the solver said in it, or None."""
        assert self._task is not None, "a rater begins with a task"
        if utterance is not None:
            self._said.append(utterance)
        signs = []
        if (moved := self._moved(self._task, facts)) != 0:
            signs.append(moved)
        if utterance is not None and (rating := self._heard(self._task, utterance)) != 0:
            signs.append(rating)
        self._idle = 0 if signs or self._succeeded else self._idle + 1
        if self._config.bored_after and self._idle >= self._config.bored_after:
            self._idle = 0
            signs.append(-1)
        return [mark for sign in signs if (mark := self._click(step, sign)) is not None]

    def _moved(self, task: Task, facts: Any) -> int:
        """+1 or -1 where progress has risen or fallen enough since the last mark, or success has just come or gone."""
        if task.answer is not None:
            return 0
        level, succeeded = task.progress(facts), task.success(facts, self._said)
        came = succeeded and not self._succeeded
        gone = self._config.marks_undoing and self._succeeded and not succeeded
        self._succeeded = succeeded
        if came or gone or abs(level - self._level) >= self._threshold:
            sign = 1 if came or level > self._level else -1
            self._level = level
            return sign
        return 0

    def _heard(self, task: Task, utterance: str) -> int:
        """What an utterance is worth. An answer is final: all that is said after it, as all that is said where nothing
        was asked, is chatter."""
        if task.answer is not None and len(self._said) == 1:
            return task.rate_answer(utterance)
        return -1 if self._config.chatter and self._rng.random() < self._config.chatter else 0

    def _click(self, step: int, sign: int) -> StepMark | None:
        missed, wrong = self._rng.random(2) < (self._config.misses, self._config.errors)
        least, most = self._config.delay_steps
        delay = int(self._rng.integers(least, most + 1)) + self._temper.delay_steps
        missed = missed or self._overlooked(sign)
        return None if missed else (step + delay, -sign if wrong else sign)

    def _overlooked(self, sign: int) -> bool:
        """By this rater's own temper; a chance of 0 takes nothing from the random numbers of all others."""
        shares = (self._temper.misses, self._temper.overlooks_progress if sign > 0 else self._temper.overlooks_slips)
        return any(share > 0 and self._rng.random() < share for share in shares)
