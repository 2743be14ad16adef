"""Pictures of a moment for people: both players' views, an overview of the house, and a map."""

from __future__ import annotations

import numpy as np

from interplay.env.arrays import Float32Array, Image
from interplay.env.playhouse.physics.hand import EYE_HEIGHT_M
from interplay.env.playhouse.render.scene import Scene


def portrait(
    scene: Scene, positions: Float32Array, quaternions: Float32Array, avatars: Float32Array, height: int, width: int
) -> dict[str, Image]:
    """Pictures uint8 [height, width, 3] by title; poses as in `Scene`."""
    pictures = {}
    for role, title in enumerate(("setter", "solver")):
        x, y, yaw, pitch = (float(c) for c in avatars[role])
        eye = np.array([x, y, EYE_HEIGHT_M], np.float32)
        field = scene.config.field_of_view
        view = scene.draw(
            positions, quaternions, avatars, eye, yaw, pitch, field, height, width, hide_role=role, antialias=True
        )
        pictures[title] = view[0]
    pictures["house"] = scene.overview(positions, quaternions, avatars, height, width)
    pictures["map"] = scene.map(positions, quaternions, avatars, height, width)
    return pictures
