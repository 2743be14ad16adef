"""What can be said of things: which there are, which is larger, what is nearest, where something is. Meters."""

from __future__ import annotations

from typing import Literal

from interplay.env.playhouse.truth.facts import HouseFacts, Thing
from interplay.env.playhouse.truth.predicates.geometry import gap, volume
from interplay.env.playhouse.truth.predicates.passages import same_room

LARGER = 1.5  # volume over that of the other, for a thing to be larger; less is taken for the same size
Size = Literal["larger", "smaller", "same"]


def matching(
    facts: HouseFacts,
    color: str | None = None,
    category: str | None = None,
    room: str | None = None,
    size: str | None = None,
    attribute: str | None = None,
) -> list[Thing]:
    """The things of this color, category, room, size and attribute ("eatable"); None is any. How many there are, and
    whether there is one, is its length."""
    return [
        thing
        for thing in facts.things
        if (color is None or thing.color == color)
        and (category is None or thing.category == category)
        and (room is None or thing.room == room)
        and (size is None or thing.size == size)
        and (attribute is None or attribute in thing.attributes)
    ]


def compared(a: Thing, b: Thing) -> Size:
    """What `a` is beside `b`, by the volumes of their bounding boxes."""
    ratio = volume(a) / volume(b)
    if ratio >= LARGER:
        return "larger"
    return "smaller" if ratio <= 1 / LARGER else "same"


def same_color(a: Thing, b: Thing) -> bool:
    return a.color == b.color


def neighbors(facts: HouseFacts, thing: Thing) -> list[Thing]:
    """The other things of a thing's room, the nearest first, by the gap between footprints; what is in a hand is left
    out."""
    others = [
        other
        for other in facts.things
        if other.index != thing.index and other.held_by is None and same_room(thing.room, other.room)
    ]
    return sorted(others, key=lambda other: gap(thing, other))
