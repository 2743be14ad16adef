"""What to mark next: which episode a person is given, by the rule of the study, with checks mixed in."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from interplay.core.files import write_whole
from interplay.episodes.catalog_index import CatalogEntry, EpisodeFilter
from interplay.episodes.encoding import DamagedEpisode, UnknownFormat
from interplay.episodes.store import EpisodeStore
from interplay.stages.live_config import SETTER
from interplay.stages.score_files import MEMORIES, changing_scores
from interplay.studio.marks.assignment import Assignments, Choice
from interplay.studio.marks.novelty import forget, novelty
from interplay.studio.studies.study import Study

AGREED = "agreed:"  # rater of adjudicated marks: agreed:p-xxxxxx
SWAP_CANDIDATES = 6  # episodes that are read to find one whose request can be exchanged
NOVEL = "novel"
SCORED = ("uncertain", "disagree", NOVEL)  # orders by what `interplay score` has written


class MarkChoice:
    """Chooses items of a study. `rng` is used for nothing else; `scores` is the file of `interplay score`."""

    def __init__(self, store: EpisodeStore, assignments: Assignments, rng: np.random.Generator, scores: Path) -> None:
        self._store = store
        self._assignments = assignments
        self._rng = rng
        self._scores = scores

    def scores(self, order: str) -> dict[str, float]:
        """The score of each recording under an order of a reward model; none before `interplay score`."""
        if order == NOVEL:  # depends on what has been marked since
            return novelty(self._scores.with_name(MEMORIES), self._store.raters().keys())
        if not self._scores.exists():
            return {}
        found: dict[str, float] = json.loads(self._scores.read_bytes())[order]
        return found

    def forget(self, episodes: Collection[str]) -> None:
        """Removes recordings that the store no longer lists from the scores, and what a model remembers of them."""
        with changing_scores(self._scores.parent):
            forget(self._scores.with_name(MEMORIES), episodes)
            if self._scores.exists():
                written = json.loads(self._scores.read_bytes())
                for order in set(SCORED) & written.keys():
                    written[order] = {name: score for name, score in written[order].items() if name not in episodes}
                write_whole(self._scores, json.dumps(written) + "\n")

    def next(self, person: str, study: Study) -> Choice | None:
        """The next item of a person; None if nothing is left for it."""
        wanted = self.wanted(person, study)
        if not wanted:  # no gold either: the study is over for this person, and may have shown its code
            return None
        had = {each.episode for each in self._assignments.of_person(person, study.name)}
        hidden = had | self._assignments.unusable(study.name)
        chance = float(self._rng.random())
        if chance < study.checks.gold_share and (gold := self._gold(study, hidden)) is not None:
            return gold
        if study.checks.gold_share <= chance < study.checks.gold_share + study.checks.swapped_share:
            swapped = self._swapped(wanted)
            if swapped is not None:
                return swapped
        return self._ordered(study, wanted, self._assignments.taken(study.name))

    def wanted(self, person: str, study: Study) -> list[CatalogEntry]:
        """The episodes of a study that the person may be given next."""
        entries = {entry.id: entry for entry in self.episodes(study)}
        return [entries[name] for name in self._assignments.wanted(person, study, list(entries))]

    def episodes(self, study: Study) -> list[CatalogEntry]:
        """The episodes that a study is about."""
        chosen = study.episodes
        kinds: Mapping[str, tuple[str, ...]] = {"solver": chosen.solver} if chosen.solver else {}
        return self._store.entries(
            EpisodeFilter(split=chosen.split, round=chosen.round, kinds=kinds, tasks=chosen.tasks)
        )

    def progress(self, study: Study) -> tuple[int, int]:
        """How many times the episodes of a study were marked, and how many times are wanted."""
        return self._assignments.progress(study, [entry.id for entry in self.episodes(study)])

    def withdrawn(self) -> set[str]:
        """The episodes that were deleted or left out."""
        return {*self._store.deleted(), *self._store.flags()}

    def golds(self) -> set[str]:
        """The listed episodes that were adjudicated, with or without a mark."""
        raters = self._store.raters()
        agreed = {episode for episode, names in raters.items() if any(name.startswith(AGREED) for name in names)}
        return agreed.intersection(self._store.ids())

    def _ordered(self, study: Study, wanted: Sequence[CatalogEntry], taken: Counter[str]) -> Choice:
        """One of the episodes by the study's order; those that others have begun come first."""
        most = max(taken[entry.id] for entry in wanted)
        begun = [entry for entry in wanted if taken[entry.id] == most]
        preferred = self._preferred(study, begun)
        share = study.random_share if preferred else 1.0
        rule, among = study.order, list(preferred)
        if not preferred or self._rng.random() < share:
            rule, among = "random", [entry.id for entry in begun]
        chosen = among[int(self._rng.integers(len(among)))]
        probability = share / len(begun)  # by either rule, whichever has drawn it
        if chosen in preferred:
            probability += (1 - share) / len(preferred)
        score = None if rule == "random" else preferred[chosen]
        return Choice(chosen, "mark", rule, probability, score)

    def _preferred(self, study: Study, begun: Sequence[CatalogEntry]) -> dict[str, float]:
        """The episodes that come first in the study's order, equally likely, with their scores; none in a random order,
        or before anything is scored."""
        if study.order == "stratified":
            return self._least_marked(study, begun)
        scores: Mapping[str, float] = {}
        if study.order == "newest":
            scores = {entry.id: entry.created for entry in begun}
        elif study.order in SCORED:
            scores = self.scores(study.order)
        scored = [entry.id for entry in begun if entry.id in scores]
        return {each: scores[each] for each in [max(scored, key=scores.__getitem__)]} if scored else {}

    def _least_marked(self, study: Study, entries: Sequence[CatalogEntry]) -> dict[str, float]:
        """The episodes of the kinds of task that were marked least so far, with how often these were."""
        kinds = {entry.id: entry.task_kinds[0] if entry.task_kinds else "" for entry in self.episodes(study)}
        done = self._assignments.taken(study.name)
        marked = Counter(kinds[episode] for episode in done.elements() if episode in kinds)
        least = min(marked[kinds[entry.id]] for entry in entries)
        return {entry.id: float(least) for entry in entries if marked[kinds[entry.id]] == least}

    def _gold(self, study: Study, hidden: set[str]) -> Choice | None:
        qualifying = {*study.qualification.golds, *study.qualification.practice}
        left = sorted(self.golds() - hidden - qualifying)
        if not left:
            return None
        return Choice(left[int(self._rng.integers(len(left)))], "gold", "gold", 1 / len(left))

    def _swapped(self, wanted: Sequence[CatalogEntry]) -> Choice | None:
        """An episode with one request, shown with that of another episode."""
        order = self._rng.permutation(len(wanted))[:SWAP_CANDIDATES]
        asked: dict[str, list[str]] = {}
        for episode in (wanted[index].id for index in order):
            with suppress(DamagedEpisode, UnknownFormat):  # which is logged when it is given to someone
                utterances = self._store.meta(episode).utterances
                asked[episode] = [said.text for said in utterances if said.role == SETTER]
        for episode, texts in asked.items():
            others = sorted({text for other, found in asked.items() if other != episode for text in found})
            if len(texts) == 1 and (others := [text for text in others if text != texts[0]]):
                request = others[int(self._rng.integers(len(others)))]
                return Choice(episode, "swapped", "swapped", 1 / len(wanted), request=request)
        return None
