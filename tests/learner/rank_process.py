"""One rank of a distributed learner in a process of its own.

    python rank_process.py RANK SIZE ADDRESS LISTENER FOLDER

LISTENER is the descriptor of a socket that listens at the address, for rank 0. Makes the updates that
`test_distributed.py` makes with one learner on all lanes, and saves the results.
"""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import numpy as np
import torch
from fake_world import LineWorld, tiny_agent
from random_unrolls import demonstrated, rollout

from interplay.agent.network import Agent
from interplay.agent.unroll import Unroll
from interplay.learner.config import LearnerConfig
from interplay.learner.distributed import RankLost, join
from interplay.learner.learner import Learner
from interplay.learner.process_group import ProcessGroup

LANES, UPDATES = 4, 3  # of all ranks
CONFIG = LearnerConfig(learning_rate=1e-3, gradient_clip=1.0)


def demonstrated_rows(agent: Agent, number: int) -> Unroll:
    """Rows of all lanes. The first half has little weight: no speech, no positive marks, few cloned rows."""
    unroll = demonstrated(agent, number, LANES)
    half, arrays = slice(0, LANES // 2), unroll.arrays
    arrays["spoke"][:, half], arrays["tokens"][:, half], arrays["positive"][:, half] = False, 0, 0
    arrays["cloned"][2:, half] = False
    arrays["said"][3:, 0], arrays["heard"][3:, 0] = 0, 0
    return unroll


def rollout_rows(agent: Agent, number: int) -> Unroll:
    """Rollout rows of all lanes; the first half ends an episode in every other row."""
    unroll = rollout(agent, number, LANES)
    unroll.arrays["last"][::2, : LANES // 2] = True
    return unroll


def lanes_of(unroll: Unroll, lanes: slice) -> Unroll:
    own = unroll.select(lanes)
    return Unroll({key: np.ascontiguousarray(array) for key, array in own.arrays.items()}, own.state)


def make_learner(agent: Agent, lanes: int, group: ProcessGroup | None = None) -> Learner:
    return Learner(agent, CONFIG, dataset_lanes=lanes, generator=torch.Generator().manual_seed(4), group=group)


def main(rank: int, size: int, address: str, descriptor: int, folder: Path) -> None:
    listener = socket.socket(fileno=descriptor)
    if rank > 0:
        listener.close()
    group = join(rank=rank, size=size, address=address, patience=200, listener=listener if rank == 0 else None)
    agent = tiny_agent(LineWorld(), utility=True)
    distributed, results = make_learner(agent, LANES // size, group), {}
    own = slice(rank * LANES // size, (rank + 1) * LANES // size)
    for number in range(UPDATES):
        rollout = lanes_of(rollout_rows(agent, number), own)
        metrics = distributed.update(demonstrated=lanes_of(demonstrated_rows(agent, number), own), rollout=rollout)
        results[f"metrics {number}"] = metrics
        if number == 0:
            results["gradients"] = {name: parameter.grad.clone() for name, parameter in agent.named_parameters()}  # type: ignore[union-attr]
    results |= {"weights": dict(agent.state_dict()), "state": distributed.state()}

    other = tiny_agent(LineWorld(), seed=rank)
    try:
        make_learner(other, LANES // size, group).update(demonstrated=lanes_of(demonstrated_rows(other, 0), own))
    except ValueError as error:
        results["other"] = str(error)
    torch.save(results, folder / f"{rank}.pt")
    if rank == size - 1:
        os._exit(3)  # as if killed; the other ranks continue
    try:
        distributed.update(demonstrated=lanes_of(demonstrated_rows(agent, 0), own))
    except RankLost as error:
        (folder / "lost.txt").write_text(str(error))


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4]), Path(sys.argv[5]))
