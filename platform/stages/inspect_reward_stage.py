"""Inspect the reward model: measures it on the run's held-out episodes, and writes a page of figures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from interplay.agent.inference_device import InferenceDevice
from interplay.agent.network import Agent
from interplay.core.files import check_replaceable
from interplay.evaluation import findings
from interplay.evaluation.inspection_page import NUMBERS, PAGE, write_inspection
from interplay.evaluation.reward_inspection import InspectedEpisode
from interplay.learner.checkpoint import CheckpointError
from interplay.reward.diagnostics import batches, ordered_pairs, utilities
from interplay.stages.heldout_episodes import HeldOutEpisodes
from interplay.stages.returns_ledger import RETURNS, reward_points
from interplay.stages.reward_evaluation import answer_rewards, heldout_of
from interplay.stages.reward_source import scoring_device
from interplay.stages.run import Run, closes_worlds


@closes_worlds
def inspect_reward(run: Run) -> Path:
    """Writes `reward-inspection.html` and `reward-inspection.json` into the folder of the run's round.

    Returns the path of the page. Needs the reward model and its held-out episodes, without those that can no longer be
    read; the return through reinforcement is left out where that has not run.

    The model computes where and as in `reinforce`; see `scoring_device`.

    Raises:
        CheckpointError: there is no reward model yet, or no held-out episode.
        OtherWorld: a held-out episode was recorded in another version of the world.
        ValueError: there is no such device as `reinforce.learner.device`.
        OSError: see `check_replaceable`.
    """
    check_replaceable(run.folder / NUMBERS, run.folder / PAGE)
    found = heldout_of(run)
    if found is None:
        raise _nothing_to_inspect(run)
    on = scoring_device(run)
    episodes = list(_inspected(found.model, found.heldout, on))
    if not episodes:
        raise _nothing_to_inspect(run)
    answers = findings.answer_rewards(answer_rewards(run, found, on))
    points = reward_points(run.stage("reinforce").path / RETURNS)
    return write_inspection(run.folder, run.config.run.name, episodes, points, answers)


def _nothing_to_inspect(run: Run) -> CheckpointError:
    return CheckpointError(
        f"{run.root} has no reward model with held-out episodes to inspect; type: {run.command('reward')}"
    )


def _inspected(model: Agent, heldout: HeldOutEpisodes, on: InferenceDevice) -> Iterator[InspectedEpisode]:
    """The readable held-out episodes as the model sees them, a batch at a time."""
    others = heldout.other_instructions() if model.layout.world.utterances else {}
    swapped = heldout.measure(model, heard=others, on=on).returns if others else np.zeros(0)
    for batch in batches([episode.steps + 1 for episode in heldout.episodes]):
        arrays = dict(heldout.readable(batch))
        found = utilities(model, list(arrays.values()), on=on) if arrays else []
        for (index, own), utility in zip(arrays.items(), found, strict=True):
            pairs, tasks = ordered_pairs(utility, own), heldout.episodes[index].tasks
            yield InspectedEpisode(
                kind=str(tasks[0][1]["kind"]) if tasks else "",
                gaps=pairs.gaps,
                margins=pairs.margins.astype(np.float64),
                modeled_return=float(utility[-1] - utility[0]),
                succeeded=None if np.isnan(done := heldout.success[index]) else bool(done),
                swapped_return=float(swapped[index]) if index in others else None,
            )
