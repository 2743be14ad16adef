"""Reinforcement on the success of tasks: without marks or a reward model, and resumed exactly."""

from __future__ import annotations

import signal
from pathlib import Path

import numpy as np
from signalled_run import AfterCall, run_and_signal
from test_resume import LOGGED, same_runs, twenty
from tiny_runs import copied, interplay, rows

SUCCESS = ("reinforce.reward=success", "reinforce.actor.achieved=true", "reinforce.actor.lanes=8")


def test_a_killed_run_resumes_bit_for_bit(cloned: Path, tmp_path: Path) -> None:
    straight, killed = (copied(cloned, tmp_path / name) for name in ("straight", "killed"))
    settings = [[*twenty(root, "reinforce", False), *SUCCESS] for root in (straight, killed)]
    interplay("reinforce", settings[0])
    result = run_and_signal(["reinforce", *settings[1]], signal.SIGKILL, AfterCall(LOGGED, 13), tmp_path / "log")
    assert result.code == -signal.SIGKILL, result.output
    interplay("reinforce", settings[1])
    same_runs(straight, killed, "reinforce")
    returns = rows(straight / "run" / "reinforce" / "returns.jsonl")
    earned = np.array([value for row in returns for value in (*row["training"], *row["heldout"])])
    assert set(earned) == {0.0, 1.0}  # one task an episode
