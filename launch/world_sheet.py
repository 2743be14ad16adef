"""A sheet of pictures of one world: the players' views, an overview and the map."""

from __future__ import annotations

from pathlib import Path

from PIL import Image, ImageDraw

from interplay.core.files import check_replaceable
from interplay.env.world import Start, World

PICTURE_HEIGHT, PICTURE_WIDTH = 480, 640  # pixels
CAPTION_HEIGHT = 22  # pixels
BACKGROUND_COLOR, TEXT_COLOR = (250, 250, 248), (40, 40, 40)


def draw_world_sheet(world: World, *, seed: int, path: Path) -> Path:
    """Write a PNG of the world reset with `seed`, two titled pictures per row; return its path.

    Raises:
        ValueError: the world draws no pictures for people.
        OSError: see `check_replaceable`.
    """
    check_replaceable(path)
    world.reset(Start(seed=seed))
    pictures = world.portrait(PICTURE_HEIGHT, PICTURE_WIDTH)
    if not pictures:
        raise ValueError(f"{world.spec.name} draws no pictures for people; look needs a world with portraits")
    rows = -(-len(pictures) // 2)
    sheet = Image.new("RGB", (2 * PICTURE_WIDTH, rows * (PICTURE_HEIGHT + CAPTION_HEIGHT)), BACKGROUND_COLOR)
    draw = ImageDraw.Draw(sheet)
    for number, (title, picture) in enumerate(pictures.items()):
        x, y = (number % 2) * PICTURE_WIDTH, (number // 2) * (PICTURE_HEIGHT + CAPTION_HEIGHT)
        draw.text((x + 8, y + 5), title, fill=TEXT_COLOR)
        sheet.paste(Image.fromarray(picture), (x, y + CAPTION_HEIGHT))
    path.parent.mkdir(parents=True, exist_ok=True)
    sheet.save(path)
    return path
