"""Reinforce: the agent improves by V-trace on the reward, in worlds where recorded setters are replayed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace

from interplay.actors.setter_replay import SetterReplayActor, SetterReplayConfig
from interplay.actors.setters import SetterEpisodes
from interplay.agent.network import Agent
from interplay.agent.playing import PlayingAgent
from interplay.env.world import World
from interplay.episodes.catalogue import Where
from interplay.episodes.snapshot import Snapshot
from interplay.episodes.vocabulary import Vocabulary
from interplay.learner import checkpoint
from interplay.learner.agents import build_agent, load_agent
from interplay.learner.device import find_device
from interplay.learner.learner import Learner
from interplay.reward.frozen_gate import FrozenGate
from interplay.reward.payment import LearnedPayment, Payment, ScriptedPayment, WorldPayment
from interplay.reward.service import RewardService
from interplay.runtime.seeding import seed_of, torch_stream
from interplay.stages.parts import PEOPLE, checkpoint_of, dataset_actor, start_from
from interplay.stages.reinforcement import Reinforcement
from interplay.stages.returns_ledger import Played, ReturnsLedger
from interplay.stages.run import Run
from interplay.stages.snapshots import freeze_once
from interplay.stages.training import train_stage

STAGE = "reinforce"
SETTERS = {"setter": ("human", "scripted")}  # whose setting is worth replaying


def reinforce(run: Run) -> None:
    """Trains `runs/<name>/reinforce`, or goes on with it; does nothing where it is done.

    Raises:
        ValueError: there are no episodes to replay or to clone.
        CheckpointError: there is nothing to start from, or no reward model.
        Interrupted: asked to stop; saved.
    """
    folder, config = run.stage(STAGE), run.config.reinforce
    clock = folder.begin({"reinforce": asdict(config), "seed": run.seed})
    if folder.finished_at(config.training.updates):
        return
    start = checkpoint_of(run, config.start)
    snapshot = freeze_once(run, STAGE, Where(), "interplay collect")
    ledger = ReturnsLedger(folder.path / "returns.jsonl", every=config.heldout_every, heldout=_heldout(run, snapshot))
    trainee = build(run, snapshot, ledger)
    resumed = checkpoint.latest(folder.checkpoints)
    ledger.go_on_from(resumed.step if resumed is not None else 0)
    show = {"return": "return", "success": "success", "ratio": "ratio"}
    train_stage(run, STAGE, clock, config.training, trainee, snapshot=snapshot, show=show, start=start)
    clock.finish(replayed=len(snapshot.select(Where(split="train", kinds=SETTERS))))


def build(run: Run, snapshot: Snapshot, ledger: ReturnsLedger) -> Reinforcement:
    """The agent from where it starts, and everything around it."""
    config, lanes = run.config.reinforce, run.config.reinforce.actor.lanes
    agent, vocabulary = start_from(run, config.start)
    acting, _ = start_from(run, config.start)
    learner = Learner(
        agent,
        config.learner,
        dataset_lanes=config.dataset.lanes,
        generator=torch_stream(run.seed, STAGE, "learner"),
    )
    return Reinforcement(
        agent=agent,
        vocabulary=vocabulary,
        learner=learner,
        actor=_actor(run, snapshot, acting, vocabulary, config.actor, "train"),
        payment=_payment(run, lanes),
        gate=FrozenGate(start_from(run, config.start)[0].to(learner.device), lanes)
        if config.learner.objective.weights.gate_kl > 0
        else None,
        dataset=dataset_actor(
            run,
            STAGE,
            snapshot,
            agent,
            vocabulary,
            config.dataset,
            where=Where(split="train", kinds=PEOPLE),
        ),
        watcher=ledger,
        passes=config.passes,
        overlap=run.config.runtime.overlap,
    )


def _actor(
    run: Run,
    snapshot: Snapshot,
    agent: Agent,
    vocabulary: Vocabulary,
    config: SetterReplayConfig,
    split: str,
    worlds: list[World] | None = None,
) -> SetterReplayActor:
    ids = snapshot.select(Where(split=split, kinds=SETTERS))
    return SetterReplayActor(
        playing=PlayingAgent(agent, vocabulary, config.lanes, torch_stream(run.seed, STAGE, split, "actor")),
        worlds=worlds or [run.make_world() for _ in range(config.lanes)],
        episodes=SetterEpisodes(snapshot, ids, seed_of(run.seed, STAGE, split, "setters")),
        config=config,
    )


def _payment(run: Run, lanes: int) -> Payment:
    if run.config.reinforce.reward == "scripted":
        return ScriptedPayment()
    if run.config.reinforce.reward == "world":
        return WorldPayment()
    model, _ = load_agent(checkpoint_of(run, "reward").path)
    return LearnedPayment(RewardService(model.to(find_device(run.config.reinforce.learner.device))), lanes)


def _heldout(run: Run, snapshot: Snapshot) -> Callable[[], Played] | None:
    """Makes the actor that plays held-out episodes once, and what pays it; None where there are none."""
    config = run.config.reinforce
    ids = snapshot.select(Where(split="heldout", kinds=SETTERS))
    if not ids:
        return None
    lanes = min(config.heldout_episodes, len(ids))
    # One episode of E steps fills E + 1 rows, and an unroll of E + 1 steps ends every lane's episode just once.
    once = replace(config.actor, lanes=lanes, steps=config.actor.episode_steps + 1, blocks=1)
    description = checkpoint_of(run, config.start).description
    worlds = [run.make_world() for _ in range(lanes)]

    def make() -> Played:
        agent, vocabulary = build_agent(description)
        return _actor(run, snapshot, agent, vocabulary, once, "heldout", worlds), _payment(run, lanes)

    return make
