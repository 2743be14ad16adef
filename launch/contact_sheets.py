"""Contact sheets of the Playhouse: every kind of thing and many houses as the players see them, each under its name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from interplay.env.arrays import Image as Picture
from interplay.env.playhouse.house.catalog import FURNITURE, OBJECTS, Category
from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.house.house_layout import make_house
from interplay.env.playhouse.render.scene import Scene, start_poses
from interplay.env.playhouse.render.showroom import room_from_corner, thing_alone
from interplay.env.playhouse.world import Playhouse
from interplay.env.world import World
from interplay.launch.world_sheet import BACKGROUND, CAPTION, INK

ENLARGED = 3  # pixels of the sheet for one of the player's
FAR, CLOSE = 3.0, 1.5  # meters
MARGIN = 90  # pixels, for the names on the left
ROWS = 8  # a sheet
HOUSES = 20
OBJECT_LOOKS = (("red", "small"), ("yellow", "medium"), ("blue", "large"))
FURNITURE_LOOKS = (("white", "medium"), ("brown", "medium"), ("blue", "medium"))

SheetRow = tuple[str, Sequence[tuple[str, Picture]]]  # its name, and pictures with their captions


def draw_contact_sheets(world: World, *, seed: int, folder: Path) -> list[Path]:
    """Writes PNGs of all objects, all furniture and of HOUSES houses, the first made by `seed`.

    Raises:
        ValueError: the world is no Playhouse.
    """
    if not isinstance(world, Playhouse):
        raise ValueError(f"{world.spec.name} has no catalog; catalog draws the things of env=playhouse")
    config = world.config
    rows: dict[str, Iterator[SheetRow]] = {
        "objects": (_thing(config, category, OBJECT_LOOKS) for category in OBJECTS),
        "furniture": (_thing(config, category, FURNITURE_LOOKS) for category in FURNITURE),
        "houses": (_house(config, seed + k) for k in range(HOUSES)),
    }
    folder.mkdir(parents=True, exist_ok=True)
    return [path for name, made in rows.items() for path in _pages(folder, name, list(made))]


def _thing(config: PlayhouseConfig, category: Category, looks: Sequence[tuple[str, str]]) -> SheetRow:
    return category.name, [
        (f"{size} {color}, {away} m", thing_alone(config, category.name, color, size, away))
        for away in (FAR, CLOSE)
        for color, size in looks
    ]


def _house(config: PlayhouseConfig, seed: int) -> SheetRow:
    house = make_house(config, seed)
    scene = Scene(house, config)
    rooms = [(room.name, room_from_corner(scene, house, config, k)) for k, room in enumerate(house.rooms)]
    height, width = (ENLARGED * side for side in config.image)  # a map is for people: as sharp as the sheet
    return f"seed {seed}", [*rooms, ("map", scene.map(*start_poses(house), height, width))]


def _pages(folder: Path, name: str, rows: Sequence[SheetRow]) -> Iterator[Path]:
    for page, start in enumerate(range(0, len(rows), ROWS), start=1):
        path = folder / f"{name}-{page}.png"
        _sheet(rows[start : start + ROWS]).save(path)
        yield path


def _sheet(rows: Sequence[SheetRow]) -> Image.Image:
    height = ENLARGED * max(min(p.shape[0] for _, p in pictures) for _, pictures in rows)
    width = ENLARGED * max(min(p.shape[1] for _, p in pictures) for _, pictures in rows)
    columns = max(len(pictures) for _, pictures in rows)
    sheet = Image.new("RGB", (MARGIN + columns * (width + 4), len(rows) * (height + CAPTION)), BACKGROUND)
    draw = ImageDraw.Draw(sheet)
    for row, (name, pictures) in enumerate(rows):
        y = row * (height + CAPTION)
        draw.text((6, y + CAPTION + height // 2), name, fill=INK)
        for column, (caption, picture) in enumerate(pictures):
            x = MARGIN + column * (width + 4)
            draw.text((x + 4, y + 5), caption, fill=INK)
            times = height // picture.shape[0]
            large = np.repeat(np.repeat(picture, times, axis=0), times, axis=1)  # pixels stay pixels
            sheet.paste(Image.fromarray(large), (x, y + CAPTION))
    return sheet
