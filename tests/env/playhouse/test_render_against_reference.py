"""The renderer against a slow transcription in float64, whose walls are the house's own slabs; and culled pictures
against whole ones."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from interplay.env.playhouse.house.category import BodyPart
from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.house.house_layout import House, make_house
from interplay.env.playhouse.house.rooms import WALL_HEIGHT_M
from interplay.env.playhouse.physics.model import EYE_HEIGHT_M
from interplay.env.playhouse.render.scene import Camera, Scene, start_poses

CONFIG = PlayhouseConfig(rooms=(3, 3), furniture=(2, 3), objects=(8, 8))
Rays = NDArray[np.float64]  # [3, H, W]


def eyes(house: House, count: int, rng: np.random.Generator) -> list[tuple[NDArray[np.float32], float, float]]:
    """Random eyes and gazes, every third in the middle of a doorway."""
    chosen = []
    for n in range(count):
        room = house.rooms[rng.integers(len(house.rooms))]
        x, y = rng.uniform(np.array(room.low) + 0.25, np.array(room.high) - 0.25)
        if n % 3 == 0:
            x, y = house.doorways[rng.integers(len(house.doorways))].middle + rng.uniform(-0.2, 0.2, 2)
        chosen.append(
            (np.array([x, y, EYE_HEIGHT_M], np.float32), rng.uniform(-math.pi, math.pi), rng.uniform(-1, 0.5))
        )
    return chosen


@pytest.mark.parametrize("seed", range(6))
def test_culling_changes_no_pixel(seed: int) -> None:
    house = make_house(CONFIG, seed)
    scene, poses = Scene(house, CONFIG), start_poses(house)
    for eye, yaw, pitch in eyes(house, 40, np.random.default_rng(seed)):
        culled = scene.draw(*poses, eye, yaw, pitch, 60.0, 48, 64)
        whole = scene.draw(*poses, eye, yaw, pitch, 60.0, 48, 64, portals=False)
        for fast, slow in zip(culled, whole, strict=True):
            np.testing.assert_array_equal(fast, slow)


def slab(o: Rays, d: Rays) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    one, other = (-1 - o) / d, (1 - o) / d
    return np.minimum(one, other), np.maximum(one, other)


def hits(primitive: str, o: Rays, d: Rays) -> NDArray[np.float64]:
    """First t > 0 at which o + t d enters the unit shape; inf where it does not."""
    near_z, far_z = slab(o[2], d[2])
    if primitive == "box":
        (near_x, far_x), (near_y, far_y) = slab(o[0], d[0]), slab(o[1], d[1])
        near, far = np.maximum(np.maximum(near_x, near_y), near_z), np.minimum(np.minimum(far_x, far_y), far_z)
        return np.where((near <= far) & (near > 0), near, np.inf)
    # Ellipsoid, cylinder, cone: o' Q o + linear terms <= 0; solved as a quadratic, then limited to |z| <= 1.
    weight = {"ellipsoid": 1.0, "cylinder": 0.0, "cone": -0.25}[primitive]
    shift = 1.0 if primitive == "cone" else 0.0
    z = o[2] - shift
    a = d[0] ** 2 + d[1] ** 2 + weight * d[2] ** 2
    b = o[0] * d[0] + o[1] * d[1] + weight * z * d[2]
    c = o[0] ** 2 + o[1] ** 2 + weight * z**2 - (0.0 if primitive == "cone" else 1.0)
    root = np.sqrt(np.maximum(b * b - a * c, 0))
    best = np.full_like(a, np.inf)
    for t in ((-b - root) / a, (-b + root) / a, near_z, far_z):
        x, y, height = (o[k] + t * d[k] for k in range(3))
        width = {"ellipsoid": 1 - height**2, "cylinder": 1.0, "cone": (1 - height) ** 2 / 4}[primitive]
        on = (np.abs(height) <= 1 + 1e-9) & (x**2 + y**2 <= width + 1e-6) & (b * b - a * c > 0) & (t > 0)
        best = np.where(on, np.minimum(best, t), best)
    return best


def reference(house: House, camera: Camera, height: int, width: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Ids and depths of the house as it was made, without avatars."""
    f, r, u = camera.basis().astype(np.float64)
    slope = camera.slope(height)
    right = (np.arange(width) + 0.5 - width / 2) * slope
    up = (height / 2 - np.arange(height) - 0.5) * slope
    rays = f[:, None, None] + r[:, None, None] * right[None, None, :] + u[:, None, None] * up[None, :, None]
    eye = np.array(camera.eye)
    depth, ids = np.full((height, width), np.inf), np.full((height, width), -1)

    def see(primitive: str, center: NDArray[np.float64], axes: NDArray[np.float64], name: int) -> None:
        nonlocal depth, ids
        inverse = np.linalg.inv(axes)
        o = np.broadcast_to((inverse @ (eye - center))[:, None, None], rays.shape)
        t = hits(primitive, o, np.einsum("ij,jhw->ihw", inverse, rays))
        depth, ids = np.where(t < depth, t, depth), np.where(t < depth, name, ids)

    for wall in house.walls:
        see("box", np.array(wall.center), np.diag(wall.half), -1)
    see("box", np.array([0, 0, -0.5]), np.diag([50, 50, 0.5]), -1)
    see("box", np.array([0, 0, WALL_HEIGHT_M + 0.5]), np.diag([50, 50, 0.5]), -1)
    for thing in house.things:
        turn = BodyPart("box", (0, 0, 0), (1, 1, 1), yaw=math.degrees(thing.yaw)).rotation()
        for part in thing.category.parts:
            center = np.array(thing.position) + turn @ (thing.scale * np.array(part.offset))
            see(part.primitive, center, turn @ part.rotation() @ np.diag(part.half) * thing.scale, thing.index)
    return ids, depth


@pytest.mark.parametrize("seed", range(5))
def test_agrees_with_the_slow_transcription(seed: int) -> None:
    house = make_house(CONFIG, 100 + seed)
    scene, (positions, quaternions, avatars) = Scene(house, CONFIG), start_poses(house)
    nobody = np.full_like(avatars, -1000.0)
    for eye, yaw, pitch in eyes(house, 6, np.random.default_rng(seed)):
        _, ids, depth = scene.draw(positions, quaternions, nobody, eye, yaw, pitch, 60.0, 72, 96)
        x, y, z = (float(c) for c in eye)
        true_ids, true_depth = reference(house, Camera((x, y, z), yaw, pitch, 60.0), 72, 96)
        same = ids == true_ids
        assert same.mean() > 0.998  # an outline may fall on either side of a pixel's middle
        off = np.abs(depth - true_depth)[same] > 0.004
        assert off.mean() < 0.004, f"{off.sum()} of {off.size} depths differ"
