"""Arrays of .npy and .npz files, read in any thread.

numpy parses the header of an array with `ast.literal_eval`. In Python 3.11 two threads that parse at the same time can
fail with "SystemError: AST constructor recursion depth mismatch" (python/cpython#106905), so a lock serializes them.
"""

from __future__ import annotations

import io
import math
import threading
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_PARSING = threading.Lock()
_FORMAT_1 = np.lib.format.MAGIC_PREFIX + bytes([1, 0])
_LENGTH_END = len(_FORMAT_1) + 2  # of the length of the header, a little-endian uint16


def read_array(whole: bytes) -> NDArray[Any]:
    """The array of the bytes of a .npy file.

    Raises:
        ValueError: they are not a plain array, or are cut short.
    """
    if not whole.startswith(_FORMAT_1):  # all plain arrays that numpy writes are of format 1.0
        with _PARSING:
            other: NDArray[Any] = np.lib.format.read_array(io.BytesIO(whole), allow_pickle=False)
        return other
    start = _LENGTH_END + int.from_bytes(whole[len(_FORMAT_1) : _LENGTH_END], "little")
    shape, by_column, dtype = _header(whole[:start])
    if len(whole) - start < dtype.itemsize * math.prod(shape):
        raise ValueError(f"an array {list(shape)} of {dtype} is cut short: {len(whole) - start} bytes")
    return np.ndarray(shape, dtype, whole, start, order="F" if by_column else "C").copy("K")


@lru_cache(1024)
def _header(header: bytes) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, whether it is stored by column, and type of an array, from the beginning of its .npy file.

    Parsing takes longer than reading a small array, and arrays of many episodes have the same beginning."""
    stream = io.BytesIO(header)
    stream.seek(len(_FORMAT_1))
    with _PARSING:
        shape, by_column, dtype = np.lib.format.read_array_header_1_0(stream)
    if dtype.hasobject:
        raise ValueError("it holds objects, which are not read")
    return shape, by_column, dtype


class TooManyBytes(ValueError):
    """The arrays of a file are larger than allowed."""


def read_arrays(file: Path | io.BytesIO, largest: int | None = None) -> dict[str, NDArray[Any]]:
    """All arrays of a .npz file by name.

    Args:
        largest: limit of their total size in bytes, not compressed; None for no limit.

    Raises:
        TooManyBytes: they are larger; none has been read.
        OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error: the file can't be read, or is damaged.
    """
    with _PARSING:
        archive = np.load(file, allow_pickle=False)
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise ValueError("it holds one array, and is not an .npz")
        with archive:
            assert archive.zip is not None, "it is open"
            size = sum(each.file_size for each in archive.zip.infolist())
            if largest is not None and size > largest:
                raise TooManyBytes(f"its arrays have {size} bytes, at most {largest} are taken")
            return {name: archive[name] for name in archive.files}
