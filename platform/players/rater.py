"""Scripted rater: marks changes of a task's true progress, with human-like delays, misses and errors; raters differ in
strictness, kindness, attention and speed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from interplay.env.task import Task, progress_of, same_words

MAX_OMITTED_SHARE = 0.9  # of the marks of a rater


@dataclass(frozen=True)
class RaterPopulation:
    """Standard deviation of each trait over a population of raters; 0: no variation."""

    strictness: float = 0.0  # of the logarithm of the factor on the threshold
    kindness: float = 0.0  # of the share of -1 marks that a kind rater omits, or +1 marks that an unkind one omits
    inattention: float = 0.0  # of the additional share of all marks omitted, clipped at 0: half of the raters omit none
    slowness: float = 0.0  # of the additional delay in steps, clipped at 0: half of the raters have none

    def __post_init__(self) -> None:
        wrong = [f"{name}={spread}" for name, spread in vars(self).items() if spread < 0]
        if wrong:
            raise ValueError(f"rater.population: {', '.join(wrong)}: spreads must not be negative")


@dataclass(frozen=True)
class RaterTraits:
    """Traits of one rater."""

    threshold_factor: float = 1.0
    overlooked_slips: float = 0.0  # share
    overlooked_progress: float = 0.0  # share
    misses: float = 0.0  # share, in addition to `RaterConfig.misses`
    delay_steps: int = 0  # in addition to `RaterConfig.delay_steps`


def sample_traits(population: RaterPopulation, rng: np.random.Generator) -> RaterTraits:
    """Samples the traits of one rater; `rng` is the rater's own. No trait depends on the spread of another."""
    strict, kind, inattentive, slow = rng.standard_normal(4)
    kindness = population.kindness * kind
    return RaterTraits(
        threshold_factor=float(np.exp(population.strictness * strict)),
        overlooked_slips=_share(kindness),
        overlooked_progress=_share(-kindness),
        misses=_share(population.inattention * inattentive),
        delay_steps=max(0, round(population.slowness * slow)),
    )


def _share(value: float) -> float:
    return float(np.clip(value, 0.0, MAX_OMITTED_SHARE))


StepMark = tuple[int, int]  # (step, sign), with sign +1 or -1


@dataclass(frozen=True)
class RaterConfig:
    """When a rater marks, and how accurately."""

    threshold: float = 0.2  # change of progress since the last mark that triggers a mark
    delay_steps: tuple[int, int] = (0, 2)  # least and most steps between an event and its mark
    misses: float = 0.05  # probability of omitting a mark
    errors: float = 0.1  # probability of the wrong sign
    marks_undoing: bool = False  # mark -1 when a done task is undone, even if progress falls less
    chatter: float = 0.0  # probability of marking -1 for an utterance that is not the first answer
    marks_silence: bool = True  # mark -1 when a question ends without an answer
    bored_after: int = 0  # steps without an event after which it marks -1; 0: never
    population: RaterPopulation = field(default_factory=RaterPopulation)  # variation between raters

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
    """Rates an episode step by step, one task after another::

        rater.begin(task, world.facts())              # when a task has been given
        for step ...:                                 # until the task ends
            marks += rater.observe(step, world.facts(), utterance_of_the_solver)
        marks += rater.end(step)                      # when the task's time is up, or the setter has ended it

    `step` is the step that has just ended. A mark may lie up to `delay_steps` after it, possibly beyond the end of the
    episode; the reader decides about those.
    """

    def __init__(self, config: RaterConfig, rng: np.random.Generator, traits: RaterTraits | None = None) -> None:
        self._config = config
        self._rng = rng
        self._traits = traits or RaterTraits()
        self._threshold = min(config.threshold * self._traits.threshold_factor, 1.0)
        self._task: Task | None = None
        self._utterances: list[str] = []
        self._marked_progress = 0.0  # at the last mark
        self._succeeded = False
        self._idle_steps = 0  # since the last event
        self._clarified = False  # whether a question about unclear words has been marked

    def begin(self, task: Task, facts: Any) -> None:
        """Starts rating this task."""
        self._task = task
        self._utterances = []
        self._marked_progress = progress_of(task, facts)
        self._succeeded = task.success(facts, ())
        self._idle_steps = 0
        self._clarified = False

    def observe(self, step: int, facts: Any, utterance: str | None) -> list[StepMark]:
        """The marks for one step. `utterance`: what the solver said in it, or None."""
        assert self._task is not None, "call begin first"
        if utterance is not None:
            self._utterances.append(utterance)
        signs = []
        if (sign := self._rate_progress(self._task, facts)) != 0:
            signs.append(sign)
        if utterance is not None and (rating := self._rate_utterance(self._task, utterance, facts)) != 0:
            signs.append(rating)
        self._idle_steps = 0 if signs or self._succeeded else self._idle_steps + 1
        if self._config.bored_after and self._idle_steps >= self._config.bored_after:
            self._idle_steps = 0
            signs.append(-1)
        return [mark for sign in signs if (mark := self._mark(step, sign)) is not None]

    def end(self, step: int) -> list[StepMark]:
        """The marks for the end of the task after `step`: a slip if it was a question and got no answer."""
        assert self._task is not None, "call begin first"
        if self._task.answer is None or self._utterances or not self._config.marks_silence:
            return []
        mark = self._mark(step, -1)
        return [] if mark is None else [mark]

    def _rate_progress(self, task: Task, facts: Any) -> int:
        """+1 or -1 if progress has changed by the threshold since the last mark, or success began or ended; else 0."""
        if task.answer is not None:
            return 0
        progress, succeeded = progress_of(task, facts), task.success(facts, self._utterances)
        done = succeeded and not self._succeeded
        undone = self._config.marks_undoing and self._succeeded and not succeeded
        self._succeeded = succeeded
        if done or undone or abs(progress - self._marked_progress) >= self._threshold:
            sign = 1 if done or progress > self._marked_progress else -1
            self._marked_progress = progress
            return sign
        return 0

    def _rate_utterance(self, task: Task, utterance: str, facts: Any) -> int:
        """+1, -1 or 0 for an utterance. The first answer to a question counts, and the first question that a task
        replies to with clearer words; every other utterance without a reply is chatter."""
        if (reply := task.reply(utterance, facts)) is not None:
            first, self._clarified = not self._clarified, True
            return int(first and not same_words(reply, task.instruction))
        if task.answer is not None and len(self._utterances) == 1:
            return task.rate_answer(utterance)
        return -1 if self._config.chatter and self._rng.random() < self._config.chatter else 0

    def _mark(self, step: int, sign: int) -> StepMark | None:
        missed, wrong = self._rng.random(2) < (self._config.misses, self._config.errors)
        least, most = self._config.delay_steps
        delay = int(self._rng.integers(least, most + 1)) + self._traits.delay_steps
        missed = missed or self._is_overlooked(sign)
        return None if missed else (step + delay, -sign if wrong else sign)

    def _is_overlooked(self, sign: int) -> bool:
        """Whether this rater's own traits omit a mark. A share of 0 draws no random number, so others stay equal."""
        shares = (self._traits.misses, self._traits.overlooked_progress if sign > 0 else self._traits.overlooked_slips)
        return any(share > 0 and self._rng.random() < share for share in shares)
