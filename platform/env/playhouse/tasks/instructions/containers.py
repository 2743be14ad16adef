"""Put two or three objects of a description into a bin, or take one object or all of them out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from interplay.env.playhouse.house.catalog import BIN
from interplay.env.playhouse.language.templates import fill_template
from interplay.env.playhouse.planning.placement import BIN_HEIGHT_COST, Placement, placements_beside, placements_in
from interplay.env.playhouse.tasks.context import TaskContext, sample_one
from interplay.env.playhouse.tasks.instructions.object_group import ANY_OBJECT, descriptions_shared, number_of
from interplay.env.playhouse.tasks.instructions.place_objects import PlaceObjects
from interplay.env.playhouse.tasks.instructions.put import Put
from interplay.env.playhouse.tasks.playhouse_task import PlayhouseTask, task_kind
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Thing

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
        facts = _with_thing(facts, replace(thing, position=(*poses[0].spot, middle)))
    return len(fitting) >= count


def _outside(things: tuple[Thing, ...], container: Thing) -> tuple[Thing, ...]:
    """Returns the things that are neither the container nor in it."""
    return tuple(t for t in things if t.index != container.index and not predicates.inside(t, container))


def _with_thing(facts: HouseFacts, thing: Thing) -> HouseFacts:
    """Returns the same moment with one thing replaced."""
    return replace(facts, things=tuple(thing if other.index == thing.index else other for other in facts.things))


@task_kind("fill", Fill, FILL_WORDINGS)
def fill_kind(context: TaskContext, rng: np.random.Generator) -> Fill:
    """Draws a bin and a description of two or three objects that fit into it."""
    context.require_movement("fill", "push", "strafe")
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
    container, description, things, count = sample_one(choices, rng, "fill", reason)
    names = {"things": number_of(count, description), "other": context.name(container, rng)}
    text = fill_template(FILL_WORDINGS, rng, **names)
    return Fill.of(context, "fill", text, things, count=count, other=container.index)


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
    context.require_movement("remove", "push", "strafe")
    facts = context.facts
    nameable = {thing.index for thing in context.nameable_objects()}
    choices: list[tuple[Thing, tuple[Thing, ...]]] = []
    for container in (thing for thing in context.nameable_things() if thing.category == BIN):
        contents = predicates.contents(facts, container)
        free = [thing for thing in contents if thing.index in nameable and not _is_covered(thing, contents)]
        choices += [(container, (thing,)) for thing in free]
        if len(contents) > 1:
            choices += [(container, tuple(contents))] * len(contents)
    container, things = sample_one(choices, rng, "remove", "no container that can be named has something in it")
    other = context.name(container, rng)
    if len(things) == 1:
        text = fill_template(REMOVE_WORDINGS, rng, thing=context.name(things[0], rng), other=other)
    else:
        text = fill_template(REMOVE_EVERYTHING_WORDINGS, rng, other=other)
    return Remove.of(context, "remove", text, things, count=len(things), other=container.index)
