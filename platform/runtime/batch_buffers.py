"""Batches joined along the lane axis in a few buffers that are filled again and again."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from interplay.agent.observation import Arrays


class BatchBuffers:
    """`count` sets of arrays [T, B, ...], allocated at the first use; `pinned`: page-locked, for copies to a GPU.

    One thread fills, another one uses: `free` says whether there is a set that nobody uses.
    """

    def __init__(self, count: int, pinned: bool = False) -> None:
        self._sets: list[Arrays] = [{} for _ in range(count)]
        self._pinned = pinned
        self._free = list(range(count))
        self._lock = threading.Lock()

    @property
    def free(self) -> int:
        """How many sets nobody uses."""
        with self._lock:
            return len(self._free)

    def join(self, blocks: Sequence[Arrays]) -> tuple[int, Arrays]:
        """Copies blocks [T, b, ...] side by side into a free set; returns its number, for `release`, and its arrays.

        Blocks of one kind all have the same keys, and the same shapes from call to call.
        """
        with self._lock:
            number = self._free.pop(0)
        filled = self._sets[number]
        for key, first in blocks[0].items():
            lanes = sum(block[key].shape[1] for block in blocks)
            shape = (first.shape[0], lanes, *first.shape[2:])
            if key not in filled:
                filled[key] = self._allocate(shape, first.dtype)
            assert filled[key].shape == shape, (key, filled[key].shape, shape)
            at = 0
            for block in blocks:
                part = block[key]
                filled[key][:, at : at + part.shape[1]] = part
                at += part.shape[1]
        return number, filled

    def release(self, number: int) -> None:
        """The set may be filled again."""
        with self._lock:
            assert number not in self._free, number
            self._free.append(number)

    def _allocate(self, shape: tuple[int, ...], dtype: np.dtype[np.generic]) -> NDArray[np.generic]:
        if not self._pinned:
            return np.empty(shape, dtype)
        kind = torch.from_numpy(np.empty(0, dtype)).dtype
        pinned: NDArray[np.generic] = torch.empty(shape, dtype=kind, pin_memory=True).numpy()
        return pinned
