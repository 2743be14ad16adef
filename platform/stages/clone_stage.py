"""Clone: the agent learns to do and say what people did (behavioral cloning), and what belongs together (CSS)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

import torch

from interplay.agent.network import Agent
from interplay.agent.observation import Layout
from interplay.episodes.catalog_index import EpisodeFilter
from interplay.episodes.readable_episodes import iter_readable
from interplay.episodes.snapshot import Snapshot
from interplay.episodes.vocabulary import Vocabulary
from interplay.learner import checkpoint
from interplay.runtime.seeding import derive_seed
from interplay.stages.imitation_trainee import ImitationTrainee
from interplay.stages.parts import PEOPLE
from interplay.stages.placing import Demonstrations, demonstrated_source, placed_learner
from interplay.stages.run import ReportActivity, Run
from interplay.stages.stage_snapshot import freeze_once
from interplay.stages.training_loop import train_stage

STAGE = "clone"


def clone(run: Run) -> None:
    """Trains `runs/<name>/clone`, or goes on with it; does nothing where it is done.

    Raises:
        ValueError: there are no episodes of people to clone.
        Interrupted: asked to stop; saved.
    """
    folder, config = run.stage(STAGE), run.config.clone
    clock = folder.begin({"agent": asdict(run.config.agent), "clone": asdict(config), "seed": run.seed})
    if folder.finished_at(config.training.updates):
        return
    snapshot = freeze_once(run, STAGE, EpisodeFilter(split="train", kinds=PEOPLE), "interplay collect")
    trainee = build(run, snapshot)
    show = {"loss": "loss", "movement": "movement_cloning", "words": "token_cloning"}
    train_stage(run, STAGE, clock, config.training, trainee, snapshot=snapshot, show=show)
    clock.finish(episodes=len(snapshot), vocabulary=len(trainee.vocabulary))


def build(run: Run, snapshot: Snapshot) -> ImitationTrainee:
    """A new agent, its vocabulary from the data, and what feeds it."""
    config, world = run.config.clone, run.make_world()
    vocabulary = _vocabulary(run, snapshot)
    layout = Layout(world.spec, run.config.agent.utterance_length, run.config.agent.actions_per_step)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derive_seed(run.seed, STAGE, "weights"))
        agent = Agent(run.config.agent, layout, len(vocabulary))
    return ImitationTrainee(
        agent=agent,
        vocabulary=vocabulary,
        learner=placed_learner(run, STAGE, agent, config.dataset.lanes),
        demonstrated=demonstrated_source(
            run,
            Demonstrations(STAGE, snapshot.path, layout, vocabulary, config.dataset),
            overlap=run.config.runtime.overlap,
        ),
        ledger=run.stage(STAGE).ledger,
        beat=run.beat,
    )


def _vocabulary(run: Run, snapshot: Snapshot) -> Vocabulary:
    """That of the checkpoint to go on from, which an episode damaged since must not change; else from the data."""
    found = checkpoint.latest(run.stage(STAGE).checkpoints)
    if found is not None:
        return Vocabulary.from_json(found.description["vocabulary"])
    with run.busy("reads words") as beat:
        return Vocabulary.build(_texts(snapshot, beat))


def _texts(snapshot: Snapshot, beat: ReportActivity) -> Iterator[str]:
    """All that was said in the episodes that can be read."""
    for number, episode in enumerate(iter_readable(snapshot, snapshot.ids), 1):
        beat(f"reads words of episode {number} of {len(snapshot)}")
        yield from (said.text for said in episode.meta.utterances)
