"""A pack: pictures of a film in one file.

Little-endian: the number of pictures as u32, the offsets of their starts and of the end of the last as u32 from the
start of the file, then the JPEGs. A browser reads a pack with two typed arrays.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np


def write_pack(pictures: Sequence[bytes]) -> bytes:
    """The pack of these JPEGs."""
    lengths = np.array([len(picture) for picture in pictures], np.int64)
    start = 4 * (len(pictures) + 2)
    offsets = start + np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    header = np.concatenate([[len(pictures)], offsets]).astype("<u4")
    return header.tobytes() + b"".join(pictures)


def read_pack(pack: bytes) -> list[bytes]:
    """The JPEGs of a pack.

    Raises:
        ValueError: the bytes are no pack.
    """
    count = int(np.frombuffer(pack[:4], "<u4")[0]) if len(pack) >= 4 else -1
    if count < 0 or len(pack) < 4 * (count + 2):
        raise ValueError(f"{len(pack)} bytes are no pack of pictures")
    offsets = np.frombuffer(pack[4 : 4 * (count + 2)], "<u4").astype(int)
    if offsets[-1] != len(pack) or (np.diff(offsets) < 0).any():
        raise ValueError(f"the pack of {count} pictures is cut short")
    return [pack[start:end] for start, end in itertools.pairwise(offsets)]
