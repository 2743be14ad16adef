"""Held-out episodes, decoded once, for measuring a reward model during and after training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from interplay.actors.row_writer import RowWriter
from interplay.agent.network import Agent
from interplay.agent.observation import Arrays
from interplay.env.world import World
from interplay.episodes.decoded_episode import DecodedEpisode, decode_for_role
from interplay.episodes.encoding import iter_readable
from interplay.episodes.episode import Episode
from interplay.episodes.resimulation import resimulate
from interplay.episodes.snapshot import Snapshot
from interplay.episodes.transcript import dialogue
from interplay.episodes.vocabulary import Vocabulary
from interplay.reward.diagnostics import Agreement, agreement, returns, swapped, utilities
from interplay.stages.run import ReportActivity, ignore_activity


@dataclass(frozen=True)
class HeldOutEpisodes:
    """Whole episodes as arrays [N + 1, 1, ...], and their true outcomes."""

    decoded: Sequence[DecodedEpisode]
    arrays: Sequence[Arrays]
    success: NDArray[np.bool_]  # [episodes]: see `succeeded`

    def agreement(self, model: Agent) -> Agreement:
        """Agreement of the model's order of moments with that of the raters."""
        return agreement(utilities(model, self.arrays), self.arrays)

    def returns(self, model: Agent, *, swap: bool = False) -> NDArray[np.float64]:
        """Modeled returns [episodes]; with `swap`, under the instruction of another episode."""
        return returns(utilities(model, swapped(self.arrays) if swap else self.arrays))

    def metrics(self, model: Agent, beat: ReportActivity = ignore_activity) -> Mapping[str, float]:
        """Metrics logged during training; calls `beat` with the progress of the measurement."""
        utility = utilities(model, self.arrays, beat=beat)
        model.train()
        return {"heldout_pair_accuracy": agreement(utility, self.arrays).accuracy}


def read_heldout(
    snapshot: Snapshot,
    ids: Sequence[str],
    world: World,
    agent: Agent,
    vocabulary: Vocabulary,
    beat: ReportActivity = ignore_activity,
) -> HeldOutEpisodes:
    """Decodes the readable ones of these episodes; calls `beat` before each."""
    writer, role = RowWriter(agent.layout, vocabulary), world.spec.solver
    decoded, success = [], []
    for number, episode in enumerate(iter_readable(snapshot, ids), 1):
        beat(f"reads held-out episode {number} of {len(ids)}")
        decoded.append(decode_for_role(episode, role, marks=snapshot.marks([episode.meta.id]), world=world))
        success.append(succeeded(world, episode))
    arrays = [writer.encode_episode(episode, passage) for passage, episode in enumerate(decoded)]
    return HeldOutEpisodes(decoded, arrays, np.array(success, bool))


def succeeded(world: World, episode: Episode) -> bool:
    """Whether more than half of the episode's tasks were done in truth, each when it was judged."""
    tasks = dialogue(episode.meta)
    said = episode.said(world.spec.solver)
    done = []
    for row, _, present in resimulate(world, episode, observers=()):
        for task in tasks:
            if task.judged == row:
                done.append(present.tasks().load(task.fields).success(present.facts(), task.answers(said)))
    return 2 * sum(done) > len(done)
