"""Free memory between live blocks is returned to the system if the C library supports it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from interplay.runtime import allocator

# Runs in a subprocess, because other tests change the heap of this one. Every twentieth block stays allocated, so that
# the heap cannot shrink from its end.
GAPS = """
from pathlib import Path
import numpy as np
from interplay.runtime.allocator import trim_heap

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 >> 20

pieces = [np.ones(100 + number % 800) for number in range(40_000)]
full = resident()
kept = pieces[::20]
del pieces
gaps = resident()
assert trim_heap()
print(full, gaps, resident())
"""


def test_memory_in_gaps_is_given_back() -> None:
    said = subprocess.run([sys.executable, "-c", GAPS], check=True, capture_output=True, text=True, timeout=120)
    full, gaps, after = map(int, said.stdout.split())
    assert gaps > full - 20, "there is nothing to be given back"
    assert after < full - 80  # of 140 MB; the interpreter and its libraries are in all three


def test_other_systems_do_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert allocator.trim_heap() is False
