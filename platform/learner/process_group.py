"""Process group of a data-parallel learner: lanes are divided among the ranks, and all make the same step.

A loss is a mean over unmasked steps, words or pairs, whose number differs between ranks. So each rank's mean is scaled
by the rank's share of the total count; the sum over ranks is then the mean over all lanes, and the sum of the gradients
is its gradient::

    counts --> shares --> loss --> backward --> sum of gradients --> the same step everywhere
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable

import torch
from torch import Tensor


class ProcessGroup(ABC):
    """All ranks of a learner. Every rank calls the same methods in the same order."""

    rank: int
    size: int

    @abstractmethod
    def shares(self, counts: Tensor) -> Tensor:
        """This rank's share of the sum over ranks, float32 [n]; 0 where the sum is 0. `counts`: int64 [n]."""

    @abstractmethod
    def sum(self, values: Tensor) -> Tensor:
        """The sum over ranks."""

    @abstractmethod
    def sum_gradients(self, parameters: Iterable[Tensor]) -> None:
        """Replaces each gradient by its sum over ranks."""

    @abstractmethod
    def gather(self, lanes: Tensor) -> Tensor:
        """Concatenate the lanes of all ranks, [T, B, ...] -> [T, ranks B, ...]. Gradients flow back to each rank."""

    @abstractmethod
    def check_same(self, what: str, tensors: Iterable[Tensor]) -> None:
        """Raise ValueError unless these are identical bit for bit on every rank; `what` names them."""


class SingleProcess(ProcessGroup):
    """A learner without other ranks."""

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
