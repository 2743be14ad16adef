"""What to judge next: continuations at random, with every scenario of every agent judged equally often."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np

from interplay.studio.judging.continuations import Continuations, RecordedContinuation
from interplay.studio.marks.assignment import Assignments, Choice
from interplay.studio.studies.study import Study


class JudgeChoice:
    """Chooses items of studies of the kind `judge`. `rng` is used for nothing else."""

    def __init__(self, continuations: Continuations, assignments: Assignments, rng: np.random.Generator) -> None:
        self._continuations = continuations
        self._assignments = assignments
        self._rng = rng

    def wanted(self, person: str, study: Study) -> list[str]:
        """The recordings of continuations that the person may be given next."""
        every = [each.id for each in self._continuations.chosen(study.continuations)]
        return self._assignments.wanted(person, study, every)

    def next(self, person: str, study: Study) -> Choice | None:
        """The next item of a person; None if nothing is left for it.

        It is drawn from the scenarios of agents that were judged least, so that a study that is stopped early compares
        all agents. Continuations that someone has begun come first, until they have enough verdicts.
        """
        every = {each.id: each for each in self._continuations.chosen(study.continuations)}
        wanted = self._assignments.wanted(person, study, list(every))
        if not wanted:
            return None
        taken = self._assignments.taken(study.name)
        judged: Counter[tuple[str, ...]] = Counter()
        for name, count in taken.items():
            if name in every:
                judged[_cell(every[name])] += count
        most = max(taken[name] for name in wanted)
        cells: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for name in wanted:
            if taken[name] == most:
                cells[_cell(every[name])].append(name)
        least = min(judged[cell] for cell in cells)
        fewest = [cell for cell in cells if judged[cell] == least]
        cell = fewest[int(self._rng.integers(len(fewest)))]
        name = cells[cell][int(self._rng.integers(len(cells[cell])))]
        return Choice(name, "judge", "balanced", 1 / (len(fewest) * len(cells[cell])))

    def progress(self, study: Study) -> tuple[int, int]:
        """How many verdicts there are, and how many are wanted."""
        return self._assignments.progress(study, [each.id for each in self._continuations.chosen(study.continuations)])


def _cell(continuation: RecordedContinuation) -> tuple[str, ...]:
    return continuation.folder, continuation.agent, continuation.scenario
