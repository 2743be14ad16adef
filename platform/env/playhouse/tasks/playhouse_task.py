"""Base of all tasks of the Playhouse: common fields, JSON form, and values measured at the start."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

import numpy as np

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

    def to_json(self) -> Mapping[str, Any]:
        """Returns all fields, tuples as lists; `cue`, `modifier` and `baseline` only if the task has them."""
        return {name: _json_value(value) for name, value in self._stored_fields()}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """Rebuilds the task that `to_json` described."""
        fields: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in stored.items()}
        return cls(**fields)

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
        """Returns a plausible misinterpretation, set at this moment, or the task itself if there is none."""
        other = self.misreading(facts, rng)
        return self if other is None else other.with_baseline(facts)

    def misreading(self, facts: HouseFacts, rng: np.random.Generator) -> PlayhouseTask | None:
        """Draws a misinterpretation, still without a baseline; None if the task cannot be misinterpreted."""
        return None

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
