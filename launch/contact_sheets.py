"""Contact sheets of the Playhouse: labeled pictures of every category and of many houses from the players' view."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from interplay.core.files import check_replaceable
from interplay.env.arrays import Image as Picture
from interplay.env.playhouse.house.category import Category
from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.house.furniture import FURNITURE
from interplay.env.playhouse.house.house_layout import make_house
from interplay.env.playhouse.house.objects import OBJECTS
from interplay.env.playhouse.render.portrait import room_from_corner, thing_alone
from interplay.env.playhouse.render.scene import Scene, map_camera, start_poses
from interplay.env.playhouse.world import Playhouse
from interplay.env.world import World
from interplay.launch.world_sheet import BACKGROUND_COLOR, CAPTION_HEIGHT, TEXT_COLOR

PIXEL_SCALE = 3  # sheet pixels per side of one observation pixel
FAR_M, CLOSE_M = 3.0, 1.5  # from the camera
NAME_WIDTH = 90  # pixels of the name column on the left
ROWS_PER_SHEET = 8
NUM_HOUSES = 20
OBJECT_LOOKS = (("red", "small"), ("yellow", "medium"), ("blue", "large"))
FURNITURE_LOOKS = (("white", "medium"), ("brown", "medium"), ("blue", "medium"))

SheetRow = tuple[str, Sequence[tuple[str, Picture]]]  # name of the row, and (caption, picture) pairs


def draw_contact_sheets(world: World, *, seed: int, folder: Path) -> list[Path]:
    """Write PNGs of all objects, all furniture and `NUM_HOUSES` houses (seeds from `seed` on); return their paths.

    Raises:
        ValueError: the world is not a Playhouse.
        OSError: see `check_replaceable`.
    """
    if not isinstance(world, Playhouse):
        raise ValueError(f"{world.spec.name} has no catalog; catalog draws the things of env=playhouse")
    config = world.config
    rows: dict[str, Iterator[SheetRow]] = {
        "objects": (_category_row(config, category, OBJECT_LOOKS) for category in OBJECTS),
        "furniture": (_category_row(config, category, FURNITURE_LOOKS) for category in FURNITURE),
        "houses": (_house_row(config, seed + k) for k in range(NUM_HOUSES)),
    }
    check_replaceable(*(_sheet(folder, name, 1) for name in rows))
    folder.mkdir(parents=True, exist_ok=True)
    return [path for name, group in rows.items() for path in _save_sheets(folder, name, list(group))]


def _category_row(config: PlayhouseConfig, category: Category, looks: Sequence[tuple[str, str]]) -> SheetRow:
    return category.name, [
        (f"{size} {color}, {distance} m", thing_alone(config, category.name, color, size, distance))
        for distance in (FAR_M, CLOSE_M)
        for color, size in looks
    ]


def _house_row(config: PlayhouseConfig, seed: int) -> SheetRow:
    house = make_house(config, seed)
    scene = Scene(house, config)
    rooms = [(room.name, room_from_corner(scene, house, config, k)) for k, room in enumerate(house.rooms)]
    height, width = (PIXEL_SCALE * side for side in config.image)  # the map at the full resolution of the sheet
    plan = scene.draw_from(map_camera(house, height, width), start_poses(house), height, width)
    return f"seed {seed}", [*rooms, ("map", plan)]


def _save_sheets(folder: Path, name: str, rows: Sequence[SheetRow]) -> Iterator[Path]:
    for page, start in enumerate(range(0, len(rows), ROWS_PER_SHEET), start=1):
        path = _sheet(folder, name, page)
        _draw_sheet(rows[start : start + ROWS_PER_SHEET]).save(path)
        yield path


def _sheet(folder: Path, name: str, page: int) -> Path:
    return folder / f"{name}-{page}.png"


def _draw_sheet(rows: Sequence[SheetRow]) -> Image.Image:
    # The smallest picture of a row is an observation; a map is already enlarged.
    height = PIXEL_SCALE * max(min(p.shape[0] for _, p in pictures) for _, pictures in rows)
    width = PIXEL_SCALE * max(min(p.shape[1] for _, p in pictures) for _, pictures in rows)
    columns = max(len(pictures) for _, pictures in rows)
    sheet = Image.new(
        "RGB", (NAME_WIDTH + columns * (width + 4), len(rows) * (height + CAPTION_HEIGHT)), BACKGROUND_COLOR
    )
    draw = ImageDraw.Draw(sheet)
    for row, (name, pictures) in enumerate(rows):
        y = row * (height + CAPTION_HEIGHT)
        draw.text((6, y + CAPTION_HEIGHT + height // 2), name, fill=TEXT_COLOR)
        for column, (caption, picture) in enumerate(pictures):
            x = NAME_WIDTH + column * (width + 4)
            draw.text((x + 4, y + 5), caption, fill=TEXT_COLOR)
            scale = height // picture.shape[0]
            large = np.repeat(np.repeat(picture, scale, axis=0), scale, axis=1)  # without interpolation
            sheet.paste(Image.fromarray(large), (x, y + CAPTION_HEIGHT))
    return sheet
