"""What follows a noun: "on the table", "that is not red", "between the sofa and the chair"; and what that fits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from interplay.env.playhouse.language.referring import nouns, ternary_predicates
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import Body, HouseFacts, Thing
from interplay.env.playhouse.truth.predicates.sides import Side

FLOOR = 0.05  # meters: the underside of what is on the floor
ASLANT = 0.15  # meters: surely not on it from here on
LIKELY = 2.5  # meters between a thing and what it is said to be left of, behind, between: wider ones are not thought of


def pick(choices: Sequence[str], rng: np.random.Generator) -> str:
    """One of them, all alike."""
    return choices[int(rng.integers(len(choices)))]


@dataclass(frozen=True)
class PostModifier:
    """What is said of where or how things are."""

    words: tuple[str, ...]  # in several ways, as they stand after "is": "on the table", "next to the table"
    surely: frozenset[int]  # the things that it fits
    perhaps: frozenset[int]  # those, and those of which one could argue
    marks: frozenset[int] = frozenset()  # the things that its words name
    of_loose: bool = False  # is it said of loose things only?
    form: str = "is"  # "is": may follow a noun at once; "is not": needs "that is not"; "with": "with some things on it"

    def after(self, noun: str, many: bool = False) -> tuple[str, ...]:
        """The noun with this clause behind it, in several ways; the first ones leave no doubt where it ends."""
        be, be_not = ("are", "aren't") if many else ("is", "isn't")
        joint = "and" if " that " in noun else "that"
        if self.form == "is not":
            return tuple(f"{noun} {joint} {verb} {w}" for w in self.words for verb in (f"{be} not", be_not))
        plain = () if joint == "and" else tuple(f"{noun} {w}" for w in self.words)
        if self.form == "with":
            return plain
        return (*(f"{noun} {joint} {be} {w}" for w in self.words), *plain)

    def briefly(self, noun: str, rng: np.random.Generator, many: bool = False) -> str:
        """One of those ways, without "that is" where it can do without."""
        ways = self.after(noun, many)
        brief = [way for way in ways if " that is " not in way and " that are " not in way]
        return pick(brief if self.form == "is" and brief else ways, rng)

    def negated(self, things: Sequence[Thing]) -> PostModifier:
        """The opposite, of these things."""
        everything = frozenset(thing.index for thing in things)
        return PostModifier(self.words, everything - self.perhaps, everything - self.surely, self.marks, form="is not")


@dataclass(frozen=True)
class Landmark:
    """A thing that others are said to be near, and its name without an article."""

    thing: Thing
    name: str


def landmarks(facts: HouseFacts, *, colored: bool = False, furniture: bool | None = None) -> list[Landmark]:
    """Things that a short name tells apart: "sofa" where there is one, else "red sofa"; always with its color if
    `colored`."""
    found = []
    for thing in facts.things:
        if thing.held_by is not None or furniture not in (None, thing.furniture):
            continue
        for color in (thing.color,) if colored else (None, thing.color):
            sort = nouns.category(thing.category, color)
            if sum(sort.may_fit(other) for other in facts.things) == 1:
                found.append(Landmark(thing, sort.ones[0]))
                break
    return found


def about(
    facts: HouseFacts, words: Sequence[str], judge: Callable[[Thing], ternary_predicates.Ternary], *marks: Landmark
) -> PostModifier:
    """A clause by a judgment of each thing; nothing is surely said of what is in a hand."""
    verdicts = [(thing, judge(thing)) for thing in facts.things]
    return PostModifier(
        tuple(words),
        frozenset(thing.index for thing, verdict in verdicts if verdict and thing.held_by is None),
        frozenset(thing.index for thing, verdict in verdicts if verdict is not False),
        frozenset(mark.thing.index for mark in marks),
    )


def relative(
    facts: HouseFacts,
    words: Sequence[str],
    mark: Landmark,
    judge: ternary_predicates.TernaryPredicate,
    of_loose: bool = False,
) -> PostModifier:
    """ "on the sofa", by what `judge` says of each other thing and the sofa."""

    def of(thing: Thing) -> ternary_predicates.Ternary:
        return thing.index != mark.thing.index and judge(thing, mark.thing)

    return replace(about(facts, [f"{w} the {mark.name}" for w in words], of, mark), of_loose=of_loose)


def supports(facts: HouseFacts, marks: Sequence[Landmark]) -> Iterator[PostModifier]:
    """ "on the table", "in the bathtub", "in the bin", "under the bed"."""
    for mark in marks:
        if mark.thing.furniture:
            preposition = "in" if mark.thing.category == "bathtub" else "on"
            yield relative(facts, (preposition,), mark, ternary_predicates.on, of_loose=True)
            yield relative(facts, ("under",), mark, ternary_predicates.under, of_loose=True)
        elif mark.thing.category == "bin":
            yield relative(facts, ("in",), mark, ternary_predicates.inside, of_loose=True)


def rooms(facts: HouseFacts) -> Iterator[PostModifier]:
    """ "in the bedroom", where there is more than one room."""
    if len(facts.rooms) < 2:
        return
    for room in facts.rooms:
        within = {thing.index for thing in facts.things if thing.room == room.name}
        unsure = {thing.index for thing in facts.things if thing.room is None or thing.held_by is not None}
        yield PostModifier((f"in the {room.kind}",), frozenset(within - unsure), frozenset(within | unsure))


def floor(facts: HouseFacts) -> PostModifier:
    """ "on the floor", of loose things."""

    def judge(thing: Thing) -> ternary_predicates.Ternary:
        if thing.furniture or thing.held_by is not None:
            return None
        low = predicates.bottom(thing)
        return True if low <= FLOOR else None if low <= ASLANT else False

    return replace(about(facts, ("on the floor",), judge), of_loose=True)


def beside(facts: HouseFacts, mark: Landmark) -> PostModifier:
    """ "next to the table"."""
    return relative(facts, ("next to",), mark, ternary_predicates.next_to)


def places(facts: HouseFacts) -> Iterator[PostModifier]:
    """On what, in what, in which room, next to what furniture."""
    yield from supports(facts, landmarks(facts))
    yield from rooms(facts)
    yield floor(facts)
    for mark in landmarks(facts, furniture=True):
        yield beside(facts, mark)


def colored(facts: HouseFacts, color: str) -> PostModifier:
    """ "red"."""
    fits = frozenset(thing.index for thing in facts.things if thing.color == color)
    return PostModifier((color,), fits, fits)


def closeness(facts: HouseFacts, marks: Sequence[Landmark], far: bool = True) -> Iterator[PostModifier]:
    """ "next to the table", "near the table", "far from the table"."""
    for mark in marks:
        yield beside(facts, mark)
        yield relative(facts, ("near", "close to"), mark, ternary_predicates.near)
        if far and mark.thing.furniture:
            yield relative(facts, ("far from", "far away from"), mark, ternary_predicates.far)


def sides(facts: HouseFacts, viewer: Body, marks: Sequence[Landmark]) -> Iterator[PostModifier]:
    """ "to the left of the table", "behind it", as this player sees it from where it stands; and to its own sides."""
    for wanted, words in SIDES.items():
        for mark in marks:
            if mark.thing.room == viewer.room:
                yield relative(facts, words, mark, _in_reach(ternary_predicates.side(viewer, wanted)))
    for wanted, words in OWN_SIDES.items():
        yield about(facts, words, ternary_predicates.own_side(viewer, wanted))
    for one, two in combinations(marks, 2):
        if predicates.same_room(one.thing.room, two.thing.room) and predicates.gap(one.thing, two.thing) <= 2 * LIKELY:
            yield _between(facts, one, two)


SIDES: dict[Side, tuple[str, ...]] = {
    "left": ("left of", "to the left of"),
    "right": ("right of", "to the right of"),
    "front": ("in front of",),
    "behind": ("behind",),
}
OWN_SIDES: dict[Side, tuple[str, ...]] = {
    "left": ("on your left", "to the left of you"),
    "right": ("on your right", "to the right of you"),
    "front": ("in front of you",),
    "behind": ("behind you",),
}


def heights(facts: HouseFacts, marks: Sequence[Landmark]) -> Iterator[PostModifier]:
    """ "on top of the table", "beneath the bed"; of what carries a loose thing "below the ball", and of what lies on
    one "on top of the box"."""
    for mark in marks:
        if mark.thing.category != "bathtub":
            above = relative(facts, ("on top of",), mark, ternary_predicates.on, of_loose=True)
            if mark.thing.furniture or above.perhaps:
                yield above
        below = relative(
            facts, ("beneath", "below", "underneath"), mark, ternary_predicates.under, mark.thing.furniture
        )
        if mark.thing.furniture or below.perhaps:
            yield below


def _between(facts: HouseFacts, one: Landmark, two: Landmark) -> PostModifier:
    def judge(thing: Thing) -> ternary_predicates.Ternary:
        if thing.index in (one.thing.index, two.thing.index):
            return False
        return ternary_predicates.between(thing, one.thing, two.thing)

    words = (f"between the {one.name} and the {two.name}",)
    return about(facts, words, judge, one, two)


def _in_reach(judge: ternary_predicates.TernaryPredicate) -> ternary_predicates.TernaryPredicate:
    """What is far off is not surely left or right of a thing."""

    def nearby(a: Thing, b: Thing) -> ternary_predicates.Ternary:
        verdict = judge(a, b)
        return None if verdict and predicates.gap(a, b) > LIKELY else verdict

    return nearby
