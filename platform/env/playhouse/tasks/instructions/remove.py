"""Take an object, or everything, out of a bin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from interplay.env.playhouse.house.catalog import BIN
from interplay.env.playhouse.language.templates import fill_template
from interplay.env.playhouse.planning.placement import Placement, placements_beside
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.place_objects import PlaceObjects
from interplay.env.playhouse.tasks.playhouse_task import PlayhouseTask
from interplay.env.playhouse.tasks.sampling import sample_one
from interplay.env.playhouse.tasks.task_kind import TaskKind
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Thing

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


def sample_remove(context: TaskContext, rng: np.random.Generator) -> Remove:
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


KIND = TaskKind(
    name="remove", task=Remove, sample=sample_remove, wordings=(*REMOVE_WORDINGS, *REMOVE_EVERYTHING_WORDINGS)
)
