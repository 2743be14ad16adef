"""Structures of our own, drawn layer by layer: targets for tests, demonstrations and agents without any corpus."""

from __future__ import annotations

from collections.abc import Mapping

from interplay.env.voxel.space import COLORS, SHAPE, Grid, empty_grid

AIR = "."
LETTERS: Mapping[str, int] = {name[0]: color for color, name in enumerate(COLORS, 1)}

# Layers from the ground up, separated by "/"; rows from north to south, separated by blanks; cells from west to east.
_DRAWINGS: Mapping[str, str] = {
    "table": "r.r ... r.r / ooo ooo ooo",
    "chair": "g.g g.g / ggg ggg / ... ggg / ... ggg",
    "stairs": "bbbb / .bbb / ..bb / ...b",
    "wide_stairs": "yyy yyy yyy / yyy yyy / yyy",
    "arch": "p..p / p..p / pppp",
    "gate": "r...r / r...r / r...r / ryyyr",
    "bridge": "bb....bb / oooooooo",
    "tower": "rr rr / rr rr / yy yy / yy yy",
    "spire": "ggg ggg ggg / .g. ggg .g. / ... .y. / ... .y.",
    "pyramid": "oooo oooo oooo oooo / .... .yy. .yy. / .... .r..",
    "letter_t": "..g / ..g / ..g / ggggg",
    "letter_l": "bbb / b / b / b",
    "letter_h": "r.r / r.r / rrr / r.r / r.r",
    "letter_u": "ppp / p.p / p.p / p.p",
    "plus": "..y.. ..y.. yyyyy ..y.. ..y..",
    "ring": "bbbb b..b b..b bbbb",
    "frame": "rrrr / r..r / r..r / rrrr",
    "checkers": "rbr brb rbr",
    "flag": "g / g / g / grr / gyy",
    "house": "ooo o.o o.o / ooo o.o o.o / rrr rrr rrr / ... .r.",
    "mushroom": ".... .yy. .yy. / .... .yy. .yy. / rrrr rrrr rrrr rrrr",
    "snake": "gg... .g... .ggg. ...g. ...gy",
    "well": "bbb b.b bbb / p.p ... p.p / p.p ... p.p / ppp ppp ppp",
    "fence": "o.o.o.o / ooooooo",
}


def own_structures() -> Mapping[str, Grid]:
    """Our own structures by name, int8 [9, 11, 11], each in the middle of the zone."""
    return {name: draw(layers) for name, layers in _DRAWINGS.items()}


def draw(layers: str) -> Grid:
    """The grid of a drawing, int8 [9, 11, 11], in the middle of the zone.

    Args:
        layers: Layers from the ground up, separated by "/"; rows from north to south, separated by blanks; in a row a
            letter a cell from west to east: the first letter of a color, or "." for air.

    Raises:
        ValueError: an unknown letter, or a drawing larger than the zone.
    """
    rows = [layer.split() for layer in layers.split("/")]
    size = len(rows), max(map(len, rows)), max((len(row) for layer in rows for row in layer), default=0)
    if unknown := sorted(set(layers) - {AIR, "/", " ", "\n", *LETTERS}):
        raise ValueError(f"a drawing holds {', '.join(unknown)}; its letters are {AIR} and {', '.join(LETTERS)}")
    if any(extent > most for extent, most in zip(size, SHAPE, strict=True)):
        raise ValueError(f"a drawing is {size} large (layers, rows, cells); the zone holds {SHAPE}")
    grid = empty_grid()
    north, west = (SHAPE[1] - size[1]) // 2, (SHAPE[2] - size[2]) // 2
    for y, layer in enumerate(rows):
        for z, row in enumerate(layer):
            for x, letter in enumerate(row):
                grid[y, west + x, north + z] = LETTERS.get(letter, 0)
    return grid
