"""Fixtures of tests about datasets of Minari."""

from __future__ import annotations

from pathlib import Path

import pytest
from minari_house import HOUSE
from tiny_runs import interplay, tiny


@pytest.fixture
def own_datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Minari keeps its datasets in a folder of the test."""
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "datasets"))


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of the Playhouse whose recordings are marked."""
    folder = tmp_path_factory.mktemp("house")
    for verb in ("collect", "mark"):
        interplay(verb, tiny(folder, house=HOUSE))
    return folder
