"""How a hand that holds something meets a point: where it is, and which pitch and pushes bring it there. Meters."""

from __future__ import annotations

import math

from interplay.env.playhouse.physics.hand import MAX_CARRY_M, MIN_CARRY_M, PUSH_M_PER_FRAME, gaze_direction
from interplay.env.playhouse.truth.facts import XYZ, Body

FRAMES = 8  # of a step
PUSHED = PUSH_M_PER_FRAME * FRAMES  # a step
MOST_PUSHES = 8  # from the nearest to the farthest that a hand can be
PRESS, DROP = 0.03, 0.07  # below and above its place, from which a thing is let go
BEST = 0.02  # above its place: neither pressed onto what it goes on, nor dropped
STEEP, FLAT = -0.95, 0.8  # sines of the lowest and the highest pitch


def hand_at(body: Body, distance: float) -> XYZ:
    """The point of the line of sight so far from the eye."""
    (x, y), (u, v, w) = body.position, gaze_direction(body.yaw, body.pitch)
    return x + distance * u, y + distance * v, body.eye_height + distance * w


def pitch_for(height: float, body: Body, distance: float) -> float:
    """The pitch at which a hand so far from the eye is at this height, or as near to it as the neck goes."""
    return math.asin(min(max((height - body.eye_height) / distance, STEEP), FLAT))


def pushes(distance: float, reach: float, drop: float) -> tuple[int, float]:
    """How many steps of pushing (negative: of pulling) let a thing be lowered best, and how far above (negative: below)
    its place it then is.

    `distance`: from the eye to the hand; `reach`: of the place from the body; `drop`: of the place below the eye.
    """
    best, least = (0, math.inf), math.inf
    for count in range(-MOST_PUSHES, MOST_PUSHES + 1):
        there = min(max(distance + PUSHED * count, MIN_CARRY_M), MAX_CARRY_M)
        if there <= reach:
            continue
        above = drop - math.sqrt(there * there - reach * reach)
        if abs(above - BEST) < least:
            best, least = (count, above), abs(above - BEST)
    return best


def fits(distance: float, reach: float, drop: float) -> bool:
    """Can the place be met well from here?"""
    return -PRESS <= pushes(distance, reach, drop)[1] <= DROP
