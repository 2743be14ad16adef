"""Bring the setter an object, or several of a description, or hand it one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from interplay.env.playhouse.language.templates import fill_template
from interplay.env.playhouse.planning.placement import Placement, placements_around, reachable_placements
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.instructions.object_group import ANY_OBJECT, descriptions_shared, number_of
from interplay.env.playhouse.tasks.instructions.place_objects import PlaceObjects
from interplay.env.playhouse.tasks.sampling import sample_one
from interplay.env.playhouse.tasks.task_kind import TaskKind
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import XY, HouseFacts, Thing
from interplay.env.task import InfeasibleTask

BRING_WORDINGS = (
    "bring me the {thing}", "fetch me the {thing}", "get the {thing} for me", "carry the {thing} over to me",
    "come here with the {thing}", "i would like to have the {thing} here",
)  # fmt: skip
BRING_SEVERAL_WORDINGS = (
    "bring me {things}", "fetch me {things}", "get {things} for me", "carry {things} over to me",
    "collect {things} and bring them here", "i would like to have {things} here",
)  # fmt: skip
REACH_M = 1.5  # from the setter to what is within its reach
MIN_DISTANCE_M = REACH_M + 0.5  # from the setter to an object that it asks for
SEVERAL_PROBABILITY = 0.5  # of several objects, if there are enough of a description
HAND_OVER_WORDINGS = (
    "hand me the {thing}", "give me the {thing}", "pass me the {thing}", "hand the {thing} over to me",
    "put the {thing} in my hand", "let me take the {thing} from you",
)  # fmt: skip
OFFER_DISTANCE_M = 1.0  # from the setter to an object that is held out to it


@dataclass(frozen=True, kw_only=True)
class BringToSetter(PlaceObjects):
    """Base of instructions to carry objects to the setter."""

    setter: str  # role of the player to bring them to
    reach: ClassVar[float] = REACH_M

    def remaining(self, facts: HouseFacts, thing: Thing) -> float:
        return max(predicates.route_length(facts, thing.xy, facts.bodies[self.setter].position) - self.reach, 0.0)

    def placements(self, facts: HouseFacts, thing: Thing) -> Sequence[Placement]:
        return placements_around(facts, thing, facts.bodies[self.setter])


@dataclass(frozen=True, kw_only=True)
class Bring(BringToSetter):
    """Carry objects to where the setter can reach them, in the hand or put down.

    Baseline of candidate i also: `x_i` and `y_i`, its position.
    """

    def is_placed(self, facts: HouseFacts, thing: Thing) -> bool:
        """Tests whether an object is within the setter's reach, and the setter has not walked up to it."""
        body = facts.bodies[self.setter]
        in_reach = predicates.same_room(body.room, thing.room) and predicates.distance(body, thing) <= REACH_M
        return in_reach and math.dist(body.position, self._origin(thing)) > REACH_M

    def _origin(self, thing: Thing) -> XY:
        return self.baseline[f"x_{thing.index}"], self.baseline[f"y_{thing.index}"]

    def is_plausible_target(self, thing: Thing, facts: HouseFacts) -> bool:
        near = math.dist(facts.bodies[self.setter].position, thing.xy) <= MIN_DISTANCE_M
        free = thing.index != self.target and thing.held_by is None
        return free and not near and thing.index not in self.candidates

    def measure(self, facts: HouseFacts) -> Mapping[str, float]:
        positions = {f"{axis}_{i}": facts.things[i].xy[k] for i in self.candidates for k, axis in enumerate("xy")}
        return {**super().measure(facts), **positions}


def sample_bring(context: TaskContext, rng: np.random.Generator) -> Bring:
    """Draws one object or, if there are enough of a description, half of the time two or three of them."""
    context.require_movement("bring", "push", "strafe")
    context.require_setter("bring")
    facts, setter = context.facts, context.setter
    several = [
        (description, things, count)
        for count in (2, 3)
        for description, things in descriptions_shared(facts, count)
        if description != ANY_OBJECT
        and all(_is_far(context, thing) for thing in things)
        and sum(not context.is_laden(thing) for thing in things) >= count
    ]
    if several and rng.random() < SEVERAL_PROBABILITY:
        description, things, count = several[int(rng.integers(len(several)))]
        text = fill_template(BRING_SEVERAL_WORDINGS, rng, things=number_of(count, description))
    else:
        far = [thing for thing in context.carriable_objects() if _is_far(context, thing)]
        things, count = (sample_one(far, rng, "bring", "every thing that can be named is at hand"),), 1
        text = fill_template(BRING_WORDINGS, rng, thing=context.name(things[0], rng))
    around = placements_around(facts, things[0], facts.bodies[setter])
    if not reachable_placements(facts, context.solver, things[0], around):
        raise InfeasibleTask("no task of kind 'bring' can be asked here: there is no free floor before the setter")
    return Bring.of(context, "bring", text, things, count=count, setter=setter)


def _is_far(context: TaskContext, thing: Thing) -> bool:
    return math.dist(context.facts.bodies[context.setter].position, thing.xy) > MIN_DISTANCE_M


@dataclass(frozen=True, kw_only=True)
class HandOver(BringToSetter):
    """Give an object into the setter's hand. It takes two players: the setter has to take what is held out to it."""

    reach: ClassVar[float] = OFFER_DISTANCE_M

    def is_placed(self, facts: HouseFacts, thing: Thing) -> bool:
        return thing.held_by == self.setter


def sample_hand_over(context: TaskContext, rng: np.random.Generator) -> HandOver:
    """Draws an object to hand over."""
    context.require_movement("hand_over", "push", "strafe")
    context.require_setter("hand_over")
    thing = sample_one(context.carriable_objects(), rng, "hand_over", "no loose thing can be named")
    text = fill_template(HAND_OVER_WORDINGS, rng, thing=context.name(thing, rng))
    return HandOver.of(context, "hand_over", text, [thing], setter=context.setter)


BRING_KIND = TaskKind(
    name="bring", task=Bring, sample=sample_bring, wordings=(*BRING_WORDINGS, *BRING_SEVERAL_WORDINGS)
)
HAND_OVER_KIND = TaskKind(name="hand_over", task=HandOver, sample=sample_hand_over, wordings=HAND_OVER_WORDINGS)
