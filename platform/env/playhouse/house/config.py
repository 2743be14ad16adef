"""The settings of a Playhouse, all checked at once."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable
from dataclasses import dataclass

from interplay.env.playhouse.house.action_codec import COMPONENTS
from interplay.env.playhouse.house.catalog import BIN, COLORS, OBJECTS, SIZES

MAX_ROOMS = 5
MAX_FURNITURE_PER_ROOM = 5  # a room; more would leave no way through
MAX_OBJECTS = 24

Range = tuple[int, int]


@dataclass(frozen=True)
class PlayhouseConfig:
    """What kind of houses are made, what players see, and which movements they have. Lengths in meters.

    Ranges are (least, most), both included. An empty tuple of categories, colors or sizes means all of them.
    """

    rooms: Range = (1, 3)
    room_size: tuple[float, float] = (4.0, 5.0)  # the side of a room
    varied_decor: bool = True  # every house has rooms, floors and walls of its own; False: all look alike
    furniture: Range = (1, 3)  # pieces in a room
    objects: Range = (4, 8)  # loose objects in the house
    categories: tuple[str, ...] = ()  # of the loose objects
    colors: tuple[str, ...] = ()  # of the loose objects
    sizes: tuple[str, ...] = ()
    unique_colors: bool = False  # every loose object has another color
    on_surfaces: float = 0.3  # chance that an object starts on furniture, where there is room on it
    stocked_bins: float = 0.4  # chance that a house has a bin that starts with things in it, where bins may occur
    image: tuple[int, int] = (72, 96)  # height, width in pixels
    field_of_view: float = 60.0  # vertical, degrees
    antialias: bool = False
    start_in_corner: bool = False  # players start in corners, where one is free, and see most of the room; or anywhere
    components: tuple[str, ...] = tuple(component.name for component in COMPONENTS)  # movements that policies have
    walk_speed: float = 2.0  # meters a second, forward
    strafe_speed: float = 1.5
    setter_visible: bool = True  # is the setter's avatar in the house at all
    track_contacts: bool = True  # who touched, hit, pushed and let go of what is remembered, and recorded

    def __post_init__(self) -> None:
        wrong = [*_ranges(self), *_names(self), *_numbers(self)]
        if self.unique_colors and self.objects[1] > len(self.object_colors):
            wrong.append(
                f"unique_colors=True with up to {self.objects[1]} objects needs as many colors, and there are "
                f"{len(self.object_colors)}: lower objects, or set unique_colors=False"
            )
        if wrong:
            raise ValueError("these settings make no Playhouse:\n  " + "\n  ".join(wrong))

    @property
    def view(self) -> tuple[float, float]:
        """How wide and how high players see, radians."""
        height, width = self.image
        tall = math.radians(self.field_of_view)
        return 2 * math.atan(math.tan(tall / 2) * width / height), tall

    @property
    def object_categories(self) -> tuple[str, ...]:
        return self.categories or tuple(category.name for category in OBJECTS)

    @property
    def object_colors(self) -> tuple[str, ...]:
        return self.colors or tuple(COLORS)

    @property
    def object_sizes(self) -> tuple[str, ...]:
        return self.sizes or tuple(SIZES)

    @property
    def may_stock_bins(self) -> bool:
        """Can a house of these settings have a bin that starts with things in it?"""
        return self.stocked_bins > 0.0 and BIN in self.object_categories and self.objects[1] > 1

    @property
    def most_things(self) -> int:
        """The most things, furniture and objects, that a house of these settings can hold."""
        return self.rooms[1] * self.furniture[1] + self.objects[1]


def _ranges(config: PlayhouseConfig) -> Iterable[str]:
    limits = {"rooms": (1, MAX_ROOMS), "furniture": (0, MAX_FURNITURE_PER_ROOM), "objects": (1, MAX_OBJECTS)}
    for name, (low, high) in limits.items():
        least, most = getattr(config, name)
        if not low <= least <= most <= high:
            yield f"{name}=({least}, {most}): give (least, most) with {low} <= least <= most <= {high}"
    least_side, most_side = config.room_size
    if not 3.0 <= least_side <= most_side <= 8.0:
        yield f"room_size={config.room_size}: give (least, most) meters with 3 <= least <= most <= 8"


def _names(config: PlayhouseConfig) -> Iterable[str]:
    known = {
        "categories": [category.name for category in OBJECTS],
        "colors": list(COLORS),
        "sizes": list(SIZES),
        "components": [component.name for component in COMPONENTS],
    }
    for field, allowed in known.items():
        names = getattr(config, field)
        for name in names:
            if name not in allowed:
                close = difflib.get_close_matches(str(name), allowed, n=1)
                hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(allowed)}"
                yield f"{field}: {name!r} is unknown; {hint}"
        if len(set(names)) != len(names):
            yield f"{field}={names}: each name once"
    if not config.components:
        yield "components=(): name at least one movement, such as 'forward'"


def _numbers(config: PlayhouseConfig) -> Iterable[str]:
    if any(side < 8 for side in config.image):
        yield f"image={config.image}: height and width are at least 8 pixels"
    if not 20.0 <= config.field_of_view <= 120.0:
        yield f"field_of_view={config.field_of_view}: between 20 and 120 degrees"
    for name in ("on_surfaces", "stocked_bins"):
        if not 0.0 <= getattr(config, name) <= 1.0:
            yield f"{name}={getattr(config, name)}: a chance between 0 and 1"
    for name in ("walk_speed", "strafe_speed"):
        if not 0.0 < getattr(config, name) <= 4.0:
            yield f"{name}={getattr(config, name)}: above 0 and at most 4 m/s, or avatars tunnel through walls"
