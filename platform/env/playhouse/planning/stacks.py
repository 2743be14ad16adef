"""Plans of stacks: which things, in which order and where; the widest at the bottom, with as little carrying as
possible."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from interplay.env.playhouse.house.catalog import CATEGORIES
from interplay.env.playhouse.planning.layouts import (
    LIFTING_COST_M,
    ON_FLOOR_M,
    RELEASE_HEIGHT_M,
    carrying_cost,
    floor_placement,
    free_spot,
    is_steady,
    is_upright,
    slimness,
)
from interplay.env.playhouse.planning.placement import Placement, extra_distance
from interplay.env.playhouse.planning.reach import standing_spot
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import XY, HouseFacts, Thing

FLAT_SHAPES = ("box", "cylinder")  # in physics; balls roll off, and bins are hollow
MIN_BEARING_HALF_WIDTH_M = 0.08  # of a thing that bears another
MAX_BEARING_SLIMNESS = 2.0  # half the height over half the width of a thing that bears another
MAX_HEIGHT_M = 1.2  # any higher, the player does not see its hand's work
TOP_HEAVY_COST = 10.0  # meters of walking for each meter that the bottom is narrower than a thing above it
STACK_TOLERANCE_M = 0.03  # of putting one thing on top of another


@dataclass(frozen=True)
class Stack:
    """Things on top of each other: their indices from the bottom up. `spot`: of the bottom; None: it stays."""

    things: tuple[int, ...]
    spot: XY | None

    def next(self, facts: HouseFacts, tolerance: float) -> tuple[int, Placement] | None:
        """The thing to carry next, and its placement; None once all are stacked."""
        bottom, *others = (facts.things[index] for index in self.things)
        if self.spot is not None:
            misplaced = math.dist(bottom.xy, self.spot) > tolerance or predicates.bottom(bottom) > ON_FLOOR_M
            if misplaced:
                return bottom.index, floor_placement(self.spot)
        for thing in others:
            if thing.held_by is not None or not predicates.on(thing, bottom):
                return thing.index, _on_top_of(bottom)
            bottom = thing
        return None

    def is_obstructed(self, facts: HouseFacts) -> bool:
        """Never: the plan does not depend on the other things."""
        return False


def _on_top_of(bottom: Thing) -> Placement:
    return Placement(
        bottom.xy,
        predicates.top(bottom),
        tolerance=STACK_TOLERANCE_M,
        height_tolerance=RELEASE_HEIGHT_M,
        yaw=bottom.yaw,
        support_radius=bottom.radius,
    )


def plan_stack(facts: HouseFacts, role: str, among: Sequence[int], count: int) -> Stack | None:
    """The best stack of `count` of the things for a player; None if none would stand, or the floor has no place for
    it."""
    things = [thing for index in among if is_stackable(thing := facts.things[index]) and is_upright(facts, thing)]
    begun = _begun_tower(facts, things, count)
    grown = _stack_on(facts, begun, things, count) if begun else None
    if grown is not None and _is_accessible(facts, role, begun[0]):
        return grown
    stacks = [stack for bottom in things if (stack := _stack_on(facts, (bottom,), things, count)) is not None]
    for stack in sorted(stacks, key=lambda stack: _cost(facts, stack)):
        bottom = facts.things[stack.things[0]]
        if _stands_free(facts, bottom):
            if _is_accessible(facts, role, bottom):
                return stack
        elif (spot := free_spot(facts, role, bottom)) is not None:
            return Stack(stack.things, spot)
    return None


def is_stackable(thing: Thing) -> bool:
    """Whether a thing can be part of a tower."""
    return CATEGORIES[thing.category].shape in FLAT_SHAPES and is_steady(thing)


def can_bear(thing: Thing) -> bool:
    """Whether another thing can stand on it."""
    wide = _half_width(thing) >= MIN_BEARING_HALF_WIDTH_M
    return is_stackable(thing) and wide and slimness(thing) <= MAX_BEARING_SLIMNESS


def _begun_tower(facts: HouseFacts, things: Sequence[Thing], count: int) -> tuple[Thing, ...]:
    """The tallest tower of these things that stands on the floor and can grow."""
    indices = {thing.index for thing in things}
    for tower in predicates.towers(facts):
        ours = all(thing.index in indices for thing in tower) and all(can_bear(thing) for thing in tower)
        if ours and len(tower) < count and predicates.bottom(tower[0]) < ON_FLOOR_M:
            return tower
    return ()


def _stack_on(facts: HouseFacts, bottom: Sequence[Thing], things: Sequence[Thing], count: int) -> Stack | None:
    """The nearest of the things on top of these, the wide ones first; None if there are too few."""
    at = bottom[0].xy
    taken = {thing.index for thing in bottom}
    others = [thing for thing in things if thing.index not in taken]
    others.sort(key=lambda thing: carrying_cost(facts, thing, at))
    chosen: list[Thing] = []
    for thing in others:
        narrow = [other for other in chosen if not can_bear(other)]
        if len(chosen) < count - len(bottom) and (can_bear(thing) or not narrow):
            chosen.append(thing)
    chosen.sort(key=lambda thing: (can_bear(thing), _half_width(thing)), reverse=True)
    pile = [*bottom, *chosen]
    height = sum(2 * thing.half_extents[2] for thing in pile)
    if len(pile) < count or height > MAX_HEIGHT_M or not all(can_bear(thing) for thing in pile[:-1]):
        return None
    return Stack(tuple(thing.index for thing in pile), None)


def _cost(facts: HouseFacts, stack: Stack) -> float:
    """Meters of walking, and the costs of lifting the bottom and of a top-heavy stack."""
    bottom, *others = (facts.things[index] for index in stack.things)
    lifting = 0.0 if _stands_free(facts, bottom) else LIFTING_COST_M
    overhang = max(max(_half_width(thing) for thing in others) - _half_width(bottom), 0.0)
    return lifting + TOP_HEAVY_COST * overhang + sum(carrying_cost(facts, thing, bottom.xy) for thing in others)


def _stands_free(facts: HouseFacts, thing: Thing) -> bool:
    """Whether it is on the floor, in no hand, with nothing on it."""
    return predicates.bottom(thing) < ON_FLOOR_M and thing.held_by is None and not predicates.things_on(facts, thing)


def _is_accessible(facts: HouseFacts, role: str, thing: Thing) -> bool:
    return standing_spot(facts, role, thing.xy, extra=extra_distance(thing.radius)) is not None


def _half_width(thing: Thing) -> float:
    return min(thing.half_extents[:2])
