"""What errands with a tool share: one thing is taken, and something is done to another with it.

The target is the thing that is taken; `other` is what the deed is done to.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self, TypeVar

import numpy as np

from interplay.env.playhouse.language.templates import phrase
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.object_instruction import WITHIN_GRASP, ObjectInstruction, done
from interplay.env.playhouse.tasks.sampling import one_of
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Thing
from interplay.env.task import Task
from interplay.env.world import World

APART = 0.5  # meters from edge to edge, at least, of two things of which one is to be taken to the other
CLOSE = 0.2  # meters from edge to edge at which the one has been brought to the other
HIGHEST = 1.2  # meters above the floor, at most, of the underside of what is within reach of a hand

T = TypeVar("T", bound="UseTool")


@dataclass(frozen=True)
class UseTool(ObjectInstruction):
    """Take a thing, and do something with it to another."""

    other: int  # the Thing's index that it is done to
    apart: float  # meters between the two when asked, edge to edge
    asked: float  # seconds: when

    @abstractmethod
    def may_suffer(self, thing: Thing, facts: HouseFacts) -> bool:
        """Can it be done to this thing?"""

    @abstractmethod
    def begun(self, facts: HouseFacts) -> float:
        """How much of the deed itself is done, 0 to 1."""

    def progress(self, facts: HouseFacts) -> float:
        """0.1 for turning to the tool, 0.1 for the way with it in view; 0.4 for holding it, 0.3 for bringing it, the
        rest for the deed; 1 once it is done."""
        if self.fulfilled(facts):
            return 1.0
        thing, level = self.thing(facts), 0.7 + 0.29 * self.begun(facts) if self.begun(facts) else 0.0
        if thing.held_by == self.solver:
            left = predicates.walking_distance(facts, thing.xy, facts.things[self.other])
            return max(level, 0.4 + 0.3 * done(self.apart, left, CLOSE))
        return max(level, self.looks(facts) * (0.1 + 0.1 * self.nearness(facts, WITHIN_GRASP)))

    def misread(self, world: World, rng: np.random.Generator) -> Task:
        """Another tool, or the deed done to another thing."""
        facts: HouseFacts = world.facts()
        if rng.random() < 0.5:
            for index in rng.permutation(len(facts.things)).tolist():
                other = facts.things[index]
                if self._may_be_meant(other, facts):
                    return replace(self, other=index, apart=self._apart(self.thing(facts), other, facts))
        return super().misread(world, rng)

    def may_mistake(self, thing: Thing, facts: HouseFacts) -> bool:
        other = facts.things[self.other]
        return super().may_mistake(thing, facts) and may_do(thing, other, facts) and self.may_suffer(other, facts)

    def meaning(self, thing: Thing, facts: HouseFacts) -> Self:
        apart = self._apart(thing, facts.things[self.other], facts)
        return replace(super().meaning(thing, facts), apart=apart, asked=facts.time)

    def _may_be_meant(self, thing: Thing, facts: HouseFacts) -> bool:
        fits = thing.index != self.other and may_do(self.thing(facts), thing, facts)
        return fits and replace(self, other=thing.index).may_suffer(thing, facts)

    def _apart(self, tool: Thing, other: Thing, facts: HouseFacts) -> float:
        return predicates.walking_distance(facts, tool.xy, other)


def may_do(tool: Thing, other: Thing, facts: HouseFacts) -> bool:
    """Can something be done to a thing with this tool: are they apart, and is the thing within reach?"""
    if other.index == tool.index or other.held_by is not None or predicates.bottom(other) > HIGHEST:
        return False
    stowed = any(predicates.inside(thing, box) for thing in (tool, other) for box in facts.things)
    return not stowed and (not predicates.same_room(tool.room, other.room) or predicates.gap(tool, other) >= APART)


def draw_wield(
    make: Callable[..., T], kind: str, others: Sequence[Thing], asking: TaskContext, rng: np.random.Generator
) -> T:
    """An errand of this kind about two things that words can tell apart; `others`: what it may be done to."""
    asking.needs_memory(kind)
    facts = asking.facts
    pairs = [(tool, other) for tool in asking.nameable() for other in others if may_do(tool, other, facts)]
    for tool, other in [pairs[i] for i in rng.permutation(len(pairs))]:
        apart = predicates.walking_distance(facts, tool.xy, other)
        task = make(kind, "", asking.solver, tool.index, asking.walk(tool), other.index, apart, facts.time)
        if task.may_suffer(other, facts):
            words = phrase(kind, rng, thing=asking.call(other, rng), tool=asking.call(tool, rng))
            return replace(task, instruction=words)
    return one_of([], rng, kind, "there are no two things apart that can be named, with a way to do it")
