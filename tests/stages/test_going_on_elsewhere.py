"""A stage continues on other hardware, and refuses other settings of what it learns."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

import pytest

from interplay.actors.dataset_actor import DatasetConfig
from interplay.learner.config import LearnerConfig
from interplay.stages.stage_config import CloneConfig
from interplay.stages.stage_folder import StageConflict, StageFolder


def begin(folder: Path, drawn_by: Literal["actor", "learner"] = "actor", **switches: Any) -> None:
    dataset = asdict(DatasetConfig(drawn_by=drawn_by))
    StageFolder(folder).begin(
        {"clone": {"learner": asdict(LearnerConfig(**switches)), "dataset": dataset}}, lambda: None
    ).claim()


def test_hardware_may_change_and_precision_not(tmp_path: Path) -> None:
    begin(tmp_path, drawn_by="learner", device="cuda", compile=True, channels_last=True, recompute=8)
    begin(tmp_path, device="cpu")
    with pytest.raises(StageConflict, match=r"clone\.learner\.precision: 'fp32' -> 'bf16'"):
        begin(tmp_path, precision="bf16")
    with pytest.raises(StageConflict, match=r"clone\.learner\.learning_rate"):
        begin(tmp_path, learning_rate=1e-3)


def test_a_setting_newer_than_the_record_was_recorded_with_its_default(tmp_path: Path) -> None:
    folder = StageFolder(tmp_path)
    folder.begin({"clone": CloneConfig()}, lambda: None).claim()
    record = folder.record()
    for group, setting in (("dataset", "cache_mb"), ("learner", "warm_up"), ("learner", "objective")):
        del record["settings"]["clone"][group][setting]
    (folder.path / "stage.json").write_text(json.dumps(record))
    folder.refuse_other_settings({"clone": CloneConfig()})
    changed = CloneConfig(dataset=DatasetConfig(cache_mb=64), learner=LearnerConfig(warm_up=3))
    with pytest.raises(StageConflict, match=r"cache_mb: 2048 -> 64, clone\.learner\.warm_up: 0 -> 3"):
        folder.refuse_other_settings({"clone": changed})
