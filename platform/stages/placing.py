"""Where the parts of a training stage run: the same plain classes, here in this process or in others under Ray."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from interplay.actors.augmentation import AugmentationConfig
from interplay.actors.dataset import DatasetActor, DatasetConfig
from interplay.agent.network import Agent
from interplay.agent.observation import Layout
from interplay.episodes.catalog_index import EpisodeFilter
from interplay.episodes.snapshot import Snapshot
from interplay.episodes.vocabulary import Vocabulary
from interplay.learner.device import find_device
from interplay.learner.learner import Learner, LearnerConfig
from interplay.runtime.batch_sources import DemonstrationSource
from interplay.runtime.cluster_token import set_cluster_token
from interplay.runtime.inline import InlineDemonstrations
from interplay.runtime.messages import DatasetWorker
from interplay.runtime.seeding import torch_generator
from interplay.stages.parts import ALONE, Share, dataset_actor
from interplay.stages.run import Run

if TYPE_CHECKING:
    from interplay.runtime.ray.learner_context import LearnerContext

Stage = Callable[[Run], None]


@dataclass(frozen=True)
class Demonstrations:
    """What demonstrations a stage reads."""

    stage: str
    snapshot: Path
    layout: Layout
    vocabulary: Vocabulary
    config: DatasetConfig
    where: EpisodeFilter | None = None
    augmentation: AugmentationConfig | None = None


def placed(stage: Stage, name: str, run: Run) -> None:
    """Runs a training stage where `runtime` says.

    Raises:
        ClusterError: there is no cluster to run in.
        WorkerFailed: a part of it went down too often.
        Exception: what the stage raises.
    """
    config = run.config.runtime
    if config.kind == "in_process":
        with run.stage(name).locked():
            stage(run)
        return
    set_cluster_token(config.address)
    # Ray takes half a second to import; only who asks for it waits for that.
    from interplay.runtime.ray.supervision import SupervisedStage, supervise
    from interplay.runtime.ray.worker_placement import resource_requests

    plays = name == "reinforce"
    reinforce = run.config.reinforce
    weights, deciding = reinforce.learner.objective.weights, run.config.actors
    judged = reinforce.reward == "ibt" or weights.gate_kl > 0
    work = SupervisedStage(
        name=name,
        folder=run.stage(name).path,
        stage=partial(_inside, stage, name, run),
        requests=resource_requests(
            config,
            actors=plays,
            replicas=plays and judged,
            datasets=not plays or weights.needs_demonstrations,
            inference=deciding.service if plays and deciding.inference == "service" else None,
        ),
        config=config,
        crashes=run.crashes,
    )
    supervise(work)


def demonstrated_source(
    run: Run, what: Demonstrations, learner: LearnerConfig, *, overlap: bool
) -> DemonstrationSource:
    """The source of demonstrations for a learner; with `overlap`, in process, one unroll ahead of it."""
    if run.context is None:
        return InlineDemonstrations(_reader(run, what, ALONE), overlap)
    from interplay.runtime.ray.demonstration_stream import DemonstrationStream

    of, lanes = run.config.runtime.datasets, what.config.lanes
    assert lanes % of == 0 and lanes >= 2 * of, f"{of} readers can't share {lanes} lanes"  # which `Config` refuses
    here = dataclasses.replace(run, context=None)
    makes = [partial(_dataset_worker, here, what, Share(index, of)) for index in range(of)]
    workers = [run.context.add_worker(f"dataset-{index}", make) for index, make in enumerate(makes)]
    return DemonstrationStream(workers, run.context, pinned=pinned(learner))


def placed_learner(run: Run, stage: str, config: LearnerConfig, agent: Agent, dataset_lanes: int) -> Learner:
    """The learner of a stage, which under Ray may lead further ranks.

    Raises:
        RankLost: a rank did not come.
    """
    generator = torch_generator(run.seed, stage, "learner")
    if run.context is None or run.config.runtime.learners == 1:
        return Learner(agent, config, dataset_lanes=dataset_lanes, generator=generator)
    from interplay.runtime.ray.rank_zero import create_rank_zero_learner

    return create_rank_zero_learner(
        agent, config, dataset_lanes=dataset_lanes, generator=generator, context=run.context
    )


def pinned(learner: LearnerConfig) -> bool:
    """Are batches copied to a GPU?"""
    return find_device(learner.device).type == "cuda"


def _dataset_worker(run: Run, what: Demonstrations, share: Share, after: bytes | None) -> DatasetWorker:
    return DatasetWorker(_reader(run, what, share), after)


def _reader(run: Run, what: Demonstrations, share: Share) -> DatasetActor:
    return dataset_actor(
        run,
        what.stage,
        Snapshot(what.snapshot),
        what.layout,
        what.vocabulary,
        dataclasses.replace(what.config, lanes=what.config.lanes // share.of),
        where=what.where,
        augmentation=what.augmentation,
        share=share,
    )


def _inside(stage: Stage, name: str, run: Run, context: LearnerContext) -> None:
    with run.stage(name).locked():
        stage(dataclasses.replace(run, context=context))
