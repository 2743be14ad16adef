"""Rows of an array that an episode's file stores in windows, read when they are wanted."""

from __future__ import annotations

import zipfile
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from interplay.core.stored_arrays import read_array


def read_member(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """Reads an array of an npz file; `name` is that of the member."""
    return read_array(archive.read(name))  # verifies the checksum before parsing


class StoredRows:
    """An array [rows, ...] whose windows are inflated when one of their rows is read; the last one stays in memory."""

    def __init__(self, archive: zipfile.ZipFile, members: Sequence[str], counts: Sequence[int], nbytes: int) -> None:
        """`members`: the windows, in order; `counts`: their rows; `nbytes`: of the compressed file, which is held."""
        self._archive, self._members = archive, members
        self._stops = list(accumulate(counts))
        self.nbytes = nbytes
        self._held: tuple[int, NDArray[Any]] | None = None

    def __len__(self) -> int:
        return self._stops[-1] if self._stops else 0

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        start, stop, step = rows.indices(len(self))
        assert step == 1, f"rows are read in order, got a step of {step}"
        pieces, at = [], start
        while at < stop:
            number = bisect_right(self._stops, at)
            first = self._stops[number - 1] if number else 0
            pieces.append(self._window(number)[at - first : stop - first])
            at = self._stops[number]
        return np.concatenate(pieces)

    def __iter__(self) -> Iterator[NDArray[Any]]:
        for number in range(len(self._members)):
            yield from self._window(number)

    def _window(self, number: int) -> NDArray[Any]:
        if self._held is None or self._held[0] != number:
            self._held = (number, read_member(self._archive, self._members[number]))
        return self._held[1]
