"""Put one object on, in or under another thing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from interplay.env.playhouse.language.templates import fill_template
from interplay.env.playhouse.planning.placement import (
    Placement,
    placements_beside,
    placements_in,
    placements_on,
    placements_under,
    reachable_placements,
)
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.place_objects import PlaceObjects
from interplay.env.playhouse.tasks.playhouse_task import PlayhouseTask
from interplay.env.playhouse.tasks.task_kind import TaskKind
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Thing
from interplay.env.task import InfeasibleTask

PUT_ON_WORDINGS = (
    "put the {thing} on the {other}", "place the {thing} on top of the {other}",
    "set the {thing} down on the {other}", "lay the {thing} on the {other}", "the {thing} belongs on the {other}",
    "could you put the {thing} on top of the {other}?",
)  # fmt: skip
PUT_IN_WORDINGS = (
    "put the {thing} in the {other}", "place the {thing} into the {other}", "drop the {thing} into the {other}",
    "throw the {thing} away in the {other}", "the {thing} belongs in the {other}",
    "could you put the {thing} inside the {other}?",
)  # fmt: skip
PUT_UNDER_WORDINGS = (
    "put the {thing} under the {other}", "place the {thing} beneath the {other}",
    "hide the {thing} under the {other}", "push the {thing} below the {other}",
    "the {thing} belongs under the {other}", "could you put the {thing} underneath the {other}?",
)  # fmt: skip


class Relation(NamedTuple):
    """A spatial relation between two things, and the poses that establish it."""

    holds: Callable[[Thing, Thing], bool]
    placements: Callable[[HouseFacts, Thing, Thing], list[Placement]]


RELATIONS: Mapping[str, Relation] = {
    "put_on": Relation(predicates.on, placements_on),
    "put_in": Relation(predicates.inside, placements_in),
    "put_under": Relation(predicates.under, placements_under),
    "position": Relation(predicates.next_to, placements_beside),
    "fill": Relation(predicates.inside, placements_in),
}


@dataclass(frozen=True, kw_only=True)
class Put(PlaceObjects):
    """Put an object on, in, under or next to another thing, and let go of it."""

    other: int  # index of that thing

    def is_placed(self, facts: HouseFacts, thing: Thing) -> bool:
        return thing.held_by is None and RELATIONS[self.kind].holds(thing, facts.things[self.other])

    def remaining(self, facts: HouseFacts, thing: Thing) -> float:
        return predicates.walking_distance(facts, thing.xy, facts.things[self.other])

    def placements(self, facts: HouseFacts, thing: Thing) -> Sequence[Placement]:
        return RELATIONS[self.kind].placements(facts, thing, facts.things[self.other])

    def is_plausible_target(self, thing: Thing, facts: HouseFacts) -> bool:
        return thing.index != self.other and super().is_plausible_target(thing, facts)

    def misreading(self, facts: HouseFacts, rng: np.random.Generator) -> PlayhouseTask | None:
        """Another object or, half of the time, another place."""
        thing, relation = self.thing(facts), RELATIONS[self.kind]
        places = [
            place
            for place in facts.things
            if place.index not in (self.other, self.target)
            and place.held_by is None
            and relation.placements(facts, thing, place)
            and not relation.holds(thing, place)
        ]
        if places and rng.random() < 0.5:
            return replace(self, other=places[int(rng.integers(len(places)))].index)
        return super().misreading(facts, rng)


def put_sampler(kind: str, wordings: Sequence[str]) -> Callable[[TaskContext, np.random.Generator], Put]:
    """Returns the sampler of one of the three relations."""

    def sample(context: TaskContext, rng: np.random.Generator) -> Put:
        context.require_movement(kind, "push", "strafe")
        facts, relation = context.facts, RELATIONS[kind]
        pairs = [
            (thing, place)
            for thing in context.carriable_objects()
            for place in context.nameable_things()
            if place.index != thing.index and place.held_by is None and not relation.holds(thing, place)
        ]
        for i in rng.permutation(len(pairs)):
            thing, place = pairs[i]
            if reachable_placements(facts, context.solver, thing, relation.placements(facts, thing, place)):
                names = {"thing": context.name(thing, rng), "other": context.name(place, rng)}
                text = fill_template(wordings, rng, **names)
                return Put.of(context, kind, text, [thing], other=place.index)
        raise InfeasibleTask(f"no task of kind {kind!r} can be asked here: nothing named fits a named place")

    return sample


def _kind(name: str, wordings: tuple[str, ...]) -> TaskKind:
    return TaskKind(name=name, task=Put, sample=put_sampler(name, wordings), wordings=wordings)


KINDS = (_kind("put_on", PUT_ON_WORDINGS), _kind("put_in", PUT_IN_WORDINGS), _kind("put_under", PUT_UNDER_WORDINGS))
