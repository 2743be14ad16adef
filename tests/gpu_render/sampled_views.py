"""Views of the Playhouse for tests of the GPU renderer, drawn by numba or by Triton.

As a script, with TRITON_INTERPRET=1: draws them by Triton's interpreter, because whether kernels are interpreted is
decided when they are imported, and saves the pictures as `FILE`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from interplay.env.playhouse.house.catalog import CATEGORIES
from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.house.house_layout import House, PlacedThing, make_house
from interplay.env.playhouse.house.rooms import RoomPlan
from interplay.env.playhouse.render.room_shading import FLOOR_PATTERNS, WALL_PATTERNS
from interplay.env.playhouse.render.scene import Camera, Scene, overview_camera, start_poses
from interplay.gpu_render.batched_views import draw_views
from interplay.gpu_render.packed_houses import pack_houses
from interplay.gpu_render.packed_views import pack_views, player_cameras

CONFIG = PlayhouseConfig()
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Format:
    """Size in pixels, and whether four rays are averaged."""

    height: int
    width: int
    field_of_view: float = 60.0
    antialias: bool = False


# Small, because the interpreter is slow. No tile is whole in the second, in either direction.
PLAIN, UNEVEN, SMOOTH = Format(16, 32), Format(11, 37, 90.0), Format(8, 16, antialias=True)
NARROW, OUTSIDE = Format(16, 32, 10.0), Format(16, 32, 24.0)


@dataclass(frozen=True)
class Sample:
    """What one view is drawn from."""

    house: House
    positions: Floats
    quaternions: Floats
    avatars: Floats
    camera: Floats
    hide_role: int | None


def material_rooms() -> list[Sample]:
    """A room for every pattern of floors and walls. In it things of all kinds of primitives, tilted and above the
    floor, and the setter."""
    rng = np.random.default_rng(0)
    return [_material_room(floor, k, rng) for k, floor in enumerate(FLOOR_PATTERNS)]


def _material_room(floor: str, number: int, rng: np.random.Generator) -> Sample:
    walls = list(WALL_PATTERNS)[number % len(WALL_PATTERNS)]
    room = RoomPlan("room", "bedroom", (0.0, 0.0), (6.0, 6.0), floor, (0.55, 0.45, 0.36), (0.8, 0.76, 0.68), walls)
    spots = zip(("rocket", "lamp", "teddy"), ("red", "white", "blue"), (2.3, 3.0, 3.6), strict=True)
    things = tuple(
        PlacedThing(k, CATEGORIES[category], color, "medium", 0, (2.6, y, rng.uniform(0.3, 1.0)), 0.4)
        for k, (category, color, y) in enumerate(spots)
    )
    house = House(0, (room,), (), (), things, ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)))
    positions, quaternions, _ = start_poses(house)
    quaternions[:2] = turned(rng, 2)
    avatars = np.array([[3.9, 3.9, rng.uniform(-3, 3), 0.3], [1.1, 3.0, 0.0, -0.35]], np.float32)
    return Sample(house, positions, quaternions, avatars, player_cameras(avatars[None], 1)[0], hide_role=1)


def floors(rooms: Sequence[Sample]) -> list[Sample]:
    """The floor of each room from nearby, where seams and weaves are drawn."""
    camera = np.array([1.0, 1.0, 1.5, 0.3, -1.3], np.float32)
    return [replace(room, camera=camera) for room in rooms]


def furnished_houses(seeds: Sequence[int]) -> list[Sample]:
    """What the solver sees in houses of several rooms: the setter ahead, loose objects tilted."""
    samples = []
    for seed in seeds:
        rng, house = np.random.default_rng(seed), make_house(CONFIG, seed)
        positions, quaternions, avatars = start_poses(house)
        quaternions[len(house.furniture) :] = turned(rng, len(house.objects))
        x, y, yaw, _ = avatars[1]
        avatars[1, 3] = rng.uniform(-0.6, 0.1)
        avatars[0] = x + 1.4 * np.cos(yaw), y + 1.4 * np.sin(yaw), rng.uniform(-3, 3), rng.uniform(-0.5, 0.5)
        camera = player_cameras(avatars[None], 1)[0]
        samples.append(Sample(house, positions, quaternions, avatars, camera, hide_role=1))
    return samples


def from_above() -> Sample:
    """A house from outside, with both avatars."""
    house = make_house(CONFIG, 7)
    seen = overview_camera(house, OUTSIDE.height, OUTSIDE.width)
    camera = np.array([*seen.eye, seen.yaw, seen.pitch], np.float32)
    return Sample(house, *start_poses(house), camera, hide_role=None)


def turned(rng: np.random.Generator, count: int) -> Floats:
    quaternions = rng.normal(size=(count, 4))
    return (quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True)).astype(np.float32)


def samples() -> dict[str, tuple[list[Sample], Format]]:
    """All samples, by name, with the format of their pictures."""
    return {
        "materials": (material_rooms(), PLAIN),
        "floors": (floors(material_rooms()), NARROW),
        "houses": (furnished_houses(range(5)), PLAIN),
        "outside": ([from_above()], OUTSIDE),
        "uneven": (furnished_houses([5]), UNEVEN),
        "antialiased": (furnished_houses([6]), SMOOTH),
    }


def drawn_by_numba(given: Sequence[Sample], size: Format) -> NDArray[np.uint8]:
    pictures = []
    for sample in given:
        camera = Camera((0, 0, 0), float(sample.camera[3]), float(sample.camera[4]), size.field_of_view)
        poses = (sample.positions, sample.quaternions, sample.avatars)
        seen = (sample.camera[:3], camera.yaw, camera.pitch, size.field_of_view, size.height, size.width)
        drawing = Scene(sample.house, CONFIG).draw(*poses, *seen, hide_role=sample.hide_role, antialias=size.antialias)
        pictures.append(drawing[0])
    return np.stack(pictures)


def drawn_by_triton(given: Sequence[Sample], size: Format, device: str) -> NDArray[np.uint8]:
    houses = pack_houses([sample.house for sample in given], device)
    rows = [
        pack_views(
            houses,
            number,
            sample.positions[None],
            sample.quaternions[None],
            sample.avatars[None],
            sample.camera[None],
            sample.hide_role,
        )
        for number, sample in enumerate(given)
    ]
    pictures = draw_views(houses, np.concatenate(rows), size.height, size.width, size.field_of_view, size.antialias)
    found: NDArray[np.uint8] = pictures.cpu().numpy()
    return found


if __name__ == "__main__":
    with np.errstate(all="ignore"):  # the interpreter computes what a mask then hides
        pictures = {name: drawn_by_triton(given, size, "cpu") for name, (given, size) in samples().items()}
    np.savez(sys.argv[1], **pictures)
