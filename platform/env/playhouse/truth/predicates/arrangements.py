"""Shapes formed by several things: tower, row, triangle, square, circle. Meters and radians throughout.

A shape is tested on the centers of its things, seen from above. None of the things is held and, except in a tower, all
are on one level.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import combinations, pairwise

import numpy as np

from interplay.env.arrays import Points
from interplay.env.playhouse.truth.facts import XY, HouseFacts, Thing
from interplay.env.playhouse.truth.predicates.geometry import bottom, gap, volume
from interplay.env.playhouse.truth.predicates.relations import on

LEVEL_TOLERANCE_M = 0.1  # between the lowest and the highest underside of things on one level
ROW_OFFSET_M = 0.12  # of a center from the line of a row, at most: half a thing
ROW_OFFSET_RATIO = 0.15  # the same as a share of the row's length: three things close together are not a row
ROW_GAP_M = 0.8  # from edge to edge of neighbors in a row; wider ones are seen as apart
MAX_SHAPE_SIDE_M = 2.0  # of a triangle or square: more is not seen as one shape in a room of 4 to 5 meters
MIN_TRIANGLE_ANGLE_RAD = math.radians(30)  # less looks like a row
SQUARE_ANGLE_ERROR_RAD = math.radians(20)  # off a right angle, at most
SQUARE_SIDE_RATIO = 1.35  # longest side over shortest, at most
OUTLINE_OFFSET_M = 0.15  # from a circle, or from the sides of a polygon to things that are not its corners, at most
CIRCLE_RADII_M = (0.2, 1.5)  # smallest and largest: below it is a heap, above it no room has enough space
CIRCLE_GAP_RATIO = 1.5  # widest angle between neighbors on a circle, over an even one, at most: an arc is not a circle
ORDERED_VOLUME_RATIO = 1.1  # ratio of volumes of consecutive things ordered by size; less is not visible


def is_tower(things: Sequence[Thing]) -> bool:
    """Whether two or more objects are stacked one on the other, in any order, and at rest."""
    pile = sorted(things, key=bottom)
    steady = all(not thing.furniture and thing.at_rest and thing.held_by is None for thing in pile)
    return len(pile) >= 2 and steady and all(on(upper, lower) for lower, upper in pairwise(pile))


def towers(facts: HouseFacts) -> list[tuple[Thing, ...]]:
    """All towers, bottom up, the highest first. A forked tower counts once per tip."""
    loose = [thing for thing in facts.things if not thing.furniture and thing.at_rest and thing.held_by is None]
    above = {lower.index: [upper for upper in loose if on(upper, lower)] for lower in loose}
    raised = {upper.index for uppers in above.values() for upper in uppers}
    growing: list[tuple[Thing, ...]] = [(thing,) for thing in loose if thing.index not in raised]
    found: list[tuple[Thing, ...]] = []
    while growing:
        pile = growing.pop()
        higher = [upper for upper in above[pile[-1].index] if upper not in pile]
        growing += [(*pile, upper) for upper in higher]
        if not higher and len(pile) >= 2:
            found.append(pile)
    return sorted(found, key=len, reverse=True)


def is_row(things: Sequence[Thing]) -> bool:
    """Whether three or more things are in one straight line, each within `ROW_GAP_M` of the next."""
    if len(things) < 3 or not _on_one_level(things):
        return False
    things = _in_one_order(things)
    along, off = _line(_middles(things))
    ordered = [things[i] for i in np.argsort(along)]
    straight = float(np.abs(off).max()) <= min(ROW_OFFSET_M, ROW_OFFSET_RATIO * float(np.ptp(along)))
    return straight and all(gap(a, b) <= ROW_GAP_M for a, b in pairwise(ordered))


def is_ordered_row(things: Sequence[Thing]) -> bool:
    """Whether things form a row in which each is larger than the one before, from one of its ends."""
    if not is_row(things):
        return False
    sizes = [volume(things[i]) for i in np.argsort(_line(_middles(things))[0])]
    return any(all(b >= ORDERED_VOLUME_RATIO * a for a, b in pairwise(order)) for order in (sizes, sizes[::-1]))


def is_triangle(things: Sequence[Thing]) -> bool:
    """Whether three of the things are corners of a triangle, and all others are on its sides."""
    return _has_outline(things, 3, _three_corners)


def is_square(things: Sequence[Thing]) -> bool:
    """Whether four of the things are corners of a square, and all others are on its sides."""
    return _has_outline(things, 4, _four_corners)


def is_circle(things: Sequence[Thing]) -> bool:
    """Whether three or more things are on a circle, spread all around it."""
    if len(things) < 3 or not _on_one_level(things):
        return False
    points = _middles(_in_one_order(things))
    fit = circle_through(points)
    if fit is None or not CIRCLE_RADII_M[0] <= fit[1] <= CIRCLE_RADII_M[1]:
        return False
    middle, radius = fit
    rays = points - np.array(middle)
    round_ = float(np.abs(np.linalg.norm(rays, axis=1) - radius).max()) <= OUTLINE_OFFSET_M
    angles = np.sort(np.arctan2(rays[:, 1], rays[:, 0]))
    widest = float(np.diff(angles, append=angles[0] + math.tau).max())
    return round_ and widest <= CIRCLE_GAP_RATIO * math.tau / len(points)


def circle_through(points: Points) -> tuple[XY, float] | None:
    """Center (a, b) and radius of the circle through all points by algebraic fit: least squares of
    x^2 + y^2 = 2 a x + 2 b y + c. None if the points are collinear."""
    center = points.mean(axis=0)
    centered = points - center
    equations = np.column_stack([2 * centered, np.ones(len(points))])
    fit, _, rank, _ = np.linalg.lstsq(equations, (centered**2).sum(axis=1), rcond=None)
    if rank < 3:
        return None
    x, y = (center + fit[:2]).tolist()
    return (x, y), math.sqrt(float(fit[2] + fit[:2] @ fit[:2]))


def _on_one_level(things: Sequence[Thing]) -> bool:
    heights = [bottom(thing) for thing in things]
    return max(heights) - min(heights) <= LEVEL_TOLERANCE_M and all(thing.held_by is None for thing in things)


def _middles(things: Sequence[Thing]) -> Points:
    return np.array([thing.xy for thing in things])


def _in_one_order(things: Sequence[Thing]) -> list[Thing]:
    """Sorted by position, so that rounding does not depend on the order of the argument."""
    return sorted(things, key=lambda thing: thing.xy)


def _line(points: Points) -> tuple[Points, Points]:
    """Position of each point along the straight line of best fit [N], and its signed distance from the line [N]."""
    middle = points - points.mean(axis=0)
    direction = np.linalg.svd(middle)[2][0]
    return middle @ direction, middle @ np.array([-direction[1], direction[0]])


def _has_outline(things: Sequence[Thing], count: int, well_formed: Callable[[Points], bool]) -> bool:
    """Whether some `count` of the things form a well-formed polygon and all others are on its sides."""
    if len(things) < count or not _on_one_level(things):
        return False
    points = _middles(_in_one_order(things))
    for chosen in combinations(range(len(points)), count):
        polygon = _around(points[list(chosen)])
        others = [points[i] for i in range(len(points)) if i not in chosen]
        if well_formed(polygon) and all(_off_sides(point, polygon) <= OUTLINE_OFFSET_M for point in others):
            return True
    return False


def _around(points: Points) -> Points:
    """The points sorted counterclockwise about their center."""
    rays = points - points.mean(axis=0)
    return points[np.argsort(np.arctan2(rays[:, 1], rays[:, 0]))]


def _three_corners(polygon: Points) -> bool:
    sides, angles = _sides_and_angles(polygon)
    return bool(sides.max() <= MAX_SHAPE_SIDE_M and angles.min() >= MIN_TRIANGLE_ANGLE_RAD)


def _four_corners(polygon: Points) -> bool:
    sides, angles = _sides_and_angles(polygon)
    even = sides.max() <= min(MAX_SHAPE_SIDE_M, SQUARE_SIDE_RATIO * sides.min())
    return bool(even and np.abs(angles - math.pi / 2).max() <= SQUARE_ANGLE_ERROR_RAD)


def _sides_and_angles(polygon: Points) -> tuple[Points, Points]:
    """Lengths of the sides [N] and inner angles [N] of a polygon; points that coincide have an angle of 0."""
    forth, back = np.roll(polygon, -1, axis=0) - polygon, np.roll(polygon, 1, axis=0) - polygon
    a, b = np.linalg.norm(forth, axis=1), np.linalg.norm(back, axis=1)
    cosines = (forth * back).sum(axis=1) / np.maximum(a * b, 1e-9)
    return a, np.where(a * b > 1e-9, np.arccos(np.clip(cosines, -1.0, 1.0)), 0.0)


def _off_sides(point: Points, polygon: Points) -> float:
    """Distance from a point to the nearest side of a polygon."""
    forth = np.roll(polygon, -1, axis=0) - polygon
    share = ((point - polygon) * forth).sum(axis=1) / (forth * forth).sum(axis=1)
    nearest = polygon + np.clip(share, 0.0, 1.0)[:, None] * forth
    return float(np.linalg.norm(nearest - point, axis=1).min())
