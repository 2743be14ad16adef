"""Five recorded episodes of the line world with marks, and dataset actors that read them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from fake_world import TINY, WORDS, LineWorld, record_episode, with_number

from interplay.actors.dataset_actor import DatasetActor, DatasetConfig
from interplay.agent.observation import Arrays, Layout
from interplay.episodes.episode import Episode, Mark
from interplay.episodes.lane_reader import LaneReader
from interplay.episodes.snapshot import Snapshot

STEPS = [7, 4, 9, 6, 3]
LAYOUT = Layout(LineWorld().spec, TINY.utterance_length, TINY.actions_per_step)
CONFIG = DatasetConfig(lanes=2, steps=5)


def name(number: int) -> str:
    return f"{number:028x}"


def episodes() -> list[Episode]:
    """Five episodes; an agent plays the third, and a person takes over at its step 5."""
    made = [with_number(record_episode(LineWorld(), seed, steps)[0], seed) for seed, steps in enumerate(STEPS)]
    control = {"setter": [(0, "scripted")], "solver": [(0, "agent"), (10, "human")]}
    made[2] = replace(made[2], meta=replace(made[2].meta, control=control))
    return made


MARKS = [
    Mark(name(0), "ann", 4, 1), Mark(name(0), "ann", 5, 1), Mark(name(0), "ann", 12, -1), Mark(name(0), "bob", 6, -1),
    Mark(name(2), "bob", 17, 1),
]  # fmt: skip


def actor_of(snapshot: Snapshot, config: DatasetConfig = CONFIG, **settings: Any) -> DatasetActor:
    reader = LaneReader(snapshot, config.lanes, 3, world=LineWorld())
    rng = np.random.default_rng(0)
    return DatasetActor(reader=reader, layout=LAYOUT, vocabulary=WORDS, config=config, rng=rng, **settings)


def lanes_rows(actor: DatasetActor, unrolls: int) -> Iterator[Arrays]:
    """All rows of each lane, [unrolls * (T + 1), ...]: dataset unrolls do not overlap."""
    made = [{key: array.copy() for key, array in actor.unroll().arrays.items()} for _ in range(unrolls)]
    for lane in range(CONFIG.lanes):
        yield {key: np.concatenate([arrays[key][:, lane] for arrays in made]) for key in made[0]}
