"""Pictures for people: of a moment (players' views, overview of the house, map), of single things, of rooms."""

from __future__ import annotations

import math

import numpy as np

from interplay.env.arrays import Float32Array, Image
from interplay.env.playhouse.house.catalog import CATEGORIES, SIZES
from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.house.house_layout import House, PlacedThing
from interplay.env.playhouse.house.rooms import RoomPlan
from interplay.env.playhouse.physics.model import EYE_HEIGHT_M
from interplay.env.playhouse.render.scene import Scene, map_camera, overview_camera, start_poses


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
    for title, camera_of in (("house", overview_camera), ("map", map_camera)):
        poses = positions, quaternions, avatars
        pictures[title] = scene.draw_from(camera_of(scene.house, height, width), poses, height, width)
    return pictures


HIDDEN_POSE = (-1000.0, -1000.0, 0.0)  # of players, out of sight
ROOM_SIDE_M = 9.0  # of the bare room
CORNER_GAP_M = 0.5  # from both walls to the camera


def thing_alone(
    config: PlayhouseConfig, name: str, color: str, size: str, away: float, yaw: float = math.radians(205.0)
) -> Image:
    """One thing on the floor of a bare room, `away` meters ahead of an eye that looks at it. uint8 [H, W, 3]

    yaw: radians; 180 degrees turns the thing's front towards the eye.
    """
    category = CATEGORIES[name]
    height = category.half_extents[2] * SIZES[size]
    eye = np.array([1.0, ROOM_SIDE_M / 2, EYE_HEIGHT_M], np.float32)
    at = (float(eye[0]) + away, ROOM_SIDE_M / 2, height)
    thing = PlacedThing(0, category, color, size, 0, at, yaw)
    room = RoomPlan(
        "bedroom", "bedroom", (0.0, 0.0), (ROOM_SIDE_M, ROOM_SIDE_M), "wood", (0.55, 0.45, 0.36), (0.8, 0.76, 0.68)
    )
    house = House(0, (room,), (), (), (thing,), (HIDDEN_POSE, HIDDEN_POSE))
    pitch = math.atan2(height - EYE_HEIGHT_M, away)
    return _draw(Scene(house, config), house, config, eye, 0.0, pitch)


def room_from_corner(scene: Scene, house: House, config: PlayhouseConfig, number: int) -> Image:
    """A room of a house at its start, from the corner that shows the most things. uint8 [H, W, 3]"""
    room = house.rooms[number]
    low, high = np.array(room.low) + CORNER_GAP_M, np.array(room.high) - CORNER_GAP_M
    middle = (low + high) / 2
    views = []
    for corner in ((low[0], low[1]), (low[0], high[1]), (high[0], low[1]), (high[0], high[1])):
        eye = np.array([*corner, EYE_HEIGHT_M], np.float32)
        yaw = math.atan2(middle[1] - corner[1], middle[0] - corner[0])
        ids = scene.draw(*start_poses(house), eye, yaw, -0.3, config.field_of_view, *config.image)[1]
        views.append((len(np.unique(ids)), eye, yaw))
    _, eye, yaw = max(views, key=lambda view: view[0])
    return _draw(scene, house, config, eye, yaw, -0.3)


def _draw(scene: Scene, house: House, config: PlayhouseConfig, eye: np.ndarray, yaw: float, pitch: float) -> Image:
    positions, quaternions, avatars = start_poses(house)
    avatars[:, :2] = HIDDEN_POSE[:2]
    return scene.draw(
        positions, quaternions, avatars, eye, yaw, pitch, config.field_of_view, *config.image,
        antialias=config.antialias,
    )[0]  # fmt: skip
