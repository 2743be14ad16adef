"""docs/voxel.md: its code runs, its learner learns, its tables have every setting, and its picture is what is drawn."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from loaded_script import loaded
from PIL import Image

from interplay.env.voxel.config import VoxelConfig
from interplay.env.voxel.controls import ControlScheme
from interplay.env.voxel.gymnasium_env import SilentBuilderConfig
from interplay.env.voxel.space import to_sparse

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "voxel.md").read_text()


def blocks() -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    """What the page's code defines."""
    found: dict[str, Any] = {}
    for block in blocks():
        exec(block, found)
    return found


def test_the_structure_of_the_page(names: dict[str, Any]) -> None:
    example = next(block for block in blocks() if "CustomTasks(" in block)
    assert len(example.strip().splitlines()) <= 10
    assert len(to_sparse(names["info"]["target_grid"])) == 7
    assert "orange beam" in names["observation"]["chat"][0] or "place a" in names["observation"]["chat"][0]


def test_the_learner_of_the_page_learns(names: dict[str, Any]) -> None:
    rewards = np.array(names["rewards_by_step"])
    assert rewards[:50].mean() < 0.3
    assert rewards[-100:].mean() > 0.8


@pytest.mark.parametrize("config", [VoxelConfig, SilentBuilderConfig])
def test_every_setting_is_in_a_table(config: type[Any]) -> None:
    named = {name for line in PAGE.splitlines() if line.startswith("| `") for name in re.findall(r"`(\w+)`", line)}
    assert {field.name for field in fields(config)} - {"visual"} <= named


@pytest.mark.parametrize("control", ["human", "discrete", "fly"])
def test_every_component_is_in_the_table(control: Any) -> None:
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{control}` |"))
    assert [component.name for component in ControlScheme(control).components] == re.findall(r"`(\w+)`", row)[1:]


def test_the_picture_is_what_its_script_draws() -> None:
    module = loaded("docs/voxel_pictures.py")
    np.testing.assert_array_equal(np.asarray(Image.open(module.PATH)), module.sheet())
