"""Phrases that follow a noun ("on the table", "that is not red", "between the sofa and the chair")."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from interplay.env.playhouse.language.referring import nouns, ternary_predicates
from interplay.env.playhouse.language.referring.ternary_predicates import Ternary, TernaryPredicate
from interplay.env.playhouse.language.templates import choose
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import Body, HouseFacts, Thing

# Height of an object's underside up to which it certainly is on the floor, and from which it certainly is not.
ON_FLOOR_M, OFF_FLOOR_M = 0.05, 0.15
MAX_SIDE_GAP_M = 2.5  # between a thing and what it is said to be left of, behind, between; people ignore farther things

SIDE_PHRASES: dict[predicates.Side, tuple[str, ...]] = {
    "left": ("left of", "to the left of"),
    "right": ("right of", "to the right of"),
    "front": ("in front of",),
    "behind": ("behind",),
}
VIEWER_SIDE_PHRASES: dict[predicates.Side, tuple[str, ...]] = {
    "left": ("on your left", "to the left of you"),
    "right": ("on your right", "to the right of you"),
    "front": ("in front of you",),
    "behind": ("behind you",),
}


@dataclass(frozen=True)
class PostModifier:
    """A property or place of things, in words that follow a noun or "is"."""

    phrases: tuple[str, ...]  # alternatives as they follow "is": "on the table", "next to the table"
    certain: frozenset[int]  # indices of the things that it certainly fits
    possible: frozenset[int]  # these, and the uncertain ones
    landmarks: frozenset[int] = frozenset()  # indices of the things that its words name
    loose_only: bool = False  # whether it is said of loose objects only
    # "is": may follow a noun directly; "is not": needs "that is not"; "with": "with some things on it".
    form: str = "is"

    def attach(self, noun: str, many: bool = False) -> tuple[str, ...]:
        """Returns the noun followed by this post-modifier in several ways, those with an unambiguous end first."""
        be, be_not = ("are", "aren't") if many else ("is", "isn't")
        joint = "and" if " that " in noun else "that"
        if self.form == "is not":
            return tuple(f"{noun} {joint} {verb} {p}" for p in self.phrases for verb in (f"{be} not", be_not))
        plain = () if joint == "and" else tuple(f"{noun} {p}" for p in self.phrases)
        if self.form == "with":
            return plain
        return (*(f"{noun} {joint} {be} {p}" for p in self.phrases), *plain)

    def attach_briefly(self, noun: str, rng: np.random.Generator, many: bool = False) -> str:
        """Draws one of the ways of `attach`, without "that is" if possible."""
        ways = self.attach(noun, many)
        brief = [way for way in ways if " that is " not in way and " that are " not in way]
        return choose(brief if self.form == "is" and brief else ways, rng)

    def negated(self, things: Sequence[Thing]) -> PostModifier:
        """Returns the negation; `things`: all things of the house."""
        everything = frozenset(thing.index for thing in things)
        return PostModifier(
            self.phrases, everything - self.possible, everything - self.certain, self.landmarks, form="is not"
        )


@dataclass(frozen=True)
class Landmark:
    """A thing by which the places of others are described, and its name without article."""

    thing: Thing
    name: str


def landmarks(facts: HouseFacts, *, colored: bool = False, furniture: bool | None = None) -> list[Landmark]:
    """Returns the things with a short unique name: "sofa" if there is one sofa, else "red sofa"; always with the color
    if `colored`. `furniture`: only furniture, or only loose objects."""
    found = []
    for thing in facts.things:
        if thing.held_by is not None or furniture not in (None, thing.furniture):
            continue
        for color in (thing.color,) if colored else (None, thing.color):
            noun = nouns.category(thing.category, color)
            if sum(noun.may_fit(other) for other in facts.things) == 1:
                found.append(Landmark(thing, noun.singulars[0]))
                break
    return found


def by_predicate(
    facts: HouseFacts, phrases: Sequence[str], predicate: Callable[[Thing], Ternary], *marks: Landmark
) -> PostModifier:
    """Evaluates a predicate for each thing; nothing is certain of a held thing."""
    truths = [(thing, predicate(thing)) for thing in facts.things]
    return PostModifier(
        tuple(phrases),
        frozenset(thing.index for thing, truth in truths if truth and thing.held_by is None),
        frozenset(thing.index for thing, truth in truths if truth is not False),
        frozenset(mark.thing.index for mark in marks),
    )


def relative(
    facts: HouseFacts,
    prepositions: Sequence[str],
    mark: Landmark,
    predicate: TernaryPredicate,
    loose_only: bool = False,
) -> PostModifier:
    """Returns "on the sofa" for the things that a predicate relates to a landmark."""

    def related(thing: Thing) -> Ternary:
        return thing.index != mark.thing.index and predicate(thing, mark.thing)

    phrases = [f"{preposition} the {mark.name}" for preposition in prepositions]
    return replace(by_predicate(facts, phrases, related, mark), loose_only=loose_only)


def supports(facts: HouseFacts, marks: Sequence[Landmark]) -> Iterator[PostModifier]:
    """Yields "on the table", "in the bathtub", "in the bin", "under the bed"."""
    for mark in marks:
        if mark.thing.furniture:
            preposition = "in" if mark.thing.category == "bathtub" else "on"
            yield relative(facts, (preposition,), mark, ternary_predicates.on, loose_only=True)
            yield relative(facts, ("under",), mark, ternary_predicates.under, loose_only=True)
        elif mark.thing.category == "bin":
            yield relative(facts, ("in",), mark, ternary_predicates.inside, loose_only=True)


def rooms(facts: HouseFacts) -> Iterator[PostModifier]:
    """Yields "in the bedroom" if there is more than one room."""
    if len(facts.rooms) < 2:
        return
    for room in facts.rooms:
        inside = {thing.index for thing in facts.things if thing.room == room.name}
        in_doubt = {thing.index for thing in facts.things if thing.room is None or thing.held_by is not None}
        yield PostModifier((f"in the {room.kind}",), frozenset(inside - in_doubt), frozenset(inside | in_doubt))


def floor(facts: HouseFacts) -> PostModifier:
    """Returns "on the floor" for loose objects."""

    def on_floor(thing: Thing) -> Ternary:
        if thing.furniture or thing.held_by is not None:
            return None
        height = predicates.bottom(thing)
        return True if height <= ON_FLOOR_M else None if height <= OFF_FLOOR_M else False

    return replace(by_predicate(facts, ("on the floor",), on_floor), loose_only=True)


def beside(facts: HouseFacts, mark: Landmark) -> PostModifier:
    """Returns "next to the table"."""
    return relative(facts, ("next to",), mark, ternary_predicates.next_to)


def places(facts: HouseFacts) -> Iterator[PostModifier]:
    """Yields places on, in and under things, in rooms, on the floor, and next to furniture."""
    yield from supports(facts, landmarks(facts))
    yield from rooms(facts)
    yield floor(facts)
    for mark in landmarks(facts, furniture=True):
        yield beside(facts, mark)


def colored(facts: HouseFacts, color: str) -> PostModifier:
    """Returns "red"."""
    fits = frozenset(thing.index for thing in facts.things if thing.color == color)
    return PostModifier((color,), fits, fits)


def closeness(facts: HouseFacts, marks: Sequence[Landmark], far: bool = True) -> Iterator[PostModifier]:
    """Yields "next to the table", "near the table" and, with `far`, "far from the table"."""
    for mark in marks:
        yield beside(facts, mark)
        yield relative(facts, ("near", "close to"), mark, ternary_predicates.near)
        if far and mark.thing.furniture:
            yield relative(facts, ("far from", "far away from"), mark, ternary_predicates.far)


def sides(facts: HouseFacts, viewer: Body, marks: Sequence[Landmark]) -> Iterator[PostModifier]:
    """Yields "to the left of the table" and "behind the table" from the viewer's position, the viewer's own sides, and
    "between" two landmarks."""
    for side, phrases in SIDE_PHRASES.items():
        for mark in marks:
            if mark.thing.room == viewer.room:
                yield relative(facts, phrases, mark, _within_gap(ternary_predicates.side(viewer, side)))
    for side, phrases in VIEWER_SIDE_PHRASES.items():
        yield by_predicate(facts, phrases, ternary_predicates.own_side(viewer, side))
    for one, two in combinations(marks, 2):
        gap = predicates.gap(one.thing, two.thing)
        if predicates.same_room(one.thing.room, two.thing.room) and gap <= 2 * MAX_SIDE_GAP_M:
            yield _between(facts, one, two)


def heights(facts: HouseFacts, marks: Sequence[Landmark]) -> Iterator[PostModifier]:
    """Yields "on top of the table" and "beneath the bed"; for loose landmarks only if something is there: "below the
    ball", "on top of the box"."""
    for mark in marks:
        if mark.thing.category != "bathtub":
            above = relative(facts, ("on top of",), mark, ternary_predicates.on, loose_only=True)
            if mark.thing.furniture or above.possible:
                yield above
        prepositions = ("beneath", "below", "underneath")
        below = relative(facts, prepositions, mark, ternary_predicates.under, mark.thing.furniture)
        if mark.thing.furniture or below.possible:
            yield below


def _between(facts: HouseFacts, one: Landmark, two: Landmark) -> PostModifier:
    def between(thing: Thing) -> Ternary:
        if thing.index in (one.thing.index, two.thing.index):
            return False
        return ternary_predicates.between(thing, one.thing, two.thing)

    return by_predicate(facts, (f"between the {one.name} and the {two.name}",), between, one, two)


def _within_gap(predicate: TernaryPredicate) -> TernaryPredicate:
    """Makes a predicate uncertain for things farther apart than `MAX_SIDE_GAP_M`."""

    def nearby(a: Thing, b: Thing) -> Ternary:
        truth = predicate(a, b)
        return None if truth and predicates.gap(a, b) > MAX_SIDE_GAP_M else truth

    return nearby
