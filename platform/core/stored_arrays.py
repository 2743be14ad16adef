"""Arrays of .npy and .npz files, read in any thread.

numpy parses the header of an array with `ast.literal_eval`. In Python 3.11 two threads that parse at the same time can
end with "SystemError: AST constructor recursion depth mismatch" (python/cpython#106905), so one parses after another.
"""

from __future__ import annotations

import io
import threading
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_PARSING = threading.Lock()


def read_array(whole: bytes) -> NDArray[Any]:
    """The array of the bytes of a .npy file.

    Raises:
        ValueError: they hold no plain array.
    """
    with _PARSING:
        array: NDArray[Any] = np.lib.format.read_array(io.BytesIO(whole), allow_pickle=False)
    return array


class TooManyBytes(ValueError):
    """The arrays of a file are larger than allowed."""


def read_arrays(file: Path | io.BytesIO, largest: int | None = None) -> dict[str, NDArray[Any]]:
    """All arrays of a .npz file by name.

    Args:
        largest: the bytes that they may have together, not compressed; None for any number.

    Raises:
        TooManyBytes: they have more; none has been read.
        OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error: the file can't be read, or is damaged.
    """
    with _PARSING:
        archive = np.load(file, allow_pickle=False)
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise ValueError("it holds one array, and is no .npz")
        with archive:
            assert archive.zip is not None, "it is open"
            size = sum(each.file_size for each in archive.zip.infolist())
            if largest is not None and size > largest:
                raise TooManyBytes(f"its arrays have {size} bytes, at most {largest} are taken")
            return {name: archive[name] for name in archive.files}
