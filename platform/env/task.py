"""What can be asked in a world: an instruction or question, the test of its success, and how to do it.

A task is the meeting point of everyone who needs the truth: the scripted setter says its `instruction`, the
scripted solver follows its `expert`, the rater marks the rises and falls of its `progress`, a probe reads its
`success`. Each world knows its own tasks; nobody else needs to know the world.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from interplay.env.world import Action, World


class InfeasibleTask(ValueError):
    """No task of the wanted kind can be asked in the world as it stands."""


class Task(ABC):
    """One thing asked of the solver. Immutable; says all it knows in `to_json`, so that it can be stored."""

    kind: str
    instruction: str
    answer: str | None  # the true answer of a question; None for an instruction to act
    cue: str | None = None  # the cue that the setter followed, of `TaskSource.cues`; None where it followed none
    modifier: str | None = None  # what else its words had to satisfy, of `TaskSource.modifiers`

    @abstractmethod
    def to_json(self) -> Mapping[str, Any]:
        """JSON-able fields from which `TaskSource.load` rebuilds the task; 'kind' and 'instruction' among them, and
        'cue' and 'modifier' where it was asked by them."""

    @abstractmethod
    def success(self, facts: Any, said: Sequence[str]) -> bool:
        """Is the task done now? `said`: the solver's utterances since the task was asked, oldest first.

        A question succeeds when the FIRST utterance holds the true answer (its words, case and punctuation aside).
        """

    @abstractmethod
    def progress(self, facts: Any) -> float:
        """How far an instruction has come, 0 (nothing) to 1 (done); a rater marks where it rises or falls. 0 for
        questions: what is said is rated by `rate_answer`."""

    def rate_answer(self, utterance: str) -> int:
        """+1 for the true answer of a question, -1 for any other utterance, 0 where the task asks no answer."""
        if self.answer is None:
            return 0
        return 1 if same_words(self.answer, utterance) else -1

    @abstractmethod
    def misread(self, world: World, rng: np.random.Generator) -> Task:
        """What a solver who misunderstood would do instead: another object, or a plausible wrong answer. Returns the
        task itself where nothing can be mistaken. `instruction` stays what was asked."""

    def expert(self, world: World) -> Expert:
        """A competent solver of this task, through the action interface only."""
        return world.tasks().expert(self, world)

    def partner(self, world: World) -> Expert | None:
        """What the setter does meanwhile where the task takes two; None where it only waits."""
        return world.tasks().partner(self, world)


class Expert(ABC):
    """Carries out one task, step by step."""

    finished: bool = False  # it has done, and said, all it meant to

    @abstractmethod
    def act(self, world: World) -> Action:
        """The next step, from the world's truth (`world.facts()`)."""


class TaskSource(ABC):
    """The tasks of one world."""

    kinds: tuple[str, ...]  # what a setter may ask for
    probes: tuple[str, ...]  # the kinds that evaluation measures
    optional_kinds: tuple[str, ...] = ()  # further kinds, asked and measured only where a configuration names them
    cues: tuple[str, ...] = ()  # what setters are told to ask for, each of which leads to one kind of task or another
    modifiers: tuple[str, ...] = ()  # what setters may be told to observe in their words, whatever they ask for
    step_limits: Mapping[str, int] = MappingProxyType(
        {}
    )  # steps that a probe is given, of kinds that take longer than most

    @abstractmethod
    def sample(self, kind: str, rng: np.random.Generator) -> Task:
        """A feasible, not yet fulfilled task of this kind in the world as it stands.

        Raises:
            InfeasibleTask: there is none here.
            ValueError: an unknown kind.
        """

    def sample_by_cue(self, cue: str, modifier: str | None, rng: np.random.Generator) -> Task:
        """A task as by `sample`, of whatever kind this cue leads to, in words that satisfy the modifier, if any.

        The task carries both, so that what was recorded can be told apart by them.

        Raises:
            InfeasibleTask: nothing here can be asked so.
            ValueError: an unknown cue or modifier.
        """
        self.check_cue(cue, modifier)
        raise NotImplementedError(f"{type(self).__name__} names cues, and has to define `sample_by_cue`")

    def check_cue(self, cue: str, modifier: str | None = None) -> None:
        """Raises ValueError, naming what is allowed, for a cue or modifier that these tasks do not know."""
        for what, name, known in (("cue", cue, self.cues), ("modifier", modifier, self.modifiers)):
            if name is not None and name not in known:
                allowed = f"its {what}s are {', '.join(known)}" if known else f"it has no {what}s"
                raise ValueError(f"{type(self).__name__} knows no {what} {name!r}; {allowed}")

    @abstractmethod
    def load(self, fields: Mapping[str, Any]) -> Task:
        """The task that `to_json` described."""

    def expert(self, task: Task, world: World) -> Expert:
        """A competent solver of a task of this source."""
        raise NotImplementedError(f"{type(self).__name__} ships no experts")

    def partner(self, task: Task, world: World) -> Expert | None:
        """What the setter does meanwhile where the task takes two; None where it only waits."""
        return None


def words(text: str) -> list[str]:
    """Lower-case words of an utterance, punctuation dropped: how every part of the platform reads language."""
    kept = "".join(c if c.isalnum() or c in "'-" else " " for c in text.lower())
    return kept.split()


def same_words(a: str, b: str) -> bool:
    """Do two utterances say the same words?"""
    return words(a) == words(b)
