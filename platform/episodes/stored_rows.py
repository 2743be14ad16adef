"""Rows of an array that an episode's file stores in windows, read when they are wanted."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from interplay.core.stored_arrays import read_array

_LOCAL_LENGTHS = 26  # offset of the lengths of name and extra field in the header before a member
_TWO_LENGTHS = struct.Struct("<HH")


class NpzBytes:
    """The members of an npz file in memory. `zipfile` opens a stream for each, which takes longer than inflating it.

    Raises:
        zipfile.BadZipFile: the bytes are not an npz file. `read` also raises KeyError, struct.error or zlib.error.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            self._members = {member.filename: member for member in archive.infolist()}

    @property
    def nbytes(self) -> int:
        """Memory of the file."""
        return len(self._data)

    def namelist(self) -> list[str]:
        """The names of the members, in their order."""
        return list(self._members)

    def read(self, name: str) -> bytes:
        """The bytes of a member, whose checksum was verified."""
        member = self._members[name]
        lengths = member.header_offset + _LOCAL_LENGTHS
        start = lengths + _TWO_LENGTHS.size + sum(_TWO_LENGTHS.unpack_from(self._data, lengths))
        packed = self._data[start : start + member.compress_size]
        if member.compress_type == zipfile.ZIP_DEFLATED:
            packed = zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, member.file_size + 1)
        elif member.compress_type != zipfile.ZIP_STORED:
            raise zipfile.BadZipFile(f"{name!r} has another compression than the files of episodes")
        if len(packed) != member.file_size or zlib.crc32(packed) != member.CRC:
            raise zipfile.BadZipFile(f"{name!r} has a wrong length or checksum")
        return packed

    def array(self, name: str) -> NDArray[Any]:
        """The array of a member."""
        return read_array(self.read(name))


class StoredRows:
    """An array [rows, ...] whose windows are inflated when one of their rows is read; the last one stays in memory."""

    def __init__(self, file: NpzBytes, members: Sequence[str], counts: Sequence[int]) -> None:
        """`members`: the windows, in order; `counts`: their rows. The file is held."""
        self._file, self._members = file, members
        self._stops = list(accumulate(counts))
        self._held: tuple[int, NDArray[Any]] | None = None

    def __len__(self) -> int:
        return self._stops[-1] if self._stops else 0

    @property
    def nbytes(self) -> int:
        """Memory of the compressed file."""
        return self._file.nbytes

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
            self._held = (number, self._file.array(self._members[number]))
        return self._held[1]
