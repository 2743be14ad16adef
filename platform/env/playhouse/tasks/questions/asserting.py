"""Yes or no about things and where they are: "is the ball on the table?", "is it true that the duck is not red?"."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from interplay.env.playhouse.house.catalog import COLORS
from interplay.env.playhouse.house.rooms import ROOM_KINDS
from interplay.env.playhouse.language.referring import post_modifiers
from interplay.env.playhouse.language.referring.post_modifiers import PostModifier, landmarks, pick
from interplay.env.playhouse.language.templates import PHRASES, phrase
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.questions.search_question import SearchQuestion, yes_or_no
from interplay.env.playhouse.tasks.sampling import one_of, room_of
from interplay.env.playhouse.truth.facts import Thing

PHRASES |= {
    "fact": (
        "is the {thing} {claim}?",
        "tell me, is the {thing} {claim}?",
        "can you tell me whether the {thing} is {claim}?",
        "is it true that the {thing} is {claim}?",
        "would you say that the {thing} is {claim}?",
        "yes or no, is the {thing} {claim}?",
        "look and tell me if the {thing} is {claim}",
    ),
    "fact of what a clause names": (
        "can you tell me whether the {thing} is {claim}?",
        "is it true that the {thing} is {claim}?",
        "would you say that the {thing} is {claim}?",
        "look and tell me if the {thing} is {claim}",
        "do you think that the {thing} is {claim}?",
        "am i right that the {thing} is {claim}?",
    ),
    "fact denied": (
        "is it true that the {thing} is not {claim}?",
        "is it true that the {thing} isn't {claim}?",
        "would you say that the {thing} is not {claim}?",
        "yes or no, is it so that the {thing} isn't {claim}?",
        "is it right that the {thing} isn't {claim}?",
        "am i right that the {thing} is not {claim}?",
    ),
}
PLAIN = 2  # words of a name that has no clause, at most
# Words of which no two stand in one question: "is the ball next to the table far from the bed" is no thing to ask.
FAMILIES = (
    ("on", "under", "beneath", "below", "underneath"),
    ("left", "right", "front", "behind", "between"),
    ("next", "near", "close", "far"),
    tuple(word for kind in ROOM_KINDS for word in kind.split()),
)
DENIED = 0.1  # chance to ask whether something is not so
ELSEWHERE = 0.25  # chance to ask about a thing of another room


@dataclass(frozen=True)
class _Claim:
    """Something that is so of a thing, or not."""

    thing: Thing
    clause: PostModifier
    truth: bool


def ask_fact(asking: TaskContext, rng: np.random.Generator) -> SearchQuestion:
    """Yes and no are as likely, and so are the ways in which things can be."""
    facts, here = asking.facts, room_of(asking.facts, asking.solver)
    elsewhere = len(facts.rooms) > 1 and rng.random() < ELSEWHERE
    things = [thing for thing in asking.told_apart() if (thing.room == here) != elsewhere]
    denied, answer_is_yes = rng.random() < DENIED, rng.random() < 0.5
    families = _families(asking)
    claims: list[_Claim] = []
    for i in rng.permutation(len(families)).tolist():
        claims = [
            claim for claim in _claims(asking, things, list(families[i]())) if claim.truth == (answer_is_yes != denied)
        ]
        if claims:
            break
    claim = one_of(claims, rng, "fact", "nothing can be said of what can be named")
    name = _name(asking, claim, rng)
    long = len(name.split()) > PLAIN and claim.clause.words[0] not in COLORS  # "is the ball on the table near the bed"
    wording = "fact denied" if denied else "fact of what a clause names" if long else "fact"
    words = phrase(wording, rng, thing=name, claim=pick(claim.clause.words, rng))
    answer, mistakes, accepted = yes_or_no(bool(answer_is_yes))
    about = (claim.thing.index, *sorted(claim.clause.marks))
    return SearchQuestion("fact", words, asking.solver, answer, mistakes, about, accepted, None)


def _claims(asking: TaskContext, things: Sequence[Thing], family: Sequence[PostModifier]) -> Iterator[_Claim]:
    """What can be said of things that can be named without giving it away, and of which nobody could argue."""
    for thing in things:
        for clause in family:
            doubtful = thing.index in clause.perhaps and thing.index not in clause.surely
            if clause.form != "is" or doubtful or thing.index in clause.marks or (clause.of_loose and thing.furniture):
                continue
            if any(asking.facts.things[mark].room != thing.room for mark in clause.marks):
                continue
            claim = _Claim(thing, clause, thing.index in clause.surely)
            if _names(asking, claim):
                yield claim


def _names(asking: TaskContext, claim: _Claim) -> list[str]:
    """How the thing may be called: not by what is asked, nor by its color where that is asked."""
    said = claim.clause.words[0].split()
    shunned = {word for family in FAMILIES if {*family} & {*said} for word in family}
    shunned |= {word for mark in claim.clause.marks for word in asking.facts.things[mark].category.split()}
    shunned |= {claim.thing.color, *COLORS} if said[0] in COLORS else set()
    names = asking.naming.phrases(asking.facts, claim.thing)
    return [name for name in names if shunned.isdisjoint(name.split())]


def _name(asking: TaskContext, claim: _Claim, rng: np.random.Generator) -> str:
    return pick(_names(asking, claim), rng)


def _families(asking: TaskContext) -> list[Callable[[], Iterable[PostModifier]]]:
    """How to make clauses, those of one meaning together."""
    facts, viewer = asking.facts, asking.facts.bodies[asking.solver]
    marks = landmarks(facts)
    return [
        lambda: asking.clauses,
        lambda: post_modifiers.places(facts),
        lambda: post_modifiers.closeness(facts, marks),
        lambda: post_modifiers.sides(facts, viewer, marks),
        lambda: post_modifiers.heights(facts, marks),
        lambda: (post_modifiers.colored(facts, color) for color in sorted({thing.color for thing in facts.things})),
    ]
