"""Reusable buffers in which unrolls are concatenated to batches along the lane axis."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from interplay.agent.observation import Arrays


class BatchBuffers:
    """Pool of `count` sets of arrays [T, B, ...], allocated at the first use.

    One thread fills sets, another one uses and releases them.

    Args:
        pinned: page-locked memory, for copies to a GPU.
    """

    def __init__(self, count: int, pinned: bool = False) -> None:
        self._sets: list[Arrays] = [{} for _ in range(count)]
        self._pinned = pinned
        self._free = list(range(count))
        self._lock = threading.Lock()

    @property
    def num_free(self) -> int:
        """How many sets are not in use."""
        with self._lock:
            return len(self._free)

    def concatenate(self, unrolls: Sequence[Arrays]) -> tuple[int, Arrays]:
        """Copies unrolls [T, b, ...] into a free set along the lane axis; returns its number and arrays.

        All unrolls have the same keys, and the batch has the same shapes in every call.
        """
        with self._lock:
            number = self._free.pop(0)
        filled = self._sets[number]
        for key, first in unrolls[0].items():
            lanes = sum(unroll[key].shape[1] for unroll in unrolls)
            shape = (first.shape[0], lanes, *first.shape[2:])
            if key not in filled:
                filled[key] = self._allocate(shape, first.dtype)
            assert filled[key].shape == shape, (key, filled[key].shape, shape)
            np.concatenate([unroll[key] for unroll in unrolls], axis=1, out=filled[key])
        return number, filled

    def release(self, number: int) -> None:
        """Marks a set as free, to be filled again."""
        with self._lock:
            assert number not in self._free, number
            self._free.append(number)

    def _allocate(self, shape: tuple[int, ...], dtype: np.dtype[np.generic]) -> NDArray[np.generic]:
        if not self._pinned:
            return np.empty(shape, dtype)
        kind = torch.from_numpy(np.empty(0, dtype)).dtype
        pinned: NDArray[np.generic] = torch.empty(shape, dtype=kind, pin_memory=True).numpy()
        return pinned
