"""Spots from which a thing can be struck with another, and the point to strike."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from interplay.env.playhouse.planning.navigation import Ground, free_spots
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import XY, XYZ, Body, HouseFacts, Thing

MIN_ARM_M = 1.65  # from the eye to the tool, to reach down to the floor well ahead of the feet
TOOL_CLEARANCE_M = 0.02  # between a tool and the support of the thing that is struck
STRIKING_HEIGHTS_M = (0.15, 1.1)  # where furniture is struck, lowest and highest
SWING_M = (0.3, 0.9)  # between the tool and the other thing, at the start of the walk
FOLLOW_THROUGH_M = 0.2  # of free floor past the strike
STRIKE_SPACING_M = 0.15  # between the samples of a line


def striking_spots(facts: HouseFacts, role: str, tool: Thing, other: Thing) -> list[XY]:
    """Spots from which a player can walk at a thing with a tool held out, with free ways for both."""
    body, ground = facts.bodies[role], Ground(facts, role, (tool.index, other.index))
    near = MIN_ARM_M + SWING_M[1] + mean_half_extent(tool) + other.radius
    spots = [
        spot
        for spot in (body.position, *free_spots(facts, role))
        if predicates.edge_distance(spot, other) < near and predicates.nearest_room(facts, spot).name == other.room
    ]
    return [spot for spot in spots if _can_strike(facts, ground, replace(body, position=spot), tool, other)]


def _can_strike(facts: HouseFacts, ground: Ground, body: Body, tool: Thing, other: Thing) -> bool:
    point = striking_point(body, other)
    height = striking_height(tool, other, point)
    arm = math.sqrt(max(MIN_ARM_M**2 - (body.eye_height - height) ** 2, 0.1))  # along the floor
    length = math.dist(body.position, point[:2])
    edge = length - (0.0 if other.furniture else mean_half_extent(other))
    swing = edge - arm - mean_half_extent(tool)
    if not SWING_M[0] <= swing <= SWING_M[1]:
        return False
    along = np.array([(point[k] - body.position[k]) / length for k in (0, 1)])
    steps = np.arange(0.0, swing + FOLLOW_THROUGH_M, STRIKE_SPACING_M)[:, None]
    if ground.price(np.asarray(body.position) + steps * along).any():
        return False
    lowest = height - tool.half_extents[2]
    tall = [
        each for each in facts.things if each.index not in (tool.index, other.index) and predicates.top(each) > lowest
    ]
    swept = np.asarray(body.position) + np.arange(arm, edge, STRIKE_SPACING_M)[:, None] * along
    radius = mean_half_extent(tool)
    return not any(predicates.edge_distance((x, y), each) < radius for x, y in swept.tolist() for each in tall)


def striking_height(tool: Thing, other: Thing, point: XYZ) -> float:
    """Meters above the floor of the middle of a tool that strikes the other thing and not its support."""
    if other.furniture:
        return max(point[2], tool.half_extents[2] + TOOL_CLEARANCE_M)
    lowest = predicates.bottom(other) + tool.half_extents[2] + TOOL_CLEARANCE_M
    return max(other.position[2], lowest)


def mean_half_extent(thing: Thing) -> float:
    """About the distance from a thing's middle to its edge."""
    return sum(thing.half_extents) / 3


def striking_point(body: Body, other: Thing) -> XYZ:
    """The middle of a loose thing; of furniture, the point nearest to the body at a height that can be struck."""
    if not other.furniture:
        return other.position
    low, high = STRIKING_HEIGHTS_M
    solid = [
        part for part in predicates.parts(other) if predicates.top(part) >= low and predicates.bottom(part) <= high
    ]
    nearest = min(
        solid or [other],
        key=lambda part: (round(predicates.edge_distance(body.position, part), 1), -predicates.top(part)),
    )
    x, y = predicates.to_own_frame(nearest, body.position)
    a, b = nearest.half_extents[:2]
    u, v = min(max(x, -a), a), min(max(y, -b), b)
    cos, sin = math.cos(nearest.yaw), math.sin(nearest.yaw)
    z = min(max(nearest.position[2], low, predicates.bottom(nearest)), high, predicates.top(nearest))
    return nearest.position[0] + u * cos - v * sin, nearest.position[1] + u * sin + v * cos, z
