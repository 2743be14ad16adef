"""What all errands share that bring one thing, or some of several, to a place: their progress and their mistakes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from interplay.env.playhouse.planning.placement import Placement
from interplay.env.playhouse.tasks.instructions.object_instruction import WITHIN_GRASP, ObjectInstruction, done
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Thing

LADEN, DEEP = 100.0, 10.0  # meters that one would rather walk than take what carries another, or lies in a bin


@dataclass(frozen=True)
class PlaceObjects(ObjectInstruction):
    """Bring so many of these things to where they belong. `target` is the first of them."""

    things: tuple[int, ...]  # indices of those that count
    starts: tuple[float, ...]  # meters the solver had to walk to each when asked
    aparts: tuple[float, ...]  # meters that each had to be carried when asked
    wanted: int  # how many of them must arrive

    @abstractmethod
    def arrived(self, facts: HouseFacts, thing: Thing) -> bool:
        """Is one of the things where it belongs?"""

    @abstractmethod
    def left(self, facts: HouseFacts, thing: Thing) -> float:
        """Meters that a thing still has to be carried; 0 once it is there."""

    @abstractmethod
    def landings(self, facts: HouseFacts, thing: Thing) -> Sequence[Placement]:
        """Places where the thing would have arrived."""

    def rank(self, facts: HouseFacts, thing: Thing) -> float:
        """Of those that count, a competent solver sets about the one with the lowest: the nearest, but rather one that
        neither carries another nor is in a bin."""
        walk = predicates.walking_distance(facts, facts.bodies[self.solver].position, thing)
        laden = bool(predicates.contents(facts, thing) or predicates.things_on(facts, thing))
        within = any(predicates.inside(thing, other) for other in facts.things)
        return walk + LADEN * laden + DEEP * within

    def fulfilled(self, facts: HouseFacts) -> bool:
        return sum(self.arrived(facts, facts.things[i]) for i in self.things) >= self.wanted

    def progress(self, facts: HouseFacts) -> float:
        """Of each that must arrive: 0.1 for turning to it, 0.1 for the way with it in view, 0.45 for holding it, 0.35
        for bringing it, and 1 once it is there. Of those on their way, only the one that has come farthest counts."""
        if self.fulfilled(facts):
            return 1.0
        there = [self.arrived(facts, facts.things[i]) for i in self.things]
        partly = [self._partly(facts, k) for k, arrived in enumerate(there) if not arrived]
        return (sum(there) + max(partly)) / self.wanted

    def _partly(self, facts: HouseFacts, k: int) -> float:
        thing = facts.things[self.things[k]]
        one = replace(self, target=thing.index, start=self.starts[k])
        brought = done(self.aparts[k], self.left(facts, thing), 0.0)
        if thing.held_by == self.solver:
            return 0.45 + 0.35 * brought
        return one.looks(facts) * (0.1 + 0.1 * one.nearness(facts, WITHIN_GRASP)) + 0.35 * brought

    def may_mistake(self, thing: Thing, facts: HouseFacts) -> bool:
        fits = super().may_mistake(thing, facts) and thing.index not in self.things
        return fits and not self.arrived(facts, thing) and bool(self.landings(facts, thing))

    def meaning(self, thing: Thing, facts: HouseFacts) -> Self:
        """The same words, meant of another thing: it and some of those that count, as many as are wanted."""
        rest = tuple(i for i in self.things if i != self.target)
        things = (thing.index, *rest[: self.wanted - 1])
        return replace(self, target=thing.index, things=things).measured(facts)

    def measured(self, facts: HouseFacts) -> Self:
        """The same errand with its distances as they are now."""
        body = facts.bodies[self.solver].position
        things = [facts.things[i] for i in self.things]
        starts = tuple(predicates.walking_distance(facts, body, thing) for thing in things)
        aparts = tuple(self.left(facts, thing) for thing in things)
        return replace(self, start=starts[0], starts=starts, aparts=aparts)
