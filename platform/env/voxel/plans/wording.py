"""Wording of chunks: instructions from which `reading` recovers exactly the cells that are meant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from interplay.env.voxel.plans.chunks import Chunk
from interplay.env.voxel.plans.grammar import (
    COMPASS,
    DIRECTIONS,
    NOUNS,
    NUMBERS,
    ORDINALS,
    VERBS,
    add,
    anchor_of,
    article,
    parts_of,
)
from interplay.env.voxel.space import Cell, color_name

# Costs of the forms of a place: the cheapest one is said.
SAME_SHAPE, NAMED_PART, FAR = 0, 2, 6


@dataclass(frozen=True)
class _Place:
    """One way to say where a chunk goes."""

    cost: int
    words: str  # with {ref}
    chunk: int  # index in `standing` of the chunk referred to
    part: str = ""
    going: tuple[str, ...] = ()  # directions in which the new chunk extends from its first cell


class Wording:
    """Writes instructions. Without a generator the first synonym is taken, so that words are the same each time."""

    def __init__(self, rng: np.random.Generator | None = None) -> None:
        self._rng = rng

    def describe(self, chunk: Chunk, standing: Sequence[Chunk]) -> str:
        """An instruction to build `chunk`.

        Args:
            chunk: What to build, in the cells of the zone.
            standing: The existing chunks, oldest first; without any, the new one goes anywhere.
        """
        words = [self._pick(VERBS), self._thing(chunk)]
        if not standing:
            if chunk.corner[0]:
                words.append(f"{NUMBERS[chunk.corner[0]]} above the ground")
            return " ".join(words)
        place = min(_places(chunk, standing), key=lambda each: (each.cost, -each.chunk))
        if place.going:
            words.append(f"going {' and '.join(place.going)}")
        words.append(place.words.format(ref=self._reference(place, standing)))
        return " ".join(words)

    def plan(self, chunks: Sequence[Chunk], standing: Sequence[Chunk] = ()) -> list[str]:
        """An instruction for each chunk, in order."""
        return [self.describe(chunk, [*standing, *chunks[:index]]) for index, chunk in enumerate(chunks)]

    def remove(self, cell: Cell, standing: Sequence[Chunk]) -> str:
        """An instruction to remove one of the existing blocks."""
        index, chunk = next((i, each) for i, each in enumerate(standing) if cell in each.cells)
        name = name_of(index, standing)
        parts = parts_of(chunk)
        for part, at in parts.items():
            if at == cell:
                return f"remove the {part} of {name}" if part else f"remove {name}"
        part, at = next(iter(parts.items()))
        return f"remove the block {_moves(at, cell)} from the {part} of {name}"

    def _thing(self, chunk: Chunk) -> str:
        color, noun = color_name(chunk.color), self._pick(NOUNS[chunk.shape])
        count = NUMBERS[len(chunk.cells)] if len(chunk.cells) < len(NUMBERS) else str(len(chunk.cells))
        if chunk.shape == "block":
            return f"{article(color)} {color} {noun}"
        if chunk.shape in ("row", "tower"):
            return f"a {noun} of {count} {color} blocks"
        _, width, depth = chunk.size
        return f"a {NUMBERS[width]} by {NUMBERS[depth]} {noun} of {color} blocks"

    def _reference(self, place: _Place, standing: Sequence[Chunk]) -> str:
        if place.chunk == len(standing) - 1:
            return f"its {place.part}" if place.part else "it"
        return f"the {place.part} of {name_of(place.chunk, standing)}" if place.part else name_of(place.chunk, standing)

    def _pick(self, synonyms: Sequence[str]) -> str:
        return synonyms[0] if self._rng is None else synonyms[int(self._rng.integers(len(synonyms)))]


def name_of(index: int, standing: Sequence[Chunk]) -> str:
    """The name of an existing chunk, as "the second red row"; the ordinal only where there are several."""
    chunk = standing[index]
    same = [i for i, each in enumerate(standing) if (each.color, each.shape) == (chunk.color, chunk.shape)]
    ordinal = f"{ORDINALS[same.index(index)]} " if len(same) > 1 else ""
    return f"the {ordinal}{color_name(chunk.color)} {chunk.shape}"


def _places(chunk: Chunk, standing: Sequence[Chunk]) -> Iterator[_Place]:
    for index, other in enumerate(standing):
        yield from _beside_equal(chunk, other, index)
        for going, first in _beginnings(chunk):
            yield from _at_part(first, going, other, index)


def _beside_equal(chunk: Chunk, other: Chunk, index: int) -> Iterator[_Place]:
    """Where a row, square or slab lies over, under or next to an equal one."""
    if other.size != chunk.size or chunk.shape not in ("row", "square", "slab"):
        return
    offset = tuple(to - at for to, at in zip(chunk.corner, other.corner, strict=True))
    for name, direction in DIRECTIONS.items():
        for steps in range(1, 11):
            if add((0, 0, 0), direction, steps) == offset:
                yield _Place(SAME_SHAPE + steps, _relation(name, steps), index)


def _beginnings(chunk: Chunk) -> Iterator[tuple[tuple[str, ...], Cell]]:
    """The directions in which a chunk can be said to extend, each with the cell that it then begins at."""
    (y, west, north), (_, east, south) = chunk.corner, chunk.cells[-1]
    _, width, depth = chunk.size
    if chunk.shape in ("block", "tower"):
        yield (), chunk.corner
        return
    across = [("east", west), ("west", east)] if width > 1 else [("", west)]
    along = [("south", north), ("north", south)] if depth > 1 else [("", north)]
    for x_name, x in across:
        for z_name, z in along:
            yield tuple(name for name in (x_name, z_name) if name), (y, x, z)


def _at_part(first: Cell, going: tuple[str, ...], other: Chunk, index: int) -> Iterator[_Place]:
    """Where the first cell lies relative to a named cell of an existing chunk."""
    for name, direction in DIRECTIONS.items():
        anchor = anchor_of(other, direction)
        for steps in range(1, 11):
            if anchor is not None and add(anchor, direction, steps) == first:
                yield _Place(1 + steps + len(going), _relation(name, steps), index, going=going)
    for part, cell in parts_of(other).items():
        distance = sum(abs(to - at) for to, at in zip(first, cell, strict=True))
        moves = _moves(cell, first)
        if " and " in moves:
            yield _Place(FAR + distance + len(going), f"{moves} from {{ref}}", index, part, going)
            continue
        for name, direction in DIRECTIONS.items():
            if add(cell, direction, distance) == first and distance:
                at_end = part == f"{name} end" and distance == 1
                words = "at {ref}" if at_end else _relation(name, distance)
                yield _Place(NAMED_PART + distance - at_end + len(going), words, index, part, going)


def _moves(at: Cell, to: Cell) -> str:
    """The way from one cell to another, as "two north and one up"."""
    dy, dx, dz = to[0] - at[0], to[1] - at[1], to[2] - at[2]
    along = ((dz, "south", "north"), (dx, "east", "west"), (dy, "up", "down"))
    return " and ".join(f"{NUMBERS[abs(steps)]} {more if steps > 0 else less}" for steps, more, less in along if steps)


def _relation(direction: str, steps: int) -> str:
    gap = f" leaving {NUMBERS[steps - 1]} space{'s' if steps > 2 else ''}" if steps > 1 else ""
    if direction in COMPASS:
        return f"{direction} of {{ref}}{gap}"
    return ("on top of {ref}" if direction == "up" else "under {ref}") + gap


def sentences(instructions: Sequence[str]) -> str:
    """Several instructions as one utterance."""
    return " then ".join(instructions)
