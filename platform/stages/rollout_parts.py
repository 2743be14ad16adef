"""Actors, inference and scoring of the reinforce stage: in the learner's process, or in Ray workers."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import torch

from interplay.actors.episode_sampler import EpisodeSampler
from interplay.actors.setter_replay_actor import SetterReplayActor, SetterReplayConfig
from interplay.agent.agent_runner import AgentRunner
from interplay.agent.inference_device import InferenceDevice, expect_any_batch_size
from interplay.agent.inputs import LaneViews
from interplay.agent.network import Agent
from interplay.agent.policy import LocalPolicy, Policy
from interplay.agent.remote_policy import DecisionRequest, DecisionResponse, RemotePolicy
from interplay.agent.weights import Weights, as_arrays, export_weights, load_weights
from interplay.env.world import World
from interplay.episodes.catalog_index import EpisodeFilter
from interplay.episodes.snapshot import Snapshot
from interplay.episodes.vocabulary import Vocabulary
from interplay.learner import checkpoint
from interplay.learner.agents import build_agent, read_description
from interplay.learner.device import find_device
from interplay.reward.reward_functions import RewardFunction, WithReferenceGate
from interplay.runtime.backpressure import idle_actors_advice
from interplay.runtime.batch_sources import RolloutSource
from interplay.runtime.crashes import LastStep
from interplay.runtime.inference_model import InferenceModel
from interplay.runtime.inline import InlineRollouts, ScoredRollouts, ScoringActor
from interplay.runtime.messages import RolloutWorker, ScoringReplica
from interplay.runtime.seeding import derive_seed, numpy_generator, torch_generator
from interplay.stages.actor_process import ActorProcess, why_no_actor_process
from interplay.stages.process_layout import pinned, rounding_advice
from interplay.stages.reward_source import RewardModel, RewardSource, build_reward_function, scoring_device
from interplay.stages.run import Run
from interplay.stages.shared_parts import (
    ALONE,
    PEOPLE_KINDS,
    Share,
    acting_device,
    checkpoint_of,
    drawable,
    learned_setters,
    start_from,
)
from interplay.stages.stage_config import ReinforceConfig

if TYPE_CHECKING:
    from interplay.runtime.ray.learner_context import LearnerContext

logger = logging.getLogger(__name__)

STAGE = "reinforce"
SETTERS = {"setter": PEOPLE_KINDS}  # the setters whose episodes are replayed


def rollout_source(run: Run, snapshot: Path, rewards: RewardSource) -> RolloutSource:
    """The learner's source of scored rollouts."""
    if run.context is not None:
        return _stream(run, snapshot, rewards, run.context)
    runtime, reference = run.config.runtime, _reference_weights(run)
    rollouts: ScoredRollouts
    if runtime.actor_process and runtime.overlap and _allows_process(run, rewards):
        make = partial(_actor_of_process, run, snapshot, reference, rewards.model)
        rollouts = ActorProcess(make, run.config.reinforce.actor.lanes, _last_step(run, ALONE))
    else:
        rollouts = _scoring_actor(run, snapshot, reference, rewards.function(), rewards.on)
    return InlineRollouts(rollouts, reference=reference, overlap=runtime.overlap)


def _allows_process(run: Run, rewards: RewardSource) -> bool:
    reason = why_no_actor_process(acting_device(run), rewards.on)
    if reason:
        logger.info("the actor plays in this process, although runtime.actor_process=true: %s", reason)
    return not reason


def _scoring_actor(
    run: Run,
    snapshot: Path,
    reference: Weights | None,
    function: RewardFunction,
    scoring: InferenceDevice,
    on_step: Callable[[str], None] | None = None,
) -> ScoringActor:
    """The one actor of a stage without Ray; `scoring` is where its reward is computed."""
    config, on = run.config.reinforce, acting_device(run)
    acting, vocabulary = start_from(run, config.start)
    policy = local_policy(run, acting, "train", on=on)
    undrawn = undrawn_worlds(run, config.actor, on) if config.actor.drawn_by == "gpu" else None
    return ScoringActor(
        replay_actor(
            run, Snapshot(snapshot), policy, vocabulary, config.actor, "train", undrawn=undrawn, on_step=on_step
        ),
        _with_reference(run, function, reference, scoring),
    )


def _actor_of_process(run: Run, snapshot: Path, reference: Weights | None, model: RewardModel | None) -> ScoringActor:
    on = scoring_device(run)
    function = build_reward_function(run, model, on)
    return _scoring_actor(run, snapshot, reference, function, on, _last_step(run, ALONE).write)


def _last_step(run: Run, share: Share) -> LastStep:
    """The last step that an actor in a process of its own began."""
    return run.crashes.last_step(f"actor-{share.index}")


def local_policy(
    run: Run, agent: Agent, split: str, share: Share = ALONE, on: InferenceDevice | None = None
) -> LocalPolicy:
    """The policy of an actor in the same process; `on` is by default as in `actors`."""
    return LocalPolicy(agent, _decisions(run, split, share), on=on or acting_device(run))


def _decisions(run: Run, split: str, share: Share) -> torch.Generator:
    """The generator of an actor's decisions."""
    return torch_generator(run.seed, STAGE, split, "actor", *share.names)


def replayed_episodes(snapshot: Snapshot, config: SetterReplayConfig, split: str) -> list[str]:
    """The ids of a split's episodes whose setters are replayed; in a world of the solver alone, of all of them.

    Raises:
        ValueError: no recorded setter gave a task of a kind that `config.kinds` names.
    """
    seated = {role for entry in snapshot.entries() for role, _ in entry.seats}
    setters = SETTERS if seated & SETTERS.keys() else {}
    if config.kinds:
        recorded = {kind for entry in snapshot.entries(EpisodeFilter(kinds=setters)) for kind in entry.task_kinds}
        if unknown := sorted(set(config.kinds) - recorded):
            raise ValueError(
                f"reinforce.actor.kinds names {', '.join(unknown)}, which no setter of {snapshot.path} asked for; "
                f"allowed: {', '.join(sorted(recorded))}, or none for all"
            )
    return snapshot.select(EpisodeFilter(split=split, kinds=setters, tasks=config.kinds))


def check_tasks(snapshot: Snapshot, config: ReinforceConfig) -> None:
    """Checks that the reward is known in all episodes whose setters are replayed.

    Raises:
        ValueError: the reward is the truth about tasks, and some of these episodes have no task, as where people ask.
    """
    if config.reward not in ("scripted", "success"):
        return
    kinds = {entry.id: entry.task_kinds for entry in snapshot.entries()}
    splits = ("train", "heldout") if config.heldout_episodes else ("train",)
    replayed = [each for split in splits for each in replayed_episodes(snapshot, config.actor, split)]
    known = sorted({kind for each in replayed for kind in kinds[each]})
    if without := sum(not kinds[each] for each in replayed):
        remedy = f"replay the others with reinforce.actor.kinds=[{','.join(known)}], or " if known else ""
        raise ValueError(
            f"reinforce.reward={config.reward} pays for the truth about tasks, and {without} of the {len(replayed)} "
            f"episodes of {snapshot.path} to replay have none, as those in which people ask: {remedy}use the reward "
            "model with reinforce.reward=ibt"
        )


def replay_actor(
    run: Run,
    snapshot: Snapshot,
    policy: Policy,
    vocabulary: Vocabulary,
    config: SetterReplayConfig,
    split: str,
    worlds: list[World] | None = None,
    share: Share = ALONE,
    undrawn: UndrawnWorlds | None = None,
    on_step: Callable[[str], None] | None = None,
) -> SetterReplayActor:
    """A setter-replay actor over its share of a split's episodes, in `worlds`, those of `undrawn`, or new ones."""
    ids = replayed_episodes(snapshot, config, split)
    seed = derive_seed(run.seed, STAGE, split, "setters")
    first_steps = None
    if config.stagger:
        rng = numpy_generator(run.seed, STAGE, split, "stagger", *share.names)
        first_steps = [int(steps) for steps in rng.integers(1, config.episode_steps + 1, size=config.lanes)]
    return SetterReplayActor(
        runner=AgentRunner(policy, vocabulary, config.lanes, undrawn.views if undrawn is not None else None),
        worlds=worlds or (undrawn.worlds if undrawn is not None else [run.make_world() for _ in range(config.lanes)]),
        episodes=EpisodeSampler(
            snapshot, ids, seed, rank=share.index, world_size=share.of, cache_bytes=config.cache_mb * 2**20
        ),
        config=config,
        setters=learned_setters(
            run, run.config.reinforce.setter_agent, config.learned_lanes, (STAGE, split, *share.names)
        ),
        first_steps=first_steps,
        on_step=on_step,
    )


class UndrawnWorlds(NamedTuple):
    """Worlds whose views lack pictures, and what gives them."""

    worlds: Sequence[World]
    views: LaneViews


def undrawn_worlds(run: Run, config: SetterReplayConfig, on: InferenceDevice | None = None) -> UndrawnWorlds:
    """Worlds for the lanes of an actor, whose pictures are drawn on a device of this process, or without one elsewhere.

    Raises:
        Unavailable: the pictures of this world can't be drawn by a GPU.
    """
    from interplay.gpu_render.live_views import LiveViews, UndrawnPlayhouse

    with run.closing_worlds() as opened:
        settings = drawable(opened.make_world(), "reinforce.actor.drawn_by", "gpu").config
    worlds = [UndrawnPlayhouse(settings) for _ in range(config.lanes)]
    return UndrawnWorlds(worlds, LiveViews(worlds, worlds[0].spec.solver, on))


def _stream(run: Run, snapshot: Path, rewards: RewardSource, context: LearnerContext) -> RolloutSource:
    """Actors and reward replicas in processes of their own."""
    from interplay.runtime.ray.assembly import rollout_stream

    config, runtime = run.config.reinforce, run.config.runtime
    lanes = config.actor.lanes // runtime.unrolls_in_batch
    actor = dataclasses.replace(config.actor, lanes=lanes)
    size, total = runtime.unrolls_in_batch, config.actor.lanes
    idle = idle_actors_advice(actors=runtime.actors, unrolls_per_batch=size, max_lag=runtime.max_lag, lanes=total)
    learned = rounding_advice(
        "reinforce.actor.learned_setters",
        whole=config.actor.learned_lanes,
        each=actor.learned_lanes,
        of=size,
        fewer="runtime.unrolls_per_batch",
    )
    for advice in (idle, learned):
        if advice is not None:
            logger.warning("%s", advice)
    served = run.config.actors.inference == "service"
    shares = [Share(index, runtime.actors) for index in range(runtime.actors)]
    reference = _reference_weights(run)
    scored_by_replicas = reference is not None or rewards.model is not None
    return rollout_stream(
        context,
        [partial(_rollout_worker, run, snapshot, actor, share) for share in shares],
        make_inference=partial(_inference_model, run) if served else None,
        make_replica=partial(_scoring_replica, run, reference, rewards.model) if scored_by_replicas else None,
        function=rewards.function(),
        on=rewards.on,
        reference=reference,
        newer=rewards.newer,
        lanes=lanes,
        pinned=pinned(config.learner),
    )


def _reference_weights(run: Run) -> Weights | None:
    """The weights that reinforcement started from, which its checkpoints keep a copy of; None without a gate KL."""
    if run.config.reinforce.learner.objective.weights.gate_kl <= 0:
        return None
    resumed = checkpoint.latest(run.stage(STAGE).checkpoints)
    if resumed is not None:
        return as_arrays(resumed.training()["rollout"]["reference"])
    return export_weights(start_from(run, run.config.reinforce.start)[0])


def _rollout_worker(
    run: Run,
    snapshot: Path,
    config: SetterReplayConfig,
    share: Share,
    after: bytes | None,
    *,
    ask: Callable[[DecisionRequest], DecisionResponse] | None = None,
) -> RolloutWorker:
    """An actor whose policy is its own, or with `ask` that of the inference service."""
    policy: Policy
    undrawn = None
    if ask is None:
        agent, vocabulary = start_from(run, run.config.reinforce.start)
        policy = local_policy(run, agent, "train", share)
    else:
        sized, layout, vocabulary = read_description(checkpoint_of(run, run.config.reinforce.start).description)
        undrawn = undrawn_worlds(run, config) if config.drawn_by == "gpu" else None
        policy = RemotePolicy(
            ask,
            layout=layout,
            width=sized.lstm,
            generator=_decisions(run, "train", share),
            views=undrawn.views if undrawn is not None else None,
        )
    actor = replay_actor(
        run,
        Snapshot(snapshot),
        policy,
        vocabulary,
        config,
        "train",
        share=share,
        undrawn=undrawn,
        on_step=_last_step(run, share).write,
    )
    return RolloutWorker(actor, after)


def _inference_model(run: Run, versions: Sequence[int], *weights: Weights) -> InferenceModel:
    resources = run.config.actors.service
    torch.set_num_threads(max(1, int(resources.cpus)))
    if resources.gpus and not torch.cuda.is_available():
        raise ValueError(
            f"actors.service.gpus={resources.gpus:g}: a GPU is set aside, and torch {torch.__version__} sees none; see "
            "CUDA or CPU torch in CONTRIBUTING.md, or decide on the CPU with actors.service.gpus=0"
        )
    expect_any_batch_size()  # that of the requests that are pending
    agent, _ = build_agent(checkpoint_of(run, run.config.reinforce.start).description, head="none")
    on = InferenceDevice(find_device("cuda" if resources.gpus else "cpu"), run.config.actors.precision)
    painter = None
    if run.config.reinforce.actor.drawn_by == "gpu":
        from interplay.gpu_render.house_arena import HouseArena

        painter = HouseArena(on.device)
    model = InferenceModel(agent, on, painter)
    for version, each in zip(versions, weights, strict=True):
        model.publish(version, each, versions)
    return model


def _scoring_replica(
    run: Run, reference: Weights | None, model: RewardModel | None, newer: Weights | None = None, version: int = 0
) -> ScoringReplica:
    on = scoring_device(run, "auto" if run.config.runtime.reward.resources.gpus else "cpu")
    function = build_reward_function(run, model, on)
    if newer is not None:
        function.load_version(newer, version)
    return ScoringReplica(_with_reference(run, function, reference, on), on)


def _with_reference(
    run: Run, function: RewardFunction, reference: Weights | None, on: InferenceDevice
) -> RewardFunction:
    if reference is None:
        return function
    policy, _ = start_from(run, run.config.reinforce.start)
    load_weights(policy, reference)
    return WithReferenceGate(function, policy, on)
