"""Assembly of a stage under Ray: its workers, and the sources of batches that connect them to the learner.

The caller passes functions that build what a worker hosts; each runs in the worker's own process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from interplay.agent.inference_device import InferenceDevice
from interplay.agent.weights import Weights
from interplay.reward.reward_functions import RewardFunction
from interplay.runtime.ray.demonstration_stream import DemonstrationStream
from interplay.runtime.ray.inference import (
    InferenceClientWorker,
    InferenceServer,
    InferenceWorker,
    concurrency_groups,
)
from interplay.runtime.ray.learner_context import LearnerContext
from interplay.runtime.ray.reward_replicas import Replicas, ScoringPool, unrolls_of_call
from interplay.runtime.ray.rollout_stream import RolloutStream
from interplay.runtime.ray.worker import Worker
from interplay.runtime.ray.worker_placement import INFERENCE


def demonstration_stream(
    context: LearnerContext, makes: Sequence[Callable[..., Any]], *, pinned: bool, batches_per_step: int
) -> DemonstrationStream:
    """The demonstrations of one dataset actor for each of `makes`; `batches_per_step` of them a step of the learner."""
    workers = [context.add_worker(f"dataset-{index}", make) for index, make in enumerate(makes)]
    return DemonstrationStream(workers, context, pinned=pinned, batches_per_step=batches_per_step)


def rollout_stream(
    context: LearnerContext,
    makes: Sequence[Callable[..., Any]],
    *,
    make_inference: Callable[..., Any] | None,
    make_replica: Callable[..., Any] | None,
    function: RewardFunction,
    on: InferenceDevice,
    reference: Weights | None,
    newer: Callable[[], tuple[Weights, int] | None],
    lanes: int,
    pinned: bool,
) -> RolloutStream:
    """The rollouts of one actor for each of `makes`.

    Args:
        make_inference: builds the network that decides for all actors, which then get `ask`; None if each has its own.
        make_replica: builds a replica that scores; None to score with `function` in the learner's process.
        on: where the pictures that `function` reads are drawn if actors send none.
        reference, newer, lanes: see `RolloutStream`.
    """
    worker_class = Worker if make_inference is None else InferenceClientWorker
    actors = [context.add_worker(f"actor-{index}", make, worker_class) for index, make in enumerate(makes)]
    inference = None
    if make_inference is not None:
        groups = concurrency_groups(len(actors))
        server = context.add_worker(INFERENCE, make_inference, InferenceWorker, groups)
        inference = InferenceServer(server, actors, context)
    scoring = ScoringPool(function, on=on)
    if make_replica is not None:
        config = context.config.reward
        workers = [context.add_worker(f"reward-{index}", make_replica) for index in range(config.replicas)]
        scoring = ScoringPool(Replicas(workers, retries=config.retries), unrolls_of_call(context.config))
    return RolloutStream(
        workers=actors,
        scoring=scoring,
        inference=inference,
        reference=reference,
        newer=newer,
        lanes=lanes,
        context=context,
        pinned=pinned,
    )
