"""Draws a world for people: the players' own views, the whole, and the map, on one sheet."""

from __future__ import annotations

from pathlib import Path

from PIL import Image, ImageDraw

from interplay.env.world import Start, World

HEIGHT, WIDTH = 480, 640
CAPTION = 22
BACKGROUND, INK = (250, 250, 248), (40, 40, 40)


def look(world: World, *, seed: int, path: Path) -> Path:
    """Writes a PNG of the world that this seed makes, two pictures a row, each under its title.

    Raises:
        ValueError: the world has no pictures for people.
    """
    world.reset(Start(seed=seed))
    pictures = world.portrait(HEIGHT, WIDTH)
    if not pictures:
        raise ValueError(f"{world.spec.name} draws no pictures for people; look needs a world with portraits")
    rows = -(-len(pictures) // 2)
    sheet = Image.new("RGB", (2 * WIDTH, rows * (HEIGHT + CAPTION)), BACKGROUND)
    draw = ImageDraw.Draw(sheet)
    for number, (title, picture) in enumerate(pictures.items()):
        x, y = (number % 2) * WIDTH, (number // 2) * (HEIGHT + CAPTION)
        draw.text((x + 8, y + 5), title, fill=INK)
        sheet.paste(Image.fromarray(picture), (x, y + CAPTION))
    path.parent.mkdir(parents=True, exist_ok=True)
    sheet.save(path)
    return path
