"""Draws docs/voxel.png: what the builder sees, what the setter sees, and some of the package's own structures.

.venv/bin/python docs/voxel_pictures.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from interplay.env.voxel.body import BuilderBody
from interplay.env.voxel.picture import corner_view, eye_of, picture, setter_view
from interplay.env.voxel.structures import own_structures

PATH = Path(__file__).with_name("voxel.png")
SIDE = 240  # pixels of one picture
SHOWN = ("stairs", "gate", "pyramid", "house")
TARGET = "bridge"


def sheet() -> NDArray[np.uint8]:
    """The picture, uint8 [480, 960, 3]: builder and setter above, four structures below."""
    target = own_structures()[TARGET]
    grid = target.copy()
    grid[1:] = 0  # the lowest layer is built
    body = BuilderBody.at(1.0, 0.0, 4.0, 170.0, 20.0)
    builder = picture(grid, eye_of(body, 80.0, SIDE), SIDE, 2 * SIDE, body.gaze(grid).block)
    above = np.concatenate([builder, setter_view(grid, target, body, SIDE, 2 * SIDE)], axis=1)
    below = np.concatenate([corner_view(own_structures()[name], SIDE, SIDE) for name in SHOWN], axis=1)
    return np.concatenate([above, below])


if __name__ == "__main__":
    Image.fromarray(sheet()).save(PATH, optimize=True)
