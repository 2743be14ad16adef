"""Put one object on, in, under or next to another thing."""

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
from interplay.env.playhouse.tasks.context import TaskContext, sample_one
from interplay.env.playhouse.tasks.instructions.object_instruction import ObjectInstruction
from interplay.env.playhouse.tasks.instructions.place_objects import PlaceObjects
from interplay.env.playhouse.tasks.playhouse_task import (
    CARRY_AND_RELEASE,
    PlayhouseTask,
    TaskKind,
    fraction_covered,
    task_kind,
)
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Thing
from interplay.env.playhouse.truth.predicates.relations import NEXT_TO_GAP_M
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


def _kind(kind: str, wordings: tuple[str, ...]) -> TaskKind:
    """Returns the kind of one of the three relations."""

    @task_kind(kind, Put, wordings)
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


PUT_KINDS = (_kind("put_on", PUT_ON_WORDINGS), _kind("put_in", PUT_IN_WORDINGS), _kind("put_under", PUT_UNDER_WORDINGS))


MIN_POSITION_GAP_M = NEXT_TO_GAP_M + 0.3  # between two things of which one is to be put next to the other
ON_FLOOR_M = 0.1  # above the floor, at most, of the underside of a thing that objects are put next to

FEW_POSITION_WORDINGS = (
    "put the {thing} next to the {other}",
    "place the {thing} near the {other}",
    "move the {thing} beside the {other}",
)
POSITION_WORDINGS = (
    *FEW_POSITION_WORDINGS, "put the {thing} down beside the {other}", "place the {thing} close to the {other}",
    "set the {thing} next to the {other}", "take the {thing} and put it near the {other}",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Position(ObjectInstruction):
    """Put one object next to another thing, and let go. Baseline `carry`: meters between the two, edge to edge."""

    other: int  # index of the thing that the target goes next to

    def is_done(self, facts: HouseFacts) -> bool:
        thing = self.thing(facts)
        return thing.held_by is None and predicates.next_to(thing, facts.things[self.other])

    def partial_progress(self, facts: HouseFacts) -> float:
        """0.1 for turning to it, 0.1 for the way with it in view, 0.45 for holding it, 0.35 for carrying it, and 1 once
        it is let go there."""
        carried = fraction_covered(self.baseline["carry"], self._remaining(facts), NEXT_TO_GAP_M)
        return self.potential(facts, CARRY_AND_RELEASE, carried)

    def measure(self, facts: HouseFacts) -> Mapping[str, float]:
        return {**super().measure(facts), "carry": self._remaining(facts)}

    def is_plausible_target(self, thing: Thing, facts: HouseFacts) -> bool:
        in_place = predicates.next_to(thing, facts.things[self.other])
        return super().is_plausible_target(thing, facts) and thing.index != self.other and not in_place

    def as_placement(self, facts: HouseFacts) -> Put:
        """Returns the same instruction in the form in which objects are carried and put down with more care."""
        task = Put(
            kind=self.kind, instruction=self.instruction, solver=self.solver,
            target=self.target, candidates=(self.target,), other=self.other,
        )  # fmt: skip
        return task.with_baseline(facts)

    def _remaining(self, facts: HouseFacts) -> float:
        return predicates.walking_distance(facts, self.thing(facts).xy, facts.things[self.other])


@task_kind("position", Position, POSITION_WORDINGS, usual=True)
def position_kind(context: TaskContext, rng: np.random.Generator) -> Position:
    """Draws an instruction about two nameable things that are apart."""
    places = [
        thing for thing in context.nameable_things() if thing.held_by is None and predicates.bottom(thing) <= ON_FLOOR_M
    ]
    pairs = [
        (target, other)
        for target in context.nameable_objects()
        for other in places
        if other.index != target.index and predicates.gap(target, other) > MIN_POSITION_GAP_M
    ]
    target, other = sample_one(pairs, rng, "position", "no two things that can be named are apart")
    names = {"thing": context.name(target, rng), "other": context.name(other, rng)}
    text = context.phrase(FEW_POSITION_WORDINGS, POSITION_WORDINGS, rng, **names)
    return Position(kind="position", instruction=text, solver=context.solver, target=target.index, other=other.index)
