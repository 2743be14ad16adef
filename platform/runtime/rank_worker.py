"""A rank beside the learner's own: it learns from its lanes of every batch whenever the first rank does."""

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
from interplay.learner.device import find_device
from interplay.learner.distributed import join
from interplay.learner.learner import Learner, LearnerConfig

EXIT_DELAY_SECONDS = 2.0  # seconds in which a rank that failed tells why, before its process ends


class RankWorker:
    """Rank 1, 2, ... of a learner, with the first rank's agent and random state; it is told what to do and when."""

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
            lanes: of demonstrations, of this rank.
            random: the state of the first rank's generator.
            threads: torch's own.
        """
        torch.set_num_threads(threads)
        # What comes from another process is read-only, and is only read here.
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        self._agent = agent
        self._rank, self._size = rank, size
        self._config = config
        self._lanes = lanes
        self._generator = torch.Generator()
        self._generator.set_state(random)
        self._learner: Learner | None = None

    def ready(self) -> None:
        """Answers once the part is made."""

    def join(self, address: str, patience: float) -> None:
        """Comes together with the other ranks; see `interplay.learner.distributed.join`."""
        with _ends_where_it_fails():
            device = find_device(self._config.device)
            group = join(rank=self._rank, size=self._size, address=address, device=device, patience=patience)
            self._learner = Learner(
                self._agent, self._config, dataset_lanes=self._lanes, generator=self._generator, group=group
            )

    def update(self, demonstrated: Unroll | None, rollout: Unroll | None) -> None:
        """One step; what it tells, the first rank knows as well."""
        with _ends_where_it_fails():
            self._joined.update(demonstrated=demonstrated, rollout=rollout)

    def state(self) -> None:
        """Takes part in the first rank's `Learner.state`, which holds the lanes of all."""
        with _ends_where_it_fails():
            self._joined.state()

    def load(self, weights: Weights, state: Mapping[str, Any]) -> None:
        """Goes on from the weights and the state that the first rank loads."""
        with _ends_where_it_fails():
            self._agent.load_state_dict({name: torch.tensor(array) for name, array in weights.items()})
            self._joined.load_state(state)

    @property
    def _joined(self) -> Learner:
        assert self._learner is not None, "it has not joined the others"
        return self._learner


@contextmanager
def _ends_where_it_fails() -> Iterator[None]:
    """A rank that failed will not come to the next exchange: its process ends, and no other waits there for it."""
    try:
        yield
    except Exception:
        timer = threading.Timer(EXIT_DELAY_SECONDS, os._exit, (1,))
        timer.daemon = True
        timer.start()
        raise
