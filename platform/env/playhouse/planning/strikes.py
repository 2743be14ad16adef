"""How and from where a thing can be struck with another."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from interplay.env.playhouse.planning.navigation import Ground, free_spots
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import XY, XYZ, Body, HouseFacts, Thing

ARM = 1.65  # meters from the eye to the tool, at least, to reach down to the floor well before one's feet
SPARE = 0.02  # meters between a tool and what the other stands on
HANDY = (0.15, 1.1)  # meters above the floor: where furniture is struck, lowest and highest
SWING = (0.3, 0.9)  # meters between the tool and the other from which one walks at it
FOLLOW_THROUGH = 0.2  # meters that one may walk on
SPACING = 0.15  # meters between the points of a line that are looked at


def striking_spots(facts: HouseFacts, role: str, tool: Thing, other: Thing) -> list[XY]:
    """Where a player can stand to walk at a thing with a tool held out, nothing in the way of either."""
    body, ground = facts.bodies[role], Ground(facts, role, (tool.index, other.index))
    near = ARM + SWING[1] + mean_half_extent(tool) + other.radius
    spots = [
        spot
        for spot in (body.position, *free_spots(facts, role))
        if predicates.edge_distance(spot, other) < near and predicates.nearest_room(facts, spot).name == other.room
    ]
    return [spot for spot in spots if _can_strike(facts, ground, replace(body, position=spot), tool, other)]


def _can_strike(facts: HouseFacts, ground: Ground, body: Body, tool: Thing, other: Thing) -> bool:
    point = striking_point(body, other)
    height = striking_height(tool, other, point)
    ahead = math.sqrt(max(ARM**2 - (body.eye_height - height) ** 2, 0.1))
    length = math.dist(body.position, point[:2])
    edge = length - (0.0 if other.furniture else mean_half_extent(other))
    left = edge - ahead - mean_half_extent(tool)
    if not SWING[0] <= left <= SWING[1]:
        return False
    along = np.array([(point[k] - body.position[k]) / length for k in (0, 1)])
    steps = np.arange(0.0, left + FOLLOW_THROUGH, SPACING)[:, None]
    if ground.price(np.asarray(body.position) + steps * along).any():
        return False
    lowest = height - tool.half_extents[2]
    tall = [
        each for each in facts.things if each.index not in (tool.index, other.index) and predicates.top(each) > lowest
    ]
    swept = np.asarray(body.position) + np.arange(ahead, edge, SPACING)[:, None] * along
    return not any(
        predicates.edge_distance((x, y), each) < mean_half_extent(tool) for x, y in swept.tolist() for each in tall
    )


def striking_height(tool: Thing, other: Thing, point: XYZ) -> float:
    """Meters above the floor of the middle of a tool that strikes the other, and not what that stands on."""
    if other.furniture:
        return max(point[2], tool.half_extents[2] + SPARE)
    lowest = predicates.bottom(other) + tool.half_extents[2] + SPARE
    return max(other.position[2], lowest)


def mean_half_extent(thing: Thing) -> float:
    """About how far a thing's edge is from its middle."""
    return sum(thing.half_extents) / 3


def striking_point(body: Body, other: Thing) -> XYZ:
    """Where to strike: the middle of a loose thing; of furniture, the point nearest to the body at a handy height."""
    if not other.furniture:
        return other.position
    low, high = HANDY
    solid = [
        part for part in predicates.parts(other) if predicates.top(part) >= low and predicates.bottom(part) <= high
    ]
    near = min(
        solid or [other],
        key=lambda part: (round(predicates.edge_distance(body.position, part), 1), -predicates.top(part)),
    )
    x, y = predicates.local(near, body.position)
    a, b = near.half_extents[:2]
    u, v = min(max(x, -a), a), min(max(y, -b), b)
    cos, sin = math.cos(near.yaw), math.sin(near.yaw)
    z = min(max(near.position[2], low, predicates.bottom(near)), high, predicates.top(near))
    return near.position[0] + u * cos - v * sin, near.position[1] + u * sin + v * cos, z
