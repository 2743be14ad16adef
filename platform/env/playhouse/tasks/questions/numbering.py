"""Yes or no about numbers: "are there five green things in the bedroom?", "are most of the balls red?"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from interplay.env.playhouse.house.catalog import CATEGORIES, COLORS
from interplay.env.playhouse.language.referring import post_modifiers
from interplay.env.playhouse.language.referring.post_modifiers import PostModifier, landmarks, pick
from interplay.env.playhouse.language.templates import NUMBERS, PHRASES, phrase
from interplay.env.playhouse.tasks.context import TaskContext
from interplay.env.playhouse.tasks.questions.groups import Group, draw_groups, plausible
from interplay.env.playhouse.tasks.questions.search_question import SearchQuestion, yes_or_no
from interplay.env.playhouse.tasks.sampling import one_of

PHRASES |= {
    "number_fact": (
        "are there {claim}?",
        "do you see {claim}?",
        "can you find {claim}?",
        "tell me whether there are {claim}",
        "is it true that there are {claim}?",
        "yes or no, are there {claim}?",
    ),
    "number_fact of one": (
        "is there {claim}?",
        "do you see {claim}?",
        "can you find {claim}?",
        "tell me whether there is {claim}",
        "is it true that there is {claim}?",
        "yes or no, is there {claim}?",
    ),
    "number_fact of all": (
        "are {claim}?",
        "tell me, are {claim}?",
        "is it true that {claim_are}?",
        "would you say that {claim_are}?",
        "yes or no, are {claim}?",
        "can you see whether {claim_are}?",
    ),
}
DRAWS = 3  # of a room and a clause, about whose groups something is claimed
TRIES = 12  # the same, at most, until something true or false can be claimed
SHARES = 0.5  # chance to ask how many of some things are so, and not how many there are
NONE = 0.1  # of the groups that have no members, how many are asked about
SOME = 2  # members that a group has at least, for "some", "all" and "none" to be said of it
MOST = 3  # the same of "most"
SHARED = 0.6  # of the members, for most of them to be so
FEW = 0.4  # of the members, for most of them surely not to be so


@dataclass(frozen=True)
class _Claim:
    """Something about numbers that is true or not."""

    template: str
    words: str  # what is claimed, after "are"
    as_clause: str  # the same as a clause of its own: "most of the balls are red"
    truth: bool
    group: Group


def ask_number_fact(asking: TaskContext, rng: np.random.Generator) -> SearchQuestion:
    """Yes and no are as likely, wherever both can be."""
    truth = bool(rng.random() < 0.5)
    by_count: dict[int, list[_Claim]] = {}
    for tries in range(TRIES):
        if tries >= DRAWS and by_count:
            break
        groups = draw_groups(asking, rng)
        made = [*_of_shares(asking, groups, rng)] if rng.random() < SHARES else [*_of_counts(asking, groups, rng)]
        for claim in made:
            if claim.truth == truth:
                by_count.setdefault(len(claim.group.members), []).append(claim)
    # High numbers are rare: each counts as often as it says.
    counts = [count for count in sorted(by_count) for _ in range(max(count, 1))]
    count = one_of(counts, rng, "number_fact", "there are no numbers to ask about")
    claim = one_of(by_count[count], rng, "number_fact", "")
    words = phrase(claim.template, rng, claim=claim.words, claim_are=claim.as_clause)
    answer, mistakes, accepted = yes_or_no(truth)
    about, room = claim.group.about()
    return SearchQuestion("number_fact", words, asking.solver, answer, mistakes, about, accepted, room)


def _of_counts(asking: TaskContext, groups: Sequence[Group], rng: np.random.Generator) -> Iterator[_Claim]:
    """ "exactly three balls", "only one duck"; of groups that have members, and of some that could."""
    for group in groups:
        count = len(group.members)
        if count + SOME >= len(NUMBERS):
            continue
        if count > 0 or (rng.random() < NONE and plausible(asking.facts, group)):
            only = pick(("only one", "exactly one", "just one"), rng)
            yield _Claim("number_fact of one", f"{only} {group.one(rng)}", "", count == 1, group)
            many = group.many(rng)
            for words, truth in _counted(count, rng):
                yield _Claim("number_fact", f"{words} {many}", "", truth, group)


def _counted(count: int, rng: np.random.Generator) -> Iterator[tuple[str, bool]]:
    """What can be said of a count: true and false things, of numbers from two on."""
    number, more = NUMBERS[count], NUMBERS[max(count + 1 + int(rng.integers(2)), SOME)]
    yield f"fewer than {more}", True
    yield pick((more, f"exactly {more}", f"at least {more}"), rng), False
    if count >= SOME:
        yield pick((number, f"exactly {number}", f"at least {number}"), rng), True
        yield f"fewer than {number}", False


def _of_shares(asking: TaskContext, groups: Sequence[Group], rng: np.random.Generator) -> Iterator[_Claim]:
    """ "all of the balls red", "most of the things on the table eatable"."""
    predicates = _predicates(asking)
    for group in groups:
        if len(group.members) < SOME:
            continue
        many = group.many(rng)
        members = frozenset(group.members)
        for predicate in predicates:
            if not members & (predicate.perhaps - predicate.surely) and _apart(predicate, group):
                yield from _shared(predicate, group, members, many, rng)


def _shared(
    predicate: PostModifier, group: Group, members: frozenset[int], many: str, rng: np.random.Generator
) -> Iterator[_Claim]:
    """What can be said of how many members are so."""
    words = pick(predicate.words, rng)
    so = len(members & predicate.surely)
    for quantity, truth in _quantities(so, len(members)):
        subject = f"{quantity} of the {many}"
        yield _Claim("number_fact of all", f"{subject} {words}", f"{subject} are {words}", truth, group)


def _apart(predicate: PostModifier, group: Group) -> bool:
    """Does a predicate say something that the group's own words do not?"""
    color = predicate.words[0] in COLORS
    if color:
        return group.sort.color is None and (group.clause is None or group.clause.words[0] not in COLORS)
    loose = group.sort.categories is None or not all(CATEGORIES[name].furniture for name in group.sort.categories)
    return group.clause is None and loose


def _quantities(so: int, count: int) -> Iterator[tuple[str, bool]]:
    """What can be said where `so` of `count` are so."""
    yield "all", so == count
    yield "none", so == 0
    if count > SOME:
        yield "some", so > 0
    if count >= MOST and not FEW < so / count < SHARED:
        yield "most", so / count >= SHARED


def _predicates(asking: TaskContext) -> list[PostModifier]:
    """What may be so of some of a room's things: colors, and being on the floor or on furniture."""
    facts = asking.facts
    colors = sorted({thing.color for thing in facts.things if not thing.furniture})
    colored = [post_modifiers.colored(facts, color) for color in colors]
    marks = landmarks(facts, furniture=True)
    return [*colored, post_modifiers.floor(facts), *post_modifiers.supports(facts, marks)]
