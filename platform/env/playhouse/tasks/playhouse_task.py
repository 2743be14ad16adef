"""Base of all tasks of the Playhouse: common fields, JSON form, values measured at the start, progress; and the
description of one kind of task: how its tasks are drawn, stored and probed.

The progress of an instruction is a potential: a function of the present moment and of the task's baseline. It has no
memory: what a player undoes, progress loses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from typing import Any, ClassVar, Self

import numpy as np

from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.truth.facts import HouseFacts
from interplay.env.task import Task
from interplay.env.world import World

FIELDS_OMITTED_IF_EMPTY = ("cue", "modifier", "baseline")


@dataclass(frozen=True, kw_only=True)
class PlayhouseTask(Task):
    """An instruction or a question about a house."""

    kind: str
    instruction: str
    solver: str  # role of the player that carries out the task
    answer: str | None = None  # correct answer of a question; None for an instruction to act
    cue: str | None = None
    modifier: str | None = None
    # Distances and other values at the moment the task was set, from which `progress` is measured.
    baseline: Mapping[str, float] = field(default_factory=dict, hash=False)
    lowest_is_best: ClassVar[bool] = True

    def to_json(self) -> Mapping[str, Any]:
        """Returns all fields, tuples as lists; `cue`, `modifier` and `baseline` only if the task has them."""
        return {name: _json_value(value) for name, value in self._stored_fields()}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """Rebuilds the task that `to_json` described."""
        fields: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in stored.items()}
        return cls(**fields)

    def differs_from(self, other: Task) -> bool:
        same_goal = self.answer is None and isinstance(other, PlayhouseTask) and self._goal() == other._goal()
        return not same_goal and super().differs_from(other)

    def is_done(self, facts: HouseFacts) -> bool:
        """Tests whether an instruction is carried out at this moment; False for questions."""
        return False

    def success(self, facts: HouseFacts, said: Sequence[str]) -> bool:
        return self.is_done(facts)

    def progress(self, facts: HouseFacts) -> float:
        return 1.0 if self.is_done(facts) else self.partial_progress(facts)

    def partial_progress(self, facts: HouseFacts) -> float:
        """Returns the progress in [0, 1] of a task that is not done."""
        return 0.0

    def measure(self, facts: HouseFacts) -> Mapping[str, float]:
        """Returns the values of `baseline` for a task that is set at this moment."""
        return {}

    def with_baseline(self, facts: HouseFacts) -> Self:
        """Returns the same task, set at this moment."""
        return replace(self, baseline=self.measure(facts))

    def misread(self, world: World, rng: np.random.Generator) -> Task:
        return self.misinterpreted(world.facts(), rng)

    def misinterpreted(self, facts: HouseFacts, rng: np.random.Generator) -> PlayhouseTask:
        """Returns a plausible misinterpretation, set at this moment, or the task itself if it has none."""
        other = self.misreading(facts, rng)
        return self if other is None else other.with_baseline(facts)

    def misreading(self, facts: HouseFacts, rng: np.random.Generator) -> PlayhouseTask | None:
        """Draws a misinterpretation, still without a baseline; None if the task cannot be misinterpreted."""
        return None

    def _goal(self) -> list[str]:
        """The values of the fields apart from the wording. Sorted, as "x next to y" is the same as "y next to x"."""
        wording = ("instruction", "cue", "modifier", "baseline")
        values = [value for name, value in self._stored_fields() if name not in wording]
        parts = [value._goal() if isinstance(value, PlayhouseTask) else [repr(value)] for value in values]
        return sorted(chain.from_iterable(parts))

    def _stored_fields(self) -> Iterator[tuple[str, Any]]:
        for each in fields(self):
            value = getattr(self, each.name)
            if value or each.name not in FIELDS_OMITTED_IF_EMPTY:
                yield each.name, value


def _json_value(value: Any) -> Any:
    if isinstance(value, PlayhouseTask):
        return value.to_json()
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, tuple) else value


@dataclass(frozen=True, kw_only=True)
class Potential:
    """Weights of the stages of fetching an object and carrying it to a place.

    Before the object is held the potential is `looking * (look + approach * nearness) + keep * carried`, while it is
    held it is `hold + carry * carried`; `looking`, `nearness` and `carried` are in [0, 1].
    """

    look: float  # for turning towards the object
    approach: float  # for the way to it, with the object in view
    hold: float = 0.0  # for holding it
    carry: float = 0.0  # for carrying it to the place
    keep: float = 0.0  # for having carried it, once it is let go

    def __call__(self, *, looking: float, nearness: float, held: bool, carried: float = 0.0) -> float:
        if held:
            return self.hold + self.carry * carried
        return looking * (self.look + self.approach * nearness) + self.keep * carried


# Bring an object to a place and let go of it there.
CARRY_AND_RELEASE = Potential(look=0.1, approach=0.1, hold=0.45, carry=0.35, keep=0.35)


def fraction_covered(start: float, remaining: float, goal: float) -> float:
    """Returns the fraction in [0, 1] of the distance from `start` down to `goal` that is covered (meters)."""
    if remaining <= goal:
        return 1.0
    return float(np.clip((start - remaining) / max(start - goal, 1e-6), 0.0, 1.0))


def ramp_down(value: float, limits: tuple[float, float]) -> float:
    """Returns 1 up to the lower limit, 0 from the upper one on, and interpolates linearly in between."""
    low, high = limits
    return float(np.clip((high - value) / (high - low), 0.0, 1.0))


Sampler = Callable[[TaskContext, np.random.Generator], PlayhouseTask]  # raises InfeasibleTask


@dataclass(frozen=True)
class TaskKind:
    """One kind of task. Defined in the module of its task by `task_kind` and listed in `tasks/kinds.py`."""

    name: str
    task: type[PlayhouseTask]
    sample: Sampler
    wordings: tuple[str, ...] = ()  # all templates of its instruction
    probe_steps: int = 0  # time limit of a probe if a competent solver often needs more steps than for most kinds
    usual: bool = False  # sampled by default; other kinds only if the configuration names them


def task_kind(
    name: str, task: type[PlayhouseTask], *wordings: tuple[str, ...], probe_steps: int = 0, usual: bool = False
) -> Callable[[Sampler], TaskKind]:
    """Decorates a sampler, which becomes the kind of task that it samples."""
    texts = tuple(chain(*wordings))
    return lambda sample: TaskKind(name, task, sample, texts, probe_steps, usual)
