"""Put one object on, in, under or next to another thing; fill a bin with two or three objects of a description, or
take one object or all of them out."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from interplay.env.playhouse.house.catalog import BIN
from interplay.env.playhouse.planning.placement import (
    BIN_HEIGHT_COST,
    Placement,
    placements_beside,
    placements_in,
    placements_on,
    placements_under,
    reachable_placements,
)
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.object_instruction import (
    ANY_OBJECT,
    ObjectInstruction,
    PlaceObjects,
    descriptions_shared,
    number_of,
)
from interplay.env.playhouse.tasks.playhouse_task import CARRY_AND_RELEASE, PlayhouseTask, fraction_covered, task_kind
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Thing

PUT_WORDINGS: Mapping[str, tuple[str, ...]] = {
    "put_on": (
        "put the {thing} on the {other}", "place the {thing} on top of the {other}",
        "set the {thing} down on the {other}", "lay the {thing} on the {other}", "the {thing} belongs on the {other}",
        "could you put the {thing} on top of the {other}?",
    ),
    "put_in": (
        "put the {thing} in the {other}", "place the {thing} into the {other}", "drop the {thing} into the {other}",
        "throw the {thing} away in the {other}", "the {thing} belongs in the {other}",
        "could you put the {thing} inside the {other}?",
    ),
    "put_under": (
        "put the {thing} under the {other}", "place the {thing} beneath the {other}",
        "hide the {thing} under the {other}", "push the {thing} below the {other}",
        "the {thing} belongs under the {other}", "could you put the {thing} underneath the {other}?",
    ),
}  # fmt: skip


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


def _sample_put(context: TaskContext, rng: np.random.Generator) -> Put:
    """Draws an object and a place that is free for it."""
    context.require_movement("push", "strafe")
    facts, relation = context.facts, RELATIONS[context.kind]
    pairs = [
        (thing, place)
        for thing in context.carriable_objects()
        for place in context.nameable_things()
        if place.index != thing.index and place.held_by is None and not relation.holds(thing, place)
    ]
    for i in rng.permutation(len(pairs)):
        thing, place = pairs[i]
        if reachable_placements(facts, context.solver, thing, relation.placements(facts, thing, place)):
            text = context.phrase(PUT_WORDINGS[context.kind], rng, thing=thing, other=place)
            return Put.of(context, text, [thing], other=place.index)
    raise context.refusal("nothing named fits a named place")


PUT_KINDS = tuple(task_kind(name, Put, wordings)(_sample_put) for name, wordings in PUT_WORDINGS.items())


MIN_POSITION_GAP_M = predicates.NEXT_TO_GAP_M + 0.3  # between a thing and the one that it is to be put next to
ON_FLOOR_M = 0.1  # above the floor, at most, of the underside of a thing that objects are put next to

POSITION_WORDINGS = (
    "put the {thing} next to the {other}", "place the {thing} near the {other}", "move the {thing} beside the {other}",
    "put the {thing} down beside the {other}", "place the {thing} close to the {other}",
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
        carried = fraction_covered(self.baseline["carry"], self._remaining(facts), predicates.NEXT_TO_GAP_M)
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
    target, other = context.sample_one(pairs, rng, "no two things that can be named are apart")
    text = context.phrase(context.wordings(POSITION_WORDINGS), rng, thing=target, other=other)
    return Position(kind=context.kind, instruction=text, solver=context.solver, target=target.index, other=other.index)


FILL_WORDINGS = (
    "put {things} in the {other}", "place {things} into the {other}", "fill the {other} with {things}",
    "collect {things} in the {other}", "add {things} to the {other}", "could you drop {things} into the {other}?",
)  # fmt: skip
SAME_COST = 0.01  # difference in height or distance up to which two poses are equally good


@dataclass(frozen=True, kw_only=True)
class Fill(Put):
    """Put some of the candidates into a container."""

    def rank(self, facts: HouseFacts, thing: Thing) -> float:
        """Orders flat objects first: later ones may come to lie on them."""
        return thing.half_extents[2]

    def placements(self, facts: HouseFacts, thing: Thing) -> Sequence[Placement]:
        container = facts.things[self.other]
        poses = placements_in(facts, thing, container) or placements_in(facts, thing, container, pressed=True)
        return _farthest_from_middle(poses, container)


def _farthest_from_middle(poses: Sequence[Placement], container: Thing) -> list[Placement]:
    """Keeps the lowest poses and, of these, the ones farthest from the middle, which leave room for more objects."""
    lowest = [pose for pose in poses if pose.cost <= min(other.cost for other in poses) + SAME_COST]
    distances = [math.dist(pose.spot, container.xy) for pose in lowest]
    return [pose for pose, off in zip(lowest, distances, strict=True) if off >= max(distances) - SAME_COST]


def _has_room_for(facts: HouseFacts, container: Thing, things: tuple[Thing, ...], count: int) -> bool:
    """Tests whether `count` of the objects fit in one after the other, the flattest first."""
    fitting = [thing for thing in things if placements_in(facts, thing, container)]
    for thing in sorted(fitting, key=lambda each: each.half_extents[2])[:count]:
        poses = _farthest_from_middle(placements_in(facts, thing, container), container)
        if not poses:
            return False
        middle = poses[0].cost / BIN_HEIGHT_COST + thing.half_extents[2]
        placed = replace(thing, position=(*poses[0].spot, middle))
        facts = replace(facts, things=tuple(placed if t.index == thing.index else t for t in facts.things))
    return len(fitting) >= count


def _outside(things: tuple[Thing, ...], container: Thing) -> tuple[Thing, ...]:
    """Returns the things that are neither the container nor in it."""
    return tuple(t for t in things if t.index != container.index and not predicates.inside(t, container))


@task_kind("fill", Fill, FILL_WORDINGS)
def fill_kind(context: TaskContext, rng: np.random.Generator) -> Fill:
    """Draws a bin and a description of two or three objects that fit into it."""
    context.require_movement("push", "strafe")
    facts = context.facts
    bins = [thing for thing in context.nameable_things() if thing.category == BIN and thing.held_by is None]
    choices = [
        (container, description, outside, count)
        for container in bins
        for count in (2, 3)
        for description, things in descriptions_shared(facts, count)
        if (container not in things or description == ANY_OBJECT)
        and len(outside := _outside(things, container)) >= count
        and _has_room_for(facts, container, outside, count)
    ]
    reason = "no bin that can be named has room for two things of one description"
    container, description, things, count = context.sample_one(choices, rng, reason)
    text = context.phrase(FILL_WORDINGS, rng, things=number_of(count, description), other=container)
    return Fill.of(context, text, things, count=count, other=container.index)


REMOVE_WORDINGS = (
    "take the {thing} out of the {other}", "remove the {thing} from the {other}",
    "get the {thing} out of the {other}", "pull the {thing} out of the {other}",
    "the {thing} should not be in the {other}", "could you pick the {thing} out of the {other}?",
)  # fmt: skip
REMOVE_EVERYTHING_WORDINGS = (
    "take everything out of the {other}", "remove everything from the {other}", "empty the {other}",
    "clear out the {other}", "nothing should be left in the {other}", "could you get everything out of the {other}?",
)  # fmt: skip

ABOVE_RIM_M = 0.15  # height of an object's underside above the rim at which it is out of the container


@dataclass(frozen=True, kw_only=True)
class Remove(PlaceObjects):
    """Take objects out of a container: neither in it nor above it any more, held or not."""

    other: int  # index of the container

    def is_placed(self, facts: HouseFacts, thing: Thing) -> bool:
        return predicates.edge_distance(thing.xy, facts.things[self.other]) > 0.0

    def rank(self, facts: HouseFacts, thing: Thing) -> float:
        """Orders the objects on top first."""
        return -thing.position[2]

    def remaining(self, facts: HouseFacts, thing: Thing) -> float:
        """Returns the meters that it still has to be raised before it is moved aside."""
        if self.is_placed(facts, thing):
            return 0.0
        return max(predicates.top(facts.things[self.other]) + ABOVE_RIM_M - predicates.bottom(thing), 0.0)

    def placements(self, facts: HouseFacts, thing: Thing) -> Sequence[Placement]:
        return placements_beside(facts, thing, facts.things[self.other])

    def misreading(self, facts: HouseFacts, rng: np.random.Generator) -> PlayhouseTask | None:
        """Another object; a single one if everything was to be taken out."""
        if self.count > 1:
            one = self.candidates[int(rng.integers(len(self.candidates)))]
            return replace(self, target=one, candidates=(one,), count=1)
        return super().misreading(facts, rng)


def _is_covered(thing: Thing, contents: Sequence[Thing]) -> bool:
    """Tests whether another object in the bin lies on this one and blocks access to it."""
    above = (other for other in contents if other.position[2] > thing.position[2])
    return any(predicates.gap(thing, other) == 0.0 for other in above)


@task_kind("remove", Remove, REMOVE_WORDINGS, REMOVE_EVERYTHING_WORDINGS)
def remove_kind(context: TaskContext, rng: np.random.Generator) -> Remove:
    """Draws one object of a bin, or everything in it."""
    context.require_movement("push", "strafe")
    facts = context.facts
    nameable = {thing.index for thing in context.nameable_objects()}
    choices: list[tuple[Thing, tuple[Thing, ...]]] = []
    for container in (thing for thing in context.nameable_things() if thing.category == BIN):
        contents = predicates.contents(facts, container)
        free = [thing for thing in contents if thing.index in nameable and not _is_covered(thing, contents)]
        choices += [(container, (thing,)) for thing in free]
        if len(contents) > 1:
            choices += [(container, tuple(contents))] * len(contents)
    container, things = context.sample_one(choices, rng, "no container that can be named has something in it")
    if len(things) == 1:
        text = context.phrase(REMOVE_WORDINGS, rng, other=container, thing=things[0])
    else:
        text = context.phrase(REMOVE_EVERYTHING_WORDINGS, rng, other=container)
    return Remove.of(context, text, things, count=len(things), other=container.index)
