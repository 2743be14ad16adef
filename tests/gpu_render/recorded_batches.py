"""Batches of recorded Playhouse episodes, whose pictures the dataset actor or the learner draws.

As a script, with TRITON_INTERPRET=1: the learner draws by Triton's interpreter; saves both kinds of batch as `FILE`.
"""

from __future__ import annotations

import copy
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from interplay.actors.augmentation import AugmentationConfig
from interplay.actors.dataset_actor import DatasetActor, DatasetConfig
from interplay.agent.network import Agent
from interplay.agent.observation import Layout
from interplay.agent.sizes import SIZES
from interplay.agent.unroll import Unroll
from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.world import Playhouse
from interplay.env.world import Action, Start
from interplay.episodes.episode import Episode
from interplay.episodes.lane_reader import LaneReader
from interplay.episodes.recorder import EpisodeRecorder
from interplay.episodes.snapshot import Snapshot
from interplay.episodes.store import EpisodeStore
from interplay.episodes.vocabulary import Vocabulary
from interplay.gpu_render.recorded_views import RecordedViews
from interplay.learner.batch import to_tensors
from interplay.learner.config import LearnerConfig
from interplay.learner.learner import Learner

ROOM = PlayhouseConfig(rooms=(1, 1), furniture=(1, 2), objects=(2, 4), image=(8, 32))
WITHOUT_SETTER = replace(ROOM, setter_visible=False)
SMALL = replace(SIZES["nano"], channels=(8, 8), width=16, attention_heads=2, lstm=16, utterance_length=6)
DATASET = DatasetConfig(lanes=3, steps=2, mirror=0.5, stagger=False)
AUGMENTED = AugmentationConfig(probability=0.5, mirror=0.5)
UPDATES = 3
Arrays = dict[str, NDArray[Any]]


def recorded(config: PlayhouseConfig, seed: int) -> Episode:
    """Both players move at random."""
    world, rng = Playhouse(config), np.random.default_rng(seed)
    recorder = EpisodeRecorder(world, players={})
    recorder.begin(seed=seed, views=world.reset(Start(seed=seed)))
    bins = [component.bins for component in world.spec.movement]
    for _ in range(4):
        moves = rng.integers(bins, size=(2, world.spec.frames_per_step, len(bins))).astype(np.int8)
        actions = {role: Action(move, None) for role, move in zip(world.spec.roles, moves, strict=True)}
        recorder.record(actions, world.step(actions))
    return recorder.finish()


def snapshot(folder: Path, config: PlayhouseConfig) -> Snapshot:
    """Three episodes in three houses, whose ids, and so their order, are the same in every process."""
    with EpisodeStore(folder, create=True) as store:
        for seed in range(3):
            episode = recorded(config, seed)
            store.append(replace(episode, meta=replace(episode.meta, id=f"{seed:028x}")))
        return store.snapshot("all")


def dataset(read: Snapshot, config: PlayhouseConfig, *, by_learner: bool) -> DatasetActor:
    world = Playhouse(config)
    return DatasetActor(
        reader=LaneReader(read, DATASET.lanes, 0, world=world),
        layout=Layout(world.spec, 6, 4),
        vocabulary=Vocabulary([], "words"),
        config=replace(DATASET, drawn_by="learner" if by_learner else "actor"),
        rng=np.random.default_rng(0),
        augmentation=AUGMENTED,
        reflection=world.reflection(),
        views=RecordedViews(config) if by_learner else None,
    )


def joined(unrolls: list[Unroll]) -> Unroll:
    """As the batch of several dataset actors."""
    arrays = {key: np.concatenate([each.arrays[key] for each in unrolls], axis=1) for key in unrolls[0].arrays}
    return Unroll(arrays, scenes=[part for each in unrolls for part in each.scenes])


def batches(config: PlayhouseConfig, *, by_learner: bool, device: str) -> Arrays:
    """What the learner reads of two unrolls as one batch, and of some of its lanes."""
    with tempfile.TemporaryDirectory() as folder:
        actor = dataset(snapshot(Path(folder), config), config, by_learner=by_learner)
        unrolls = [
            Unroll({k: v.copy() for k, v in u.arrays.items()}, scenes=u.scenes)
            for u in (actor.unroll(), actor.unroll())
        ]
    both = joined(unrolls)
    found = {
        "whole": to_tensors(both, torch.device(device)),
        "part": to_tensors(both.select(slice(2, 5)), torch.device(device)),
    }
    return {
        f"{name} {key}": tensor.cpu().numpy()
        for name, tensors in found.items()
        for key, tensor in tensors.device.items()
        if key not in ("view", "flipped")
    }


def trained(device: str, *, drawn_before: bool, cuda_graph: bool = False) -> Arrays:
    """The losses of a few updates, and the weights after them. The learner draws the pictures of each, or drew them
    before."""
    with tempfile.TemporaryDirectory() as folder:
        actor = dataset(snapshot(Path(folder), ROOM), ROOM, by_learner=True)
        unrolls = [Unroll(copy.deepcopy(u.arrays), scenes=u.scenes) for u in (actor.unroll() for _ in range(UPDATES))]
    if drawn_before:
        for unroll in unrolls:
            image = to_tensors(unroll, torch.device(device)).device["image"].cpu().numpy()
            del unroll.arrays["view"], unroll.arrays["flipped"]
            unroll.arrays["image"] = image
    torch.manual_seed(0)
    agent = Agent(SMALL, Layout(Playhouse(ROOM).spec, 6, 4), len(Vocabulary([], "words")), utility=True).to(device)
    config = LearnerConfig(learning_rate=1e-3, check_lag=2, cuda_graph=cuda_graph, device=device)
    learner = Learner(agent, config, dataset_lanes=DATASET.lanes, generator=torch.Generator().manual_seed(1))
    metrics = []
    for unroll in unrolls:
        metrics.append(learner.begin_update(demonstrated=unroll))
        for array in unroll.arrays.values():
            array.fill(0)  # as the dataset actor, which uses its arrays again
    learner.settle()
    losses = np.array([each["loss"] for each in metrics])
    return {"losses": losses, **{name: np.asarray(array) for name, array in learner.weights().items()}}


if __name__ == "__main__":
    with np.errstate(all="ignore"):  # the interpreter computes what a mask then hides
        found = batches(ROOM, by_learner=True, device="cpu")
        found |= {f"bodiless {key}": a for key, a in batches(WITHOUT_SETTER, by_learner=True, device="cpu").items()}
        for drawn_before in (False, True):
            weights = trained("cpu", drawn_before=drawn_before)
            found |= {f"drawn before={drawn_before} {name}": array for name, array in weights.items()}
    np.savez(sys.argv[1], **found)
