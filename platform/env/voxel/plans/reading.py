"""Reading of instructions that `wording` wrote: the chunk that they ask for."""

from __future__ import annotations

import re
from collections.abc import Sequence

from interplay.env.task import words
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
    parts_of,
)
from interplay.env.voxel.space import COLORS, Cell, color_id


def _one_of(*choices: str) -> str:
    return "(?:" + "|".join(sorted(choices, key=len, reverse=True)) + ")"


_NUMBER = _one_of(*NUMBERS, r"\d+")
_COLOR = _one_of(*COLORS)
_SHAPE = _one_of(*(noun for nouns in NOUNS.values() for noun in nouns))
_THING = re.compile(
    rf"{_one_of(*VERBS)} an? (?:(?P<width>{_NUMBER}) by (?P<depth>{_NUMBER}) )?"
    rf"(?:(?P<shape>{_SHAPE}) of (?:(?P<count>{_NUMBER}) )?(?P<color>{_COLOR}) blocks?|"
    rf"(?P<block_color>{_COLOR}) {_one_of(*NOUNS['block'])})(?: (?P<place>.+))?"
)
_HEIGHT = re.compile(rf"(?P<height>{_NUMBER}) above the ground")
_GOING = re.compile(rf"going (?P<going>{_one_of(*COMPASS)}(?: and {_one_of(*COMPASS)})?) (?P<place>.+)")
_MOVE = rf"{_NUMBER} {_one_of(*DIRECTIONS)}"
_FAR = re.compile(rf"(?P<moves>{_MOVE}(?: and {_MOVE})*) from (?P<ref>.+)")
_NEAR = re.compile(
    rf"(?:(?P<direction>{_one_of(*COMPASS)}) of|(?P<up>on top of)|(?P<down>under)|(?P<end>at)) (?P<ref>.+?)"
    rf"(?: leaving (?P<gap>{_NUMBER}) spaces?)?"
)
_REFERENCE = re.compile(
    rf"(?:it|its (?P<its_part>[\w ]+)|the (?:(?P<part>[\w ]+) of the )?(?:(?P<ordinal>{_one_of(*ORDINALS)}) )?"
    rf"(?P<color>{_COLOR}) (?P<shape>{_SHAPE}))"
)
_SHAPES = {noun: shape for shape, nouns in NOUNS.items() for noun in nouns}


def read(instruction: str, standing: Sequence[Chunk]) -> Chunk:
    """The chunk that an instruction asks for.

    A first chunk, when there are no blocks, goes anywhere: it is returned in the corner x = z = 0.

    Raises:
        ValueError: words that are not of the grammar, or that refer to no existing block.
    """
    text = " ".join(words(instruction))
    found = _THING.fullmatch(text)
    if found is None:
        raise ValueError(f"{instruction!r} is not an instruction of the grammar, as 'put a row of three red blocks'")
    color = color_id(found["color"] or found["block_color"])
    size = _size(found)
    place = found["place"] or ""
    if not standing:
        height = _HEIGHT.fullmatch(place)
        if place and height is None:
            raise ValueError(f"{instruction!r} refers to something, and there are no blocks")
        return Chunk.box(color, (number(height["height"]) if height else 0, 0, 0), size)
    return _placed(color, size, place, standing, instruction)


def number(word: str) -> int:
    """A number from its word or digits."""
    return int(word) if word.isdigit() else NUMBERS.index(word)


def _size(found: re.Match[str]) -> Cell:
    if found["width"]:
        return 1, number(found["width"]), number(found["depth"])
    if found["shape"] is None:
        return 1, 1, 1
    count = number(found["count"] or "one")
    return (count, 1, 1) if _SHAPES[found["shape"]] == "tower" else (1, count, 1)


def _placed(color: int, size: Cell, place: str, standing: Sequence[Chunk], instruction: str) -> Chunk:
    going: list[str] = []
    if (extends := _GOING.fullmatch(place)) is not None:
        going, place = extends["going"].split(" and "), extends["place"]
    if (far := _FAR.fullmatch(place)) is not None:
        chunk, part = _referred(far["ref"], standing)
        return _extended(color, size, _moved(_part(chunk, part, instruction), far["moves"]), going)
    near = _NEAR.fullmatch(place)
    if near is None:
        raise ValueError(f"{instruction!r} does not say where, as 'on top of the red row'")
    chunk, part = _referred(near["ref"], standing)
    direction = "up" if near["up"] else "down" if near["down"] else near["direction"] or part.split()[0]
    steps = 1 + number(near["gap"] or "zero")
    if part:
        return _extended(color, size, add(_part(chunk, part, instruction), DIRECTIONS[direction], steps), going)
    anchor = anchor_of(chunk, DIRECTIONS[direction])
    if anchor is not None:
        return _extended(color, size, add(anchor, DIRECTIONS[direction], steps), going)
    return Chunk(color, chunk.moved(add((0, 0, 0), DIRECTIONS[direction], steps)).cells)


def _moved(cell: Cell, moves: str) -> Cell:
    for move in moves.split(" and "):
        steps, direction = move.split()
        cell = add(cell, DIRECTIONS[direction], number(steps))
    return cell


def _referred(text: str, standing: Sequence[Chunk]) -> tuple[Chunk, str]:
    """What a reference names: an existing chunk, and its part or ""."""
    found = _REFERENCE.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is not a reference of the grammar, as 'the north end of the red row'")
    if found["color"] is None:
        return standing[-1], found["its_part"] or ""
    key = color_id(found["color"]), _SHAPES[found["shape"]]
    same = [chunk for chunk in standing if (chunk.color, chunk.shape) == key]
    index = ORDINALS.index(found["ordinal"]) if found["ordinal"] else 0
    if index >= len(same):
        raise ValueError(f"{text!r} refers to no existing block")
    return same[index], found["part"] or ""


def _part(chunk: Chunk, part: str, instruction: str) -> Cell:
    parts = parts_of(chunk)
    if part not in parts:
        raise ValueError(f"{instruction!r}: a {chunk.shape} has {', '.join(parts)}, and no {part or 'such part'}")
    return parts[part]


def _extended(color: int, size: Cell, first: Cell, going: Sequence[str]) -> Chunk:
    """The chunk that begins at a cell and extends in the directions said: along x first, if both are."""
    height, width, depth = size
    if len(going) == 1:  # of a row
        length = max(width, depth)
        width, depth = (length, 1) if going[0] in ("east", "west") else (1, length)
    y, x, z = first
    west = x - (width - 1 if "west" in going else 0)
    north = z - (depth - 1 if "north" in going else 0)
    return Chunk.box(color, (y, west, north), (height, width, depth))
