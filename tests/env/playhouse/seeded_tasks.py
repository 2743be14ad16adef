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


def is_done_after_drops(world: Playhouse, task: Task, steps: int) -> bool:
    """Whether the expert carries out a task although the solver drops what it holds twice."""
    expert, drops = task.expert(world), 2
    for _ in range(steps):
        action = expert.act(world)
        if drops and world.facts().bodies["solver"].holding is not None:
            drops -= 1
            world.step({}, observers=())
            continue
        world.step({"solver": action}, observers=())
        if task.success(world.facts(), []):
            return not drops
    return False
