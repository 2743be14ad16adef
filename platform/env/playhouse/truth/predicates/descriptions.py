"""Descriptions of things: matching, size comparison and nearest neighbors. Meters."""

from __future__ import annotations

from typing import Literal

from interplay.env.playhouse.truth.facts import HouseFacts, Thing
from interplay.env.playhouse.truth.predicates.geometry import gap, volume
from interplay.env.playhouse.truth.predicates.passages import same_room

LARGER_VOLUME_RATIO = 1.5  # from which a thing counts as larger; below it the sizes count as equal
Size = Literal["larger", "smaller", "same"]


def matching(
    facts: HouseFacts,
    color: str | None = None,
    category: str | None = None,
    room: str | None = None,
    size: str | None = None,
    attribute: str | None = None,
) -> list[Thing]:
    """The things of this color, category, room, size and attribute ("eatable"); None matches any."""
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
    """The size of `a` compared with `b`, by the volumes of their bounding boxes."""
    ratio = volume(a) / volume(b)
    if ratio >= LARGER_VOLUME_RATIO:
        return "larger"
    return "smaller" if ratio <= 1 / LARGER_VOLUME_RATIO else "same"


def same_color(a: Thing, b: Thing) -> bool:
    return a.color == b.color


def neighbors(facts: HouseFacts, thing: Thing) -> list[Thing]:
    """The other things in a thing's room, nearest first by the gap between footprints; held things are omitted."""
    others = [
        other
        for other in facts.things
        if other.index != thing.index and other.held_by is None and same_room(thing.room, other.room)
    ]
    return sorted(others, key=lambda other: gap(thing, other))
