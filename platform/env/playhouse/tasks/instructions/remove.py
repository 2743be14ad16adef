"""Take a thing, or everything, out of a bin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from interplay.env.playhouse.house.catalog import BIN
from interplay.env.playhouse.language.templates import PHRASES, phrase
from interplay.env.playhouse.planning.placement import Placement, placements_beside
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.place_objects import PlaceObjects
from interplay.env.playhouse.tasks.sampling import one_of
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Thing
from interplay.env.task import Task
from interplay.env.world import World

PHRASES |= {
    "remove": (
        "take the {thing} out of the {other}",
        "remove the {thing} from the {other}",
        "get the {thing} out of the {other}",
        "pull the {thing} out of the {other}",
        "the {thing} should not be in the {other}",
        "could you pick the {thing} out of the {other}?",
    ),
    "remove everything": (
        "take everything out of the {other}",
        "remove everything from the {other}",
        "empty the {other}",
        "clear out the {other}",
        "nothing should be left in the {other}",
        "could you get everything out of the {other}?",
    ),
}

OUT = 0.15  # meters by which a thing has to be raised above the rim, at most, to be out


@dataclass(frozen=True)
class Remove(PlaceObjects):
    """Take things out of a container: neither in it nor over it any more, be it in the hand."""

    other: int  # the container's index

    def arrived(self, facts: HouseFacts, thing: Thing) -> bool:
        return predicates.edge_distance(thing.xy, facts.things[self.other]) > 0.0

    def rank(self, facts: HouseFacts, thing: Thing) -> float:
        """What lies on top first."""
        return -thing.position[2]

    def left(self, facts: HouseFacts, thing: Thing) -> float:
        """How far it still has to be raised; then it only has to be moved aside."""
        if self.arrived(facts, thing):
            return 0.0
        return max(predicates.top(facts.things[self.other]) + OUT - predicates.bottom(thing), 0.0)

    def landings(self, facts: HouseFacts, thing: Thing) -> Sequence[Placement]:
        return placements_beside(facts, thing, facts.things[self.other])

    def misread(self, world: World, rng: np.random.Generator) -> Task:
        """Another thing; where everything was to be taken out, only one."""
        if self.wanted > 1:
            one = self.things[int(rng.integers(len(self.things)))]
            return replace(self, target=one, things=(one,), wanted=1).measured(world.facts())
        return super().misread(world, rng)


def _covered(thing: Thing, within: Sequence[Thing]) -> bool:
    """Does something lie on a thing in a bin, so that it can not be got at?"""
    above = (other for other in within if other.position[2] > thing.position[2])
    return any(predicates.gap(thing, other) == 0.0 for other in above)


def draw_remove(asking: TaskContext, rng: np.random.Generator) -> Remove:
    asking.needs("remove", "push", "strafe")
    facts = asking.facts
    named = {thing.index for thing in asking.nameable()}
    choices: list[tuple[Thing, tuple[Thing, ...]]] = []
    for container in (thing for thing in asking.told_apart() if thing.category == BIN):
        within = predicates.contents(facts, container)
        bare = [thing for thing in within if thing.index in named and not _covered(thing, within)]
        choices += [(container, (thing,)) for thing in bare]
        if len(within) > 1:
            choices += [(container, tuple(within))] * len(within)
    container, things = one_of(choices, rng, "remove", "no container that can be named has something in it")
    other = asking.call(container, rng)
    if len(things) == 1:
        words = phrase("remove", rng, thing=asking.call(things[0], rng), other=other)
    else:
        words = phrase("remove everything", rng, other=other)
    indices = tuple(thing.index for thing in things)
    wanted = len(indices)
    return Remove("remove", words, asking.solver, indices[0], 0.0, indices, (), (), wanted, container.index).measured(
        facts
    )
