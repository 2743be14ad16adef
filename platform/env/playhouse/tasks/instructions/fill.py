"""Put two or three things of a description into a bin."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from interplay.env.playhouse.house.catalog import BIN
from interplay.env.playhouse.language.templates import PHRASES, phrase
from interplay.env.playhouse.planning.placement import BIN_HEIGHT_COST, Placement, placements_in
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.object_group import ANY, alike, so_many
from interplay.env.playhouse.tasks.instructions.put import Put
from interplay.env.playhouse.tasks.sampling import one_of
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Thing

PHRASES |= {
    "fill": (
        "put {things} in the {other}",
        "place {things} into the {other}",
        "fill the {other} with {things}",
        "collect {things} in the {other}",
        "add {things} to the {other}",
        "could you drop {things} into the {other}?",
    ),
}


@dataclass(frozen=True)
class Fill(Put):
    """Put so many of some things into a container."""

    def rank(self, facts: HouseFacts, thing: Thing) -> float:
        """The lowest first: what follows may come to lie on it."""
        return thing.half_extents[2]

    def landings(self, facts: HouseFacts, thing: Thing) -> Sequence[Placement]:
        container = facts.things[self.other]
        places = placements_in(facts, thing, container) or placements_in(facts, thing, container, pressed=True)
        return _leaving_room(places, container)


def _leaving_room(places: Sequence[Placement], container: Thing) -> list[Placement]:
    """The lowest places, and of these those farthest from the middle."""
    lowest = [place for place in places if place.cost <= min(other.cost for other in places) + 0.01]
    away = [math.dist(place.spot, container.xy) for place in lowest]
    return [place for place, off in zip(lowest, away, strict=True) if off >= max(away) - 0.01]


def _room_for(facts: HouseFacts, container: Thing, things: tuple[Thing, ...], number: int) -> bool:
    """Do so many of these things fit in, one after the other, the lowest first?"""
    fitting = [thing for thing in things if placements_in(facts, thing, container)]
    for thing in sorted(fitting, key=lambda each: each.half_extents[2])[:number]:
        places = _leaving_room(placements_in(facts, thing, container), container)
        if not places:
            return False
        middle = places[0].cost / BIN_HEIGHT_COST + thing.half_extents[2]
        facts = _with(facts, replace(thing, position=(*places[0].spot, middle)))
    return len(fitting) >= number


def _others(things: tuple[Thing, ...], container: Thing) -> tuple[Thing, ...]:
    """Those that are neither the container nor in it."""
    return tuple(t for t in things if t.index != container.index and not predicates.inside(t, container))


def _with(facts: HouseFacts, thing: Thing) -> HouseFacts:
    """The same moment with one thing elsewhere."""
    return replace(facts, things=tuple(thing if other.index == thing.index else other for other in facts.things))


def draw_fill(asking: TaskContext, rng: np.random.Generator) -> Fill:
    asking.needs("fill", "push", "strafe")
    facts = asking.facts
    bins = [thing for thing in asking.told_apart() if thing.category == BIN and thing.held_by is None]
    choices = [
        (container, words, outside, number)
        for container in bins
        for number in (2, 3)
        for words, things in alike(facts, number)
        if (container not in things or words == ANY)
        and len(outside := _others(things, container)) >= number
        and _room_for(facts, container, outside, number)
    ]
    why = "no bin that can be named has room for two things of one description"
    container, described, things, number = one_of(choices, rng, "fill", why)
    text = phrase("fill", rng, things=so_many(number, described), other=asking.call(container, rng))
    indices = tuple(thing.index for thing in things)
    return Fill("fill", text, asking.solver, indices[0], 0.0, indices, (), (), number, container.index).measured(facts)
