"""Stages of tiny runs that make twelve updates, with or without a break."""

from __future__ import annotations

import shutil
from pathlib import Path

from outcomes import assert_equal_nested
from tiny_runs import copied, rows, tiny

from interplay.learner import checkpoint


def without(stage: str, rewarded: Path, to: Path) -> Path:
    """A copy of the rewarded run without this stage."""
    copied(rewarded, to)
    shutil.rmtree(to / "run" / stage, ignore_errors=True)
    (to / "run" / "store" / "snapshots" / f"{stage}.db").unlink(missing_ok=True)
    return to


def twelve(root: Path, stage: str, overlap: bool) -> list[str]:
    return tiny(
        root,
        f"{stage}.training.updates=12",
        f"{stage}.training.checkpoint_every=6",
        f"runtime.overlap={str(overlap).lower()}",
        "reinforce.measure_every=4",  # so that a checkpoint falls between two rows of the returns
    )


def same_runs(straight: Path, resumed: Path, stage: str) -> None:
    mine, theirs = (checkpoint.read(root / "run" / stage / "checkpoints") for root in (straight, resumed))
    assert mine.step == theirs.step == 12
    assert_equal_nested(mine.weights(), theirs.weights(), "agent.pt")
    assert_equal_nested(mine.training(), theirs.training(), "training.pt")
    for name in ("metrics.jsonl", *(["returns.jsonl"] if stage == "reinforce" else [])):
        lived, again = (rows(root / "run" / stage / name) for root in (straight, resumed))
        assert lived == again, name
        assert lived
