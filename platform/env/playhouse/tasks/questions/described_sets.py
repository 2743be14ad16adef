"""Sets of things that a noun phrase describes: a noun, a post-modifier, and a room of the house."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from interplay.env.playhouse.house.catalog import CATEGORIES
from interplay.env.playhouse.language.referring.nouns import Noun
from interplay.env.playhouse.language.referring.post_modifiers import PostModifier
from interplay.env.playhouse.language.templates import choose
from interplay.env.playhouse.tasks.context import TaskContext, room_of_player, sample_one
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Room

SOLVERS_ROOM_PROBABILITY = 0.7  # of asking about the room that the solver is in
BARE_NOUN_PROBABILITY = 0.5  # of a noun without post-modifier, if the style allows both
MAX_DRAWS = 6  # of a room and a post-modifier, for a set with a given property


@dataclass(frozen=True)
class RoomPhrase:
    """The room that a question is about, and how to say so."""

    room: Room
    phrases: tuple[str, ...]  # an empty one if there is no other room


@dataclass(frozen=True)
class DescribedSet:
    """All things of a room that a noun phrase describes; possibly none."""

    noun: Noun
    post_modifier: PostModifier | None
    scope: RoomPhrase
    members: tuple[int, ...]  # their indices

    def plural(self, rng: np.random.Generator) -> str:
        """Draws a phrase such as "balls on the table in this room"."""
        return self._phrase(choose(self.noun.plurals, rng), True, rng)

    def singular(self, rng: np.random.Generator) -> str:
        """Draws a phrase such as "ball on the table in this room"."""
        return self._phrase(choose(self.noun.singulars, rng), False, rng)

    def to_look_at(self) -> tuple[tuple[int, ...], str | None]:
        """Returns the things to look at before counting the set, and the room to look over."""
        post = self.post_modifier
        if post is not None and post.landmarks and post.form == "is":
            return (*sorted(post.landmarks), *self.members), None
        return (), self.scope.room.name

    def _phrase(self, noun: str, many: bool, rng: np.random.Generator) -> str:
        post = self.post_modifier
        text = noun if post is None else post.attach_briefly(noun, rng, many)
        where = choose(self.scope.phrases, rng)
        placed = post is not None and post.form == "is" and (post.landmarks or where in text)
        return text if placed or not where else f"{text} {where}"


def sample_room(context: TaskContext, rng: np.random.Generator) -> RoomPhrase:
    """Draws a room, preferring the one that the solver is in."""
    facts = context.facts
    here = room_of_player(facts, context.solver)
    if len(facts.rooms) == 1:
        return RoomPhrase(facts.rooms[0], ("", "here", "in this room"))
    if rng.random() < SOLVERS_ROOM_PROBABILITY:
        room = next(room for room in facts.rooms if room.name == here)
        return RoomPhrase(room, ("in this room", "here", f"in the {room.kind}"))
    others = [room for room in facts.rooms if room.name != here]
    room = others[int(rng.integers(len(others)))]
    return RoomPhrase(room, (f"in the {room.kind}",))


def sample_described_sets(context: TaskContext, rng: np.random.Generator) -> list[DescribedSet]:
    """Draws a room and at most one post-modifier, and returns the sets of all nouns whose members are beyond doubt."""
    facts, style = context.facts, context.style
    scope = sample_room(context, rng)
    post_modifiers = [each for each in context.post_modifiers if _is_informative(each, scope, facts)]
    bare = style.bare_nouns and (not post_modifiers or rng.random() < BARE_NOUN_PROBABILITY)
    if not bare and not post_modifiers:
        return []
    post = None if bare else post_modifiers[int(rng.integers(len(post_modifiers)))]
    categories = dict.fromkeys((*context.categories, *(thing.category for thing in facts.things)))
    sets = [_described_set(facts, noun, post, scope) for noun in style.nouns(tuple(categories))]
    return [each for each in sets if each is not None]


def sample_described_set(
    context: TaskContext, rng: np.random.Generator, kind: str, fits: Callable[[DescribedSet], bool], reason: str
) -> DescribedSet:
    """Draws a described set that fits.

    Raises:
        InfeasibleTask: `MAX_DRAWS` draws found none.
    """
    fitting: list[DescribedSet] = []
    for _ in range(MAX_DRAWS):
        fitting = fitting or [each for each in sample_described_sets(context, rng) if fits(each)]
    return sample_one(fitting, rng, kind, reason)


def is_plausible(facts: HouseFacts, described: DescribedSet) -> bool:
    """Tests whether a description is plausible: the house has its noun and its color, unless it has neither a color nor
    a post-modifier."""
    noun = described.noun
    if noun.color is None and described.post_modifier is None:
        return True
    in_house = any(noun.categories is None or thing.category in noun.categories for thing in facts.things)
    return in_house and (noun.color is None or any(thing.color == noun.color for thing in facts.things))


def _is_informative(post: PostModifier, scope: RoomPhrase, facts: HouseFacts) -> bool:
    """Tests whether a post-modifier is about things of this room and says more than that they are in it."""
    if post.landmarks:
        return all(facts.things[index].room == scope.room.name for index in post.landmarks)
    if any(f"in the {room.kind}" in post.phrases for room in facts.rooms) or post.phrases[0].startswith("a "):
        return False  # the question names a room anyway; "the fruits that are not a pear"
    return post.form == "is not" or any(facts.things[index].room == scope.room.name for index in post.possible)


def _described_set(facts: HouseFacts, noun: Noun, post: PostModifier | None, scope: RoomPhrase) -> DescribedSet | None:
    """Returns the set that a phrase describes; None if the phrase makes no sense or a member is in doubt."""
    if post is not None and not _makes_sense(facts, noun, post):
        return None
    members = []
    for thing in facts.things:
        if not noun.may_fit(thing) or not predicates.same_room(thing.room, scope.room.name):
            continue
        if post is not None and thing.index not in post.possible:
            continue
        certain = noun.fits(thing) and thing.room == scope.room.name and thing.held_by is None
        if not certain or (post is not None and thing.index not in post.certain):
            return None
        members.append(thing.index)
    return DescribedSet(noun, post, scope, tuple(members))


def _makes_sense(facts: HouseFacts, noun: Noun, post: PostModifier) -> bool:
    """Tests whether people would say this of the things that a noun names."""
    if post.form == "is not":  # "the balls that are not red", if there is a red one
        return any(noun.fits(thing) and thing.index not in post.possible for thing in facts.things)
    if noun.categories is None:
        return True
    if post.loose_only and all(CATEGORIES[name].furniture for name in noun.categories):
        return False  # "the sofas on the table"
    # "the sofas near the sofa"
    return not any(facts.things[index].category in noun.categories for index in post.landmarks)
