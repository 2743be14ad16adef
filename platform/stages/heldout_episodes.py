"""Held-out episodes for measuring a reward model during and after training, in bounded memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from interplay.actors.row_writer import RowWriter
from interplay.agent.inference_device import InferenceDevice
from interplay.agent.network import Agent
from interplay.agent.observation import Arrays
from interplay.env.world import World
from interplay.episodes.decoded_episode import DecodedEpisode, resimulate
from interplay.episodes.encoding import iter_readable
from interplay.episodes.episode import Episode, EpisodeMeta
from interplay.episodes.lane_reader import EpisodeSource
from interplay.episodes.snapshot import Snapshot
from interplay.episodes.transcript import dialogue
from interplay.episodes.vocabulary import Vocabulary
from interplay.reward.diagnostics import (
    Agreement,
    agreement,
    batches,
    mark_prediction,
    other_instructions,
    returns,
    utilities,
    with_instruction,
)
from interplay.reward.listening_gap import ListeningGap, episode_mean, joined_gaps, listening_gap
from interplay.stages.run import ReportActivity, ignore_activity

T = TypeVar("T")

CACHE_BYTES = 2**30
LEFT_OUT = "left out of measurements on held-out episodes"


class Measured(NamedTuple):
    """Measurements of a reward model on held-out episodes."""

    returns: NDArray[np.float64]  # [episodes], modeled; NaN for episodes that can no longer be read
    agreement: Agreement  # of the model's order of moments with that of the raters


@dataclass(frozen=True)
class HeldOutEpisodes:
    """Whole episodes, and their true outcomes. Decoded ones stay in memory within the budget of `source` only.

    Measurements leave out an episode whose file can no longer be read, as one that was deleted since, and log it.
    """

    episodes: Sequence[EpisodeMeta]
    marks: Sequence[int]  # [episodes]
    source: EpisodeSource
    judge: Callable[[str], bool | None]  # whether an episode, by its id, ended well: see `succeeded`
    writer: RowWriter

    def __len__(self) -> int:
        return len(self.episodes)

    def first(self, count: int) -> HeldOutEpisodes:
        """The first `count` of the episodes, or all if there are fewer."""
        return replace(self, episodes=self.episodes[:count], marks=self.marks[:count])

    @cached_property
    def success(self) -> NDArray[np.float64]:
        """1 for episodes that succeeded in truth, 0 for those that failed, NaN where it is unknown or they can't be
        read any more, [episodes]; computed at the first use, by simulating all of them."""
        judged = [self.if_readable(index, partial(self.judge, each.id)) for index, each in enumerate(self.episodes)]
        return np.array(judged, np.float64)

    def if_readable(self, index: int, read: Callable[[], T]) -> T | None:
        """The result of `read` for an episode; None if its file can no longer be read."""
        return self.source.unreadable.read(self.episodes[index].id, read)

    def decoded(self, index: int) -> DecodedEpisode | None:
        """An episode with its observations; None if its file can no longer be read."""
        return self.source.get(self.episodes[index].id)

    def readable(self, indices: Iterable[int]) -> Iterator[tuple[int, Arrays]]:
        """The index of each of these episodes and its arrays [N + 1, 1, ...], with the marks of one of its raters,
        without those that can no longer be read."""
        for index in indices:
            if (episode := self.decoded(index)) is not None:
                yield index, self.writer.encode_episode(episode, index)

    def measure(
        self,
        model: Agent,
        *,
        heard: Mapping[int, NDArray[np.int16]] | None = None,
        on: InferenceDevice | None = None,
        beat: ReportActivity = ignore_activity,
    ) -> Measured:
        """Measures a reward model some episodes at a time; calls `beat` with the progress.

        `heard` gives episodes, by index, another instruction [L] than their own; `on`: see `utilities`.
        """
        others = heard or {}
        gains = np.full(len(self), np.nan)
        pairs, right = np.zeros(len(self), np.int64), np.zeros(len(self))
        for batch in batches([episode.steps + 1 for episode in self.episodes]):
            where = f"of episodes {batch.start + 1} to {batch.stop} of {len(self)}"
            shown = {
                index: with_instruction(own, others[index]) if index in others else own
                for index, own in self.readable(batch)
            }
            if shown:
                at, arrays = list(shown), list(shown.values())
                utility = utilities(model, arrays, on=on, beat=lambda row, where=where: beat(f"measures {row} {where}"))  # type: ignore[misc]
                agreed = agreement(utility, arrays)
                gains[at], pairs[at], right[at] = returns(utility), agreed.pairs, agreed.right
        return Measured(gains, Agreement(pairs, right))

    def listening(self, agent: Agent, most: int, beat: ReportActivity = ignore_activity) -> ListeningGap:
        """The listening gap of an agent on at most `most` of the episodes: own instruction against another of its kind.

        Calls `beat` with the progress. The gap is empty if no two instructions of a kind of task differ.
        """
        others = self.first(most).other_instructions()
        indices, gaps = list(others), list[ListeningGap]()
        for batch in batches([self.episodes[index].steps + 1 for index in indices]):
            arrays = dict(self.readable(indices[batch.start : batch.stop]))
            where = f"of episodes {batch.start + 1} to {batch.stop} of {len(indices)}"
            if arrays:
                gaps.append(
                    listening_gap(
                        agent,
                        list(arrays.values()),
                        [others[index] for index in arrays],
                        beat=lambda row, where=where: beat(f"measures listening: {row} {where}"),  # type: ignore[misc]
                    )
                )
        return joined_gaps(gaps)

    def metrics(
        self, model: Agent, beat: ReportActivity = ignore_activity, listening_episodes: int = 0
    ) -> Mapping[str, float]:
        """Metrics logged during training; calls `beat` with the progress of the measurement.

        Those of listening are of the first `listening_episodes`; a world without utterances has none.
        """
        measured = self.measure(model, beat=beat)
        metrics = {"heldout_pair_accuracy": measured.agreement.accuracy}
        metrics["heldout_episodes"] = float(np.isfinite(measured.returns).sum())
        few = self.first(listening_episodes)
        hears = model.layout.world.utterances
        others = few.other_instructions() if hears else {}
        if others and model.utility is not None:
            lost = measured.returns[: len(few)] - few.measure(model, heard=others, beat=beat).returns
            metrics |= episode_mean("heldout_utility_listening", lost[[*others]])
        if hears:
            metrics |= few.listening(model, listening_episodes, beat).metrics()
        if model.marks is not None and metrics["heldout_episodes"]:
            found = mark_prediction(model, (arrays for _, arrays in self.readable(range(len(self)))))
            metrics |= {"heldout_mark_auc": found.auc, "heldout_mark_likelihood": found.likelihood}
            metrics["heldout_mark_sign_accuracy"] = found.sign_accuracy
        model.train()
        return metrics

    def other_instructions(self, *, same_kind: bool = True) -> dict[int, NDArray[np.int16]]:
        """The instruction [L] of another episode for each episode, by index; of the same kind of task, or of any."""
        kinds = [str(meta.tasks[0][1].get("kind", "")) if meta.tasks else "" for meta in self.episodes]
        # The first utterance that the solver of each episode heard, [L]; zeros without one.
        heard = [self.writer.first_heard(episode) for episode in self.episodes]
        return other_instructions(heard, kinds if same_kind else None)


def read_heldout(
    snapshot: Snapshot,
    ids: Sequence[str],
    world: World,
    agent: Agent,
    vocabulary: Vocabulary,
    beat: ReportActivity = ignore_activity,
    cache_bytes: int = CACHE_BYTES,
    *,
    every_rater: bool = False,
) -> HeldOutEpisodes:
    """Reads the readable ones of these episodes; calls `beat` before each. `every_rater`: see `EpisodeSource`."""
    clicks, metas = Counter(mark.episode for mark in snapshot.marks(ids)), list[EpisodeMeta]()
    for number, episode in enumerate(iter_readable(snapshot, ids), 1):
        beat(f"reads held-out episode {number} of {len(ids)}")
        metas.append(episode.meta)
    return HeldOutEpisodes(
        episodes=metas,
        marks=[clicks[meta.id] for meta in metas],
        source=EpisodeSource(
            snapshot, world, world.spec.solver, cache_bytes, every_rater=every_rater, consequence=LEFT_OUT
        ),
        judge=lambda episode: succeeded(world, snapshot.read(episode)),
        writer=RowWriter(agent.layout, vocabulary),
    )


def succeeded(world: World, episode: Episode) -> bool | None:
    """Whether more than half of the episode's tasks were done in truth, each when it was judged; None without a task,
    as where a learned setter asks."""
    tasks = dialogue(episode.meta)
    said = episode.said(world.spec.solver)
    done = []
    for row, _, present in resimulate(world, episode, observers=()):
        for task in tasks:
            if task.judged == row:
                done.append(present.tasks().load(task.fields).success(present.facts(), task.answers(said)))
    return 2 * sum(done) > len(done) if tasks else None
