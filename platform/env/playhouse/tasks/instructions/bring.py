"""Bring the setter a thing, or several of a description."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from interplay.env.playhouse.language.templates import PHRASES, phrase
from interplay.env.playhouse.planning.placement import Placement, placements_around, reachable_placements
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.object_group import ANY, alike, so_many
from interplay.env.playhouse.tasks.instructions.place_objects import PlaceObjects
from interplay.env.playhouse.tasks.sampling import one_of
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import XY, HouseFacts, Thing
from interplay.env.playhouse.truth.predicates.contact_events import HANDY
from interplay.env.task import InfeasibleTask

PHRASES |= {
    "bring": (
        "bring me the {thing}",
        "fetch me the {thing}",
        "get the {thing} for me",
        "carry the {thing} over to me",
        "come here with the {thing}",
        "i would like to have the {thing} here",
    ),
    "bring several": (
        "bring me {things}",
        "fetch me {things}",
        "get {things} for me",
        "carry {things} over to me",
        "collect {things} and bring them here",
        "i would like to have {things} here",
    ),
}

ELSEWHERE = HANDY + 0.5  # meters from the setter, at least, of what it asks for


@dataclass(frozen=True)
class Bring(PlaceObjects):
    """Carry things to where the setter can reach them, in the hand or put down."""

    setter: str  # the role that asked
    origins: tuple[float, ...]  # x and y of each of `things`, one after the other, when asked

    def arrived(self, facts: HouseFacts, thing: Thing) -> bool:
        """Within the setter's reach, and no thing that the setter walked up to."""
        body = facts.bodies[self.setter]
        here = predicates.same_room(body.room, thing.room) and predicates.apart(body, thing) <= HANDY
        return here and math.dist(body.position, self._origin(thing)) > HANDY

    def _origin(self, thing: Thing) -> XY:
        k = 2 * self.things.index(thing.index)
        return self.origins[k], self.origins[k + 1]

    def left(self, facts: HouseFacts, thing: Thing) -> float:
        return max(predicates.walk(facts, thing.xy, facts.bodies[self.setter].position) - HANDY, 0.0)

    def landings(self, facts: HouseFacts, thing: Thing) -> Sequence[Placement]:
        return placements_around(facts, thing, facts.bodies[self.setter])

    def may_mistake(self, thing: Thing, facts: HouseFacts) -> bool:
        near = math.dist(facts.bodies[self.setter].position, thing.xy) <= ELSEWHERE
        usual = thing.index != self.target and thing.held_by is None
        return usual and not near and thing.index not in self.things

    def measured(self, facts: HouseFacts) -> Self:
        origins = tuple(value for i in self.things for value in facts.things[i].xy)
        return replace(super().measured(facts), origins=origins)


def _elsewhere(asking: TaskContext, thing: Thing) -> bool:
    return math.dist(asking.facts.bodies[asking.setter].position, thing.xy) > ELSEWHERE


def draw_bring(asking: TaskContext, rng: np.random.Generator) -> Bring:
    """One thing, or where there are enough of a description, half of the time two or three of them."""
    asking.needs("bring", "push", "strafe")
    asking.needs_setter("bring")
    facts, setter = asking.facts, asking.setter
    several = [
        (words, things, number)
        for number in (2, 3)
        for words, things in alike(facts, number)
        if words != ANY
        and all(_elsewhere(asking, thing) for thing in things)
        and sum(not asking.laden(thing) for thing in things) >= number
    ]
    if several and rng.random() < 0.5:
        words, things, number = several[int(rng.integers(len(several)))]
        text = phrase("bring several", rng, things=so_many(number, words))
    else:
        away = [thing for thing in asking.carriable() if _elsewhere(asking, thing)]
        things, number = (one_of(away, rng, "bring", "every thing that can be named is at hand"),), 1
        text = phrase("bring", rng, thing=asking.call(things[0], rng))
    if not reachable_placements(
        facts, asking.solver, things[0], placements_around(facts, things[0], facts.bodies[setter])
    ):
        raise InfeasibleTask("no task of kind 'bring' can be asked here: there is no free floor before the setter")
    indices = tuple(thing.index for thing in things)
    return Bring("bring", text, asking.solver, indices[0], 0.0, indices, (), (), number, setter, ()).measured(facts)
