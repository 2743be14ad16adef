"""What a learner knows of others that learn beside it: lanes are spread over them, and all make the same step.

A loss is a mean over what counts, and ranks have unlike numbers of steps, words and marks that count. So each rank's
mean is scaled by the share that the rank has of everybody's count; the sum over ranks is then the mean over all lanes,
and the sum of the gradients is its gradient::

    counts --> shares --> loss --> backward --> sum of gradients --> the same step everywhere
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable

import torch
from torch import Tensor


class ProcessGroup(ABC):
    """All ranks of a learner. Every method is called by all of them, in the same order."""

    rank: int
    size: int

    @abstractmethod
    def shares(self, counts: Tensor) -> Tensor:
        """This rank's share of the sum over ranks, float32 [n]; 0 where all have nothing. `counts`: int64 [n]."""

    @abstractmethod
    def sum(self, values: Tensor) -> Tensor:
        """The sum over ranks."""

    @abstractmethod
    def sum_gradients(self, parameters: Iterable[Tensor]) -> None:
        """Replaces each gradient by its sum over ranks."""

    @abstractmethod
    def gather(self, lanes: Tensor) -> Tensor:
        """[T, B, ...] -> [T, ranks B, ...]: the lanes of all, by rank. Gradients flow back to where lanes came from."""

    @abstractmethod
    def check_same(self, what: str, tensors: Iterable[Tensor]) -> None:
        """Raises ValueError where these are not bit for bit the same on every rank."""


class SingleProcess(ProcessGroup):
    """One learner, nobody beside it."""

    rank, size = 0, 1

    def shares(self, counts: Tensor) -> Tensor:
        return torch.ones_like(counts, dtype=torch.float32)

    def sum(self, values: Tensor) -> Tensor:
        return values

    def sum_gradients(self, parameters: Iterable[Tensor]) -> None:
        pass

    def gather(self, lanes: Tensor) -> Tensor:
        return lanes

    def check_same(self, what: str, tensors: Iterable[Tensor]) -> None:
        pass
