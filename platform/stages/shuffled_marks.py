"""Marks whose times and signs are shuffled within an episode, for comparisons with the true ones.

If nearly all marks are positive, they still teach that later is better: see docs/results.md.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import numpy as np

from interplay.episodes.episode import Mark
from interplay.episodes.snapshot import Snapshot
from interplay.runtime.seeding import numpy_generator


class ShuffledMarks(Snapshot):
    """A snapshot whose `marks` are those of the file with shuffled times and signs.

    The shuffle of an episode's marks by one rater depends only on `seed`, the episode and the rater, so that all
    processes, all passes over an episode and resumed runs read the same marks.
    """

    def __init__(self, path: Path | str, *, seed: int, frames_per_step: int) -> None:
        super().__init__(path)
        self._seed, self._frames_per_step = seed, frames_per_step
        self._steps = {entry.id: entry.steps for entry in self.entries()}

    def marks(self, episodes: Collection[str] | None = None, rater: str | None = None) -> list[Mark]:
        """The shuffled marks, by episode, rater and frame."""
        shuffled: list[Mark] = []
        for (episode, who), group in groupby(super().marks(episodes, rater), lambda mark: (mark.episode, mark.rater)):
            rng = numpy_generator(self._seed, "shuffled marks", episode, who)
            shuffled += shuffle(list(group), self._steps[episode], self._frames_per_step, rng)
        return sorted(shuffled, key=lambda mark: (mark.episode, mark.rater, mark.frame, mark.id))


def shuffle(marks: Sequence[Mark], steps: int, frames_per_step: int, rng: np.random.Generator) -> list[Mark]:
    """Moves one rater's marks of an episode of `steps` steps to other steps, and exchanges their signs.

    Every step is mapped to another by a uniform permutation: marks of one step stay together, and as many steps have
    marks as before. The signs are permuted among the marks.
    """
    step_of = rng.permutation(steps)
    signs = rng.permutation([mark.sign for mark in marks])
    last = steps - 1
    return [
        replace(
            mark,
            frame=int(step_of[min(mark.frame // frames_per_step, last)]) * frames_per_step
            + mark.frame % frames_per_step,
            sign=int(sign),
        )
        for mark, sign in zip(marks, signs, strict=True)
    ]
