"""The same seed gives the same bytes, in any process and with any number of threads."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.world import Playhouse
from interplay.env.world import Action, Start

CONFIG = PlayhouseConfig(rooms=(2, 4), furniture=(2, 3), objects=(8, 8), antialias=True)
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")


def digest() -> str:
    """Of the states, pictures and poses of a few steps in a few houses."""
    world, total = Playhouse(CONFIG), hashlib.sha256()
    for seed in range(3):
        rng = np.random.default_rng(seed)
        world.reset(Start(seed=seed), observers=())
        for _ in range(12):
            rows = rng.integers([component.bins for component in world.spec.movement], size=(2, 1, 8))
            moves = np.repeat(rows, world.spec.frames_per_step, axis=1).astype(np.int8)
            actions = {role: Action(move) for role, move in zip(world.spec.roles, moves, strict=True)}
            for view in world.step(actions).views.values():
                assert view.image is not None
                total.update(view.image.tobytes())
            total.update(world.poses().tobytes())
        total.update(world.state())
    return total.hexdigest()


@pytest.fixture(scope="module")
def here() -> str:
    return digest()


def test_a_second_run_in_this_process_gives_the_same_bytes(here: str) -> None:
    assert digest() == here


@pytest.mark.parametrize("threads", [1, 4])
def test_another_process_with_so_many_threads_gives_the_same_bytes(threads: int, here: str) -> None:
    this = Path(__file__)
    code = f"import sys; sys.path.insert(0, {str(this.parent)!r}); import {this.stem} as t; print(t.digest())"
    environment = {**os.environ, **{name: str(threads) for name in THREADS}}
    other = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert other.stdout.strip() == here
