"""Questions about one or two moments of a house: pure functions of `HouseFacts`. Meters and radians throughout."""

from __future__ import annotations

from interplay.env.playhouse.truth.predicates.arrangements import (
    arranged,
    is_circle,
    is_ordered_row,
    is_row,
    is_square,
    is_tower,
    is_triangle,
    towers,
)
from interplay.env.playhouse.truth.predicates.contact_events import (
    brought,
    driven,
    emptied,
    flown,
    handed_over,
    hit,
    just_pushed,
    moved,
    pushed,
    pushed_by,
    pushed_with,
    raised,
    raised_with_contents,
    removed,
    settled,
    thrown,
    touched,
    touched_with,
)
from interplay.env.playhouse.truth.predicates.descriptions import (
    Whereabouts,
    compared,
    matching,
    neighbors,
    same_color,
    whereabouts,
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
from interplay.env.playhouse.truth.predicates.perception import held_by, looked_at, visible
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
    "Whereabouts", "above", "apart", "arranged", "bearing", "between", "bottom", "brought", "compared", "contents",
    "corners", "driven", "edge_distance", "elevation", "emptied", "face_to_face", "far", "flown", "gap", "handed_over",
    "held_by", "hit", "in_front", "inside", "is_circle", "is_ordered_row", "is_row", "is_square", "is_tower",
    "is_triangle", "just_pushed", "local", "looked_at", "matching", "moved", "near", "nearest_room", "neighbors",
    "next_to", "on", "outside", "parts", "pushed", "pushed_by", "pushed_with", "raised", "raised_with_contents",
    "removed", "route", "same_color", "same_room", "settled", "side_as_seen", "side_of_player", "spot", "things_on",
    "thrown", "top", "touched", "touched_with", "touching", "towers", "under", "visible", "volume", "walk",
    "walking_distance", "whereabouts", "wrap",
]  # fmt: skip
