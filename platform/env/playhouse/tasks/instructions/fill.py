"""Put two or three objects of a description into a bin."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from interplay.env.playhouse.house.catalog import BIN
from interplay.env.playhouse.language.templates import fill_template
from interplay.env.playhouse.planning.placement import BIN_HEIGHT_COST, Placement, placements_in
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.object_group import ANY_OBJECT, descriptions_shared, number_of
from interplay.env.playhouse.tasks.instructions.put import Put
from interplay.env.playhouse.tasks.sampling import sample_one
from interplay.env.playhouse.tasks.task_kind import TaskKind
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Thing

WORDINGS = (
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


def sample_fill(context: TaskContext, rng: np.random.Generator) -> Fill:
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
    text = fill_template(WORDINGS, rng, **names)
    return Fill.of(context, "fill", text, things, count=count, other=container.index)


KIND = TaskKind(name="fill", task=Fill, sample=sample_fill, wordings=WORDINGS)
