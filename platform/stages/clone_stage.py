"""The clone stage: behavioral cloning of recorded solvers, with CSS (matching vision with language)."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from interplay.agent.network import Agent
from interplay.agent.observation import Layout
from interplay.episodes.catalog_index import EpisodeFilter
from interplay.episodes.readable_episodes import iter_readable
from interplay.episodes.snapshot import Snapshot
from interplay.episodes.vocabulary import Vocabulary
from interplay.learner import checkpoint
from interplay.runtime.seeding import derive_seed
from interplay.stages.episode_snapshot import freeze_once
from interplay.stages.imitation_trainee import ImitationTrainee
from interplay.stages.process_layout import Demonstrations, create_learner, demonstration_source
from interplay.stages.run import ReportActivity, Run
from interplay.stages.shared_parts import PEOPLE
from interplay.stages.training_loop import train_stage

STAGE = "clone"


def clone(run: Run) -> None:
    """Trains `runs/<name>/clone` or resumes it; does nothing if it is done.

    Raises:
        ValueError: the store has no episodes of human or scripted solvers.
        Interrupted: a signal requested a stop; everything is saved.
    """
    folder, config = run.stage(STAGE), run.config.clone
    clock = folder.begin({"agent": run.config.agent, "clone": config, "seed": run.seed})
    if folder.finished_at(config.training.updates):
        return
    snapshot = freeze_once(run, STAGE, EpisodeFilter(split="train", kinds=PEOPLE), "interplay collect")
    trainee = build(run, snapshot)
    show = {"loss": "loss", "movement": "movement_cloning", "words": "token_cloning"}
    train_stage(run, STAGE, clock, config.training, trainee, snapshot=snapshot, show=show)
    clock.finish(episodes=len(snapshot), vocabulary=len(trainee.vocabulary))


def build(run: Run, snapshot: Snapshot) -> ImitationTrainee:
    """A new agent with a vocabulary from the data, its learner and its source of demonstrations."""
    config, world = run.config.clone, run.make_world()
    vocabulary = _vocabulary(run, snapshot)
    layout = Layout(world.spec, run.config.agent.utterance_length, run.config.agent.actions_per_step)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derive_seed(run.seed, STAGE, "weights"))
        agent = Agent(run.config.agent, layout, len(vocabulary))
    return ImitationTrainee(
        agent=agent,
        vocabulary=vocabulary,
        learner=create_learner(run, STAGE, config.learner, agent, config.dataset.lanes),
        demonstrated=demonstration_source(
            run,
            Demonstrations(STAGE, snapshot.path, layout, vocabulary, config.dataset),
            config.learner,
            overlap=run.config.runtime.overlap,
        ),
        ledger=run.stage(STAGE).ledger,
        beat=run.beat,
    )


def _vocabulary(run: Run, snapshot: Snapshot) -> Vocabulary:
    """The vocabulary of the checkpoint to resume from, which damaged episodes can't change; at first, of the data."""
    found = checkpoint.latest(run.stage(STAGE).checkpoints)
    if found is not None:
        return Vocabulary.from_json(found.description["vocabulary"])
    with run.busy("builds the vocabulary") as beat:
        return Vocabulary.build(_texts(snapshot, beat))


def _texts(snapshot: Snapshot, beat: ReportActivity) -> Iterator[str]:
    """All utterances of the readable episodes."""
    for number, episode in enumerate(iter_readable(snapshot, snapshot.ids), 1):
        beat(f"builds the vocabulary: episode {number} of {len(snapshot)}")
        yield from (said.text for said in episode.meta.utterances)
