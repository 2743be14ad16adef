"""Which of several things are stacked, in which order, and where: the widest at the bottom, with as little to carry as
can be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from interplay.env.playhouse.house.catalog import CATEGORIES
from interplay.env.playhouse.planning.layouts import LIFTED, ON_FLOOR, carry, free_spot, is_steady, is_upright, slimness
from interplay.env.playhouse.planning.release_pose import ReleasePose
from interplay.env.playhouse.planning.standing import standing_spot
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import XY, HouseFacts, Thing

LEVEL_TOPPED = ("box", "cylinder")  # as physics has them; balls roll off, and bins are hollow
BEARING = 0.08  # meters, half the width of what bears another, at least
SLIM = 2.0  # half the height over half the width of what bears another, at most
TALLEST = 1.2  # meters: higher than that the hand does not see what it does
TOP_HEAVY = 10.0  # meters of walking that it costs, a meter that the bottom is narrower than what it bears


@dataclass(frozen=True)
class Stack:
    """What goes on what: from the bottom up, things' indices. `spot`: where the bottom goes; None: it stays."""

    things: tuple[int, ...]
    spot: XY | None

    def next(self, facts: HouseFacts, off: float) -> tuple[int, ReleasePose] | None:
        """The thing to be carried next, and where to; None once all stand one on the other."""
        bottom, *others = (facts.things[index] for index in self.things)
        if self.spot is not None and (math.dist(bottom.xy, self.spot) > off or predicates.bottom(bottom) > ON_FLOOR):
            return bottom.index, ReleasePose(self.spot)
        for thing in others:
            if thing.held_by is not None or not predicates.on(thing, bottom):
                return thing.index, ReleasePose(bottom.xy, predicates.top(bottom), bottom.yaw, bottom.radius)
            bottom = thing
        return None

    def spoilt(self, facts: HouseFacts) -> bool:
        """Has something come between that makes it worthless?"""
        return False


def plan_stack(facts: HouseFacts, role: str, among: Sequence[int], count: int) -> Stack | None:
    """How `count` of the things are best stacked by a player; None where no such tower would stand, or the floor has no
    place for it."""
    things = [thing for index in among if is_stackable(thing := facts.things[index]) and is_upright(facts, thing)]
    begun = _begun(facts, things, count)
    if begun and (stack := _on(facts, begun, things, count)) is not None and _accessible(facts, role, begun[0]):
        return stack
    stacks = [stack for bottom in things if (stack := _on(facts, (bottom,), things, count)) is not None]
    for stack in sorted(stacks, key=lambda stack: _cost(facts, stack)):
        bottom = facts.things[stack.things[0]]
        if _lies_free(facts, bottom):
            if _accessible(facts, role, bottom):
                return stack
        elif (spot := free_spot(facts, role, bottom)) is not None:
            return Stack(stack.things, spot)
    return None


def is_stackable(thing: Thing) -> bool:
    """Can a thing be part of a tower?"""
    return CATEGORIES[thing.category].shape in LEVEL_TOPPED and is_steady(thing)


def can_bear(thing: Thing) -> bool:
    """Can another stand on it?"""
    return is_stackable(thing) and _width(thing) >= BEARING and slimness(thing) <= SLIM


def _begun(facts: HouseFacts, things: Sequence[Thing], count: int) -> tuple[Thing, ...]:
    """The tallest tower of these things that stands on the floor and can grow."""
    indices = {thing.index for thing in things}
    for tower in predicates.towers(facts):
        ours = all(thing.index in indices for thing in tower) and all(can_bear(thing) for thing in tower)
        if ours and len(tower) < count and predicates.bottom(tower[0]) < ON_FLOOR:
            return tower
    return ()


def _on(facts: HouseFacts, bottom: Sequence[Thing], things: Sequence[Thing], count: int) -> Stack | None:
    """The nearest of the things on top of these, the wide ones first; None where there are too few."""
    at = bottom[0].xy
    taken = {thing.index for thing in bottom}
    others = sorted((thing for thing in things if thing.index not in taken), key=lambda thing: carry(facts, thing, at))
    chosen: list[Thing] = []
    for thing in others:
        narrow = [other for other in chosen if not can_bear(other)]
        if len(chosen) < count - len(bottom) and (can_bear(thing) or not narrow):
            chosen.append(thing)
    chosen.sort(key=lambda thing: (can_bear(thing), _width(thing)), reverse=True)
    pile = [*bottom, *chosen]
    tall = sum(2 * thing.half_extents[2] for thing in pile)
    if len(pile) < count or tall > TALLEST or not all(can_bear(thing) for thing in pile[:-1]):
        return None
    return Stack(tuple(thing.index for thing in pile), None)


def _cost(facts: HouseFacts, stack: Stack) -> float:
    """Meters of walking, and what lifting and standing unsteadily cost."""
    bottom, *others = (facts.things[index] for index in stack.things)
    moving = 0.0 if _lies_free(facts, bottom) else LIFTED
    narrow = max(max(_width(thing) for thing in others) - _width(bottom), 0.0)
    return moving + TOP_HEAVY * narrow + sum(carry(facts, thing, bottom.xy) for thing in others)


def _lies_free(facts: HouseFacts, thing: Thing) -> bool:
    """Does it stand upright on the floor, in no hand, with nothing on it?"""
    return predicates.bottom(thing) < ON_FLOOR and thing.held_by is None and not predicates.things_on(facts, thing)


def _accessible(facts: HouseFacts, role: str, thing: Thing) -> bool:
    return standing_spot(facts, role, thing.xy, away=wider(thing)) is not None


def wider(thing: Thing) -> float:
    """Meters that one stands farther off than usual from what has a thing of this width under it."""
    return max(thing.radius - 0.2, 0.0)


def _width(thing: Thing) -> float:
    return min(thing.half_extents[:2])
