"""Hand the setter a thing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from interplay.env.playhouse import queries
from interplay.env.playhouse.asking import Asking
from interplay.env.playhouse.choosing import one_of
from interplay.env.playhouse.errands.moving import Moving
from interplay.env.playhouse.facts import HouseFacts, Thing
from interplay.env.playhouse.landing import Landing, landings_before
from interplay.env.playhouse.phrases import PHRASES, phrase

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

WITHIN_REACH = 1.0  # metres from the setter to what is held out to it


@dataclass(frozen=True)
class HandOver(Moving):
    """Give the setter a thing into its hand. It takes two: the setter has to take what is held out to it."""

    setter: str  # the role that asked

    def arrived(self, facts: HouseFacts, thing: Thing) -> bool:
        return thing.held_by == self.setter

    def left(self, facts: HouseFacts, thing: Thing) -> float:
        return max(queries.walk(facts, thing.xy, facts.bodies[self.setter].position) - WITHIN_REACH, 0.0)

    def landings(self, facts: HouseFacts, thing: Thing) -> Sequence[Landing]:
        return landings_before(facts, thing, facts.bodies[self.setter])


def draw_hand_over(asking: Asking, rng: np.random.Generator) -> HandOver:
    asking.needs("hand_over", "push", "strafe")
    asking.needs_setter("hand_over")
    thing = one_of(asking.carriable(), rng, "hand_over", "no loose thing can be named")
    text = phrase("hand_over", rng, thing=asking.call(thing, rng))
    things = (thing.index,)
    errand = HandOver("hand_over", text, asking.solver, thing.index, 0.0, things, (), (), 1, asking.setter)
    return errand.measured(asking.facts)
