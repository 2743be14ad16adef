"""What a process frees it keeps for what it asks for next, instead of fetching the same from the system again.

An update frees all that it took, and the next one asks for the same: hundreds of MB in a few blocks. glibc returns
blocks of that size to the system at once, which hands them out again page by page, each of them cleared. That was 40%
of an update of a small network on two busy cores; see docs/throughput.md.

Under Ray it is for whoever learns alone. Actors ask for little at a time: they fetched hardly a page without it, and
with it one grew from 240 to 254 MB in an hour, in steps of 4 MB.

Another C library, as macOS and Alpine have, is left as it is.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping
from typing import Any, NamedTuple


class _Setting(NamedTuple):
    variable: str  # read when a process starts
    option: int  # of mallopt, in a process that runs: see glibc's malloc.h
    value: int


_SETTINGS = (
    _Setting("MALLOC_MMAP_MAX_", -4, 0),  # no block has pages of its own, which would go when it is freed
    _Setting("MALLOC_TRIM_THRESHOLD_", -1, 2**64 - 1),  # bytes at the heap's end; only more free ones are returned
    _Setting("MALLOC_ARENA_MAX", -8, 1),  # one heap for all threads: others hold blocks of at most 64 MB
)


def retention_environment() -> Mapping[str, str]:
    """Environment variables for a process that is to keep what it frees; those that are set here stay as they are."""
    return {each.variable: os.environ.get(each.variable, str(each.value)) for each in _SETTINGS}


def retain_freed_memory() -> None:
    """From now on, this process keeps what it frees. To be called before it has threads: they stay at their heaps.

    What is set in the environment stays as it is.
    """
    mallopt: Any = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return
    for each in _SETTINGS:
        if each.variable not in os.environ:
            mallopt(each.option, ctypes.c_int(each.value))  # of the largest number: -1, for never
