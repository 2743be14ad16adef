"""Questions about the blocks that stand: color, count and existence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from interplay.env.task import Task, same_words
from interplay.env.voxel.plans.grammar import NUMBERS
from interplay.env.voxel.space import COLORS, Cell


@dataclass(frozen=True)
class BlockQuestion(Task):
    """A question with one true answer, which was true when it was asked."""

    kind: str
    instruction: str
    answer: str
    about: tuple[Cell, ...] = ()  # the blocks to look at, one at least if there are any
    cue: str | None = None
    modifier: str | None = None

    def to_json(self) -> Mapping[str, Any]:
        fields: dict[str, Any] = {
            "kind": self.kind,
            "instruction": self.instruction,
            "answer": self.answer,
            "about": [list(cell) for cell in self.about],
        }
        return fields | {name: getattr(self, name) for name in ("cue", "modifier") if getattr(self, name) is not None}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> BlockQuestion:
        """The question whose `to_json` returned these fields."""
        about = tuple((y, x, z) for y, x, z in fields["about"])
        rest = {name: fields.get(name) for name in ("cue", "modifier")}
        return cls(fields["kind"], fields["instruction"], fields["answer"], about, **rest)

    def success(self, facts: Any, said: Sequence[str]) -> bool:
        return bool(said) and same_words(said[0], self.answer)

    def progress(self, facts: Any) -> float:
        return 0.0

    def misread(self, world: Any, rng: np.random.Generator) -> Task:
        wrong = [answer for answer in self._answers() if answer != self.answer]
        return replace(self, answer=wrong[int(rng.integers(len(wrong)))])

    def _answers(self) -> Sequence[str]:
        if self.kind == "color":
            return COLORS
        if self.kind == "exist":
            return ("yes", "no")
        count = NUMBERS.index(self.answer)
        return [NUMBERS[number] for number in (count - 1, count + 1) if 0 <= number < len(NUMBERS)]
