"""Parts shared by several stages: dataset actors over a snapshot, and agents from the checkpoints of other stages."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import torch

from interplay.actors.augmentation import AugmentationConfig
from interplay.actors.dataset_actor import DatasetActor, DatasetConfig
from interplay.actors.row_writer import ViewWriter
from interplay.actors.seats import AgentSeat, LearnedSetters
from interplay.agent.agent_runner import AgentRunner
from interplay.agent.inference_device import InferenceDevice
from interplay.agent.network import Agent
from interplay.agent.observation import Layout
from interplay.agent.policy import LocalPolicy
from interplay.agent.weights import REWARD_HEADS
from interplay.core.settings_group import settings_group
from interplay.core.settings_validation import did_you_mean
from interplay.env.world import World
from interplay.episodes.catalog_index import EpisodeFilter
from interplay.episodes.lane_reader import EpisodeSource, LaneReader
from interplay.episodes.moment_windows import MomentReader, instruction_moments, marked_moments, spoken_moments
from interplay.episodes.snapshot import Snapshot
from interplay.episodes.vocabulary import Vocabulary
from interplay.learner.agents import (
    build_agent,
    check_description,
    check_same_world,
    fitting_weights,
    load_agent,
    read_description,
)
from interplay.learner.checkpoint import Checkpoint, CheckpointError, latest, read
from interplay.learner.device import Unavailable, find_device
from interplay.runtime.seeding import derive_seed, numpy_generator, torch_generator
from interplay.stages.run import Run
from interplay.stages.shuffled_marks import ShuffledMarks
from interplay.stages.stage_folder import MissingAgent, StageConflict

if TYPE_CHECKING:
    from interplay.env.playhouse.world import Playhouse

logger = logging.getLogger(__name__)

PEOPLE_KINDS = ("human", "scripted")  # the kinds of player that are cloned, and as setters replayed
PEOPLE = {"solver": PEOPLE_KINDS}
AGENT_STAGES = ("clone", "clone-setter", "reward", "reinforce")  # those that train an agent


def checkpoint_of(run: Run, name: str, role: Literal["setter", "solver"] = "solver") -> Checkpoint:
    """The newest checkpoint of a stage of this run ("clone"), or the one at a path, of an agent that plays `role`.

    Raises:
        CheckpointError: there is no checkpoint, or its agent is for another world or another role.
    """
    if is_of_run(run, name):
        return _of_role(check_description(read(run.stage(name).checkpoints)), role)
    if "/" in name or Path(name).exists():
        return _of_role(_of_this_world(run, check_description(read(Path(name)))), role)
    lacks = f"{run.root} has no checkpoint of the stage {name!r}"
    if name not in AGENT_STAGES:
        known = did_you_mean(name, AGENT_STAGES)
        raise CheckpointError(f"{lacks}, which trains no agent.{known} Or give the path of a checkpoint")
    raise MissingAgent(f"{lacks}; type: {run.command(name)}, or give the path of a checkpoint")


def warn_of_unfinished_agent(run: Run, stage: str, name: str) -> None:
    """Warns if a stage begins with the agent of another stage of this run that was stopped or is still training.

    A training stage warns once, because a resumed one keeps the weights that it began with.
    """
    if is_of_run(run, name) and not run.stage(stage).has_agent and not run.stage(name).finished:
        logger.warning(
            "%s has not finished, and %s begins with its agent of update %d. To begin with the trained one, stop this, "
            "and type first: %s",
            *(name, stage, read(run.stage(name).checkpoints).step, run.command(name)),
        )


def outgrown_start(run: Run, stage: str) -> str:
    """The warning that the agent that a training stage began with has been trained since; "" if it has not.

    Only agents of stages of this run are compared. A damaged checkpoint is not reported here.
    """
    try:
        found = latest(run.stage(stage).checkpoints)
        match found.description if found is not None else {}:
            case {"start": {"step": int(began), **more}, "config": dict(config)}:
                name = config.get(settings_group(stage), {}).get("start", "")
            case _:
                return ""
        if not name or not is_of_run(run, name):
            return ""
        newest = checkpoint_of(run, name)
        if newest.step == began and more.get("weights", newest.fingerprint) == newest.fingerprint:
            return ""
    except CheckpointError:
        return ""
    since = f"is at update {newest.step} now" if newest.step != began else "has been trained again since"
    return (
        f"{stage} began with the agent of update {began} of {name}, which {since}, and keeps it. To begin with the "
        f"newer one, use a run of its own (run.name=...), or remove {run.stage(stage).path} and type: "
        f"{run.command(stage)}"
    )


def is_of_run(run: Run, name: str) -> bool:
    """Whether `name` is that of a stage of this run that has an agent, not a path."""
    folder = run.stage(name)
    return Path(os.path.normpath(folder.path)).is_relative_to(os.path.normpath(run.root)) and folder.has_agent


def player_of(run: Run, name: str, role: Literal["setter", "solver"] = "solver") -> dict[str, Any]:
    """Describes the checkpoint that `checkpoint_of` finds, in the form that results state.

    Raises:
        CheckpointError: as `checkpoint_of`.
    """
    found = checkpoint_of(run, name, role)
    return {"stage": name, "update": found.step, "weights": found.fingerprint}


def refuse_trained_on(
    run: Run, verb: str, player: Mapping[str, Any], agent: str, role: Literal["setter", "solver"] = "solver"
) -> None:
    """Refuses results of `agent` that state `player` if its stage has another checkpoint now, which may have been
    loaded in its place.

    Raises:
        StageConflict: it has; the message is to type `verb` once the training has finished.
    """
    now = player_of(run, player["stage"], role)
    if now != player:
        raise StageConflict(
            f"{player['stage']} was trained on while {agent} played: from update {player['update']} to "
            f"{now['update']}. Its results are not kept; wait until it has finished, and type: {run.command(verb)}"
        )


def is_same_player(kept: Any, player: Mapping[str, Any]) -> bool:
    """Whether results that state `kept` are those of `player`; older versions did not state the weights."""
    return bool(kept in (player, {key: value for key, value in player.items() if key != "weights"}))


def _of_role(found: Checkpoint, role: str) -> Checkpoint:
    """Returns `found` if its agent plays this role; the setter is the first role of a world, the solver the last."""
    layout = read_description(found.description)[1]
    plays, wanted = layout.role, layout.world.roles[0 if role == "setter" else -1]
    if plays != wanted:
        raise CheckpointError(
            f"the agent of {found.path} plays the {plays}, and a {wanted} is wanted here; interplay clone trains a "
            "solver, interplay clone-setter a setter"
        )
    return found


def _of_this_world(run: Run, found: Checkpoint) -> Checkpoint:
    """Returns `found`, a checkpoint from outside the run, if its agent fits this world's observations and actions."""
    with run.closing_worlds() as opened:
        return check_same_world(found, opened.make_world().spec)


def start_from(
    run: Run, name: str, *, head: Literal["utility", "marks", "none"] = "none", from_scratch: bool = False
) -> tuple[Agent, Vocabulary]:
    """A new agent with the weights of another stage; with a `head`, a reward model whose head is untrained.

    With `from_scratch`, only the architecture and the vocabulary come from the other stage; the weights are new.
    """
    found = checkpoint_of(run, name)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derive_seed(run.seed, "start", name))  # for weights that the checkpoint lacks: the new head
        agent, vocabulary = build_agent(found.description, head)
    if from_scratch:
        return agent, vocabulary
    # A clone has no such head, and a policy that starts from a reward model needs none.
    agent.load_state_dict(fitting_weights(found, agent, REWARD_HEADS), strict=False)
    return agent, vocabulary


def acting_device(run: Run) -> InferenceDevice:
    """Where agents that play in this process decide, and in which precision.

    Raises:
        ValueError: there is no such device.
    """
    actors = run.config.actors
    return InferenceDevice(find_device(actors.device, "actors.device"), actors.precision)


@dataclass(frozen=True)
class ActingAgent:
    """An agent of a checkpoint that plays in this process."""

    path: Path
    agent: Agent
    vocabulary: Vocabulary
    on: InferenceDevice

    def runner(self, lanes: int, generator: torch.Generator, *, greedy: bool = False) -> AgentRunner:
        """The agent in `lanes` lanes, whose actions are drawn by `generator`, or with `greedy` are the likeliest."""
        return AgentRunner(LocalPolicy(self.agent, generator, greedy, self.on), self.vocabulary, lanes)

    def seat(self, lanes: int, generator: torch.Generator, *, greedy: bool = False) -> AgentSeat:
        """The agent in the solver's seat; see `runner`."""
        return AgentSeat(self.runner(lanes, generator, greedy=greedy), str(self.path))


def acting_agent(run: Run, name: str, role: Literal["setter", "solver"] = "solver") -> ActingAgent:
    """The agent of the checkpoint that `checkpoint_of` finds, on the device of `acting_device`.

    Raises:
        CheckpointError: as `checkpoint_of`.
        ValueError: there is no such device.
    """
    path = checkpoint_of(run, name, role).path
    return ActingAgent(path, *load_agent(path), acting_device(run))


def learned_setters(run: Run, name: str, lanes: int, names: Sequence[str | int]) -> LearnedSetters | None:
    """The setter agent of a stage or path in `lanes` lanes; None without a name or lanes.

    `names` are those of its random stream.

    Raises:
        CheckpointError: there is no checkpoint, or its agent is for another world or no setter.
    """
    if not (name and lanes):
        return None
    setter = acting_agent(run, name, "setter")
    return LearnedSetters(setter.runner(lanes, torch_generator(run.seed, *names, "learned setter")), str(setter.path))


@dataclass(frozen=True)
class Share:
    """Number `index` of `of` actors that share the episodes: together they visit each one once per epoch."""

    index: int = 0
    of: int = 1

    @property
    def names(self) -> tuple[int, ...]:
        """Suffix of the names of its random streams; empty for the first, whose draws match those of a single actor."""
        return (self.index,) if self.index else ()


ALONE = Share()


def _with_kinds(where: EpisodeFilter, kinds: Sequence[str], snapshot: Snapshot, stage: str) -> EpisodeFilter:
    """The filter of the episodes whose tasks are all of `kinds`; unchanged where `kinds` is empty."""
    chosen, section = replace(where, only_tasks=kinds), stage.removesuffix("-setter")
    recorded = sorted({kind for entry in snapshot.entries(where) for kind in entry.task_kinds}) if kinds else []
    if unknown := sorted(set(kinds) - set(recorded)):
        raise ValueError(
            f"{section}.dataset.kinds names {', '.join(unknown)}, and no demonstration in {snapshot.path} has such a "
            f"task; allowed: {', '.join(recorded)}, or none for all"
        )
    if kinds and not snapshot.select(chosen):
        raise ValueError(
            f"{section}.dataset.kinds: every demonstration in {snapshot.path} with a task of the kinds "
            f"{', '.join(kinds)} has one of another kind, too; name more kinds, or none for all"
        )
    return chosen


@dataclass(frozen=True)
class Demonstrations:
    """The demonstrations that a stage reads: the episodes of a snapshot that satisfy `where`."""

    stage: str
    snapshot: Path
    layout: Layout
    vocabulary: Vocabulary
    config: DatasetConfig
    where: EpisodeFilter | None = None
    augmentation: AugmentationConfig | None = None
    shuffle_marks: bool = False  # read the marks of `ShuffledMarks` in place of the true ones


def dataset_actor(run: Run, what: Demonstrations, share: Share = ALONE) -> DatasetActor:
    """A dataset actor over its share of the episodes and of the lanes of `what`.

    Raises:
        ValueError: no episode is demonstrated, none has the tasks of `config.kinds` alone, or none has the marks,
            utterances or instructions that windows are drawn around.
    """
    world, stage = run.make_world(), what.stage
    config = replace(what.config, lanes=what.config.lanes // share.of)
    snapshot = Snapshot(what.snapshot)
    if what.shuffle_marks:
        snapshot = ShuffledMarks(what.snapshot, seed=run.seed, frames_per_step=world.spec.frames_per_step)
    where = _with_kinds(what.where or EpisodeFilter(), config.kinds, snapshot, stage)
    seed, role, cache = derive_seed(run.seed, stage, "order"), what.layout.role, config.cache_mb * 2**20
    part: dict[str, Any] = {"mix": config.mix, "rank": share.index, "world_size": share.of}
    reader: LaneReader | MomentReader
    if config.windows == "marked":
        source = EpisodeSource(snapshot, world, role, cache)
        reader = MomentReader(source, marked_moments(snapshot, where), seed, **part)
    else:
        lanes = config.lanes - config.utterance_lanes - config.instruction_lanes
        view: dict[str, Any] = {"world": world, "role": role, "cache_bytes": cache, "stagger": config.stagger}
        reader = LaneReader(snapshot, lanes, seed, where=where, **view, **part)
    spoken, instructed, section = None, None, f"{settings_group(stage)}.dataset"
    if config.utterance_lanes:
        said = spoken_moments(snapshot, role, where, section=section)
        spoken = MomentReader(reader.source, said, derive_seed(run.seed, stage, "utterances"), **part)
    if config.instruction_lanes:
        asked = instruction_moments(snapshot, role, config.steps, where, section=section)
        instructed = MomentReader(reader.source, asked, derive_seed(run.seed, stage, "asked"), **part)
    views = recorded_views(world, stage) if config.drawn_by == "learner" else None
    return DatasetActor(
        reader=reader,
        layout=what.layout,
        vocabulary=what.vocabulary,
        config=config,
        rng=numpy_generator(run.seed, stage, "dataset", *share.names),
        seed=derive_seed(run.seed, stage, "unknown words"),
        augmentation=what.augmentation,
        reflection=world.reflection(),
        spoken=spoken,
        instructed=instructed,
        views=views,
    )


def recorded_views(world: World, stage: str) -> ViewWriter:
    """The writer of rows that describe recorded pictures of this world, from which the learner of `stage` draws them.

    Raises:
        Unavailable: the learner can't draw the pictures of this world.
    """
    from interplay.gpu_render.recorded_views import RecordedViews  # here, as in `drawable`

    return RecordedViews(drawable(world, f"{settings_group(stage)}.dataset.drawn_by", "learner").config)


def drawable(world: World, setting: str, value: str) -> Playhouse:
    """The world, if a GPU can draw its pictures, which `setting` requires.

    Raises:
        Unavailable: it can't.
    """
    # Here, because other worlds don't need what the Playhouse imports.
    from interplay.env.playhouse.world import Playhouse

    if not isinstance(world, Playhouse):
        raise Unavailable(
            f"{setting}={value} draws pictures of the Playhouse only, not of {world.spec.name}",
            f"set {setting}=actor",
        )
    return world
