"""Yes/no questions about numbers: "are there five green things in the bedroom?", "are most of the balls red?"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from interplay.env.playhouse.house.catalog import CATEGORIES, COLORS
from interplay.env.playhouse.language.referring import post_modifiers
from interplay.env.playhouse.language.referring.post_modifiers import PostModifier, landmarks
from interplay.env.playhouse.language.templates import NUMBERS, choose, fill_template
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.questions.described_sets import DescribedSet, is_plausible, sample_described_sets
from interplay.env.playhouse.tasks.questions.question import Question, question, yes_or_no
from interplay.env.playhouse.tasks.sampling import sample_one
from interplay.env.playhouse.tasks.task_kind import TaskKind

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
MIN_FOR_SOME = 2  # members of a set of which "some", "all" and "none" are said
MIN_FOR_MOST = 3
MOST_SHARE = 0.6  # of the members, at least, for "most" to be true
NOT_MOST_SHARE = 0.4  # of the members, at most, for "most" to be false


@dataclass(frozen=True)
class NumberClaim:
    """A statement about a number, true or false."""

    wordings: tuple[str, ...]
    phrase: str  # what is claimed, after "are": "most of the balls red"
    clause: str  # the same as a clause of its own: "most of the balls are red"
    is_true: bool
    about: DescribedSet


def sample_number_fact(context: TaskContext, rng: np.random.Generator) -> Question:
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
    count = sample_one(counts, rng, "number_fact", "there are no numbers to ask about")
    claim = sample_one(by_count[count], rng, "number_fact", "")
    text = fill_template(claim.wordings, rng, claim=claim.phrase, claim_are=claim.clause)
    about, room = claim.about.to_look_at()
    return question(context, "number_fact", text, yes_or_no(truth), about, scope="house", room=room)


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
            one = f"{only} {described.singular(rng)}"
            yield NumberClaim(NUMBER_FACT_OF_ONE_WORDINGS, one, "", count == 1, described)
            plural = described.plural(rng)
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
        plural = described.plural(rng)
        members = frozenset(described.members)
        for predicate in predicates:
            in_doubt = members & (predicate.possible - predicate.certain)
            if in_doubt or not _is_informative(predicate, described):
                continue
            phrase = choose(predicate.phrases, rng)
            for quantity, is_true in _quantities_claimed(len(members & predicate.certain), len(members)):
                subject = f"{quantity} of the {plural}"
                claim, clause = f"{subject} {phrase}", f"{subject} are {phrase}"
                yield NumberClaim(NUMBER_FACT_OF_ALL_WORDINGS, claim, clause, is_true, described)


def _is_informative(predicate: PostModifier, described: DescribedSet) -> bool:
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


KIND = TaskKind(
    name="number_fact",
    task=Question,
    sample=sample_number_fact,
    wordings=(*NUMBER_FACT_WORDINGS, *NUMBER_FACT_OF_ONE_WORDINGS, *NUMBER_FACT_OF_ALL_WORDINGS),
)
