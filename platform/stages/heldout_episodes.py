"""Held-out episodes, decoded once, for measuring a reward model while it is trained and after."""

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
from interplay.episodes.dialogue import dialogue
from interplay.episodes.episode import Episode
from interplay.episodes.readable_episodes import iter_readable
from interplay.episodes.resimulation import resimulate
from interplay.episodes.snapshot import Snapshot
from interplay.episodes.vocabulary import Vocabulary
from interplay.reward.diagnostics import Agreement, agreement, returns, swapped, utilities
from interplay.stages.run import ReportActivity, ignore_activity


@dataclass(frozen=True)
class HeldOutEpisodes:
    """Whole episodes as arrays [N + 1, 1, ...], and what is true about them."""

    decoded: Sequence[DecodedEpisode]
    arrays: Sequence[Arrays]
    success: NDArray[np.bool_]  # [episodes]: see `succeeded`

    def agreement(self, model: Agent) -> Agreement:
        """How far the model orders moments as the raters did."""
        return agreement(utilities(model, self.arrays), self.arrays)

    def returns(self, model: Agent, *, swap: bool = False) -> NDArray[np.float64]:
        """Modelled returns [episodes]; with `swap`, as if each had been asked for something else."""
        return returns(utilities(model, swapped(self.arrays) if swap else self.arrays))

    def metrics(self, model: Agent, beat: ReportActivity = ignore_activity) -> Mapping[str, float]:
        """What is logged while the model is trained; `beat` is told how far the measurement is."""
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
    """Decodes these episodes of a snapshot, those that can be read; `beat` is told of each."""
    writer, role = RowWriter(agent.layout, vocabulary), world.spec.solver
    decoded, success = [], []
    for number, episode in enumerate(iter_readable(snapshot, ids), 1):
        beat(f"reads held-out episode {number} of {len(ids)}")
        decoded.append(decode_for_role(episode, role, marks=snapshot.marks([episode.meta.id]), world=world))
        success.append(succeeded(world, episode))
    arrays = [writer.encode_episode(episode, passage) for passage, episode in enumerate(decoded)]
    return HeldOutEpisodes(decoded, arrays, np.array(success, bool))


def succeeded(world: World, episode: Episode) -> bool:
    """Was the episode's task done at its end, in truth; of several tasks, were more done than not, each at its end."""
    asked = dialogue(episode.meta)
    said = episode.said(world.spec.solver)
    done = []
    for row, _, present in resimulate(world, episode, observers=()):
        for task in asked:
            if task.judged == row:
                done.append(present.tasks().load(task.fields).success(present.facts(), task.answers(said)))
    return 2 * sum(done) > len(done)
