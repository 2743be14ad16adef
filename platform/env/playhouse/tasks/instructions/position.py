"""Put one thing next to another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from interplay.env.playhouse.planning.placement import Placement, placements_beside
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.object_instruction import WITHIN_GRASP, ObjectInstruction, done
from interplay.env.playhouse.tasks.instructions.place_objects import PlaceObjects
from interplay.env.playhouse.tasks.sampling import one_of
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Thing

BESIDE = 0.6  # meters from edge to edge within which things are next to each other
APART = BESIDE + 0.3  # meters between two things, at least, for the one to be asked to be put next to the other
ON_FLOOR = 0.1  # meters above the floor, at most, of the underside of what things are put next to


@dataclass(frozen=True)
class Position(ObjectInstruction):
    """Put one thing next to another, and let go."""

    other: int  # the Thing's index that the target goes next to
    apart: float  # meters between the two when asked, edge to edge

    def fulfilled(self, facts: HouseFacts) -> bool:
        thing = self.thing(facts)
        return thing.held_by is None and predicates.next_to(thing, facts.things[self.other], BESIDE)

    def progress(self, facts: HouseFacts) -> float:
        """0.1 for turning to it, 0.1 for the way with it in view, 0.45 for holding it, 0.35 for bringing it, and 1 once
        it is let go there."""
        if self.fulfilled(facts):
            return 1.0
        thing, other = self.thing(facts), facts.things[self.other]
        brought = done(self.apart, predicates.walking_distance(facts, thing.xy, other), BESIDE)
        if thing.held_by == self.solver:
            return 0.45 + 0.35 * brought
        return self.looks(facts) * (0.1 + 0.1 * self.nearness(facts, WITHIN_GRASP)) + 0.35 * brought

    def may_mistake(self, thing: Thing, facts: HouseFacts) -> bool:
        already = predicates.next_to(thing, facts.things[self.other], BESIDE)
        return super().may_mistake(thing, facts) and thing.index != self.other and not already

    def meaning(self, thing: Thing, facts: HouseFacts) -> Self:
        apart = predicates.walking_distance(facts, thing.xy, facts.things[self.other])
        return replace(super().meaning(thing, facts), apart=apart)


@dataclass(frozen=True)
class Beside(PlaceObjects):
    """The same as of who brings things to places."""

    other: int

    def arrived(self, facts: HouseFacts, thing: Thing) -> bool:
        return thing.held_by is None and predicates.next_to(thing, facts.things[self.other], BESIDE)

    def left(self, facts: HouseFacts, thing: Thing) -> float:
        return predicates.walking_distance(facts, thing.xy, facts.things[self.other])

    def landings(self, facts: HouseFacts, thing: Thing) -> Sequence[Placement]:
        return placements_beside(facts, thing, facts.things[self.other])


def draw_position(asking: TaskContext, rng: np.random.Generator) -> Position:
    facts = asking.facts
    places = [thing for thing in asking.told_apart() if thing.held_by is None and predicates.bottom(thing) <= ON_FLOOR]
    pairs = [
        (target, other)
        for target in asking.nameable()
        for other in places
        if other.index != target.index and predicates.gap(target, other) > APART
    ]
    target, other = one_of(pairs, rng, "position", "no two things that can be named are apart")
    words = asking.word("position", rng, thing=asking.call(target, rng), other=asking.call(other, rng))
    apart = predicates.walking_distance(facts, target.xy, other)
    return Position("position", words, asking.solver, target.index, asking.walk(target), other.index, apart)
