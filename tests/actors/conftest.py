"""The recorded episodes that the setter-replay actors of these tests replay."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_world import LineWorld, make_snapshot, record_episode, with_number
from replay_actors import EPISODES

from interplay.episodes.snapshot import Snapshot


@pytest.fixture
def snapshot(tmp_path: Path) -> Snapshot:
    return make_snapshot(
        tmp_path, [with_number(record_episode(LineWorld(), seed, steps=9)[0], seed) for seed in range(EPISODES)]
    )
