"""What a round does before its first stage."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import pytest
from tiny_runs import tiny

from interplay.env.world import World
from interplay.launch import complete_round
from interplay.launch.cli import main
from interplay.runtime.interruption import INTERRUPTED, Interrupted


def test_a_world_with_pictures_is_prepared_before_anything_is_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def prepare(world: World, log: Callable[[str], None]) -> None:
        log(f"prepares {world.spec.name}")
        raise Interrupted("prepared")

    monkeypatch.setattr(complete_round, "warm_up", prepare)
    caplog.set_level(logging.INFO)
    assert main(["round", "1", *tiny(tmp_path)]) == INTERRUPTED
    assert "prepares playhouse" in caplog.text and "[1/" not in caplog.text
    assert not (tmp_path / "run" / "collect" / "stage.json").exists()
