"""The clone stages: behavioral cloning of recorded solvers, or of recorded setters, with CSS (matching vision with
language)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import torch

from interplay.agent.network import Agent
from interplay.agent.observation import Layout
from interplay.env.reflection import Reflection
from interplay.episodes.catalog_index import EpisodeFilter
from interplay.episodes.encoding import iter_readable
from interplay.episodes.snapshot import Snapshot
from interplay.episodes.vocabulary import Vocabulary, warn_of_long_utterances
from interplay.learner import checkpoint
from interplay.runtime.seeding import derive_seed
from interplay.stages.episode_snapshot import freeze_heldout, freeze_once, warn_of_newer_data
from interplay.stages.heldout_listening import heldout_demonstrations, listening_measure
from interplay.stages.process_layout import create_learner, demonstration_source
from interplay.stages.run import ReportActivity, Run, closes_worlds
from interplay.stages.shared_parts import PEOPLE_KINDS, Demonstrations
from interplay.stages.trainees import ImitationTrainee
from interplay.stages.training_loop import train_stage

STAGE, SETTER_STAGE = "clone", "clone-setter"


@closes_worlds
def clone(run: Run) -> None:
    """Trains an agent to play the solver in `runs/<name>/clone`, or resumes it; does nothing if it is done.

    Raises:
        ValueError: the store has no episodes of human or scripted solvers.
        Interrupted: a signal requested a stop; everything is saved.
    """
    _clone(run, STAGE, run.make_world().spec.solver)


@closes_worlds
def clone_setter(run: Run) -> None:
    """Trains an agent to play the setter (A.6 of the paper) in `runs/<name>/clone-setter`, or resumes it.

    The agent sees the setter's view and what the setter heard; the setter's movements and utterances are its targets.
    The settings are those of `clone`.

    Raises:
        ValueError: the world has no setter, or the store has no episodes of human or scripted setters.
        Interrupted: a signal requested a stop; everything is saved.
    """
    spec = run.make_world().spec
    if spec.roles[0] == spec.solver:
        raise ValueError(
            f"{spec.name} has no setter to clone: its only role is {spec.solver!r}; choose a world of two players, as "
            "env=playhouse"
        )
    _clone(run, SETTER_STAGE, spec.roles[0])


def clone_settings(run: Run) -> dict[str, Any]:
    """The settings that may not change when a clone stage is resumed."""
    return {"agent": run.config.agent, "clone": run.config.clone, "seed": run.seed}


def _clone(run: Run, stage: str, role: str) -> None:
    folder, config = run.stage(stage), run.config.clone
    clock = run.begin(stage, clone_settings(run))
    demonstrated = EpisodeFilter(split="train", kinds={role: PEOPLE_KINDS})
    if folder.finished_at(config.training.updates):
        warn_of_newer_data(run, stage, demonstrated)
        return
    snapshot = freeze_once(run, stage, demonstrated, "collect", config.dataset.mix)
    solves, heldout = stage == STAGE and config.listening_episodes > 0, None
    if solves:
        heldout = freeze_heldout(run, stage, heldout_demonstrations(role))
    trainee = build(run, snapshot, stage, role, heldout)
    show = {"loss": "loss", "movement": "movement_cloning", "words": "token_cloning"}
    show |= {"listening": "heldout_listening"} if solves else {}
    train_stage(run, stage, clock, config.training, trainee, snapshot=snapshot, show=show)
    clock.finish(episodes=len(snapshot), vocabulary=len(trainee.vocabulary))


def build(run: Run, snapshot: Snapshot, stage: str, role: str, heldout: Snapshot | None = None) -> ImitationTrainee:
    """A new agent of `role` with a vocabulary from the data, its learner and its source of demonstrations.

    Its listening is measured on the episodes of `heldout`.
    """
    config, world = run.config.clone, run.make_world()
    vocabulary = _vocabulary(run, snapshot, stage)
    layout = Layout(world.spec, run.config.agent.utterance_length, run.config.agent.actions_per_step, role)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derive_seed(run.seed, stage, "weights"))
        agent = Agent(run.config.agent, layout, len(vocabulary))
    most, cache = config.listening_episodes, config.dataset.cache_mb
    return ImitationTrainee(
        agent=agent,
        vocabulary=vocabulary,
        learner=create_learner(run, stage, config.learner, agent, config.dataset.lanes),
        demonstrated=demonstration_source(
            run,
            Demonstrations(stage, snapshot.path, layout, vocabulary, config.dataset),
            config.learner,
            overlap=run.config.runtime.overlap,
        ),
        ledger=run.stage(stage).ledger,
        beat=run.beat,
        measure=listening_measure(run, heldout, agent, vocabulary, most=most, cache_mb=cache),
        measure_every=config.measure_every,
        measure_at=config.training.updates,
    )


def _vocabulary(run: Run, snapshot: Snapshot, stage: str) -> Vocabulary:
    """The vocabulary of the checkpoint to resume from, so that damaged episodes can't change it. Without a checkpoint,
    the vocabulary of the data, also of its mirrored form if a stage that continues from this agent mirrors it."""
    found = checkpoint.latest(run.stage(stage).checkpoints)
    if found is not None:
        return Vocabulary.from_json(found.description["vocabulary"])
    with run.busy("builds the vocabulary") as beat:
        is_mirrored = any(stage.dataset.mirror for stage in run.config.training_stages.values())
        mirrors = run.make_world().reflection() if is_mirrored else None
        agent, texts = run.config.agent, Counter(_texts(snapshot, beat, mirrors))
        vocabulary = Vocabulary.build(texts, agent.vocabulary, agent.tokens)
    warn_of_long_utterances(texts, vocabulary, agent.utterance_length, "to clone")
    return vocabulary


def _texts(snapshot: Snapshot, beat: ReportActivity, reflection: Reflection | None) -> Iterator[str]:
    """All utterances of the readable episodes, and their mirrored forms if `reflection` changes them."""
    for number, episode in enumerate(iter_readable(snapshot, snapshot.ids), 1):
        beat(f"builds the vocabulary: episode {number} of {len(snapshot)}")
        for said in episode.meta.utterances:
            yield said.text
            if reflection is not None and (mirrored := reflection.text(said.text)) != said.text:
                yield mirrored
