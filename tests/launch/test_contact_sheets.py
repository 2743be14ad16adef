"""Contact sheets show every category, all categories look different, and only the Playhouse has contact sheets."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from interplay.env import registry
from interplay.env.playhouse.house.catalog import CATEGORIES
from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.house.furniture import FURNITURE
from interplay.env.playhouse.house.objects import OBJECTS
from interplay.env.playhouse.render.portrait import thing_alone
from interplay.launch import contact_sheets

KINDS = ("objects", "furniture", "houses")
CONFIG = PlayhouseConfig()


def test_every_category_and_every_house_has_its_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contact_sheets, "NUM_HOUSES", 3)
    world = registry.make("playhouse", image=[24, 32])
    paths = contact_sheets.draw_contact_sheets(world, seed=1, folder=tmp_path / "catalog")
    row = contact_sheets.PIXEL_SCALE * 24 + contact_sheets.CAPTION_HEIGHT
    rows = {name: sum(Image.open(p).height // row for p in paths if p.name.startswith(name)) for name in KINDS}
    assert rows == {"objects": len(OBJECTS), "furniture": len(FURNITURE), "houses": 3}
    assert all(Image.open(path).height <= contact_sheets.ROWS_PER_SHEET * row for path in paths)


def test_a_world_without_a_catalog_is_refused(tmp_path: Path) -> None:
    world = registry.make("gymnasium", id="CartPole-v1")
    with pytest.raises(ValueError, match="has no catalog"):
        contact_sheets.draw_contact_sheets(world, seed=1, folder=tmp_path)


def test_no_two_categories_look_alike() -> None:
    """Any two categories, large, from the side and from 3 m, differ in at least five pixels."""
    pictures = {
        name: thing_alone(CONFIG, name, "yellow", "large", 3.0, math.radians(250.0)).astype(int) for name in CATEGORIES
    }
    names = list(pictures)
    for n, one in enumerate(names):
        for other in names[:n]:
            differs = np.abs(pictures[one] - pictures[other]).max(axis=2) > 40
            assert differs.sum() >= 5, (one, other)
