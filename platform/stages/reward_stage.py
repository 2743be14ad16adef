"""The reward stage: trains a model of the raters' marks (IBT or AR), from the agent's weights, with cloning and CSS."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from interplay.agent.network import Agent
from interplay.episodes.catalog_index import EpisodeFilter
from interplay.episodes.snapshot import Snapshot
from interplay.stages.episode_snapshot import (
    TRAIN,
    freeze_once,
    training_marks,
    warn_of_agent,
    warn_of_newer_data,
)
from interplay.stages.heldout_episodes import HeldOutEpisodes, read_heldout
from interplay.stages.process_layout import create_learner, demonstration_source
from interplay.stages.run import Run, closes_worlds
from interplay.stages.shared_parts import Demonstrations, checkpoint_of, start_from
from interplay.stages.stage_config import RewardConfig
from interplay.stages.trainees import ImitationTrainee
from interplay.stages.training_loop import train_stage
from interplay.stages.word_coverage import check_start_coverage

logger = logging.getLogger(__name__)

STAGE = "reward"
SHOWN = {  # on the progress line, by kind of model
    "ibt": {"ibt": "ibt", "pairs right": "ibt_accuracy", "held-out": "heldout_pair_accuracy"},
    "ar": {"marks": "marks", "signs right": "marks_sign_accuracy", "held-out": "heldout_mark_auc"},
}


@closes_worlds
def train_reward(run: Run) -> None:
    """Trains `runs/<name>/reward` or resumes it; does nothing if it is done.

    Trains on the marked episodes of the split "train"; with `reward.model=ar` also on those that raters left without a
    mark. During training it measures how well the model orders the marked moments of held-out episodes; their marks are
    the true ones also with `reward.shuffle_marks`.

    Raises:
        ValueError: there are no marked episodes, or the augmentation does not suit the agent.
        CheckpointError: there is no checkpoint to start from, or its vocabulary lacks the words of the episodes.
        Interrupted: a signal requested a stop; everything is saved.
    """
    folder, config = run.stage(STAGE), run.config.reward
    clock = run.begin(STAGE, reward_settings(run))
    rated = _rated(config)
    if folder.finished_at(config.training.updates):
        warn_of_newer_data(run, STAGE, rated, config.raters, config.marked_share)
        return
    start = checkpoint_of(run, config.start)
    warn_of_agent(run, STAGE, config.start)
    snapshot = freeze_once(run, STAGE, rated, "mark", config.dataset.mix, config.raters, config.marked_share)
    check_start_coverage(run, config.start, snapshot)
    trainee = build(run, snapshot)
    show = SHOWN[config.model]
    start_shown = None if config.from_scratch else start
    train_stage(run, STAGE, clock, config.training, trainee, snapshot=snapshot, show=show, start=start_shown)
    learned_from = snapshot.select(replace(rated, split=TRAIN))
    clock.finish(episodes=len(learned_from), marks=len(training_marks(snapshot)))


def build(run: Run, snapshot: Snapshot) -> ImitationTrainee:
    """The reward model with its first weights, its learner, its source of demonstrations and its measurement.

    Raises:
        ValueError: the augmentation does not suit the agent.
    """
    config, rated = run.config.reward, _rated(run.config.reward)
    agent, vocabulary = start_from(
        run, config.start, head="utility" if config.model == "ibt" else "marks", from_scratch=config.from_scratch
    )
    _check_mirror(config.augmentation.mirror, agent)
    _warn_without_swaps(run, agent)
    ids = snapshot.select(replace(rated, split="heldout"))[: config.heldout_episodes]
    with run.busy("reads held-out episodes") as beat:
        cache = config.dataset.cache_mb * 2**20
        every = config.model == "ar"
        heldout = read_heldout(snapshot, ids, run.make_world(), agent, vocabulary, beat, cache, every_rater=every)
    demonstrations = Demonstrations(
        STAGE,
        snapshot.path,
        agent.layout,
        vocabulary,
        config.dataset,
        replace(rated, split=TRAIN),
        config.augmentation,
        config.shuffle_marks,
    )
    return ImitationTrainee(
        agent=agent,
        vocabulary=vocabulary,
        learner=create_learner(run, STAGE, config.learner, agent, config.dataset.lanes),
        demonstrated=demonstration_source(run, demonstrations, config.learner, overlap=run.config.runtime.overlap),
        ledger=run.stage(STAGE).ledger,
        beat=run.beat,
        measure=partial(_measured, run, heldout, agent) if len(heldout) else None,
        measure_every=config.measure_every,
    )


def _rated(config: RewardConfig) -> EpisodeFilter:
    """The episodes to learn from. Where the model predicts marks, a rater that watched one and left no mark is an
    example, too."""
    return EpisodeFilter(marked=True) if config.model == "ibt" else EpisodeFilter(rated=True)


def reward_settings(run: Run) -> dict[str, Any]:
    """The settings that may not change when the stage is resumed."""
    return {"reward": run.config.reward, "start": run.config.reward.start, "seed": run.seed}


def _check_mirror(mirror: float, agent: Agent) -> None:
    if mirror and agent.previous is not None:
        raise ValueError(
            f"{STAGE}.augmentation.mirror={mirror:g} mirrors pictures but not actions, and this agent sees its "
            f"previous action: set {STAGE}.augmentation.mirror=0, or agent.previous_action=false"
        )


def _warn_without_swaps(run: Run, agent: Agent) -> None:
    """Logs a warning if the lanes of a reader are too few for one with swapped episodes."""
    config, readers = run.config.reward, run.config.runtime.datasets
    swaps, lanes = config.augmentation, config.dataset.lanes // readers
    wanted = swaps.swaps == "lanes" and swaps.probability > 0 and agent.layout.world.utterances
    if wanted and not swaps.swapped_lanes(lanes):
        least = math.floor(0.5 * (1 + swaps.probability) / swaps.probability) + 1
        logger.warning(
            "no lane shows swapped episodes: of %d lanes, the share p / (1 + p) with p=%s.augmentation.probability=%g "
            "is less than half a lane. Set %s.dataset.lanes=%d, or %s.augmentation.swaps=windows",
            *(lanes, STAGE, swaps.probability, STAGE, least * readers, STAGE),
        )


def _measured(run: Run, heldout: HeldOutEpisodes, agent: Agent) -> Mapping[str, float]:
    with run.busy("measures") as beat:
        return heldout.metrics(agent, beat, run.config.reward.listening_episodes)
