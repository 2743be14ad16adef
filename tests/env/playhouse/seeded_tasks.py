"""Tasks of real houses, one seed after the other."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from interplay.env.playhouse.world import Playhouse
from interplay.env.task import InfeasibleTask, Task
from interplay.env.world import Start

HOUSES = 300  # in which a kind of task is looked for, at most


def asked(world: Playhouse, kind: str, episodes: int, seed: int = 0) -> Iterator[Task]:
    """A task of this kind in each of so many houses that have one, those of the seeds after `seed`. The world stands at
    the start of that episode."""
    for number in range(seed + 1, seed + 1 + HOUSES):
        if not episodes:
            return
        world.reset(Start(seed=number), observers=())
        try:
            task = world.tasks().sample(kind, np.random.default_rng(number))
        except InfeasibleTask:
            continue
        episodes -= 1
        yield task
    assert not episodes, f"{kind}: {episodes} more are wanted than {HOUSES} houses have"
