"""What the pictures of a house show, and that the same poses give the same bytes everywhere."""

from __future__ import annotations

import hashlib
import math
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from interplay.env.playhouse.house.catalog import CATEGORIES, COLORS
from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.house.house_layout import House, PlacedThing, make_house
from interplay.env.playhouse.house.objects import OBJECTS
from interplay.env.playhouse.house.rooms import RoomPlan
from interplay.env.playhouse.physics.model import EYE_HEIGHT_M
from interplay.env.playhouse.render.portrait import portrait
from interplay.env.playhouse.render.primitives import _paints
from interplay.env.playhouse.render.room_shading import WALL_PATTERNS
from interplay.env.playhouse.render.scene import RenderedView, Scene, map_camera, start_poses
from interplay.env.playhouse.world import Playhouse
from interplay.env.world import Start

CONFIG = PlayhouseConfig()
AWAY = (-1000.0, -1000.0, 0.0)


def room_with(*things: tuple[str, str, tuple[float, float, float]]) -> House:
    """One room of 6 x 6 m, nobody in it: category, color and position of each thing."""
    room = RoomPlan("bedroom", "bedroom", (0.0, 0.0), (6.0, 6.0), "wood", (0.55, 0.45, 0.36), (0.8, 0.76, 0.68))
    placed = [PlacedThing(i, CATEGORIES[c], color, "medium", 0, at, 0.4) for i, (c, color, at) in enumerate(things)]
    return House(0, (room,), (), (), tuple(placed), (AWAY, AWAY))


def look(house: House, pitch: float = 0.0, size: tuple[int, int] = (72, 96), **options: Any) -> RenderedView:
    """From (1, 3) along +x."""
    eye = np.array([1.0, 3.0, EYE_HEIGHT_M], np.float32)
    return Scene(house, CONFIG).draw(*start_poses(house), eye, 0.0, pitch, 60.0, *size, **options)


def on_floor(category: str, x: float, y: float = 3.0) -> tuple[float, float, float]:
    return x, y, CATEGORIES[category].half_extents[2]


def test_depth_is_the_distance_of_the_wall_ahead() -> None:
    _, ids, depth = look(room_with())
    np.testing.assert_allclose(depth[30:42, 40:56], 5.0, atol=1e-3)
    assert (ids == -1).all()


def test_a_thing_is_seen_where_it_is() -> None:
    left, right = on_floor("ball", 4.0, 4.0), on_floor("ball", 4.0, 2.0)
    _, ids, depth = look(room_with(("ball", "red", left), ("ball", "blue", right)), pitch=-0.4)
    columns = [np.nonzero(ids == index)[1].mean() for index in (0, 1)]
    assert columns[0] < 40 and columns[1] > 56
    distance = math.cos(0.4) * 3.0 + math.sin(0.4) * (EYE_HEIGHT_M - left[2])
    assert depth[ids == 0].mean() == pytest.approx(distance, abs=0.15)


def test_the_nearer_thing_hides_the_other() -> None:
    house = room_with(("wardrobe", "white", on_floor("wardrobe", 3.0)), ("ball", "red", on_floor("ball", 5.0)))
    _, ids, _ = look(house)
    assert (ids == 0).any() and not (ids == 1).any()


@pytest.mark.parametrize("category", [category.name for category in OBJECTS])
def test_every_object_can_be_made_out_at_three_meters(category: str) -> None:
    _, ids, _ = look(room_with((category, "red", on_floor(category, 3.6))), pitch=-0.4)
    assert (ids == 0).sum() >= 8


@pytest.mark.parametrize("color", COLORS)
@pytest.mark.parametrize("category", ["ball", "block", "duck", "car", "bin"])
def test_an_object_looks_most_like_the_color_it_is_named_by(category: str, color: str) -> None:
    image, ids, _ = look(room_with((category, color, on_floor(category, 3.6))), pitch=-0.4)
    pixels = image[ids == 0] / 255.0
    names = list(COLORS)
    # A pixel is like a color when some brightness between 0.5 and 1 of that color comes close to it.
    shades = np.array([[np.array(COLORS[name]) * s for s in np.linspace(0.55, 1.0, 10)] for name in names])
    apart = np.linalg.norm(pixels[:, None, None] - shades[None], axis=-1).min(axis=2)
    votes = [names[n] for n in apart.argmin(axis=1)]
    assert max(set(votes), key=votes.count) == color


@pytest.mark.parametrize("color", COLORS)
def test_trimmings_and_shades_stand_out_from_the_color_of_a_thing(color: str) -> None:
    tones = _paints(("main", "trim", "light", "dark"), color)
    for n, one in enumerate(tones):
        assert all(np.abs(one - other).max() > 20 for other in tones[:n])


def test_objects_differ_from_the_floor_they_lie_on() -> None:
    for color in COLORS:
        image, ids, _ = look(room_with(("block", color, on_floor("block", 3.6))), pitch=-0.4)
        block = image[ids == 0].mean(axis=0)
        floor = image[60:][ids[60:] == -1].mean(axis=0)
        assert np.abs(block - floor).max() > 40, color


def test_the_floor_is_darker_under_a_thing() -> None:
    bare, _, _ = look(room_with(), pitch=-0.5)
    image, ids, _ = look(room_with(("table", "white", on_floor("table", 3.2))), pitch=-0.5)
    floor = ids == -1
    assert (image[floor].astype(int) <= bare[floor]).all()
    assert (bare[floor].astype(int) - image[floor]).max() > 40


def test_avatars_are_seen_by_others_and_not_by_themselves() -> None:
    house = room_with()
    scene, (positions, quaternions, avatars) = Scene(house, CONFIG), start_poses(house)
    avatars[:] = [[3.5, 3.6, math.pi, 0.0], [1.0, 3.0, 0.0, 0.0]]

    def seen(hide: int | None, x: float) -> set[int]:
        eye = np.array([x, 3.0, EYE_HEIGHT_M], np.float32)
        picture = scene.draw(positions, quaternions, avatars, eye, 0.0, 0.0, 60.0, 72, 96, hide_role=hide)
        return set(np.unique(picture[1]).tolist())

    assert seen(1, 1.0) == {-1, -2}
    assert seen(0, 0.2) == {-1, -3}
    assert seen(None, 0.2) == {-1, -2, -3}


def test_faces_tell_which_way_an_avatar_looks() -> None:
    house = room_with()
    scene, (positions, quaternions, avatars) = Scene(house, CONFIG), start_poses(house)
    pictures = []
    for yaw in (math.pi, 0.0, math.pi / 2):
        avatars[0] = [3.0, 3.0, yaw, 0.0]
        eye = np.array([1.0, 3.0, EYE_HEIGHT_M], np.float32)
        pictures.append(scene.draw(positions, quaternions, avatars, eye, 0.0, 0.0, 60.0, 72, 96)[0].astype(int))
    front, back, side = pictures
    assert (np.abs(front - back).max(axis=2) > 60).sum() > 12
    assert (np.abs(front - side).max(axis=2) > 60).sum() > 12


def test_an_avatar_that_looks_down_shows_its_hair() -> None:
    scene, (positions, quaternions, avatars) = Scene(room_with(), CONFIG), start_poses(room_with())
    hair = []
    for pitch in (-0.6, 0.6):
        avatars[0] = [2.0, 3.0, math.pi, pitch]
        eye = np.array([1.0, 3.0, EYE_HEIGHT_M], np.float32)
        image, ids, _ = scene.draw(positions, quaternions, avatars, eye, 0.0, 0.0, 60.0, 72, 96)
        hair.append(int((image[:48][ids[:48] == -2].max(axis=1) < 60).sum()))
    assert hair[0] > 2 * hair[1]


@pytest.mark.parametrize("size", [(8, 8), (37, 53), (480, 640)])
def test_any_size(size: tuple[int, int]) -> None:
    image, ids, depth = look(room_with(("ball", "red", on_floor("ball", 3.0))), pitch=-0.6, size=size)
    assert image.shape == (*size, 3) and image.dtype == np.uint8
    assert ids.shape == size and ids.dtype == np.int16
    assert depth.shape == size and depth.dtype == np.float32


def test_antialiasing_averages_four_rays() -> None:
    house = room_with(("ball", "red", on_floor("ball", 3.0)))
    large = look(house, pitch=-0.6, size=(144, 192))[0].astype(np.float64)
    small, ids, depth = look(house, pitch=-0.6, antialias=True)
    means = large.reshape(72, 2, 96, 2, 3).mean(axis=(1, 3))
    assert np.abs(small - means).max() <= 0.5
    assert ids.shape == depth.shape == (72, 96)


@pytest.mark.parametrize("antialias", [False, True])
def test_pictures_of_many_moments_drawn_together_equal_each_drawn_alone(antialias: bool) -> None:
    house, config = make_house(PlayhouseConfig(rooms=(2, 2)), 5), PlayhouseConfig(antialias=antialias)
    scene, rng = Scene(house, config), np.random.default_rng(0)
    positions, quaternions, avatars = (np.repeat(pose[None], 19, axis=0) for pose in start_poses(house))
    positions += rng.uniform(-0.5, 0.5, positions.shape).astype(np.float32)
    avatars += rng.uniform(-0.7, 0.7, avatars.shape).astype(np.float32)
    for player in (0, 1):
        drawn = scene.draw_player((positions, quaternions, avatars), player, 24, 32)
        assert drawn.shape == (19, 24, 32, 3)
        for picture, *poses in zip(drawn, positions, quaternions, avatars, strict=True):
            x, y, yaw, pitch = poses[2][player].tolist()
            gaze: tuple[Any, ...] = (np.array([x, y, EYE_HEIGHT_M], np.float32), yaw, pitch, config.field_of_view)
            alone = Scene(house, config).draw(*poses, *gaze, 24, 32, hide_role=player, antialias=antialias)[0]
            assert picture.tobytes() == alone.tobytes()
    assert len({picture.tobytes() for picture in drawn}) == 19


def digest(seed: int) -> str:
    """Of several pictures of one house."""
    house = make_house(PlayhouseConfig(rooms=(3, 3)), seed)
    scene, poses = Scene(house, CONFIG), start_poses(house)
    total = hashlib.sha256()
    for role in (0, 1):
        x, y, yaw, _ = poses[2][role]
        eye = np.array([x, y, EYE_HEIGHT_M], np.float32)
        for turn in range(4):
            for array in scene.draw(*poses, eye, yaw + 1.5 * turn, -0.3, 60.0, 72, 96, hide_role=role):
                total.update(array.tobytes())
    return total.hexdigest()


def test_another_process_draws_the_same_bytes() -> None:
    here = Path(__file__)
    code = f"import sys; sys.path.insert(0, {str(here.parent)!r}); import {here.stem} as t; print(t.digest(3))"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert other.stdout.strip() == digest(3)


def test_threads_draw_the_same_bytes() -> None:
    alone = [digest(seed) for seed in range(4)]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(digest, range(4))) == alone


def test_takes_read_only_and_wider_arrays_as_they_come() -> None:
    house = room_with(("ball", "red", on_floor("ball", 3.0)))
    scene, eye = Scene(house, CONFIG), np.array([1.0, 3.0, EYE_HEIGHT_M], np.float32)
    poses = start_poses(house)
    wide: list[NDArray[Any]] = [np.repeat(pose.astype(np.float64), 2, axis=0)[::2] for pose in poses]
    for pose in wide:
        pose.flags.writeable = False
    expected = scene.draw(*poses, eye, 0.0, -0.6, 60.0, 72, 96)
    given = scene.draw(wide[0], wide[1], wide[2], eye, 0.0, -0.6, 60.0, 72, 96)
    for one, other in zip(expected, given, strict=True):
        np.testing.assert_array_equal(one, other)


def test_portrait_shows_both_eyes_the_house_and_a_map() -> None:
    house = make_house(PlayhouseConfig(rooms=(2, 2)), 1)
    scene, poses = Scene(house, CONFIG), start_poses(house)
    pictures = portrait(scene, *poses, 120, 160)
    assert list(pictures) == ["setter", "solver", "house", "map"]
    assert all(picture.shape == (120, 160, 3) for picture in pictures.values())
    assert len({picture.tobytes() for picture in pictures.values()}) == 4


def test_map_has_y_upwards_and_shows_what_lies_on_the_floor() -> None:
    house = room_with(("block", "red", on_floor("block", 1.0, 5.0)), ("block", "blue", on_floor("block", 5.0, 1.0)))
    image = Scene(house, CONFIG).draw_from(map_camera(house, 120, 120), start_poses(house), 120, 120).astype(int)
    red = np.argwhere((image[..., 0] > 150) & (image[..., 1] < 60))
    blue = np.argwhere((image[..., 2] > 150) & (image[..., 0] < 90))
    assert (red.mean(axis=0) < 40).all() and (blue.mean(axis=0) > 80).all()


def test_pictures_of_many_houses_are_those_of_the_first_version() -> None:
    """Recorded episodes are redrawn from poses, so the bytes of a picture never change: here of all patterns in use."""
    digest, floors, walls = hashlib.sha256(), set[str](), set[str]()
    for seed in range(12):
        world = Playhouse(PlayhouseConfig(image=(36, 48)))
        for view in world.reset(Start(seed=seed)).values():
            assert view.image is not None
            digest.update(view.image.tobytes())
        for picture in world.portrait(36, 48).values():
            digest.update(picture.tobytes())
        floors |= {room.floor for room in world.house.rooms}
        walls |= {room.walls for room in world.house.rooms}
    assert floors == {"carpet", "checker", "mats", "tile", "wood"}
    assert walls == set(WALL_PATTERNS)
    assert digest.hexdigest() == "173ce0d43c9272c555f6ed8c6f16d545e8726ac44a6e3559c68607ccadff7e61"


def test_pictures_from_many_places_are_those_of_the_first_version() -> None:
    """As above, with runs of pixels of all lengths: of 480 pictures, two have a seam whose pixel is at its limit."""
    digest, rng = hashlib.sha256(), np.random.default_rng(0)
    for seed in range(8):
        house = make_house(CONFIG, seed)
        scene, poses = Scene(house, CONFIG), start_poses(house)
        for _ in range(60):
            room = house.rooms[int(rng.integers(len(house.rooms)))]
            x, y = (rng.uniform(room.low[axis] + 0.3, room.high[axis] - 0.3) for axis in (0, 1))
            yaw, pitch = float(rng.uniform(-3, 3)), float(rng.uniform(-1, 0.4))
            eye = np.array([x, y, EYE_HEIGHT_M], np.float32)
            digest.update(scene.draw(*poses, eye, yaw, pitch, 60.0, 36, 48)[0].tobytes())
    assert digest.hexdigest().startswith("5b7d0a6a0ff4392e")
