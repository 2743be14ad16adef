"""Several things that a question can be about: of a sort, with something behind it, in one room of the house."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from interplay.env.playhouse.house.catalog import CATEGORIES
from interplay.env.playhouse.language.referring.nouns import Noun
from interplay.env.playhouse.language.referring.post_modifiers import PostModifier, pick
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.sampling import one_of, room_of
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts, Room

HERE = 0.7  # chance that a question is about the room that the solver is in
BARE = 0.5  # chance that nothing is behind a noun, where that may be
TRIES = 6  # draws of a room and a clause, for a group that is wanted


@dataclass(frozen=True)
class Scope:
    """The room that a question is about."""

    room: Room
    words: tuple[str, ...]  # ways to say so; the empty one where there is no other room


@dataclass(frozen=True)
class Group:
    """Things of a room that words single out, all or none."""

    sort: Noun
    clause: PostModifier | None
    scope: Scope
    members: tuple[int, ...]  # the things that are meant

    def many(self, rng: np.random.Generator) -> str:
        """ "balls on the table in this room"."""
        return self._worded(pick(self.sort.many, rng), True, rng)

    def one(self, rng: np.random.Generator) -> str:
        """ "ball on the table in this room"."""
        return self._worded(pick(self.sort.ones, rng), False, rng)

    def about(self) -> tuple[tuple[int, ...], str | None]:
        """What to look at before one answers how many there are, and the room to look over."""
        if self.clause is not None and self.clause.marks and self.clause.form == "is":
            return (*sorted(self.clause.marks), *self.members), None
        return (), self.scope.room.name

    def _worded(self, noun: str, many: bool, rng: np.random.Generator) -> str:
        text = noun if self.clause is None else self.clause.briefly(noun, rng, many)
        where = pick(self.scope.words, rng)
        placed = self.clause is not None and self.clause.form == "is" and (self.clause.marks or where in text)
        return text if placed or not where else f"{text} {where}"


def draw_scope(asking: TaskContext, rng: np.random.Generator) -> Scope:
    """Rather the room that the solver is in than another."""
    facts = asking.facts
    here = room_of(facts, asking.solver)
    if len(facts.rooms) == 1:
        return Scope(facts.rooms[0], ("", "here", "in this room"))
    if rng.random() < HERE:
        room = next(room for room in facts.rooms if room.name == here)
        return Scope(room, ("in this room", "here", f"in the {room.kind}"))
    others = [room for room in facts.rooms if room.name != here]
    room = others[int(rng.integers(len(others)))]
    return Scope(room, (f"in the {room.kind}",))


def draw_groups(asking: TaskContext, rng: np.random.Generator) -> list[Group]:
    """All that can be said of one room by nouns alone or with one clause, of which nobody could argue."""
    facts, manner = asking.facts, asking.manner
    scope = draw_scope(asking, rng)
    clauses = [clause for clause in asking.clauses if _tells(clause, scope, facts)]
    bare = manner.bare and (not clauses or rng.random() < BARE)
    if not bare and not clauses:
        return []
    clause = None if bare else clauses[int(rng.integers(len(clauses)))]
    categories = dict.fromkeys((*asking.categories, *(thing.category for thing in facts.things)))
    groups = [_group(facts, sort, clause, scope) for sort in manner.sorts(tuple(categories))]
    return [group for group in groups if group is not None]


def draw_group(
    asking: TaskContext, rng: np.random.Generator, kind: str, wanted: Callable[[Group], bool], why_none: str
) -> Group:
    """One of those that are wanted.

    Raises:
        InfeasibleTask: several draws found none.
    """
    found: list[Group] = []
    for _ in range(TRIES):
        found = found or [group for group in draw_groups(asking, rng) if wanted(group)]
    return one_of(found, rng, kind, why_none)


def plausible(facts: HouseFacts, group: Group) -> bool:
    """Could one think that there is such a thing? Of a color or at a place, only what the house has."""
    sort = group.sort
    if sort.color is None and group.clause is None:
        return True
    like = any(sort.categories is None or thing.category in sort.categories for thing in facts.things)
    return like and (sort.color is None or any(thing.color == sort.color for thing in facts.things))


def _tells(clause: PostModifier, scope: Scope, facts: HouseFacts) -> bool:
    """Is a clause about what is in this room, and more than that it is there?"""
    if clause.marks:
        return all(facts.things[index].room == scope.room.name for index in clause.marks)
    if any(f"in the {room.kind}" in clause.words for room in facts.rooms) or clause.words[0].startswith("a "):
        return False  # it is about that room anyhow; "the fruits that are not a pear"
    return clause.form == "is not" or any(facts.things[index].room == scope.room.name for index in clause.perhaps)


def _group(facts: HouseFacts, sort: Noun, clause: PostModifier | None, scope: Scope) -> Group | None:
    """None where it is arguable what belongs to it."""
    if clause is not None and not _sensible(facts, sort, clause):
        return None
    members = []
    for thing in facts.things:
        if not sort.may_fit(thing) or not predicates.same_room(thing.room, scope.room.name):
            continue
        if clause is not None and thing.index not in clause.perhaps:
            continue
        surely = sort.fits(thing) and thing.room == scope.room.name and thing.held_by is None
        if not surely or (clause is not None and thing.index not in clause.surely):
            return None
        members.append(thing.index)
    return Group(sort, clause, scope, tuple(members))


def _sensible(facts: HouseFacts, sort: Noun, clause: PostModifier) -> bool:
    """Would one say this of things of that sort?"""
    if clause.form == "is not":  # "the balls that are not red", where there is a red one
        return any(sort.fits(thing) and thing.index not in clause.perhaps for thing in facts.things)
    if sort.categories is None:
        return True
    if clause.of_loose and all(CATEGORIES[name].furniture for name in sort.categories):
        return False  # "the sofas on the table"
    return not any(facts.things[index].category in sort.categories for index in clause.marks)  # "sofas near the sofa"
