"""Put one thing on, in or under another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from interplay.env.playhouse.language.templates import PHRASES, phrase
from interplay.env.playhouse.planning.placement import (
    Placement,
    placements_in,
    placements_on,
    placements_under,
    reachable_placements,
)
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.place_objects import PlaceObjects
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Thing
from interplay.env.task import InfeasibleTask, Task
from interplay.env.world import World

PHRASES |= {
    "put_on": (
        "put the {thing} on the {other}",
        "place the {thing} on top of the {other}",
        "set the {thing} down on the {other}",
        "lay the {thing} on the {other}",
        "the {thing} belongs on the {other}",
        "could you put the {thing} on top of the {other}?",
    ),
    "put_in": (
        "put the {thing} in the {other}",
        "place the {thing} into the {other}",
        "drop the {thing} into the {other}",
        "throw the {thing} away in the {other}",
        "the {thing} belongs in the {other}",
        "could you put the {thing} inside the {other}?",
    ),
    "put_under": (
        "put the {thing} under the {other}",
        "place the {thing} beneath the {other}",
        "hide the {thing} under the {other}",
        "push the {thing} below the {other}",
        "the {thing} belongs under the {other}",
        "could you put the {thing} underneath the {other}?",
    ),
}


class Relation(NamedTuple):
    """How a thing stands to another, and where it can be put to stand so."""

    holds: Callable[[Thing, Thing], bool]
    landings: Callable[[HouseFacts, Thing, Thing], list[Placement]]


RELATIONS: Mapping[str, Relation] = {
    "put_on": Relation(predicates.on, placements_on),
    "put_in": Relation(predicates.inside, placements_in),
    "put_under": Relation(predicates.under, placements_under),
    "fill": Relation(predicates.inside, placements_in),
}


@dataclass(frozen=True)
class Put(PlaceObjects):
    """Put a thing on, in or under another, and let go of it."""

    other: int  # the Thing's index that it goes on, in or under

    def arrived(self, facts: HouseFacts, thing: Thing) -> bool:
        return thing.held_by is None and RELATIONS[self.kind].holds(thing, facts.things[self.other])

    def left(self, facts: HouseFacts, thing: Thing) -> float:
        return predicates.walking_distance(facts, thing.xy, facts.things[self.other])

    def landings(self, facts: HouseFacts, thing: Thing) -> Sequence[Placement]:
        return RELATIONS[self.kind].landings(facts, thing, facts.things[self.other])

    def may_mistake(self, thing: Thing, facts: HouseFacts) -> bool:
        return thing.index != self.other and super().may_mistake(thing, facts)

    def misread(self, world: World, rng: np.random.Generator) -> Task:
        """Another thing, or half of the time another place."""
        facts: HouseFacts = world.facts()
        thing, relation = self.thing(facts), RELATIONS[self.kind]
        places = [
            place
            for place in facts.things
            if place.index not in (self.other, self.target)
            and place.held_by is None
            and relation.landings(facts, thing, place)
            and not relation.holds(thing, place)
        ]
        if places and rng.random() < 0.5:
            place = places[int(rng.integers(len(places)))]
            return replace(self, other=place.index).measured(facts)
        return super().misread(world, rng)


def draw_put(kind: str) -> Callable[[TaskContext, np.random.Generator], Put]:
    """How errands of one of the three kinds are drawn."""

    def draw(asking: TaskContext, rng: np.random.Generator) -> Put:
        asking.needs(kind, "push", "strafe")
        facts, relation = asking.facts, RELATIONS[kind]
        pairs = [
            (thing, place)
            for thing in asking.carriable()
            for place in asking.told_apart()
            if place.index != thing.index and place.held_by is None and not relation.holds(thing, place)
        ]
        for i in rng.permutation(len(pairs)):
            thing, place = pairs[i]
            if reachable_placements(facts, asking.solver, thing, relation.landings(facts, thing, place)):
                words = phrase(kind, rng, thing=asking.call(thing, rng), other=asking.call(place, rng))
                put = Put(kind, words, asking.solver, thing.index, 0.0, (thing.index,), (), (), 1, place.index)
                return put.measured(facts)
        raise InfeasibleTask(f"no task of kind {kind!r} can be asked here: nothing named fits a named place")

    return draw
