"""Kinematics of a player's arm and body: the hand's distance and height, the effect of a step, and where to stand to
reach a point. Meters and radians."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from interplay.env.playhouse.house.action_codec import FRAMES_PER_STEP
from interplay.env.playhouse.physics.hand import MAX_CARRY_M, MIN_CARRY_M, PUSH_M_PER_FRAME
from interplay.env.playhouse.physics.model import EYE_HEIGHT_M
from interplay.env.playhouse.planning.navigation import Ground
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import XY, Body, HouseFacts, Thing

PUSH_M = PUSH_M_PER_FRAME * FRAMES_PER_STEP  # by which one step of pushing or pulling moves the hand
STRIDE_M, SIDESTEP_M = 0.53, 0.4  # covered in one step, coasting included
SHORTEST_ARM_M = 0.1
PITCHES_RAD = np.radians(np.arange(-75.0, 31.0, 1.0))  # considered by `best_arm`
COS_PITCHES, SIN_PITCHES = np.cos(PITCHES_RAD), np.sin(PITCHES_RAD)
HEIGHT_BELOW_M = 0.012  # below the point, with a badness of 1
LEAST_TOLERANCE_M = 0.02
PUSH_BADNESS = 0.02  # for each step of pushing

STAND_DISTANCES_M = (0.85, 1.0)  # from a point to the player who puts a thing there
STAND_DIRECTIONS = 16
CLEARING_M = 0.4  # from loose things to a player; any nearer, turning knocks them over
CROWDING_COST_M = 1.0  # meters of walking worth avoiding one loose thing within `CLEARING_M`
SIGHT_SPACING_M = 0.15  # between the samples of a line from a player to a point
CARRIED_RADIUS_M = 0.1  # kept free around such a line


def hand_distance(body: Body, thing: Thing) -> float:
    """Distance from the eye, along the line of sight, of a held thing."""
    level = math.cos(body.pitch)
    dx, dy = thing.position[0] - body.position[0], thing.position[1] - body.position[1]
    dz = thing.position[2] - body.eye_height
    along = (dx * math.cos(body.yaw) + dy * math.sin(body.yaw)) * level + dz * math.sin(body.pitch)
    return min(max(along, MIN_CARRY_M), MAX_CARRY_M)


def eye_distance(body: Body, thing: Thing) -> float:
    """Distance from the eye to the middle of a thing."""
    return math.dist((*body.position, body.eye_height), thing.position)


def pitch_for_height(height: float, body: Body, distance: float) -> float:
    """The pitch at which a hand at `distance` from the eye is at this height, or as near to it as possible."""
    return math.asin(min(max((height - body.eye_height) / max(distance, SHORTEST_ARM_M), -1.0), 1.0))


def horizontal_reach(height: float) -> float:
    """How far ahead, along the floor, the fully stretched arm holds the middle of a thing at this height."""
    return math.sqrt(MAX_CARRY_M**2 - (EYE_HEIGHT_M - height) ** 2)


def best_arm(
    distance: float, away: float, height: float, tolerance: float, height_tolerance: float
) -> tuple[float, float, float]:
    """The distance of the hand and the pitch that bring a held thing nearest to a point.

    `distance`: of the hand now. `away`, `height`: of the point, along the floor from the body and above the floor.
    `tolerance`, `height_tolerance`: horizontal error, and height above the point, that do no harm.

    Returns the badness (up to 1 the thing lands well), the distance and the pitch.
    """
    pulls, pushes = math.ceil((distance - MIN_CARRY_M) / PUSH_M), math.ceil((MAX_CARRY_M - distance) / PUSH_M)
    distances = np.clip(distance + PUSH_M * np.arange(-pulls, pushes + 1), MIN_CARRY_M, MAX_CARRY_M)[:, None]
    aside = distances * COS_PITCHES - away
    above = EYE_HEIGHT_M + distances * SIN_PITCHES - height
    badness: NDArray[np.float64] = (
        (aside / max(tolerance, LEAST_TOLERANCE_M)) ** 2
        + (above / np.where(above > 0, height_tolerance, HEIGHT_BELOW_M)) ** 2
        + PUSH_BADNESS * np.abs(distances - distance) / PUSH_M
    )
    best = np.unravel_index(int(badness.argmin()), badness.shape)
    return float(badness[best]), float(distances[best[0], 0]), float(PITCHES_RAD[best[1]])


def free_steps(
    ground: Ground, body: Body, directions: Sequence[tuple[int, int]]
) -> Iterator[tuple[tuple[int, int], XY]]:
    """The steps (forward, strafe) that lead over clear ground, each with the position after it."""
    cos, sin = math.cos(body.yaw), math.sin(body.yaw)
    for forward, strafe in directions:
        ahead, right = STRIDE_M * forward, SIDESTEP_M * strafe
        end = (body.position[0] + ahead * cos + right * sin, body.position[1] + ahead * sin - right * cos)
        if not (ground.price(np.linspace(body.position, end, 4)[1:]) > 0.0).any():
            yield (forward, strafe), end


def standing_spot(
    facts: HouseFacts, role: str, point: XY, *, extra: float = 0.0, held: int | None = None, taken: Collection[XY] = ()
) -> XY | None:
    """The best spot to walk to, in the point's room and with a free line to it, or None.

    `extra`: added to the usual distance, because the thing at the point is wide. `taken`: spots where things will lie.
    """
    room = predicates.nearest_room(facts, point)
    body = facts.bodies[role]
    ground = Ground(facts, role, () if held is None else (held,))
    angles = np.arange(STAND_DIRECTIONS) * math.tau / STAND_DIRECTIONS
    around = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    spots = np.concatenate([np.asarray(point) + (distance + extra) * around for distance in STAND_DISTANCES_M])
    free = ground.price(spots) == 0.0
    loose = [thing for thing in facts.things if not thing.furniture and thing.held_by is None and thing.index != held]
    best, lowest_cost = None, math.inf
    for x, y in spots[free].tolist():
        spot = (x, y)
        if predicates.outside(room, spot) > 0.0 or any(math.dist(spot, other) < CLEARING_M for other in taken):
            continue
        if not line_is_free(facts, spot, point):
            continue
        crowding = sum(predicates.edge_distance(spot, thing) < CLEARING_M for thing in loose)
        cost = math.dist(body.position, spot) + CROWDING_COST_M * crowding
        if cost < lowest_cost:
            best, lowest_cost = spot, cost
    return best


def line_is_free(facts: HouseFacts, start: XY, point: XY) -> bool:
    """Whether the line from a spot to a point is free of furniture, which a carried thing would hit."""
    steps = max(int(math.dist(start, point) / SIGHT_SPACING_M), 1)
    line = [
        (start[0] + (point[0] - start[0]) * i / steps, start[1] + (point[1] - start[1]) * i / steps)
        for i in range(steps + 1)
    ]
    return not any(
        predicates.edge_distance(spot, thing) < CARRIED_RADIUS_M and predicates.edge_distance(point, thing) > 0.0
        for thing in facts.things
        if thing.furniture
        for spot in line
    )
