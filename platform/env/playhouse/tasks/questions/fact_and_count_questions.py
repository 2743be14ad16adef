"""Yes/no questions about one thing, questions for the number of things of a description and whether there is any, and
yes/no questions about numbers.

They are such as "is the ball on the table?", "is it true that the duck is not red?", "are there five green things in
the bedroom?" and "are most of the balls red?".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from interplay.env.playhouse.house.catalog import CATEGORIES, COLORS
from interplay.env.playhouse.house.rooms import ROOM_KINDS
from interplay.env.playhouse.language.referring import post_modifiers
from interplay.env.playhouse.language.referring.post_modifiers import PostModifier, landmarks
from interplay.env.playhouse.language.templates import NUMBERS, choose, fill_template, plural
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.playhouse_task import task_kind
from interplay.env.playhouse.tasks.questions.question import (
    Answers,
    DescribedSet,
    Question,
    is_plausible,
    number_answers,
    question,
    sample_described_set,
    sample_described_sets,
    yes_or_no,
)
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


COUNT_WORDINGS = ("how many {things} are there?", "count the {things}", "how many {things} do you see?")
COUNT_IN_ROOM_WORDINGS = (
    "how many {things} are in this room?",
    "count the {things} in this room",
    "how many {things} do you see in this room?",
)
HOW_MANY_WORDINGS = (
    "how many {group} are there?", "count the {group}", "tell me the number of {group}", "can you count the {group}?",
    "what is the number of {group}?", "how many {group} can you find?", "how many {group} do you see?",
    "please count the {group}",
)  # fmt: skip
EXIST_WORDINGS = ("is there a {thing}?", "do you see a {thing}?", "can you find a {thing}?")
EXIST_IN_ROOM_WORDINGS = (
    "is there a {thing} in this room?", "do you see a {thing} in this room?", "can you find a {thing} in this room?",
)  # fmt: skip
PRESENT_WORDINGS = (
    "is there a {one}?", "do you see a {one}?", "can you find a {one}?", "tell me whether there is a {one}",
    "is there any {one}?", "can you tell me if there is a {one}?", "look whether there is a {one}",
)  # fmt: skip
PRESENT_OF_SEVERAL_WORDINGS = (
    "are there some {group}?", "are there any {group}?", "do you see some {group}?", "can you find some {group}?",
    "tell me whether there are some {group}", "can you see any {group}?",
)  # fmt: skip
ROOM_DRAWS = 3  # of a room and a post-modifier, whose sets are counted
ZERO_PROBABILITY = 0.2  # of asking for an empty set, if there is anything else to count
SEVERAL_PROBABILITY = 0.3  # of asking in the plural, if there is not exactly one


@task_kind("count", Question, COUNT_WORDINGS, COUNT_IN_ROOM_WORDINGS, usual=True)
def count_kind(context: TaskContext, rng: np.random.Generator) -> Question:
    """Draws a number, then a category with that many objects in the solver's room, so that no number dominates."""
    here = Counter(thing.category for thing in context.objects_here())
    by_number: dict[int, list[str]] = {}
    for category in sorted({*context.config.object_categories, *here}):
        by_number.setdefault(here[category], []).append(category)
    numbers = [number for number in sorted(by_number) if number < len(NUMBERS) - 1]
    number = context.sample_one(numbers, rng, "there is too much of everything")
    category = context.sample_one(by_number[number], rng)
    neighbors = tuple(NUMBERS[n] for n in (number - 1, number + 1) if n >= 0)
    about = tuple(thing.index for thing in context.objects_here() if thing.category == category)
    wordings = _in_room(context, COUNT_WORDINGS, COUNT_IN_ROOM_WORDINGS)
    text = fill_template(wordings, rng, things=plural(category))
    return question(context, text, Answers(NUMBERS[number], neighbors), about)


@task_kind("how_many", Question, HOW_MANY_WORDINGS)
def how_many_kind(context: TaskContext, rng: np.random.Generator) -> Question:
    """Draws a number, then a described set of that size, so that no number dominates."""
    by_number: dict[int, list[DescribedSet]] = {}
    for _ in range(ROOM_DRAWS):
        for found in sample_described_sets(context, rng):
            if len(found.members) < len(NUMBERS) and (found.members or is_plausible(context.facts, found)):
                by_number.setdefault(len(found.members), []).append(found)
    # High numbers are rare: the weight of each is the number itself.
    numbers = [number for number in sorted(by_number) for _ in range(number)]
    if 0 in by_number and (not numbers or rng.random() < ZERO_PROBABILITY):
        numbers = [0]
    number = context.sample_one(numbers, rng, "nothing here can be counted without argument")
    chosen = context.sample_one(by_number[number], rng)
    text = fill_template(HOW_MANY_WORDINGS, rng, group=chosen.phrase(rng, many=True))
    answers = number_answers(number, chosen.noun.plurals[0], chosen.noun.singulars[0])
    about, room = chosen.to_look_at()
    return question(context, text, answers, about, scope="house", room=room)


@task_kind("exist", Question, EXIST_WORDINGS, EXIST_IN_ROOM_WORDINGS, usual=True)
def exist_kind(context: TaskContext, rng: np.random.Generator) -> Question:
    """Draws yes or no with the same probability; an absent object is of a category, and if possible of a color, that
    the solver's room has."""
    here = context.objects_here()
    exists = rng.random() < 0.5
    about: tuple[int, ...] = ()
    if exists:
        target = context.sample_one(here, rng, "there is no loose thing here")
        name, about = target.name, (target.index,)
    else:
        names = {thing.name for thing in context.facts.things}
        categories = sorted({thing.category for thing in here})
        of_colors_here = [f"{c} {category}" for c in sorted({t.color for t in here}) for category in categories]
        of_any_color = [f"{c} {category}" for c in COLORS for category in categories]
        absent = [n for n in of_colors_here if n not in names] or [n for n in of_any_color if n not in names]
        name = context.sample_one(absent, rng, "there is no loose thing here")
    text = fill_template(_in_room(context, EXIST_WORDINGS, EXIST_IN_ROOM_WORDINGS), rng, thing=name)
    return question(context, text, yes_or_no(exists, accept_variants=False), about)


@task_kind("present", Question, PRESENT_WORDINGS, PRESENT_OF_SEVERAL_WORDINGS)
def present_kind(context: TaskContext, rng: np.random.Generator) -> Question:
    """Draws yes or no with the same probability; what is absent has a color, category or shape that something in the
    house has."""
    facts, truth = context.facts, bool(rng.random() < 0.5)

    def fits(found: DescribedSet) -> bool:
        return bool(found.members) if truth else not found.members and is_plausible(facts, found)

    chosen = sample_described_set(context, rng, fits, "all or nothing of what can be asked is here")
    several = len(chosen.members) != 1 and rng.random() < SEVERAL_PROBABILITY
    wordings = PRESENT_OF_SEVERAL_WORDINGS if several else PRESENT_WORDINGS
    text = fill_template(wordings, rng, one=chosen.phrase(rng, many=False), group=chosen.phrase(rng, many=True))
    about, room = (chosen.members[:1], None) if truth else chosen.to_look_at()
    return question(context, text, yes_or_no(truth), about, scope="house", room=room)


def _in_room(context: TaskContext, anywhere: tuple[str, ...], in_room: tuple[str, ...]) -> tuple[str, ...]:
    """Chooses the wordings that say "in this room" if the house has several rooms."""
    return in_room if len(context.facts.rooms) > 1 else anywhere


NUMBER_FACT_WORDINGS = (
    "are there {claim}?", "do you see {claim}?", "can you find {claim}?", "tell me whether there are {claim}",
    "is it true that there are {claim}?", "yes or no, are there {claim}?",
)  # fmt: skip
NUMBER_FACT_OF_ONE_WORDINGS = (
    "is there {claim}?", "do you see {claim}?", "can you find {claim}?", "tell me whether there is {claim}",
    "is it true that there is {claim}?", "yes or no, is there {claim}?",
)  # fmt: skip
NUMBER_FACT_OF_ALL_WORDINGS = (
    "are {claim}?", "tell me, are {claim}?", "is it true that {claim_are}?", "would you say that {claim_are}?",
    "yes or no, are {claim}?", "can you see whether {claim_are}?",
)  # fmt: skip
MIN_ROOM_DRAWS = 3  # of a room and a post-modifier, about whose sets claims are made
MAX_ROOM_DRAWS = 12  # until there is a claim with the wanted answer
SHARE_PROBABILITY = 0.5  # of asking how many of some things are so, rather than how many there are
EMPTY_SET_PROBABILITY = 0.1  # of making a claim about a set without members
MIN_FOR_SOME = 2  # members of a set, at least, for "some", "all" and "none"
MIN_FOR_MOST = 3
MOST_SHARE = 0.6  # of the members, at least, for "most" to be true
NOT_MOST_SHARE = 0.4  # of the members, at most, for "most" to be false


@dataclass(frozen=True)
class NumberClaim:
    """A statement about a number, true or false."""

    wordings: tuple[str, ...]
    phrase: str  # what is claimed, after "are": "most of the balls red"
    clause: str  # the same as a full clause: "most of the balls are red"
    is_true: bool
    about: DescribedSet


@task_kind("number_fact", Question, NUMBER_FACT_WORDINGS, NUMBER_FACT_OF_ONE_WORDINGS, NUMBER_FACT_OF_ALL_WORDINGS)
def number_fact_kind(context: TaskContext, rng: np.random.Generator) -> Question:
    """Draws a claim; yes and no have the same probability if both are possible."""
    truth = bool(rng.random() < 0.5)
    by_count: dict[int, list[NumberClaim]] = {}
    for draw in range(MAX_ROOM_DRAWS):
        if draw >= MIN_ROOM_DRAWS and by_count:
            break
        sets = sample_described_sets(context, rng)
        claims_about = _claims_about_shares if rng.random() < SHARE_PROBABILITY else _claims_about_counts
        for claim in claims_about(context, sets, rng):
            if claim.is_true == truth:
                by_count.setdefault(len(claim.about.members), []).append(claim)
    # High numbers are rare: the weight of each is the number itself.
    counts = [count for count in sorted(by_count) for _ in range(max(count, 1))]
    count = context.sample_one(counts, rng, "there are no numbers to ask about")
    claim = context.sample_one(by_count[count], rng)
    text = fill_template(claim.wordings, rng, claim=claim.phrase, claim_are=claim.clause)
    about, room = claim.about.to_look_at()
    return question(context, text, yes_or_no(truth), about, scope="house", room=room)


def _claims_about_counts(
    context: TaskContext, sets: Sequence[DescribedSet], rng: np.random.Generator
) -> Iterator[NumberClaim]:
    """Yields claims such as "exactly three balls" and "only one duck"; also about some plausible empty sets."""
    for described in sets:
        count = len(described.members)
        if count + MIN_FOR_SOME >= len(NUMBERS):
            continue
        if count > 0 or (rng.random() < EMPTY_SET_PROBABILITY and is_plausible(context.facts, described)):
            only = choose(("only one", "exactly one", "just one"), rng)
            one = f"{only} {described.phrase(rng, many=False)}"
            yield NumberClaim(NUMBER_FACT_OF_ONE_WORDINGS, one, "", count == 1, described)
            plural = described.phrase(rng, many=True)
            for number, is_true in _numbers_claimed(count, rng):
                yield NumberClaim(NUMBER_FACT_WORDINGS, f"{number} {plural}", "", is_true, described)


def _numbers_claimed(count: int, rng: np.random.Generator) -> Iterator[tuple[str, bool]]:
    """Yields true and false claims about a count, with numbers from two on."""
    number, more = NUMBERS[count], NUMBERS[max(count + 1 + int(rng.integers(2)), MIN_FOR_SOME)]
    yield f"fewer than {more}", True
    yield choose((more, f"exactly {more}", f"at least {more}"), rng), False
    if count >= MIN_FOR_SOME:
        yield choose((number, f"exactly {number}", f"at least {number}"), rng), True
        yield f"fewer than {number}", False


def _claims_about_shares(
    context: TaskContext, sets: Sequence[DescribedSet], rng: np.random.Generator
) -> Iterator[NumberClaim]:
    """Yields claims such as "all of the balls red" and "most of the things on the table eatable"."""
    predicates = _share_predicates(context)
    for described in sets:
        if len(described.members) < MIN_FOR_SOME:
            continue
        plural = described.phrase(rng, many=True)
        members = frozenset(described.members)
        for predicate in predicates:
            in_doubt = members & (predicate.possible - predicate.certain)
            if in_doubt or not _adds_information(predicate, described):
                continue
            phrase = choose(predicate.phrases, rng)
            for quantity, is_true in _quantities_claimed(len(members & predicate.certain), len(members)):
                subject = f"{quantity} of the {plural}"
                claim, clause = f"{subject} {phrase}", f"{subject} are {phrase}"
                yield NumberClaim(NUMBER_FACT_OF_ALL_WORDINGS, claim, clause, is_true, described)


def _adds_information(predicate: PostModifier, described: DescribedSet) -> bool:
    """Tests whether a predicate says something that the description does not."""
    noun, post = described.noun, described.post_modifier
    if predicate.phrases[0] in COLORS:
        return noun.color is None and (post is None or post.phrases[0] not in COLORS)
    loose = noun.categories is None or not all(CATEGORIES[name].furniture for name in noun.categories)
    return post is None and loose


def _quantities_claimed(matching: int, count: int) -> Iterator[tuple[str, bool]]:
    """Yields the quantities that can be claimed if `matching` of `count` members satisfy a predicate."""
    yield "all", matching == count
    yield "none", matching == 0
    if count > MIN_FOR_SOME:
        yield "some", matching > 0
    if count >= MIN_FOR_MOST and not NOT_MOST_SHARE < matching / count < MOST_SHARE:
        yield "most", matching / count >= MOST_SHARE


def _share_predicates(context: TaskContext) -> list[PostModifier]:
    """Returns predicates that hold for some of a room's things: colors, and being on the floor or on furniture."""
    facts = context.facts
    colors = sorted({thing.color for thing in facts.things if not thing.furniture})
    colored = [post_modifiers.colored(facts, color) for color in colors]
    marks = landmarks(facts, furniture=True)
    return [*colored, post_modifiers.floor(facts), *post_modifiers.supports(facts, marks)]
