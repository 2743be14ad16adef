"""Yes/no questions about one thing: "is the ball on the table?", "is it true that the duck is not red?"."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from interplay.env.playhouse.house.catalog import COLORS
from interplay.env.playhouse.house.rooms import ROOM_KINDS
from interplay.env.playhouse.language.referring import post_modifiers
from interplay.env.playhouse.language.referring.post_modifiers import PostModifier, landmarks
from interplay.env.playhouse.language.templates import choose, fill_template
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.playhouse_task import task_kind
from interplay.env.playhouse.tasks.questions.question import Question, question, yes_or_no
from interplay.env.playhouse.truth.facts import Thing

FACT_WORDINGS = (
    "is the {thing} {claim}?", "tell me, is the {thing} {claim}?", "can you tell me whether the {thing} is {claim}?",
    "is it true that the {thing} is {claim}?", "would you say that the {thing} is {claim}?",
    "yes or no, is the {thing} {claim}?", "look and tell me if the {thing} is {claim}",
)  # fmt: skip
# For a thing whose name has a post-modifier itself.
FACT_ABOUT_LONG_NAME_WORDINGS = (
    "can you tell me whether the {thing} is {claim}?", "is it true that the {thing} is {claim}?",
    "would you say that the {thing} is {claim}?", "look and tell me if the {thing} is {claim}",
    "do you think that the {thing} is {claim}?", "am i right that the {thing} is {claim}?",
)  # fmt: skip
FACT_DENIED_WORDINGS = (
    "is it true that the {thing} is not {claim}?", "is it true that the {thing} isn't {claim}?",
    "would you say that the {thing} is not {claim}?", "yes or no, is it so that the {thing} isn't {claim}?",
    "is it right that the {thing} isn't {claim}?", "am i right that the {thing} is not {claim}?",
)  # fmt: skip
SHORT_NAME_WORDS = 2  # of a name without post-modifier, at most
# At most one word of a family may occur in a question: "is the ball next to the table far from the bed?" is confusing.
WORD_FAMILIES = (
    ("on", "under", "beneath", "below", "underneath"),
    ("left", "right", "front", "behind", "between"),
    ("next", "near", "close", "far"),
    tuple(word for kind in ROOM_KINDS for word in kind.split()),
)
DENIED_PROBABILITY = 0.1  # of asking whether something is not so
OTHER_ROOM_PROBABILITY = 0.25  # of asking about a thing of another room


@dataclass(frozen=True)
class Fact:
    """A statement about one thing, true or false."""

    thing: Thing
    predicate: PostModifier
    is_true: bool


@task_kind("fact", Question, FACT_WORDINGS, FACT_ABOUT_LONG_NAME_WORDINGS, FACT_DENIED_WORDINGS)
def fact_kind(context: TaskContext, rng: np.random.Generator) -> Question:
    """Draws a fact; yes and no have the same probability, and so have the families of predicates."""
    facts, here = context.facts, context.room
    elsewhere = len(facts.rooms) > 1 and rng.random() < OTHER_ROOM_PROBABILITY
    things = [thing for thing in context.nameable_things() if (thing.room == here) != elsewhere]
    denied, answer_is_yes = rng.random() < DENIED_PROBABILITY, rng.random() < 0.5
    families = _predicate_families(context)
    found: list[Fact] = []
    for i in rng.permutation(len(families)).tolist():
        stated = _facts(context, things, list(families[i]()))
        found = [fact for fact in stated if fact.is_true == (answer_is_yes != denied)]
        if found:
            break
    fact = context.sample_one(found, rng, "nothing can be said of what can be named")
    name = choose(_names(context, fact), rng)
    # "is the ball on the table near the bed?" would be ambiguous
    long = len(name.split()) > SHORT_NAME_WORDS and fact.predicate.phrases[0] not in COLORS
    wordings = FACT_DENIED_WORDINGS if denied else FACT_ABOUT_LONG_NAME_WORDINGS if long else FACT_WORDINGS
    text = fill_template(wordings, rng, thing=name, claim=choose(fact.predicate.phrases, rng))
    about = (fact.thing.index, *sorted(fact.predicate.landmarks))
    return question(context, text, yes_or_no(bool(answer_is_yes)), about, scope="house")


def _facts(context: TaskContext, things: Sequence[Thing], family: Sequence[PostModifier]) -> Iterator[Fact]:
    """Yields the statements that are certainly true or certainly false, about things whose names do not contain the
    answer."""
    for thing in things:
        for predicate in family:
            in_doubt = thing.index in predicate.possible and thing.index not in predicate.certain
            own = thing.index in predicate.landmarks
            if predicate.form != "is" or in_doubt or own or (predicate.loose_only and thing.furniture):
                continue
            if any(context.facts.things[index].room != thing.room for index in predicate.landmarks):
                continue
            fact = Fact(thing, predicate, thing.index in predicate.certain)
            if _names(context, fact):
                yield fact


def _names(context: TaskContext, fact: Fact) -> list[str]:
    """Returns the names of the thing that contain neither a word of the predicate's family nor, if the question is
    about a color, its color."""
    said = fact.predicate.phrases[0].split()
    shunned = {word for family in WORD_FAMILIES if {*family} & {*said} for word in family}
    shunned |= {word for i in fact.predicate.landmarks for word in context.facts.things[i].category.split()}
    shunned |= {fact.thing.color, *COLORS} if said[0] in COLORS else set()
    names = context.naming.phrases(context.facts, fact.thing)
    return [name for name in names if shunned.isdisjoint(name.split())]


def _predicate_families(context: TaskContext) -> list[Callable[[], Iterable[PostModifier]]]:
    """Returns the generators of predicates, one for each kind of meaning."""
    facts, viewer = context.facts, context.facts.bodies[context.solver]
    marks = landmarks(facts)
    return [
        lambda: context.post_modifiers,
        lambda: post_modifiers.places(facts),
        lambda: post_modifiers.closeness(facts, marks),
        lambda: post_modifiers.sides(facts, viewer, marks),
        lambda: post_modifiers.heights(facts, marks),
        lambda: (post_modifiers.colored(facts, color) for color in sorted({thing.color for thing in facts.things})),
    ]
