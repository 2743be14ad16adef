"""A run under Ray whose reward model raises an error ends at once with that error."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from clusters import small
from tiny_runs import copied, refused

from interplay.learner import checkpoint

pytestmark = pytest.mark.usefixtures("ray_cluster")


@pytest.mark.slow
def test_a_reward_that_is_not_finite_ends_the_run_without_a_restart(
    rewarded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = copied(rewarded, tmp_path)
    old = checkpoint.read(root / "run/reward/checkpoints")
    described = {key: value for key, value in old.description.items() if key not in ("format", "step")}
    weights = {name: math.nan * each if name.startswith("utility.") else each for name, each in old.weights().items()}
    checkpoint.save(old.path.parent, step=9, description=described, weights=weights, training={})
    said = refused("reinforce", small(root, "reinforce.heldout_episodes=0"), capsys)
    reason = "the reward LearnedReward: score() must return finite numbers; the reward is nan at step 0 of lane 0"
    assert f"interplay reinforce: {reason}" in said and "went down" not in said
    assert "E reward-0 raised an error, which ends the run:\nray::" in said and "in checked_score\n" in said
    assert "in checked_score\n" in (root / "run/error.txt").read_text()
    assert not (root / "run/crashes/reward-0.txt").exists()
