"""Ranks 1, 2, ... of a distributed learner: each learns from its lanes of every batch, in step with rank 0."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from interplay.agent.network import Agent
from interplay.agent.unroll import Unroll
from interplay.agent.weights import Weights
from interplay.learner.config import LearnerConfig
from interplay.learner.device import find_device
from interplay.learner.distributed import join
from interplay.learner.learner import Learner

EXIT_DELAY_SECONDS = 2.0  # for a failed rank to return its exception before its process exits


class RankWorker:
    """A further rank of a learner, with the agent and random state of rank 0, which calls its methods."""

    def __init__(
        self,
        agent: Agent,
        *,
        rank: int,
        size: int,
        config: LearnerConfig,
        lanes: int,
        random: Tensor,
        threads: int,
    ) -> None:
        """
        Args:
            lanes: of demonstrations, for this rank.
            random: state of the generator of rank 0.
            threads: of torch.
        """
        torch.set_num_threads(threads)
        # Arrays from other processes are read-only, and are only read here.
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        self._agent = agent
        self._rank, self._size = rank, size
        self._config = config
        self._lanes = lanes
        self._generator = torch.Generator()
        self._generator.set_state(random)
        self._learner: Learner | None = None

    def ready(self) -> None:
        """Returns once the worker is built."""

    def join(self, address: str, patience: float) -> None:
        """Joins the other ranks; see `interplay.learner.distributed.join`."""
        with _exit_on_failure():
            device = find_device(self._config.device)
            group = join(rank=self._rank, size=self._size, address=address, device=device, patience=patience)
            self._learner = Learner(
                self._agent, self._config, dataset_lanes=self._lanes, generator=self._generator, group=group
            )

    def update(self, demonstrated: Unroll | None, rollout: Unroll | None) -> None:
        """Makes one update; its metrics are those that rank 0 has, too."""
        with _exit_on_failure():
            self._joined.update(demonstrated=demonstrated, rollout=rollout)

    def state(self) -> None:
        """Takes part in rank 0's `Learner.state`, which gathers the lanes of all ranks."""
        with _exit_on_failure():
            self._joined.state()

    def load(self, weights: Weights, state: Mapping[str, Any]) -> None:
        """Loads the weights and the state that rank 0 loads."""
        with _exit_on_failure():
            self._agent.load_state_dict({name: torch.tensor(array) for name, array in weights.items()})
            self._joined.load_state(state)

    @property
    def _joined(self) -> Learner:
        assert self._learner is not None, "join was not called"
        return self._learner


@contextmanager
def _exit_on_failure() -> Iterator[None]:
    """Exits the process shortly after an exception, so that no other rank waits for it at the next exchange."""
    try:
        yield
    except Exception:
        timer = threading.Timer(EXIT_DELAY_SECONDS, os._exit, (1,))
        timer.daemon = True
        timer.start()
        raise
