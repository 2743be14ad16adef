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
    hit,
    just_pushed,
    pushed_by,
    pushed_distance,
    pushed_with,
    settled,
    thrown,
    thrown_distance,
    touched,
)
from interplay.env.playhouse.truth.predicates.geometry import (
    bearing,
    bottom,
    corners,
    distance,
    edge_distance,
    elevation,
    floor_position,
    gap,
    nearest_room,
    outside,
    parts,
    route,
    route_length,
    same_room,
    to_own_frame,
    top,
    volume,
    walking_distance,
    wrap_angle,
)
from interplay.env.playhouse.truth.predicates.perception import visible
from interplay.env.playhouse.truth.predicates.relations import (
    above,
    between,
    compared,
    contents,
    face_to_face,
    far,
    in_front,
    inside,
    matching,
    near,
    neighbors,
    next_to,
    on,
    same_color,
    side_as_seen,
    side_of_player,
    things_on,
    touching,
    under,
)

__all__ = [
    "above", "bearing", "between", "bottom", "compared", "contents", "corners", "distance", "edge_distance",
    "elevation", "face_to_face", "far", "floor_position", "gap", "hit", "in_front", "inside", "is_circle",
    "is_ordered_row", "is_row", "is_square", "is_tower", "is_triangle", "just_pushed", "matching", "near",
    "nearest_room", "neighbors", "next_to", "on", "outside", "parts", "pushed_by", "pushed_distance", "pushed_with",
    "route", "route_length", "same_color", "same_room", "settled", "side_as_seen", "side_of_player", "things_on",
    "thrown", "thrown_distance", "to_own_frame", "top", "touched", "touching", "towers", "under", "visible", "volume",
    "walking_distance", "wrap_angle",
]  # fmt: skip
