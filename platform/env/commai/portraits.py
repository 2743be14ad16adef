"""Pictures of a session: the transcript, and the map of a grid world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from PIL import Image as Picture
from PIL import ImageDraw, ImageFont

from interplay.env.arrays import Image
from interplay.env.commai.serializer import SILENCE

LEAST_SIZE = 10  # of letters, in pixels
LINES = 24  # of a picture, at most
PAPER, INK = (250, 250, 245), (30, 30, 40)
COMPASS = {"north": "^", "east": ">", "south": "v", "west": "<"}


def portraits(talk: Sequence[tuple[str, str]], world: Any, height: int, width: int) -> Mapping[str, Image]:
    """The transcript, as uint8 [height, width, 3], and the map if the world has one."""
    pictures = {"talk": _drawn(talk_lines(talk) or ["nothing has been said yet"], height, width)}
    drawn = map_lines(world, 9)
    return pictures | {"map": _drawn(drawn, height, width, columns=True)} if drawn else pictures


def talk_lines(talk: Sequence[tuple[str, str]]) -> list[str]:
    """The transcript, with one line for each uninterrupted message."""
    streams: dict[str, str] = {}
    for who, said in talk:
        streams[who] = streams.get(who, "") + (said or SILENCE)
    return [f"{who}: {' '.join(said.split())}" for who, said in streams.items()]


def map_lines(world: Any, size: int) -> list[str]:
    """The cells around the learner, as text; empty if the world has no map. Things are shown by their first letter."""
    state = getattr(world, "state", None)
    if not hasattr(state, "learner_pos"):
        return []
    assert state is not None
    x, y = state.learner_pos
    half = size // 2
    cells = {(at[0], at[1]): entity.name[0] for at, entity in state.entities.items()}
    cells[(x, y)] = COMPASS[state.learner_direction]
    return [
        " ".join(cells.get((x + column, y + row), ".") for column in range(-half, half + 1))
        for row in range(-half, half + 1)
    ]


def _drawn(lines: Sequence[str], height: int, width: int, columns: bool = False) -> Image:
    """The last lines that fit, and of each the last letters, below the place where replays label a picture; with
    `columns`, letters that are split by spaces stand one below the other."""
    step = max(LEAST_SIZE * 5 // 4, height // LINES)
    face = ImageFont.load_default(step * 4 // 5)
    top, left, fitting = 3 * step // 2, step // 2, max(1, height // step - 2)
    picture = Picture.new("RGB", (width, height), PAPER)
    draw = ImageDraw.Draw(picture)
    for row, line in enumerate(lines[-fitting:]):
        while draw.textlength(line, face) > width - 2 * left and len(line) > 1:
            line = line[1:]
        for column, text in enumerate(line.split(" ") if columns else [line]):
            draw.text((left + column * step, top + row * step), text, INK, face)
    return np.asarray(picture, np.uint8).copy()
