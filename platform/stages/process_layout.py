"""Placement of the parts of a training stage: in this process, or in Ray workers that host the same classes."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING

from interplay.agent.network import Agent
from interplay.core.settings_group import settings_group
from interplay.learner import checkpoint
from interplay.learner.config import LearnerConfig
from interplay.learner.device import find_device
from interplay.learner.learner import Learner
from interplay.runtime.batch_sources import DemonstrationSource
from interplay.runtime.cluster_token import prepare_ray
from interplay.runtime.inline import InlineDemonstrations
from interplay.runtime.messages import DatasetWorker
from interplay.runtime.seeding import torch_generator
from interplay.stages.run import Run
from interplay.stages.shared_parts import Demonstrations, Share, dataset_actor
from interplay.stages.stage_config import LEARNED_REWARDS
from interplay.stages.stage_folder import TRAINING_LOCK

if TYPE_CHECKING:
    from interplay.runtime.ray.learner_context import LearnerContext

logger = logging.getLogger(__name__)

Stage = Callable[[Run], None]

MOST_ROUNDING = 1.25  # ratio of numbers of lanes up to which nothing is said


def run_stage(stage: Stage, name: str, run: Run) -> None:
    """Runs a training stage in this process or under Ray, as `runtime.kind` selects; exceptions of the stage propagate.

    Raises:
        ClusterError: there is no cluster to run in.
        ModuleNotFoundError: Ray is needed, but not installed.
        WorkerFailed: a worker failed too often.
    """
    config = run.config.runtime
    if config.kind == "in_process":
        with run.stage(name).locked():
            stage(run)
        return
    prepare_ray(config.address)
    folder, work = run.stage(name), partial(_run_in_learner, stage, name, run)
    folder.path.mkdir(parents=True, exist_ok=True)
    (folder.path / TRAINING_LOCK).touch()  # while Ray starts, `watch` waits for what has begun lately
    # Imported here because importing Ray takes half a second.
    from interplay.runtime.ray.learner_supervision import SupervisedStage, supervise
    from interplay.runtime.ray.worker_placement import resource_requests

    plays = name == "reinforce"
    reinforce = run.config.reinforce
    weights, deciding = reinforce.learner.objective.weights, run.config.actors
    requests = resource_requests(
        config,
        actors=plays,
        replicas=plays and (reinforce.reward in LEARNED_REWARDS or weights.gate_kl > 0),
        datasets=not plays or weights.needs_demonstrations,
        inference=deciding.service if plays and deciding.inference == "service" else None,
    )
    supervise(SupervisedStage(name, folder.path, work, requests, config, run.crashes, cache(run.record_config)))


def demonstration_source(
    run: Run, what: Demonstrations, learner: LearnerConfig, *, overlap: bool
) -> DemonstrationSource:
    """The learner's source of demonstrations; `overlap` reads one unroll ahead if it runs in this process."""
    if run.context is None:
        return InlineDemonstrations(dataset_actor(run, what), overlap)
    from interplay.runtime.ray.assembly import demonstration_stream

    of, lanes = run.config.runtime.datasets, what.config.lanes
    assert lanes % of == 0 and lanes >= 2 * of, f"{of} readers can't share {lanes} lanes"  # checked by `Config`
    part, group = dataclasses.replace(what.config, lanes=lanes // of), settings_group(what.stage)
    for name, whole, each in (
        ("around_utterances", what.config.utterance_lanes, part.utterance_lanes),
        ("around_instructions", what.config.instruction_lanes, part.instruction_lanes),
    ):
        setting = f"{group}.dataset.{name}"
        if advice := rounding_advice(setting, whole=whole, each=each, of=of, fewer="runtime.datasets"):
            logger.warning("%s", advice)
    makes = [partial(_dataset_worker, run, what, Share(index, of)) for index in range(of)]
    per_step = run.config.reinforce.updates_per_batch if what.stage == "reinforce" else 1
    return demonstration_stream(run.context, makes, pinned=pinned(learner), batches_per_step=per_step)


def rounding_advice(setting: str, *, whole: int, each: int, of: int, fewer: str) -> str | None:
    """Advice if rounding changes the number of lanes of `setting`, a share of lanes, by much; else None.

    Args:
        whole: that share of the lanes of a batch.
        each: that share of the lanes of one of the batch's `of` parts.
        fewer: the setting of the number of parts.
    """
    found = of * each
    if found <= MOST_ROUNDING * whole and whole <= MOST_ROUNDING * found:
        return None
    return (
        f"{setting} is {found} lanes of a batch instead of {whole}: each of its {of} parts has whole lanes of that "
        f"share, and at least one. Give more lanes, or lower {fewer}"
    )


def create_learner(run: Run, stage: str, config: LearnerConfig, agent: Agent, dataset_lanes: int) -> Learner:
    """The learner of a stage, under Ray possibly rank 0 of several.

    Raises:
        RankLost: a rank did not start.
    """
    generator = torch_generator(run.seed, stage, "learner")
    if config.decay_updates is None:
        config = _decaying(run, stage, config)
    if run.context is None or run.config.runtime.learners == 1:
        return Learner(agent, config, dataset_lanes=dataset_lanes, generator=generator)
    from interplay.runtime.ray.rank_zero import create_rank_zero_learner

    return create_rank_zero_learner(
        agent, config, dataset_lanes=dataset_lanes, generator=generator, context=run.context
    )


def _decaying(run: Run, stage: str, config: LearnerConfig) -> LearnerConfig:
    """Sets the updates of the weights over which the learning rate decays: those of the whole stage.

    Logs a warning if the stage resumes with another number of them, because the rate then jumps.
    """
    group, of_step = settings_group(stage), run.config.reinforce.updates_per_batch if stage == "reinforce" else 1
    planned = getattr(run.config, group).training.updates
    decaying = dataclasses.replace(config, decay_updates=planned * of_step)
    found = checkpoint.latest(run.stage(stage).checkpoints)
    if config.decay == "none" or found is None or found.step >= planned:
        return decaying
    before = found.description["config"][group]["training"]["updates"]
    if before != planned:
        then = dataclasses.replace(config, decay_updates=before * of_step)
        logger.warning(
            "%s.training.updates was %d and is %d, over which %s.learner.decay=%s lowers the learning rate: after "
            "update %d the learning rate continues at %g instead of %g",
            *(group, before, planned, group, config.decay, found.step),
            *(each.rate_at(found.step * of_step) for each in (decaying, then)),
        )
    return decaying


def pinned(learner: LearnerConfig) -> bool:
    """Are batches copied to a GPU?"""
    return find_device(learner.device).type == "cuda"


def _dataset_worker(run: Run, what: Demonstrations, share: Share, after: bytes | None) -> DatasetWorker:
    return DatasetWorker(dataset_actor(run, what, share), after)


def _run_in_learner(stage: Stage, name: str, run: Run, context: LearnerContext) -> None:
    with run.stage(name).locked():
        stage(dataclasses.replace(run, context=context))
