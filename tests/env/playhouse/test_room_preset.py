"""The preset `env=room`, which the demo learns in, looks as it did when the demo's numbers were measured."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from interplay.env import registry
from interplay.env.playhouse.world import Playhouse
from interplay.env.world import Start
from interplay.launch.compose import compose

SHEET = Path(__file__).with_name("room.png")
ROWS, COLUMNS = 6, 4  # of what is seen from the starts of so many rooms


def draw() -> np.ndarray:
    settings = dict(compose(["env=room"]).env)
    world = registry.make(settings.pop("name"), **settings)
    assert isinstance(world, Playhouse)
    views = []
    for seed in range(ROWS * COLUMNS):
        image = world.reset(Start(seed=seed))["solver"].image
        assert image is not None
        views.append(image)
    return np.concatenate([np.concatenate(views[k::ROWS], axis=1) for k in range(ROWS)])


def test_rooms_look_as_they_did() -> None:
    seen, was = draw().astype(int), np.asarray(Image.open(SHEET)).astype(int)
    assert seen.shape == was.shape
    # Another processor may round the sine of a yaw otherwise, and an outline fall on the other side of a pixel.
    assert (np.abs(seen - was).max(axis=2) > 2).mean() < 0.0005
