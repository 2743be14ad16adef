"""The colors of a replay."""

from __future__ import annotations

Color = tuple[int, int, int]

PAPER: Color = (250, 250, 248)
INK: Color = (40, 40, 40)
FAINT: Color = (205, 205, 200)
LABEL: Color = (60, 60, 66)
CURVE: Color = (40, 90, 170)
TAKEN_OVER: Color = (200, 100, 0)
UP: Color = (30, 140, 60)
DOWN: Color = (200, 40, 40)

# Caption colors: (while the caption is new, after it has been read).
_SOLVER: tuple[Color, Color] = ((160, 70, 0), (175, 130, 95))
_OTHERS: tuple[Color, Color] = ((20, 70, 170), (105, 125, 170))


def mark(sign: int) -> Color:
    """The color of a mark: +1 progress, -1 a slip."""
    return UP if sign > 0 else DOWN


def caption_colors(speaker: str, solver: str) -> tuple[Color, Color]:
    """The colors of a speaker's captions: while new, and after they have been read."""
    return _SOLVER if speaker == solver else _OTHERS
