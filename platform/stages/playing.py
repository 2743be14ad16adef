"""Who plays in the reinforce stage, and what pays for it: in the learner's process, or in others under Ray."""

from __future__ import annotations

import dataclasses
import logging
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interplay.actors.setter_replay import SetterReplayActor, SetterReplayConfig
from interplay.actors.setters import SetterEpisodes
from interplay.agent.network import Agent
from interplay.agent.playing import PlayingAgent
from interplay.agent.weights import Weights, load_weights, weights_of
from interplay.env.world import World
from interplay.episodes.catalogue import Where
from interplay.episodes.snapshot import Snapshot
from interplay.episodes.vocabulary import Vocabulary
from interplay.learner import checkpoint
from interplay.learner.agents import build_agent, load_agent, same_agent
from interplay.learner.checkpoint import CheckpointError
from interplay.learner.device import find_device
from interplay.reward.frozen_gate import FrozenGate
from interplay.reward.judge import Judge
from interplay.reward.payment import LearnedPayment, Payment, ScriptedPayment, WorldPayment
from interplay.reward.service import RewardService
from interplay.runtime.inline import InlinePlayed
from interplay.runtime.messages import JudgingPart, PlayingPart
from interplay.runtime.seeding import seed_of, torch_stream
from interplay.runtime.sources import PlayedSource
from interplay.stages.parts import ALONE, Share, checkpoint_of, start_from
from interplay.stages.placing import pinned
from interplay.stages.run import Run

if TYPE_CHECKING:
    from interplay.runtime.ray.surroundings import Surroundings

logger = logging.getLogger(__name__)

STAGE = "reinforce"
FOLLOW_SECONDS = 2.0
SETTERS = {"setter": ("human", "scripted")}  # whose setting is worth replaying


def played_source(run: Run, snapshot: Path) -> PlayedSource:
    """What plays unrolls for the learner, and pays them."""
    if run.around is not None:
        return _stream(run, snapshot, run.around)
    config, lanes = run.config.reinforce, run.config.reinforce.actor.lanes
    acting, vocabulary = start_from(run, config.start)
    device = find_device(config.learner.device)
    return InlinePlayed(
        actor=replay_actor(run, Snapshot(snapshot), acting, vocabulary, config.actor, "train"),
        payment=payment(run, lanes),
        gate=FrozenGate(start_from(run, config.start)[0].to(device), lanes) if _has_gate(run) else None,
        overlap=run.config.runtime.overlap,
    )


def replay_actor(
    run: Run,
    snapshot: Snapshot,
    agent: Agent,
    vocabulary: Vocabulary,
    config: SetterReplayConfig,
    split: str,
    worlds: list[World] | None = None,
    share: Share = ALONE,
) -> SetterReplayActor:
    """A setter-replay actor over its share of a split's episodes."""
    ids = snapshot.select(Where(split=split, kinds=SETTERS))
    generator = torch_stream(run.seed, STAGE, split, "actor", *share.names)
    seed = seed_of(run.seed, STAGE, split, "setters")
    return SetterReplayActor(
        playing=PlayingAgent(agent, vocabulary, config.lanes, generator),
        worlds=worlds or [run.make_world() for _ in range(config.lanes)],
        episodes=SetterEpisodes(snapshot, ids, seed, rank=share.index, world_size=share.of),
        config=config,
    )


def payment(run: Run, lanes: int) -> Payment:
    """What pays for so many lanes."""
    if run.config.reinforce.reward == "scripted":
        return ScriptedPayment()
    if run.config.reinforce.reward == "world":
        return WorldPayment()
    model, _ = load_agent(checkpoint_of(run, "reward").path)
    return LearnedPayment(RewardService(model.to(find_device(run.config.reinforce.learner.device))), lanes)


def _has_gate(run: Run) -> bool:
    return run.config.reinforce.learner.objective.weights.gate_kl > 0


def _stream(run: Run, snapshot: Path, around: Surroundings) -> PlayedSource:
    """Actors and reward replicas in processes of their own."""
    from interplay.runtime.ray.judging import Judging
    from interplay.runtime.ray.played import PlayedStream
    from interplay.runtime.ray.replicas import Replicas

    config, runtime, here = run.config.reinforce, run.config.runtime, dataclasses.replace(run, around=None)
    learned = config.reward == "ibt"
    lanes = config.actor.lanes // runtime.side_by_side
    actor = dataclasses.replace(config.actor, lanes=lanes)
    shares = [Share(index, runtime.actors) for index in range(runtime.actors)]
    actors = [around.host(f"actor-{s.index}", partial(_playing_part, here, snapshot, actor, s)) for s in shares]
    gate = _gate_weights(run) if _has_gate(run) else None
    # Before what pays is read: of a model that comes between the two, all is told again.
    newer = follower(run) if runtime.reward.follow and learned else lambda: None
    replicas = None
    if gate is not None or learned:
        judges = partial(_judging_part, here, gate, _paying(run) if learned else None)
        parts = [around.host(f"reward-{index}", judges) for index in range(runtime.reward.replicas)]
        replicas = Replicas(parts, retries=runtime.reward.retries)
    return PlayedStream(
        parts=actors,
        judging=Judging(replicas, None if learned else payment(run, lanes)),
        gate=gate,
        newer=newer,
        lanes=lanes,
        surroundings=around,
        pinned=pinned(config.learner),
    )


def _gate_weights(run: Run) -> Weights:
    """Of the policy as it was: where reinforcement has begun, as its checkpoints remember it."""
    resumed = checkpoint.latest(run.stage(STAGE).checkpoints)
    if resumed is not None:
        return {name: tensor.numpy() for name, tensor in resumed.training()["gate"]["weights"].items()}
    return weights_of(start_from(run, run.config.reinforce.start)[0])


def _playing_part(
    run: Run, snapshot: Path, config: SetterReplayConfig, share: Share, after: bytes | None
) -> PlayingPart:
    agent, vocabulary = start_from(run, run.config.reinforce.start)
    actor = replay_actor(run, Snapshot(snapshot), agent, vocabulary, config, "train", share=share)
    return PlayingPart(actor, after)


@dataclasses.dataclass(frozen=True)
class _Paying:
    """The reward model that pays from the start on. A replica that is made anew is made with this one, not with what
    has come since, which may be of another make."""

    description: Mapping[str, Any]
    weights: Weights
    version: int


def _paying(run: Run) -> _Paying:
    found = checkpoint_of(run, "reward")
    weights = {name: tensor.numpy() for name, tensor in found.weights().items()}
    return _Paying(found.description, weights, found.step)


def _judging_part(
    run: Run, gate: Weights | None, paying: _Paying | None, newer: Weights | None = None, version: int = 0
) -> JudgingPart:
    service = reference = None
    device = find_device("auto" if run.config.runtime.reward.resources.gpus else "cpu")
    if gate is not None:
        reference, _ = start_from(run, run.config.reinforce.start)
        load_weights(reference, gate)
        reference.to(device)
    if paying is not None:
        model, _ = build_agent(paying.description)
        load_weights(model, paying.weights)
        service = RewardService(model.to(device))
        version = version or paying.version
    judge = Judge(service=service, reference=reference, version=version)
    if newer is not None:
        judge.load_version(newer, version)
    return JudgingPart(judge)


def follower(run: Run, every: float = FOLLOW_SECONDS) -> Callable[[], tuple[Weights, int] | None]:
    """Looks for newer checkpoints of the reward stage, no more often than every so many seconds: each is told once.

    One of another network, vocabulary or world is left alone, with a warning: a replica that tried it would go down.
    """
    first = checkpoint_of(run, "reward")
    step, looked, paying = first.step, -every, first.step

    def newer() -> tuple[Weights, int] | None:
        nonlocal step, looked, paying
        if time.monotonic() - looked < every:
            return None
        looked = time.monotonic()
        found = checkpoint.latest(run.stage("reward").checkpoints)
        if found is None or found.step <= step:
            return None
        step = found.step
        try:
            same_agent(found, first.description)
        except CheckpointError as error:
            logger.warning("a newer reward model is not taken up, that of update %d pays on: %s", paying, error)
            return None
        paying = step
        return {name: tensor.numpy() for name, tensor in found.weights().items()}, step

    return newer
