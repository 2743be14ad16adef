"""The reinforce stage: improves the agent by V-trace on the reward, in worlds where recorded setters are replayed."""

from __future__ import annotations

import logging
from typing import Any

from interplay.core.files import JsonLines
from interplay.core.stall_watch import StallWatch
from interplay.episodes.catalog_index import EpisodeFilter
from interplay.episodes.snapshot import Snapshot
from interplay.learner import checkpoint
from interplay.runtime.inline import NoDemonstrations
from interplay.stages.episode_snapshot import freeze_once, warn_of_agent, warn_of_newer_data, warn_of_other_snapshot
from interplay.stages.heldout_listening import listening_measure, warn_unless_listening
from interplay.stages.heldout_returns import heldout_returns
from interplay.stages.process_layout import create_learner, demonstration_source
from interplay.stages.returns_ledger import RETURNS, ReturnsLedger, last_reward_model
from interplay.stages.reward_source import RewardModel, RewardSource, reward_source
from interplay.stages.rollout_parts import STAGE, check_tasks, replayed_episodes, rollout_source
from interplay.stages.rounds import check_newest
from interplay.stages.run import Run, closes_worlds
from interplay.stages.shared_parts import PEOPLE, Demonstrations, checkpoint_of, start_from, warn_of_unfinished_agent
from interplay.stages.stage_folder import StageFolder
from interplay.stages.trainees import ReinforcementTrainee
from interplay.stages.training_loop import train_stage
from interplay.stages.word_coverage import check_reward_coverage, check_setter_words, check_start_coverage

logger = logging.getLogger(__name__)


@closes_worlds
def reinforce(run: Run) -> None:
    """Trains `runs/<name>/reinforce` or resumes it; does nothing if it is done.

    Raises:
        ValueError: there are no episodes to replay or to clone.
        CheckpointError: there is no checkpoint to start from, or no reward model, or the vocabulary of one of them
            lacks the words.
        Interrupted: a signal requested a stop; everything is saved.
    """
    folder, config = run.stage(STAGE), run.config.reinforce
    clock = run.begin(STAGE, reinforce_settings(run))
    if folder.finished_at(config.training.updates):
        warn_of_newer_data(run, STAGE, EpisodeFilter())
        return
    check_newest(run.root, run.round, run.command)
    start = checkpoint_of(run, config.start)
    warn_of_agent(run, STAGE, config.start)
    snapshot = freeze_once(run, STAGE, EpisodeFilter(), "collect", config.dataset.mix)
    check_tasks(snapshot, config)
    check_start_coverage(run, config.start, snapshot)
    if config.actor.learned_setters:
        warn_of_unfinished_agent(run, STAGE, config.setter_agent)
        check_setter_words(run, config.setter_agent, config.start)
    rewards = reward_source(run)
    if rewards.model is not None:
        if not run.config.runtime.reward.follow:
            warn_of_unfinished_agent(run, STAGE, "reward")
        warn_of_other_snapshot(run, STAGE, "reward")
        check_reward_coverage(run, snapshot)
    if clock.fact("start_heldout_listening", None) is None:  # else measured when the stage began
        clock.note(**{f"start_{name}": value for name, value in warn_unless_listening(run, snapshot).items()})
    heldout = heldout_returns(run, snapshot, rewards)
    file = folder.path / RETURNS
    ledger = ReturnsLedger(file, every=config.measure_every, heldout=heldout, model_in_use=rewards.model_in_use)
    trainee = build(run, snapshot, rewards, ledger)
    resumed = checkpoint.latest(folder.checkpoints)
    if resumed is not None and rewards.model is not None:
        _warn_of_other_reward_model(folder, resumed.step, rewards.model)
    with StallWatch(f"{STAGE}: no update has ended"):  # a world may hang before the training loop watches it
        ledger.begin(None if resumed is None else resumed.step, trainee.learner.weights)
    show = {"return": "return", "success": "success", "rho": "rho"}
    train_stage(run, STAGE, clock, config.training, trainee, snapshot=snapshot, show=show, start=start)
    replayed = len(replayed_episodes(snapshot, config.actor, "train"))
    clock.finish(replayed=replayed)


def reinforce_settings(run: Run) -> dict[str, Any]:
    """The settings that may not change when the stage is resumed."""
    return {"reinforce": run.config.reinforce, "seed": run.seed}


def _warn_of_other_reward_model(folder: StageFolder, step: int, model: RewardModel) -> None:
    """Logs a warning if the stage resumes after the reward stage was trained further, or again from the start."""
    rows = JsonLines(folder.path / "metrics.jsonl", key="step").newest(1)
    before = int(rows[-1].get("reward_version") or model.version) if rows else model.version
    if before != model.version:
        logger.warning(
            "the reward model was trained further: that of update %d has rewarded this stage so far, that of update %d "
            "does from update %d on, and returns before and after can't be compared",
            *(before, model.version, step + 1),
        )
    elif last_reward_model(folder.path / RETURNS) not in ("", model.fingerprint):
        logger.warning(
            "the reward model was trained again from the start: another one has rewarded this stage so far, the new "
            "one does from update %d on, and returns before and after can't be compared. To reinforce with the new one "
            "alone, move %s out of the run, and type the same command again",
            *(step + 1, folder.path),
        )


def build(run: Run, snapshot: Snapshot, rewards: RewardSource, ledger: ReturnsLedger) -> ReinforcementTrainee:
    """The agent with its initial weights, its learner and its sources of rollouts and demonstrations."""
    config = run.config.reinforce
    agent, vocabulary = start_from(run, config.start)
    shown, where = config.learner.objective.weights.needs_demonstrations, EpisodeFilter(split="train", kinds=PEOPLE)
    most, cache = config.listening_episodes, config.dataset.cache_mb
    what = Demonstrations(STAGE, snapshot.path, agent.layout, vocabulary, config.dataset, where)
    return ReinforcementTrainee(
        agent=agent,
        vocabulary=vocabulary,
        learner=create_learner(run, STAGE, config.learner, agent, config.dataset.lanes if shown else 0),
        rollouts=rollout_source(run, snapshot.path, rewards),
        demonstrated=demonstration_source(run, what, config.learner, overlap=False) if shown else NoDemonstrations(),
        ledger=run.stage(STAGE).ledger,
        watcher=ledger,
        updates_per_batch=config.updates_per_batch,
        measure=listening_measure(run, snapshot, agent, vocabulary, most=most, cache_mb=cache),
        measure_every=config.measure_every,
        beat=run.beat,
    )
