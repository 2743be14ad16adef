"""A process keeps the memory that it frees, and does not request the same pages from the system again."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

from interplay.runtime.allocator import retention_environment

FLOATS = 25 * 2**20  # 100 MB
MANY, FEW = 1000, 100  # of 25,600 pages; the system may fetch several at a time
PROGRAM = f"""
import resource, sys, threading
import torch
from interplay.runtime.allocator import retain_freed_memory
if sys.argv[1] == "here":
    retain_freed_memory()

def fetched():
    for _ in range(16):  # a heap finds its size
        before = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt
        torch.ones({FLOATS})
    print(resource.getrusage(resource.RUSAGE_THREAD).ru_minflt - before)

fetched()
thread = threading.Thread(target=fetched)
thread.start()
thread.join()
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries are left as they are"),
]


def fetched(how: str, **more: str) -> list[int]:
    """The page faults of the last allocation of 100 MB, in the main thread and in another thread."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, how],
        env={**environment, **more, "THP_MEM_ALLOC_ENABLE": "0"},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return [int(line) for line in done.stdout.split()]


def test_without_it_pages_are_fetched_each_time() -> None:
    assert min(fetched("not")) > MANY


@pytest.mark.parametrize("how", ["here", "by the environment"])
def test_freed_memory_is_reused(how: str) -> None:
    assert max(fetched(how, **(retention_environment() if how != "here" else {}))) < FEW


def test_settings_of_the_user_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    assert min(fetched("here", MALLOC_MMAP_MAX_="65536", MALLOC_MMAP_THRESHOLD_="131072")) > MANY
    monkeypatch.setenv("MALLOC_ARENA_MAX", "3")
    assert retention_environment()["MALLOC_ARENA_MAX"] == "3"
