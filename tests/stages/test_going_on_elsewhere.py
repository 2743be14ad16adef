"""A stage continues on other hardware, and refuses other settings of what it learns."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from interplay.learner.config import LearnerConfig
from interplay.stages.stage_folder import StageConflict, StageFolder


def begin(folder: Path, **switches: Any) -> None:
    StageFolder(folder).begin({"clone": {"learner": asdict(LearnerConfig(**switches))}}).claim()


def test_hardware_may_change_and_precision_not(tmp_path: Path) -> None:
    begin(tmp_path, device="cuda", compile=True, channels_last=True, recompute=8)
    begin(tmp_path, device="cpu")
    with pytest.raises(StageConflict, match=r"clone\.learner\.precision: 'fp32' -> 'bf16'"):
        begin(tmp_path, precision="bf16")
    with pytest.raises(StageConflict, match=r"clone\.learner\.learning_rate"):
        begin(tmp_path, learning_rate=1e-3)
