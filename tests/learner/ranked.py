"""One rank of a learner of several, in a process of its own: `python ranked.py RANK SIZE ADDRESS FOLDER`.

Makes the updates that `test_ranks.py` lets one learner make on all lanes, and writes down what came of them.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import torch
from street import Street, tiny_agent
from test_learner import demonstrated, rollout

from interplay.agent.network import Agent
from interplay.agent.unroll import Unroll
from interplay.learner.distributed import RankLost, join
from interplay.learner.learner import Learner, LearnerConfig
from interplay.learner.process_group import ProcessGroup

LANES, UPDATES = 4, 3  # of all ranks
CONFIG = LearnerConfig(learning_rate=1e-3, gradient_clip=1.0)


def shown(agent: Agent, number: int) -> Unroll:
    """Rows of all lanes, of which those of the first half count little: nobody speaks or marks, few are cloned."""
    unroll = demonstrated(agent, number, LANES)
    half, arrays = slice(0, LANES // 2), unroll.arrays
    arrays["spoke"][:, half], arrays["tokens"][:, half], arrays["positive"][:, half] = False, 0, 0
    arrays["cloned"][2:, half] = False
    arrays["said"][3:, 0], arrays["heard"][3:, 0] = 0, 0
    return unroll


def earned(agent: Agent, number: int) -> Unroll:
    """Played rows of all lanes; the first half ends an episode in every other row."""
    made = rollout(agent, number, LANES)
    made.arrays["last"][::2, : LANES // 2] = True
    return made


def lanes_of(unroll: Unroll, lanes: slice) -> Unroll:
    own = unroll.select(lanes)
    return Unroll({key: np.ascontiguousarray(array) for key, array in own.arrays.items()}, own.state)


def learner(agent: Agent, lanes: int, group: ProcessGroup | None = None) -> Learner:
    return Learner(agent, CONFIG, dataset_lanes=lanes, generator=torch.Generator().manual_seed(4), group=group)


def main(rank: int, size: int, address: str, folder: Path) -> None:
    group = join(rank=rank, size=size, address=address, patience=60)
    agent = tiny_agent(Street(), utility=True)
    mine, told = learner(agent, LANES // size, group), {}
    own = slice(rank * LANES // size, (rank + 1) * LANES // size)
    for number in range(UPDATES):
        given = lanes_of(earned(agent, number), own)
        metrics = mine.update(demonstrated=lanes_of(shown(agent, number), own), rollout=given)
        told[f"metrics {number}"] = metrics
        if number == 0:
            told["gradients"] = {name: parameter.grad.clone() for name, parameter in agent.named_parameters()}  # type: ignore[union-attr]
    told |= {"weights": dict(agent.state_dict()), "state": mine.state()}

    apart = tiny_agent(Street(), seed=rank)
    try:
        learner(apart, LANES // size, group).update(demonstrated=lanes_of(shown(apart, 0), own))
    except ValueError as error:
        told["apart"] = str(error)
    torch.save(told, folder / f"{rank}.pt")
    if rank == size - 1:
        os._exit(3)  # as if killed, while the others go on
    try:
        mine.update(demonstrated=lanes_of(shown(agent, 0), own))
    except RankLost as error:
        (folder / "lost.txt").write_text(str(error))


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], Path(sys.argv[4]))
