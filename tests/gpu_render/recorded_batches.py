"""Batches of recorded Playhouse episodes, whose pictures the dataset actor or the learner draws.

As a script, with TRITON_INTERPRET=1: the learner draws by Triton's interpreter; saves both kinds of batch as `FILE`.
"""

from __future__ import annotations

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
from interplay.agent.observation import Layout
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

ROOM = PlayhouseConfig(rooms=(1, 1), furniture=(1, 2), objects=(2, 4), image=(12, 32))
WITHOUT_SETTER = replace(ROOM, setter_visible=False)
DATASET = DatasetConfig(lanes=3, steps=2, mirror=0.5, stagger=False)
AUGMENTED = AugmentationConfig(probability=0.5, mirror=0.5)
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
    with EpisodeStore(folder) as store:
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


if __name__ == "__main__":
    with np.errstate(all="ignore"):  # the interpreter computes what a mask then hides
        drawn = batches(ROOM, by_learner=True, device="cpu")
        drawn |= {
            f"bodiless {key}": array for key, array in batches(WITHOUT_SETTER, by_learner=True, device="cpu").items()
        }
    np.savez(sys.argv[1], **drawn)
