"""Memory of a learner process: keeps freed memory in the process; returns free heap to the system on request.

An update frees all the memory that it allocated, and the next one allocates the same: hundreds of MB in a few blocks.
glibc returns blocks of that size to the system at once, which hands them out again page by page, each of them cleared.
That was 40% of an update of a small network on two busy cores; see docs/throughput.md.

Under Ray only learner processes keep freed memory. Actors allocate little at a time: without this setting they fetched
hardly a page, and with it an actor grew from 240 to 254 MB in an hour, in steps of 4 MB.

Tensors and messages of many sizes fragment the heap that is kept, so the process grows although it uses no more memory:
`trim_heap` returns what is free.

Other C libraries, such as those of macOS and Alpine, are not affected.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple


class _Setting(NamedTuple):
    variable: str  # read by glibc at process start
    option: int  # of mallopt, for a running process: see glibc's malloc.h
    value: int


_SETTINGS = (
    _Setting("MALLOC_MMAP_MAX_", -4, 0),  # large blocks come from the heap: an mmap is unmapped when freed
    _Setting("MALLOC_TRIM_THRESHOLD_", -1, 2**64 - 1),  # free bytes at the heap's end above which they are returned
    _Setting("MALLOC_ARENA_MAX", -8, 1),  # one heap for all threads: further ones hold blocks of at most 64 MB
)


def retention_environment() -> Mapping[str, str]:
    """Environment variables that make a process retain freed memory; values already set here are kept."""
    return {each.variable: os.environ.get(each.variable, str(each.value)) for each in _SETTINGS}


def retain_freed_memory() -> None:
    """Makes this process retain freed memory. To be called before it has threads, which keep their own heaps.

    Values set in the environment take precedence.
    """
    mallopt: Any = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return
    for each in _SETTINGS:
        if each.variable not in os.environ:
            mallopt(each.option, ctypes.c_int(each.value))  # the largest number becomes -1, for never


def trim_heap() -> bool:
    """Returns free heap memory to the system; False if that is impossible, as outside Linux with glibc.

    To be called from time to time: it takes 25 ms of CPU if 140 MB are free, and 3 ms if nothing is (measured with
    40,000 blocks of 1 to 7 kB), and the next allocations have to fetch pages from the system again.
    """
    if sys.platform != "linux":
        return False
    library = ctypes.CDLL(None)
    if not hasattr(library, "malloc_trim"):  # another C library, as musl
        return False
    library.malloc_trim(0)
    return True
