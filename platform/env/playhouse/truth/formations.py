"""Formations of several things: tests of completion, and which things are already in place."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

import numpy as np

from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Thing

MIN_SPACING_M = 0.3  # between two centers; closer things are a heap
MAX_THINGS_SEARCHED = 10  # for a formation: 24 would have too many combinations

Test = Callable[[Sequence[Thing]], bool]


@dataclass(frozen=True)
class Formation:
    """A formation such as a row or a circle.

    `is_complete`: whether all of these things form it. `is_extensible`: whether these things, at least two but fewer
    than `count`, can stay in place while others are added. `reach`: meters between the centers of any two, at most;
    `level`: meters between their undersides, at most. Both limits only prune the search.
    """

    is_complete: Test
    is_extensible: Callable[[Sequence[Thing], int], bool]
    reach: float = math.inf
    level: float = math.inf

    def is_formed_by(self, facts: HouseFacts, among: Sequence[int], count: int) -> bool:
        """Whether any `count` of the things form it."""
        return self._first_match(_free(facts, among), count, count) is not None

    def placed(self, facts: HouseFacts, among: Sequence[int], count: int) -> tuple[Thing, ...]:
        """The largest subset of the things that is in place; `count` of them only if the formation is complete."""
        things = _free(facts, among)
        for size in range(min(count, len(things)), 1, -1):
            if (found := self._first_match(things, size, count)) is not None:
                return found
        return tuple(things[:1])

    def _first_match(self, things: Sequence[Thing], size: int, count: int) -> tuple[Thing, ...] | None:
        for chosen in self._subsets(things, size):
            if self.is_complete(chosen) if size == count else self.is_extensible(chosen, count):
                return chosen
        return None

    def _subsets(
        self, things: Sequence[Thing], size: int, chosen: tuple[Thing, ...] = ()
    ) -> Iterator[tuple[Thing, ...]]:
        """All subsets of `size` things that are pairwise within reach."""
        if len(chosen) == size:
            yield chosen
            return
        for i, thing in enumerate(things):
            others = [other for other in things[i + 1 :] if self._within_reach(thing, other)]
            yield from self._subsets(others, size, (*chosen, thing))

    def _within_reach(self, a: Thing, b: Thing) -> bool:
        near = math.dist(a.xy, b.xy) <= self.reach and predicates.same_room(a.room, b.room)
        return near and abs(predicates.bottom(a) - predicates.bottom(b)) <= self.level


def _free(facts: HouseFacts, among: Sequence[int]) -> list[Thing]:
    """The things that are not held, at most `MAX_THINGS_SEARCHED`."""
    return [thing for index in among if (thing := facts.things[index]).held_by is None][:MAX_THINGS_SEARCHED]


def are_near(things: Sequence[Thing]) -> bool:
    """Whether all things are pairwise near each other."""
    return all(predicates.near(a, b) for a, b in combinations(things, 2))


def _is_extensible_row(things: Sequence[Thing], count: int) -> bool:
    if len(things) == 2:
        return _sides(things, math.inf) and predicates.gap(*things) <= predicates.ROW_GAP_M
    return predicates.is_row(things)


def _is_extensible_ordered(things: Sequence[Thing], count: int) -> bool:
    return _is_extensible_row(things, count) if len(things) == 2 else predicates.is_ordered_row(things)


def _is_extensible_triangle(things: Sequence[Thing], count: int) -> bool:
    return _sides(things, predicates.MAX_SHAPE_SIDE_M)


def _is_extensible_square(things: Sequence[Thing], count: int) -> bool:
    """Two things form a side; with three, one of the points that complete a parallelogram completes a square."""
    if len(things) == 2:
        return _sides(things, predicates.MAX_SHAPE_SIDE_M)
    (ax, ay), (bx, by), (cx, cy) = (thing.xy for thing in things)
    fourths = ((ax + bx - cx, ay + by - cy), (ax + cx - bx, ay + cy - by), (bx + cx - ax, by + cy - ay))
    return any(
        predicates.is_square([*things, replace(things[0], position=(x, y, things[0].position[2]))]) for x, y in fourths
    )


def _is_extensible_circle(things: Sequence[Thing], count: int) -> bool:
    """Points on a circle whose gaps the missing things can fill."""
    if len(things) == 2:
        return _sides(things, 2 * predicates.CIRCLE_RADII_M[1])
    fit = predicates.circle_through(np.array([thing.xy for thing in things]))
    if fit is None or not predicates.CIRCLE_RADII_M[0] <= fit[1] <= predicates.CIRCLE_RADII_M[1]:
        return False
    (x, y), radius = fit
    if any(abs(math.dist(thing.xy, (x, y)) - radius) > predicates.OUTLINE_OFFSET_M for thing in things):
        return False
    angles = sorted(math.atan2(thing.position[1] - y, thing.position[0] - x) for thing in things)
    gaps = [b - a for a, b in pairwise([*angles, angles[0] + math.tau])]
    needed = sum(math.ceil(gap * count / (predicates.CIRCLE_GAP_RATIO * math.tau)) - 1 for gap in gaps)
    return needed <= count - len(things)


_FLAT = predicates.LEVEL_TOLERANCE_M
_LONGEST_DIAGONAL_M = math.sqrt(2) * predicates.SQUARE_SIDE_RATIO * predicates.MAX_SHAPE_SIDE_M
_WIDEST_CIRCLE_M = 2 * (predicates.CIRCLE_RADII_M[1] + predicates.OUTLINE_OFFSET_M)
SHAPES = {
    "tower": Formation(predicates.is_tower, lambda things, count: predicates.is_tower(things)),
    "row": Formation(predicates.is_row, _is_extensible_row, level=_FLAT),
    "ordered row": Formation(predicates.is_ordered_row, _is_extensible_ordered, level=_FLAT),
    "triangle": Formation(predicates.is_triangle, _is_extensible_triangle, predicates.MAX_SHAPE_SIDE_M, _FLAT),
    "square": Formation(predicates.is_square, _is_extensible_square, _LONGEST_DIAGONAL_M, _FLAT),
    "circle": Formation(predicates.is_circle, _is_extensible_circle, _WIDEST_CIRCLE_M, _FLAT),
    "group": Formation(are_near, lambda things, count: are_near(things)),
}


def gathered_at(furniture: Thing) -> Formation:
    """Things near a piece of furniture."""

    def near(things: Sequence[Thing], count: int = 0) -> bool:
        return all(predicates.near(thing, furniture) for thing in things)

    return Formation(near, near)


def _sides(things: Sequence[Thing], most: float) -> bool:
    """Whether two things can be neighbors in a shape with sides of at most this length."""
    a, b = things
    return MIN_SPACING_M <= math.dist(a.xy, b.xy) <= most
