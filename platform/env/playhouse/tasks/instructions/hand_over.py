"""Hand the setter an object."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from interplay.env.playhouse.language.templates import fill_template
from interplay.env.playhouse.planning.placement import Placement, placements_around
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.place_objects import PlaceObjects
from interplay.env.playhouse.tasks.sampling import sample_one
from interplay.env.playhouse.tasks.task_kind import TaskKind
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Thing

WORDINGS = (
    "hand me the {thing}", "give me the {thing}", "pass me the {thing}", "hand the {thing} over to me",
    "put the {thing} in my hand", "let me take the {thing} from you",
)  # fmt: skip

OFFER_DISTANCE_M = 1.0  # from the setter to an object that is held out to it


@dataclass(frozen=True, kw_only=True)
class HandOver(PlaceObjects):
    """Give an object into the setter's hand. It takes two players: the setter has to take what is held out to it."""

    setter: str  # role of the player to hand it to

    def is_placed(self, facts: HouseFacts, thing: Thing) -> bool:
        return thing.held_by == self.setter

    def remaining(self, facts: HouseFacts, thing: Thing) -> float:
        return max(predicates.walk(facts, thing.xy, facts.bodies[self.setter].position) - OFFER_DISTANCE_M, 0.0)

    def placements(self, facts: HouseFacts, thing: Thing) -> Sequence[Placement]:
        return placements_around(facts, thing, facts.bodies[self.setter])


def sample_hand_over(context: TaskContext, rng: np.random.Generator) -> HandOver:
    """Draws an object to hand over."""
    context.require_movement("hand_over", "push", "strafe")
    context.require_setter("hand_over")
    thing = sample_one(context.carriable_objects(), rng, "hand_over", "no loose thing can be named")
    text = fill_template(WORDINGS, rng, thing=context.name(thing, rng))
    return HandOver.of(context, "hand_over", text, [thing], setter=context.setter)


KIND = TaskKind(name="hand_over", task=HandOver, sample=sample_hand_over, wordings=WORDINGS)
