"""Hand the setter a thing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from interplay.env.playhouse.language.templates import PHRASES, phrase
from interplay.env.playhouse.planning.placement import Placement, placements_around
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.place_objects import PlaceObjects
from interplay.env.playhouse.tasks.sampling import one_of
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Thing

PHRASES |= {
    "hand_over": (
        "hand me the {thing}",
        "give me the {thing}",
        "pass me the {thing}",
        "hand the {thing} over to me",
        "put the {thing} in my hand",
        "let me take the {thing} from you",
    ),
}

WITHIN_REACH = 1.0  # meters from the setter to what is held out to it


@dataclass(frozen=True)
class HandOver(PlaceObjects):
    """Give the setter a thing into its hand. It takes two: the setter has to take what is held out to it."""

    setter: str  # the role that asked

    def arrived(self, facts: HouseFacts, thing: Thing) -> bool:
        return thing.held_by == self.setter

    def left(self, facts: HouseFacts, thing: Thing) -> float:
        return max(predicates.walk(facts, thing.xy, facts.bodies[self.setter].position) - WITHIN_REACH, 0.0)

    def landings(self, facts: HouseFacts, thing: Thing) -> Sequence[Placement]:
        return placements_around(facts, thing, facts.bodies[self.setter])


def draw_hand_over(asking: TaskContext, rng: np.random.Generator) -> HandOver:
    asking.needs("hand_over", "push", "strafe")
    asking.needs_setter("hand_over")
    thing = one_of(asking.carriable(), rng, "hand_over", "no loose thing can be named")
    text = phrase("hand_over", rng, thing=asking.call(thing, rng))
    things = (thing.index,)
    errand = HandOver("hand_over", text, asking.solver, thing.index, 0.0, things, (), (), 1, asking.setter)
    return errand.measured(asking.facts)
