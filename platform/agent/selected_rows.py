"""Rows that a loss selects from [T, B] arrays, such as those with an utterance, as a list of indices.

The list is made on the host, because counting rows on a GPU would wait for everything that is queued there. It may be
padded, so that its length is the same in every update:

    mask on the host --select_rows--> step, lane, real [N] --send--> the same on the device --take--> values [N, ...]
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from interplay.agent.inference_device import send


class SelectedRows(NamedTuple):
    """N rows of [T, B] arrays, in order, and after them padding."""

    step: Tensor  # int64 [N]
    lane: Tensor  # int64 [N]
    real: Tensor  # bool [N]; False: padding, which repeats the first row of the arrays and must not count

    def take(self, values: Tensor) -> Tensor:
        """These rows of values [T, B, ...]: [N, ...]."""
        return values[self.step, self.lane]

    def to(self, device: torch.device) -> SelectedRows:
        """The same rows on a device, without waiting for it."""
        return SelectedRows(*(send(part, device) for part in self))

    def mean(self, values: Tensor) -> Tensor:
        """The mean of values [N] over the rows that are not padding, a scalar; 0 without such rows."""
        return torch.where(self.real, values, 0.0).sum() / self.number().clamp(min=1)

    def number(self) -> Tensor:
        """The number of rows that are not padding, an int64 scalar."""
        return self.real.sum()


def select_rows(mask: Tensor, length: int | None = None) -> SelectedRows:
    """The rows where a mask [T, B] is true, on its device; on a GPU this waits for it.

    Args:
        mask: bool [T, B].
        length: N, at least the number of rows; None: as many as there are, without padding.

    Raises:
        ValueError: there are more than `length` rows.
    """
    step, lane = mask.nonzero(as_tuple=True)
    found = len(step)
    if length is None:
        return SelectedRows(step, lane, torch.ones_like(step, dtype=torch.bool))
    if found > length:
        raise ValueError(f"{found} rows do not fit into a list of {length}; give `length` at least the number of rows")
    padded = [torch.cat([index, index.new_zeros(length - found)]) for index in (step, lane)]
    return SelectedRows(padded[0], padded[1], torch.arange(length, device=mask.device) < found)
