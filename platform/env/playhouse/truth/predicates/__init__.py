"""Spatial and event predicates: pure functions of one or two `HouseFacts`. Meters and radians throughout."""

from __future__ import annotations

from interplay.env.playhouse.truth.predicates.arrangements import (
    is_circle,
    is_ordered_row,
    is_row,
    is_square,
    is_tower,
    is_triangle,
    towers,
)
from interplay.env.playhouse.truth.predicates.contact_events import (
    driven,
    flown,
    hit,
    just_pushed,
    pushed_by,
    pushed_with,
    settled,
    thrown,
    touched,
)
from interplay.env.playhouse.truth.predicates.descriptions import (
    compared,
    matching,
    neighbors,
    same_color,
)
from interplay.env.playhouse.truth.predicates.geometry import (
    apart,
    bearing,
    bottom,
    corners,
    edge_distance,
    elevation,
    gap,
    local,
    parts,
    spot,
    top,
    volume,
    wrap,
)
from interplay.env.playhouse.truth.predicates.passages import (
    nearest_room,
    outside,
    route,
    same_room,
    walk,
    walking_distance,
)
from interplay.env.playhouse.truth.predicates.perception import visible
from interplay.env.playhouse.truth.predicates.relations import (
    above,
    between,
    contents,
    far,
    inside,
    near,
    next_to,
    on,
    things_on,
    touching,
    under,
)
from interplay.env.playhouse.truth.predicates.sides import face_to_face, in_front, side_as_seen, side_of_player

__all__ = [
    "above", "apart", "bearing", "between", "bottom", "compared", "contents", "corners", "driven", "edge_distance",
    "elevation", "face_to_face", "far", "flown", "gap", "hit", "in_front", "inside", "is_circle", "is_ordered_row",
    "is_row", "is_square", "is_tower", "is_triangle", "just_pushed", "local", "matching", "near", "nearest_room",
    "neighbors", "next_to", "on", "outside", "parts", "pushed_by", "pushed_with", "route", "same_color", "same_room",
    "settled", "side_as_seen", "side_of_player", "spot", "things_on", "thrown", "top", "touched", "touching", "towers",
    "under", "visible", "volume", "walk", "walking_distance", "wrap",
]  # fmt: skip
