"""Words of the grammar of plans, shared by what writes it and what reads it."""

from __future__ import annotations

from collections.abc import Mapping

from interplay.env.voxel.plans.chunks import Chunk
from interplay.env.voxel.space import Cell

NUMBERS = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
]  # fmt: skip
ORDINALS = [
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
    "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth",
    "nineteenth", "twentieth",
]  # fmt: skip
DIRECTIONS: Mapping[str, Cell] = {
    "north": (0, 0, -1),
    "east": (0, 1, 0),
    "south": (0, 0, 1),
    "west": (0, -1, 0),
    "up": (1, 0, 0),
    "down": (-1, 0, 0),
}
COMPASS = ("north", "east", "south", "west")
VERBS = ("put", "place", "build")
NOUNS: Mapping[str, tuple[str, ...]] = {  # of each shape, with synonyms
    "block": ("block", "cube"),
    "row": ("row", "line"),
    "tower": ("tower", "column"),
    "square": ("square",),
    "slab": ("slab", "platform"),
}


def article(word: str) -> str:
    """The indefinite article before a word."""
    return "an" if word[:1] in tuple("aeiou") else "a"


def add(cell: Cell, direction: Cell, steps: int = 1) -> Cell:
    """A cell some steps away."""
    return cell[0] + steps * direction[0], cell[1] + steps * direction[1], cell[2] + steps * direction[2]


def parts_of(chunk: Chunk) -> Mapping[str, Cell]:
    """The cells of a chunk that have a name; "" is the chunk itself where it is a single block."""
    if chunk.shape == "block":
        return {"": chunk.corner}
    if chunk.shape == "tower":
        return {"top": chunk.cells[-1], "bottom": chunk.corner}
    (y, west, north), (_, east, south) = chunk.corner, chunk.cells[-1]
    if chunk.size[2] == 1:
        return {"west end": chunk.corner, "east end": chunk.cells[-1]}
    if chunk.size[1] == 1:
        return {"north end": chunk.corner, "south end": chunk.cells[-1]}
    return {
        "northwest corner": (y, west, north),
        "northeast corner": (y, east, north),
        "southwest corner": (y, west, south),
        "southeast corner": (y, east, south),
    }


def anchor_of(chunk: Chunk, direction: Cell) -> Cell | None:
    """The cell from which "DIRECTION of the CHUNK" counts without a named part; None if only equal shapes can be
    placed so."""
    if chunk.shape == "block":
        return chunk.corner
    if chunk.shape == "tower":
        return chunk.cells[-1] if direction[0] > 0 else chunk.corner
    return None
