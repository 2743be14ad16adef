"""The colours of a replay."""

from __future__ import annotations

Colour = tuple[int, int, int]

PAPER: Colour = (250, 250, 248)
INK: Colour = (40, 40, 40)
FAINT: Colour = (205, 205, 200)
LABEL: Colour = (60, 60, 66)
CURVE: Colour = (40, 90, 170)
TAKEN_OVER: Colour = (200, 100, 0)
UP: Colour = (30, 140, 60)
DOWN: Colour = (200, 40, 40)

# What was just said, and what there was time to read.
_SOLVER: tuple[Colour, Colour] = ((160, 70, 0), (175, 130, 95))
_OTHERS: tuple[Colour, Colour] = ((20, 70, 170), (105, 125, 170))


def mark(sign: int) -> Colour:
    """Of a mark: +1 progress, -1 a slip."""
    return UP if sign > 0 else DOWN


def speaker(who: str, solver: str) -> tuple[Colour, Colour]:
    """Of what somebody says: while it is to be read, and after."""
    return _SOLVER if who == solver else _OTHERS
