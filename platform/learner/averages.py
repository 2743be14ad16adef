"""Averages over the steps that count."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class Mean(NamedTuple):
    """A mean and over how many it is one, so that means of different lanes can be merged into that of all."""

    value: Tensor  # scalar; 0 where nothing counts
    over: Tensor  # scalar, int64: how many were averaged


def masked_mean(values: Tensor, mask: Tensor) -> Tensor:
    """The mean of `values` where `mask` is true, a scalar; 0 where it is true nowhere. Shapes are equal.

    Values outside the mask may be anything, infinities and NaN included: they are selected away and not multiplied
    by 0.
    """
    if values.shape != mask.shape or mask.dtype != torch.bool:
        raise ValueError(
            f"values are {list(values.shape)} and the mask is {mask.dtype} {list(mask.shape)}; expected a bool mask of "
            "the values' shape"
        )
    kept = torch.where(mask, values, torch.zeros_like(values))
    return kept.sum() / mask.sum().clamp(min=1)
