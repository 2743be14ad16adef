"""Pictures of a session: the transcript, and the map of a grid world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from PIL import Image as Picture
from PIL import ImageDraw

from interplay.env.arrays import Image
from interplay.env.commai.serializer import SILENCE

LINE = 12  # pixels
LETTER = 6
PAPER, INK = (250, 250, 245), (30, 30, 40)
COMPASS = {"north": "^", "east": ">", "south": "v", "west": "<"}


def portraits(talk: Sequence[tuple[str, str]], world: Any, height: int, width: int) -> Mapping[str, Image]:
    """The transcript, as uint8 [height, width, 3], and the map if the world has one."""
    lines = talk_lines(talk)[-max(1, height // LINE - 1) :]
    pictures = {"talk": _drawn(lines, height, width)}
    drawn = map_lines(world, 9)
    return pictures | {"map": _drawn(drawn, height, width)} if drawn else pictures


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


def _drawn(lines: Sequence[str], height: int, width: int) -> Image:
    picture = Picture.new("RGB", (width, height), PAPER)
    draw = ImageDraw.Draw(picture)
    for row, line in enumerate(lines):
        draw.text((4, 4 + row * LINE), line[-max(1, width // LETTER) :], fill=INK)
    return np.asarray(picture, np.uint8).copy()
