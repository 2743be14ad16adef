"""Settings of a Playhouse, validated together."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property

from interplay.core.settings_validation import did_you_mean
from interplay.env.arrays import picture_problem
from interplay.env.playhouse.house.action_codec import COMPONENTS
from interplay.env.playhouse.house.catalog import BIN, COLORS, SIZES
from interplay.env.playhouse.house.objects import OBJECTS

MAX_ROOMS = 5
MAX_FURNITURE_PER_ROOM = 5  # more would block the room
MAX_OBJECTS = 24

Range = tuple[int, int]

# Settings are hashed under the names that they had when the format was fixed, so that older states stay readable.
_HASHED_NAMES = {"colors": "colours", "unique_colors": "unique_colours", "start_in_corner": "overlook"}
# Settings of rendering, contact tracking, names and scripted solvers, which a saved state does not depend on.
_WITHOUT_EFFECT = (
    "image",
    "field_of_view",
    "antialias",
    "components",
    "track_contacts",
    "name_weights",
    "look_before_answering",
)


@dataclass(frozen=True)
class PlayhouseConfig:
    """Distribution of houses, rendering and action space. Lengths in meters.

    Ranges are (least, most), both included. An empty tuple of categories, colors or sizes means all of them.
    """

    rooms: Range = (1, 3)  # per house
    room_size: tuple[float, float] = (4.0, 5.0)  # side length
    varied_decor: bool = True  # random room kinds, floors and wall colors; False: the same in every house
    furniture: Range = (1, 3)  # pieces per room
    objects: Range = (4, 8)  # loose objects per house
    categories: tuple[str, ...] = ()  # of loose objects
    colors: tuple[str, ...] = ()  # of loose objects
    sizes: tuple[str, ...] = ()  # of loose objects
    unique_colors: bool = False  # no two loose objects of one color
    on_surfaces: float = 0.3  # probability that an object starts on furniture, if there is room
    stocked_bins: float = 0.4  # probability of a bin that starts with objects in it, if bins may occur
    image: tuple[int, int] = (72, 96)  # (height, width) in pixels
    field_of_view: float = 60.0  # vertical, degrees
    antialias: bool = False  # several rays per pixel: smoother edges, slower
    start_in_corner: bool = False  # players start in free corners, facing the room; False: anywhere
    components: tuple[str, ...] = tuple(component.name for component in COMPONENTS)  # movement components of policies
    walk_speed: float = 2.0  # m/s, forward
    strafe_speed: float = 1.5  # m/s
    setter_visible: bool = True  # whether the setter's avatar is in the house
    # How tasks by kind name a thing: `both` ("the red ball"), `category` ("the ball") or `color` ("the red thing"),
    # drawn with these weights for each task; `both` where the name would fit several things.
    name_weights: Mapping[str, float] = field(default_factory=lambda: {"both": 1.0})
    # Scripted solvers turn to what a question is about before they answer. False: they answer once all of that is in
    # view, so that their gaze does not reveal the answer.
    look_before_answering: bool = True
    track_contacts: bool = True  # log and record which player touched, hit, pushed and released each thing

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
        """Horizontal and vertical field of view, radians."""
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
        """Whether a house of these settings can have a bin that starts with objects in it."""
        return self.stocked_bins > 0.0 and BIN in self.object_categories and self.objects[1] > 1

    @property
    def most_things(self) -> int:
        """Maximum number of things (furniture and objects) in a house of these settings."""
        return self.rooms[1] * self.furniture[1] + self.objects[1]

    @cached_property
    def physics_hash(self) -> str:
        """Hash of the settings that determine houses and their physics."""
        fields = {_HASHED_NAMES.get(name, name): value for name, value in asdict(self).items()}
        for name in _WITHOUT_EFFECT:
            del fields[name]
        if not self.may_stock_bins:
            del fields["stocked_bins"]  # no effect here, and older saved states do not have it
        return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()[:16]


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
    for setting, allowed in known.items():
        names = getattr(config, setting)
        for name in names:
            if name not in allowed:
                yield f"{setting}: {name!r} is unknown.{did_you_mean(str(name), allowed)}"
        if len(set(names)) != len(names):
            yield f"{setting}={names}: each name once"
    if not config.components:
        yield "components=(): name at least one movement, such as 'forward'"


def _numbers(config: PlayhouseConfig) -> Iterable[str]:
    if problem := picture_problem(config.image):
        yield problem
    if not 20.0 <= config.field_of_view <= 120.0:
        yield f"field_of_view={config.field_of_view}: between 20 and 120 degrees"
    for name in ("on_surfaces", "stocked_bins"):
        if not 0.0 <= getattr(config, name) <= 1.0:
            yield f"{name}={getattr(config, name)}: a chance between 0 and 1"
    for name in ("walk_speed", "strafe_speed"):
        if not 0.0 < getattr(config, name) <= 4.0:
            yield f"{name}={getattr(config, name)}: above 0 and at most 4 m/s, or avatars tunnel through walls"
    weights = config.name_weights
    allowed = ("both", "category", "color")
    if not set(weights) <= set(allowed) or any(weight < 0 for weight in weights.values()) or not sum(weights.values()):
        yield f"name_weights={dict(weights)}: weights of {', '.join(allowed)}, not negative and one above 0"
