"""Averages over unmasked steps."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class Mean(NamedTuple):
    """A mean and its count, so that the means of several ranks can be merged."""

    value: Tensor  # scalar; 0 if the count is 0
    over: Tensor  # scalar, int64: the count


def masked_mean(values: Tensor, mask: Tensor) -> Tensor:
    """The mean of `values` where `mask` is true, a scalar; 0 if it is true nowhere. Shapes are equal.

    Masked values may be infinite or NaN: they are replaced, not multiplied by 0.

    Raises:
        ValueError: shapes differ, or the mask is not bool.
    """
    if values.shape != mask.shape or mask.dtype != torch.bool:
        raise ValueError(
            f"values are {list(values.shape)} and the mask is {mask.dtype} {list(mask.shape)}; expected a bool mask of "
            "the values' shape"
        )
    kept = torch.where(mask, values, torch.zeros_like(values))
    return kept.sum() / mask.sum().clamp(min=1)
